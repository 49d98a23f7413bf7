"""Bombs with fuses.

A Man (x, y) carries `bombs`. Walls and Crates are obstacles, and so are Bombs that lie (but he can stand on one that
he has just put down). There is an Exit. A bomb has a `fuse`.

First the man acts:
  up, down, left, right   walks, if there is no obstacle
  drop                    if he has bombs and none is here: one less, and a Bomb with fuse 4 is here
  wait                    nothing
Then every fuse falls by one. A bomb of fuse 0 goes off: it is gone, crates in the four cells beside it are gone, and
bombs beside it go off as well, in the same step. Each crate that is gone is worth 0.5.
If the man is where a bomb went off, or in one of the four cells beside, the episode ends with -1 in all.
Otherwise, if he is at the exit, it ends with 5 in all.
"""

import random
from collections import deque
from typing import ClassVar, NamedTuple

from worldcoder import Action, Obj, Start, State, Step
from worldcoder.errors import WorldError

WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
ACTIONS = [Action(name) for name in (*WAYS, "drop", "wait")]
SIZE = 7
CELLS = [(x, y) for x in range(SIZE) for y in range(SIZE)]
INNER = [(x, y) for x, y in CELLS if 0 < x < SIZE - 1 and 0 < y < SIZE - 1]


class Field(NamedTuple):
    man: tuple
    carried: int
    crates: frozenset
    bombs: frozenset  # ((x, y), fuse)


def beside(cell):
    return {(cell[0] + dx, cell[1] + dy) for dx, dy in WAYS.values()}


def after(now, action, walls, way_out):
    man, carried, crates, bombs = now
    fuses = dict(bombs)
    if action in WAYS:
        to = man[0] + WAYS[action][0], man[1] + WAYS[action][1]
        if to not in walls and to not in crates and to not in fuses:
            man = to
    elif action == "drop" and carried and man not in fuses:
        carried, fuses[man] = carried - 1, 4
    fuses = {cell: fuse - 1 for cell, fuse in fuses.items()}
    going = [cell for cell, fuse in fuses.items() if fuse == 0]
    for cell in going:
        going += [other for other in beside(cell) if other in fuses and other not in going]
    hit = {other for cell in going for other in beside(cell)} | set(going)
    left = crates - hit
    new = Field(man, carried, left, frozenset((c, f) for c, f in fuses.items() if c not in going))
    if man in hit:
        return new, -1.0, True
    if man == way_out:
        return new, 5.0, True
    return new, 0.5 * (len(crates) - len(left)), False


def solved(start, walls, way_out, limit=15000):
    """The number of actions to the exit, or None."""
    depth, queue = {start: 0}, deque([start])
    while queue and len(depth) < limit:
        now = queue.popleft()
        for action in ACTIONS:
            new, reward, done = after(now, action.name, walls, way_out)
            if done and reward > 0:
                return depth[now] + 1
            if not done and new not in depth:
                depth[new] = depth[now] + 1
                queue.append(new)
    return None


class Bombs:
    glyphs: ClassVar = {"Man": "@", "Wall": "#", "Crate": "c", "Bomb": "o", "Exit": "E"}
    now = None

    def reset(self, seed):
        rng = random.Random(seed)
        rim = set(CELLS) - set(INNER)
        while True:
            spots = rng.sample(INNER, 12)
            way_out, man, walls, crates = spots[0], spots[1], rim | set(spots[2:6]), frozenset(spots[6:12])
            start = Field(man, 3, crates, frozenset())
            without = solved(start._replace(carried=0), walls, way_out)
            if without is None and solved(start, walls, way_out):
                break
        self.now, self.walls, self.way_out = start, frozenset(walls), way_out
        return Start(self.state(), "blow up crates and walk to the exit")

    def state(self):
        man, carried, crates, bombs = self.now
        return State(
            [
                Obj("Man", x=man[0], y=man[1], bombs=carried),
                Obj("Exit", x=self.way_out[0], y=self.way_out[1]),
                *(Obj("Wall", x=x, y=y) for x, y in self.walls),
                *(Obj("Crate", x=x, y=y) for x, y in crates),
                *(Obj("Bomb", x=x, y=y, fuse=fuse) for (x, y), fuse in bombs),
            ]
        )

    def actions(self, state):
        return ACTIONS

    def step(self, action):
        if self.now is None or action not in ACTIONS:
            raise WorldError("not now: call reset(seed), then act by one of actions(state)")
        self.now, reward, done = after(self.now, action.name, self.walls, self.way_out)
        state = self.state()
        if done:
            self.now = None
        return Step(state, reward, done, False)


def make_env():
    """A man with three bombs, and crates between him and the exit."""
    return Bombs()

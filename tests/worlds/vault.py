"""Doors that stay open while something lies on every Slab of their colour.

A Guest goes in four ways, unless there is a Wall, a closed Door or a Trunk that cannot go on: he pushes it before him
where the next cell has no Wall, Door or other Trunk. When all have moved, each Door is open if the guest or a trunk is
on every slab of its colour. The guest in a door ends the episode.
"""

import random
from typing import ClassVar

from worldcoder import Action, Obj, Start, State, Step
from worldcoder.errors import WorldError

WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
ACTIONS = [Action(name) for name in WAYS]
WIDTH, HEIGHT = 8, 7


def start(rng):
    walls = [
        (x, y) for x in range(WIDTH) for y in range(HEIGHT) if x in (0, WIDTH - 1) or y in (0, HEIGHT - 1)
    ]
    walls += [(WIDTH - 2, y) for y in range(1, HEIGHT - 1)]
    doors = rng.sample([(WIDTH - 2, y) for y in range(1, HEIGHT - 1)], 2)
    free = [(x, y) for x in range(1, WIDTH - 2) for y in range(1, HEIGHT - 1)]
    inner = [(x, y) for x, y in free if 1 < x < WIDTH - 3 and 1 < y < HEIGHT - 2]
    trunks = rng.sample(inner, 2)
    guest, *slabs = rng.sample([c for c in free if c not in trunks], 4)
    return State(
        [
            *(Obj("Wall", x=x, y=y) for x, y in walls if (x, y) not in doors),
            *(
                Obj("Door", x=x, y=y, color=c, open=False)
                for (x, y), c in zip(doors, ("red", "blue"), strict=True)
            ),
            *(
                Obj("Slab", x=x, y=y, color=c)
                for (x, y), c in zip(slabs, ("red", "blue", "blue"), strict=True)
            ),
            *(Obj("Trunk", x=x, y=y) for x, y in trunks),
            Obj("Guest", x=guest[0], y=guest[1]),
        ]
    )


def solid(state, x, y):
    return state.at(x, y, "Wall") or any(not door.open for door in state.at(x, y, "Door"))


def after(state, action):
    guest, (dx, dy) = state.one("Guest"), WAYS[action.name]
    x, y = guest.x + dx, guest.y + dy
    new = {}
    ahead = state.at(x, y, "Trunk")
    stuck = ahead and (
        solid(state, x + dx, y + dy) or state.at(x + dx, y + dy, "Door") or state.at(x + dx, y + dy, "Trunk")
    )
    if not solid(state, x, y) and not stuck:
        new[guest] = guest.replace(x=x, y=y)
        for trunk in ahead:
            new[trunk] = trunk.replace(x=x + dx, y=y + dy)
    state = State(new.get(o, o) for o in state)
    heavy = {(o.x, o.y) for o in (*state.all("Guest"), *state.all("Trunk"))}
    new = {}
    for door in state.all("Door"):
        slabs = [slab for slab in state.all("Slab") if slab.color == door.color]
        new[door] = door.replace(open=all((slab.x, slab.y) in heavy for slab in slabs))
    state = State(new.get(o, o) for o in state)
    guest = state.one("Guest")
    done = guest.x == WIDTH - 2
    return state, float(done), done


class Vault:
    glyphs: ClassVar = {"Wall": "#", "Door": "D", "Slab": "_", "Trunk": "T", "Guest": "@"}
    now = None

    def reset(self, seed):
        self.now = start(random.Random(seed))
        return Start(self.now, "stand in a door")

    def actions(self, state):
        return ACTIONS

    def step(self, action):
        if self.now is None:
            raise WorldError("reset first")
        self.now, reward, done = after(self.now, action)
        now, self.now = self.now, None if done else self.now
        return Step(now, reward, done, False)


def make_env():
    return Vault()

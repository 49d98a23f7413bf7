"""A dog among sheep.

The Dog walks; Hedges, Rocks and Sheep are in its way. Then each Sheep that is at most two steps from it runs one step
away from it, along the axis on which the dog is farther (along x if neither), if nothing is there; first the one of
least x and y. The episode ends with 1 when a sheep is on the Pen.
"""

import random
from typing import ClassVar

from worldcoder import Action, Obj, Start, State, Step
from worldcoder.errors import WorldError

WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
ACTIONS = [Action(name) for name in (*WAYS, "sit")]
WIDTH, HEIGHT = 8, 7
CELLS = [(x, y) for x in range(WIDTH) for y in range(HEIGHT)]
INNER = [(x, y) for x, y in CELLS if 0 < x < WIDTH - 1 and 0 < y < HEIGHT - 1]


def start(rng):
    spots = rng.sample(INNER, 5)
    kinds = ("Sheep", "Sheep", "Dog", "Pen", "Rock")
    return State(
        [
            *(Obj("Hedge", x=x, y=y) for x, y in CELLS if (x, y) not in INNER),
            *(Obj(kind, x=x, y=y) for kind, (x, y) in zip(kinds, spots, strict=True)),
        ]
    )


def after(state, action):
    new, dog = {}, state.one("Dog")
    taken = {(o.x, o.y) for o in state if o.kind in ("Hedge", "Sheep", "Rock")}
    if action.name in WAYS:
        to = dog.x + WAYS[action.name][0], dog.y + WAYS[action.name][1]
        if to not in taken:
            new[dog] = dog.replace(x=to[0], y=to[1])
    at = new.get(dog, dog)
    taken.add((at.x, at.y))
    for sheep in sorted(state.all("Sheep"), key=lambda sheep: (sheep.x, sheep.y)):
        dx, dy = sheep.x - at.x, sheep.y - at.y
        if abs(dx) + abs(dy) <= 2:
            along = abs(dx) >= abs(dy)
            to = sheep.x + along * ((dx > 0) - (dx < 0)), sheep.y + (not along) * ((dy > 0) - (dy < 0))
            if to not in taken:
                taken = (taken - {(sheep.x, sheep.y)}) | {to}
                new[sheep] = sheep.replace(x=to[0], y=to[1])
    state = State(new.get(o, o) for o in state)
    pen = state.one("Pen")
    done = any(o.kind == "Sheep" for o in state.at(pen.x, pen.y))
    return state, float(done), done


class Herd:
    glyphs: ClassVar = {"Dog": "@", "Sheep": "s", "Hedge": "#", "Rock": "o", "Pen": "P"}
    now = None

    def reset(self, seed):
        self.now = start(random.Random(seed))
        return Start(self.now, "a sheep in the pen")

    def actions(self, state):
        return ACTIONS

    def step(self, action):
        if self.now is None or action not in ACTIONS:
            raise WorldError("not now: call reset(seed), then act by one of actions(state)")
        self.now, reward, done = after(self.now, action)
        state = self.now
        if done:
            self.now = None
        return Step(state, reward, done, False)


def make_env():
    """Two sheep, a rock and a pen."""
    return Herd()

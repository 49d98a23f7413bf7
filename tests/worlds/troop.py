"""Units that are told where to go.

Each action is for one of two Units: it goes one step if it has energy and no Wall or Unit is there, and has one less.
To rest gives each one more, up to 8. A Flag where a unit goes is taken, for 1; without flags the episode ends.
"""

import random
from typing import ClassVar

from worldcoder import Action, Obj, Start, State, Step
from worldcoder.errors import WorldError

WAYS = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}
NAMES = ("ann", "bob")
ACTIONS = [*(Action("move", (name, way)) for name in NAMES for way in WAYS), Action("rest")]
WIDTH, HEIGHT = 7, 6
CELLS = [(x, y) for x in range(WIDTH) for y in range(HEIGHT)]
INNER = [(x, y) for x, y in CELLS if 0 < x < WIDTH - 1 and 0 < y < HEIGHT - 1]


def start(rng):
    a, b, c, d, wall = rng.sample(INNER, 5)
    return State(
        [
            *(Obj("Wall", x=x, y=y) for x, y in CELLS if (x, y) not in INNER or (x, y) == wall),
            *(
                Obj("Unit", name=n, x=x, y=y, energy=rng.randint(2, 8))
                for n, (x, y) in zip(NAMES, (a, b), strict=True)
            ),
            *(Obj("Flag", x=x, y=y) for x, y in (c, d)),
        ]
    )


def after(state, action):
    new, taken = {}, []
    if action.name == "rest":
        new = {unit: unit.replace(energy=min(8, unit.energy + 1)) for unit in state.all("Unit")}
    else:
        unit, (dx, dy) = state.named(action.args[0]), WAYS[action.args[1]]
        to = unit.x + dx, unit.y + dy
        if unit.energy and not any(o.kind in ("Wall", "Unit") for o in state.at(*to)):
            new[unit] = unit.replace(x=to[0], y=to[1], energy=unit.energy - 1)
            taken = state.at(*to, kind="Flag")
    state = State(new.get(o, o) for o in state if o not in taken)
    return state, float(len(taken)), not state.all("Flag")


class Troop:
    glyphs: ClassVar = {"Unit": "@", "Wall": "#", "Flag": "f"}
    now = None

    def reset(self, seed):
        self.now = start(random.Random(seed))
        return Start(self.now, "take the flags")

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
    """Two units and two flags."""
    return Troop()

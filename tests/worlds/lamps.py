"""Lights out.

A Cursor walks over the Lamps. To press switches the one that is here and the four beside it, as long as there are
presses left. When none is lit the episode ends with 1.
"""

import random
from typing import ClassVar

from worldcoder import Action, Obj, Start, State, Step
from worldcoder.errors import WorldError

WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
ACTIONS = [Action(name) for name in (*WAYS, "press")]
SIZE = 4
CELLS = [(x, y) for x in range(SIZE) for y in range(SIZE)]


def start(rng):
    x, y = rng.choice(CELLS)
    lamps = [Obj("Lamp", x=x, y=y, lit=rng.random() < 0.4) for x, y in CELLS]
    return State([*lamps, Obj("Cursor", x=x, y=y, presses=rng.randint(1, 4))])


def after(state, action):
    new, cursor = {}, state.one("Cursor")
    if action.name in WAYS:
        x, y = cursor.x + WAYS[action.name][0], cursor.y + WAYS[action.name][1]
        if (x, y) in CELLS:
            new[cursor] = cursor.replace(x=x, y=y)
    elif cursor.presses:
        new[cursor] = cursor.replace(presses=cursor.presses - 1)
        for lamp in state.all("Lamp"):
            if abs(lamp.x - cursor.x) + abs(lamp.y - cursor.y) <= 1:
                new[lamp] = lamp.replace(lit=not lamp.lit)
    state = State(new.get(o, o) for o in state)
    done = not any(lamp.lit for lamp in state.all("Lamp"))
    return state, float(done), done


class Lamps:
    glyphs: ClassVar = {"Cursor": "@", "Lamp": "o"}
    now = None

    def reset(self, seed):
        self.now = start(random.Random(seed))
        return Start(self.now, "no lamp is lit")

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
    """Sixteen lamps."""
    return Lamps()

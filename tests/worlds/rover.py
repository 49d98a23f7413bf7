"""A rover that turns by degrees, between carts that go as their line says.

The Rover has x, y and a `heading` in degrees: 0 is up, 90 right, 180 down, 270 left. forward takes it one cell in its
heading unless a Wall is there; left and right turn it by a quarter; signal stops all Lines, or lets them run again.
Each Cart is on a `line`, and goes one cell along x by the `drift` of that, -1 or 1, while it `runs`, unless a Wall is
there; the rover does not stop it, nor it the rover. On the Pad the episode ends.
"""

import random
from typing import ClassVar

from worldcoder import Action, Obj, Ref, Start, State, Step
from worldcoder.errors import WorldError

ACTIONS = [Action(name) for name in ("forward", "left", "right", "signal")]
AHEAD = {0: (0, -1), 90: (1, 0), 180: (0, 1), 270: (-1, 0)}
SIZE = 7


def start(rng):
    rim = [(x, y) for x in range(SIZE) for y in range(SIZE) if {x, y} & {0, SIZE - 1}]
    inside = [(x, y) for x in range(1, SIZE - 1) for y in range(1, SIZE - 1)]
    rover, pad, *stones = rng.sample(inside, 4)
    lines = [Obj("Line", name=f"line{y}", drift=rng.choice((-1, 1)), runs=rng.random() < 0.7) for y in (2, 4)]
    carts = [
        Obj("Cart", x=x, y=y, line=Ref(f"line{y}"))
        for y in (2, 4)
        for x in rng.sample(range(1, SIZE - 1), 2)
        if (x, y) not in stones
    ]
    return State([
        *(Obj("Wall", x=x, y=y) for x, y in (*rim, *stones)),
        *lines,
        *carts,
        Obj("Pad", x=pad[0], y=pad[1]),
        Obj("Rover", x=rover[0], y=rover[1], heading=rng.choice(list(AHEAD))),
    ])  # fmt: skip


def after(state, action):
    rover, pad = state.one("Rover"), state.one("Pad")
    walls = {(wall.x, wall.y) for wall in state.all("Wall")}
    lines = {line.name: line for line in state.all("Line")}
    carts = []
    for cart in state.all("Cart"):
        line = state.follow(cart.line)
        there = cart.x + line.drift, cart.y
        carts.append(cart.replace(x=there[0]) if line.runs and there not in walls else cart)
    if action.name == "signal":
        lines = {name: line.replace(runs=not line.runs) for name, line in lines.items()}
    elif action.name == "forward":
        dx, dy = AHEAD[rover.heading]
        if (rover.x + dx, rover.y + dy) not in walls:
            rover = rover.replace(x=rover.x + dx, y=rover.y + dy)
    else:
        rover = rover.replace(heading=(rover.heading + (90 if action.name == "right" else 270)) % 360)
    there = (rover.x, rover.y) == (pad.x, pad.y)
    return State([*state.all("Wall"), *lines.values(), *carts, pad, rover]), float(there), there


class Rover:
    glyphs: ClassVar = {}
    now = None

    def reset(self, seed):
        self.now = start(random.Random(seed))
        return Start(self.now, "drive onto the pad")

    def actions(self, state):
        return ACTIONS

    def step(self, action):
        if self.now is None:
            raise WorldError("reset first")
        self.now, reward, done = after(self.now, action)
        now, self.now = self.now, None if done else self.now
        return Step(now, reward, done, False)


def make_env():
    return Rover()

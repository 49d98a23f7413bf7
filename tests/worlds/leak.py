"""Drops that come and go: in most steps one falls out of sight while another one comes.

A Keeper walks left and right on the bottom row, unless a Wall is there. Every Drop falls by one; where a Wall is below
it, it is gone; where the Keeper stands before the step, he has caught it: it is gone, and `caught` is one more (the
Keeper catches one at a time). Every Pipe counts to `every`; then it begins at 0, and a Drop appears where it is. Three
caught end the episode.
"""

import random
from typing import ClassVar

from worldcoder import Action, Obj, Start, State, Step
from worldcoder.errors import WorldError

WAYS = {"left": -1, "right": 1, "wait": 0}
ACTIONS = [Action(name) for name in WAYS]
WIDTH, HEIGHT = 8, 7
EVERY = 3


def start(rng):
    pipes = rng.sample(range(1, WIDTH - 1), 3)
    return State(
        [
            *(Obj("Wall", x=x, y=HEIGHT - 1) for x in range(WIDTH)),
            *(Obj("Wall", x=x, y=HEIGHT - 2) for x in (0, WIDTH - 1)),
            *(Obj("Pipe", x=x, y=rng.randrange(2), count=rng.randrange(EVERY)) for x in pipes),
            *(Obj("Drop", x=x, y=y) for x, y in {(rng.choice(pipes), rng.randrange(2, 5)) for _ in range(4)}),
            Obj("Keeper", x=rng.randrange(1, WIDTH - 1), y=HEIGHT - 2, caught=0),
        ]
    )


def after(state, action):
    keeper = state.one("Keeper")
    x = keeper.x + WAYS[action.name]
    if state.at(x, keeper.y, "Wall"):
        x = keeper.x
    caught = state.at(keeper.x, keeper.y - 1, "Drop")[:1]
    fallen = [
        drop.replace(y=drop.y + 1)
        for drop in state.all("Drop")
        if drop not in caught and not state.at(drop.x, drop.y + 1, "Wall")
    ]
    pipes = [pipe.replace(count=(pipe.count + 1) % EVERY) for pipe in state.all("Pipe")]
    new = [Obj("Drop", x=pipe.x, y=pipe.y) for pipe in pipes if not pipe.count]
    caught_now = keeper.caught + len(caught)
    walls = state.all("Wall")
    keeper = keeper.replace(x=x, caught=caught_now)
    return State([*walls, *pipes, *fallen, *new, keeper]), float(caught_now >= 3), caught_now >= 3


class Leak:
    glyphs: ClassVar = {"Wall": "#", "Pipe": "T", "Drop": "'", "Keeper": "@"}
    now = None

    def reset(self, seed):
        self.now = start(random.Random(seed))
        return Start(self.now, "catch three drops")

    def actions(self, state):
        return ACTIONS

    def step(self, action):
        if self.now is None:
            raise WorldError("no episode has begun, or it is over; reset first")
        if action not in ACTIONS:
            raise WorldError(f"no such action: {action}")
        state, reward, done = after(self.now, action)
        self.now = None if done else state
        return Step(state, reward, done, False)


def make_env():
    return Leak()

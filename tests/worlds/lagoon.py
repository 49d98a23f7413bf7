"""A lagoon that goes round.

A Boat sails over a field without edges: what leaves on one side comes in on the other. Rocks are in its way. A Fish
where it goes is caught, for 1. Sharks swim by themselves, each `vx` cells along its row; the episode ends with -1 where
one comes to the boat, or without fish.
"""

import random
from typing import ClassVar

from worldcoder import Action, Obj, Start, State, Step
from worldcoder.errors import WorldError

WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
ACTIONS = [Action(name) for name in (*WAYS, "wait")]
WIDTH, HEIGHT = 8, 6
CELLS = [(x, y) for x in range(WIDTH) for y in range(HEIGHT)]


class Lagoon:
    glyphs: ClassVar = {"Boat": "@", "Rock": "#", "Fish": "f", "Shark": "s"}
    now = None

    def reset(self, seed):
        rng = random.Random(seed)
        spots = rng.sample(CELLS, 9)
        kinds = ("Rock", "Rock", "Rock", "Rock", "Fish", "Fish", "Boat")
        things = [Obj(kind, x=x, y=y) for kind, (x, y) in zip(kinds, spots, strict=False)]
        sharks = [Obj("Shark", x=x, y=y, vx=rng.choice((-1, 1))) for x, y in spots[7:]]
        self.now = State([*things, *sharks])
        return Start(self.now, "catch the fish")

    def actions(self, state):
        return ACTIONS

    def step(self, action):
        if self.now is None or action not in ACTIONS:
            raise WorldError("not now: call reset(seed), then act by one of actions(state)")
        boat, caught = self.now.one("Boat"), []
        new = {shark: shark.replace(x=(shark.x + shark.vx) % WIDTH) for shark in self.now.all("Shark")}
        if action.name in WAYS:
            dx, dy = WAYS[action.name]
            to = (boat.x + dx) % WIDTH, (boat.y + dy) % HEIGHT
            if not self.now.at(*to, kind="Rock"):
                new[boat] = boat.replace(x=to[0], y=to[1])
                caught = self.now.at(*to, kind="Fish")
        state = State(new.get(o, o) for o in self.now if o not in caught)
        boat = state.one("Boat")
        eaten = bool(state.at(boat.x, boat.y, kind="Shark"))
        done = eaten or not state.all("Fish")
        self.now = None if done else state
        return Step(state, -1.0 if eaten else float(len(caught)), done, False)


def make_env():
    """A boat among rocks, two fish and two sharks."""
    return Lagoon()

"""An Engine on open ground with numbered Wagons behind it.

It goes north, south, east or west, unless there is a Hill. Each wagon goes where the one before it was, the first where
the engine was. Where a Depot is ahead, the depot is used up as the engine comes, and a wagon more appears where the
last one was; `cars` says how many there are. Three depots end the episode.
"""

import random
from typing import ClassVar

from worldcoder import Action, Obj, Start, State, Step
from worldcoder.errors import WorldError

WAYS = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}
ACTIONS = [Action(name) for name in WAYS]
SIZE = 8


def start(rng):
    rim = [(x, y) for x in range(SIZE) for y in range(SIZE) if {x, y} & {0, SIZE - 1}]
    free = [(x, y) for x in range(2, SIZE - 2) for y in range(1, SIZE - 1)]
    x, y = rng.choice(free)
    cells = [c for c in free if c[1] != y]
    hills = [*rim, rng.choice(cells)]
    depots = rng.sample([c for c in cells if c not in hills], 3)
    return State(
        [
            *(Obj("Hill", x=a, y=b) for a, b in hills),
            *(Obj("Depot", x=a, y=b) for a, b in depots),
            Obj("Wagon", x=x - 1, y=y, number=1),
            Obj("Engine", x=x, y=y, cars=1),
        ]
    )


def after(state, action):
    engine, (dx, dy) = state.one("Engine"), WAYS[action.name]
    x, y = engine.x + dx, engine.y + dy
    if state.at(x, y, "Hill"):
        return state, 0.0, False
    wagons, before = [], engine
    for wagon in sorted(state.all("Wagon"), key=lambda w: w.number):
        wagons.append(wagon.replace(x=before.x, y=before.y))
        before = wagon
    depots = [o for o in state.all("Depot") if (o.x, o.y) != (x, y)]
    cars = engine.cars
    if len(depots) < len(state.all("Depot")):
        cars += 1
        wagons.append(Obj("Wagon", x=before.x, y=before.y, number=cars))
    engine = engine.replace(x=x, y=y, cars=cars)
    return State([*state.all("Hill"), *depots, *wagons, engine]), float(not depots), not depots


class Train:
    glyphs: ClassVar = {"Hill": "^", "Depot": "D", "Wagon": "w", "Engine": "E"}
    now = None

    def reset(self, seed):
        self.now = start(random.Random(seed))
        return Start(self.now, "use every depot")

    def actions(self, state):
        return ACTIONS

    def step(self, action):
        if self.now is None:
            raise WorldError("reset first")
        self.now, reward, done = after(self.now, action)
        now, self.now = self.now, None if done else self.now
        return Step(now, reward, done, False)


def make_env():
    return Train()

"""A farmer who turns and walks at once, and uses what is ahead.

A Farmer (x, y, facing) walks where nothing is, and faces there in any case. To use a Tree gives wood, up to 5; a Bench
makes a hoe of 2 wood; a Plot of grass becomes soil with the hoe, soil is sown with a seed, and what is ripe gives food
and is grass again, for 1. What was sown before the step gets older, and is ripe at 5. Two food end the episode.
"""

import random
from typing import ClassVar

from worldcoder import Action, Obj, Start, State, Step
from worldcoder.errors import WorldError

WAYS = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}
ACTIONS = [Action(name) for name in (*WAYS, "use", "wait")]
PLOTS = [
    {"stage": stage, "age": age}
    for stage, age in (("grass", 0), ("soil", 0), ("sown", 0), ("sown", 3), ("ripe", 5))
]
SIZE = 7
CELLS = [(x, y) for x in range(SIZE) for y in range(SIZE)]
INNER = [(x, y) for x, y in CELLS if 0 < x < SIZE - 1 and 0 < y < SIZE - 1]


def start(rng):
    a, b, bench, *plots, me = rng.sample(INNER, 7)
    mine = {"wood": rng.randint(0, 2), "seeds": rng.randint(1, 3), "hoe": rng.random() < 0.4, "food": 0}
    return State(
        [
            *(Obj("Fence", x=x, y=y) for x, y in CELLS if (x, y) not in INNER),
            *(Obj("Tree", x=x, y=y) for x, y in (a, b)),
            Obj("Bench", x=bench[0], y=bench[1]),
            *(Obj("Plot", x=x, y=y, **rng.choice(PLOTS)) for x, y in plots),
            Obj("Farmer", x=me[0], y=me[1], facing=rng.choice(list(WAYS)), **mine),
        ]
    )


def used(farmer, o):
    """What becomes of the farmer and of what he uses."""
    if o.kind == "Tree" and farmer.wood < 5:
        return farmer.replace(wood=farmer.wood + 1), o
    if o.kind == "Bench" and farmer.wood >= 2 and not farmer.hoe:
        return farmer.replace(wood=farmer.wood - 2, hoe=True), o
    stage = o.stage if o.kind == "Plot" else None
    if stage == "grass" and farmer.hoe:
        return farmer, o.replace(stage="soil")
    if stage == "soil" and farmer.seeds:
        return farmer.replace(seeds=farmer.seeds - 1), o.replace(stage="sown", age=0)
    if stage == "ripe":
        return farmer.replace(food=farmer.food + 1), o.replace(stage="grass", age=0)
    return farmer, o


def after(state, action):
    farmer = state.one("Farmer")
    new = {
        o: o.replace(age=o.age + 1, stage="ripe" if o.age == 4 else "sown")
        for o in state.all("Plot")
        if o.stage == "sown"
    }
    dx, dy = WAYS[action.name if action.name in WAYS else farmer.facing]
    there = state.at(farmer.x + dx, farmer.y + dy)
    if action.name in WAYS:
        new[farmer] = farmer.replace(facing=action.name)
        if not there:
            new[farmer] = new[farmer].replace(x=farmer.x + dx, y=farmer.y + dy)
    elif action.name == "use" and there and there[0] not in new:
        new[farmer], new[there[0]] = used(farmer, there[0])
    state = State(new.get(o, o) for o in state)
    food = state.one("Farmer").food
    return state, float(food - farmer.food), food == 2


class Farm:
    glyphs: ClassVar = {"Farmer": "@", "Fence": "#", "Tree": "t", "Bench": "b", "Plot": "p"}
    now = None

    def reset(self, seed):
        self.now = start(random.Random(seed))
        return Start(self.now, "harvest food")

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
    """Trees, a bench and three plots."""
    return Farm()

"""Any world, disturbed: actions that fail, and observations that are wrong.

    make_env(world="sokoban", failing=0.2)

Of all actions a share does nothing, and is worth nothing. Of all others a share is observed wrongly: one number of one
object is one too high or one too low; the world itself goes on as it should. Which ones is drawn by the level and the
number of the step in its episode, so that the same actions give the same again.
"""

import random

from worldcoder import State, Step
from worldcoder.envs import make


class Noisy:
    def __init__(self, world, failing, wrong):
        self.world, self.failing, self.wrong = world, failing, wrong
        self.glyphs = getattr(world, "glyphs", {})

    def reset(self, seed):
        start = self.world.reset(seed)
        self.now, self.rng = start.state, random.Random(seed)
        return start

    def actions(self, state):
        return self.world.actions(self.now)

    def step(self, action):
        if self.rng.random() < self.failing:
            return Step(self.now, 0.0, False, False)
        step = self.world.step(action)
        self.now = step.state
        return step._replace(state=self.misread(step.state)) if self.rng.random() < self.wrong else step

    def misread(self, state):
        objects = list(state)
        i = self.rng.randrange(len(objects))
        numbers = [name for name, value in objects[i].attributes.items() if type(value) is int]
        if numbers:
            name = self.rng.choice(numbers)
            value = objects[i].attributes[name] + self.rng.choice((-1, 1))
            objects[i] = objects[i].replace(**{name: value})
        return State(objects)


def make_env(*, world: str = "sokoban", failing: float = 0.0, wrong: float = 0.0):
    return Noisy(make(world), failing, wrong)

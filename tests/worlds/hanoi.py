"""Towers of Hanoi.

Three named Pegs; one is the `target`. Four Discs of sizes 1 to 4, each `on` a peg (a reference). The top of a peg is
its smallest disc.

move(a, b)   The top disc of peg a goes to peg b, if there is one and b has no smaller disc: reward -0.01.
             Otherwise nothing changes and the reward is -0.1.

When all discs are on the target the episode ends and the reward is 1. Seeds differ in where the discs begin and in
which peg is the target. An episode is cut off after 120 moves.
"""

import itertools
import random

from worldcoder import Action, Obj, Ref, Start, State, Step
from worldcoder.errors import WorldError

PEGS = ("left", "middle", "right")
ACTIONS = [Action("move", pair) for pair in itertools.permutations(PEGS, 2)]
SIZES = (1, 2, 3, 4)


class Hanoi:
    discs = None

    def reset(self, seed):
        rng = random.Random(f"hanoi-{seed}")
        self.target = rng.choice(PEGS)
        while True:
            discs = {size: rng.choice(PEGS) for size in SIZES}
            if 5 <= self.distance(discs) <= 14:
                break
        self.discs = discs
        self.moves = 0
        return Start(self.state(), "all discs on the target peg")

    def distance(self, discs):
        """The least number of moves to the target."""
        total, goal = 0, self.target
        for size in reversed(SIZES):
            if discs[size] != goal:
                total += 2 ** (size - 1)
                (goal,) = set(PEGS) - {goal, discs[size]}
        return total

    def state(self):
        pegs = [Obj("Peg", name=peg, target=peg == self.target) for peg in PEGS]
        return State(pegs + [Obj("Disc", size=size, on=Ref(peg)) for size, peg in self.discs.items()])

    def actions(self, state):
        return ACTIONS

    def top(self, peg):
        return min((size for size, on in self.discs.items() if on == peg), default=99)

    def step(self, action):
        if self.discs is None or action not in ACTIONS:
            raise WorldError(f"cannot do {action}; reset(seed) begins, and then move(peg, peg)")
        a, b = action.args
        reward, disc = -0.1, self.top(a)
        if disc < self.top(b):
            reward = -0.01
            self.discs = {**self.discs, disc: b}
        self.moves += 1
        done = all(peg == self.target for peg in self.discs.values())
        truncated = not done and self.moves >= 120
        state = self.state()
        if done or truncated:
            self.discs = None
        return Step(state, 1.0 if done else reward, done, truncated)


def make_env():
    """Four discs on three pegs."""
    return Hanoi()

"""Lights out on a graph.

Six named Lamps are `lit` or not, and Wires each join two of them (`one` and `other`, references). A lamp may be
`sealed`: it shines like others, but has no button.

press(lamp)  If the lamp is sealed, nothing happens, reward -0.5. Otherwise it and every lamp that is joined to it by
             a wire change between lit and dark; reward 0.

When all lamps are lit, the episode ends with reward 1. Seeds differ in wires, seals and lamps.
"""

import itertools
from typing import ClassVar, NamedTuple

from worldcoder import Action, Ref
from worldcoder.envs.lab.base import LabWorld, Outcome, thing

NAMES = ("a", "b", "c", "d", "e", "f")


class Board(NamedTuple):
    lit: frozenset
    sealed: frozenset
    wires: frozenset


class Circuit(LabWorld[Board]):
    world = "circuit"
    goal = "make every lamp lit"
    glyphs: ClassVar = {}
    moves = tuple(Action("press", (name,)) for name in NAMES)
    lengths = range(3, 7)

    def draft(self, rng):
        pairs = list(itertools.combinations(NAMES, 2))
        return Board(
            frozenset(name for name in NAMES if rng.random() < 0.4),
            frozenset(rng.sample(NAMES, rng.choice([1, 1, 2]))),
            frozenset(rng.sample(pairs, rng.choice([5, 6, 7]))),
        )

    def after(self, now, action):
        (lamp,) = action.args
        if lamp in now.sealed:
            return Outcome(now, -0.5)
        changed = {lamp}
        for one, other in now.wires:
            if one == lamp:
                changed.add(other)
            if other == lamp:
                changed.add(one)
        now = now._replace(lit=now.lit ^ changed)
        done = len(now.lit) == len(NAMES)
        return Outcome(now, 1.0 if done else 0.0, done)

    def objects(self, now):
        return [thing("Lamp", name=n, lit=n in now.lit, sealed=n in now.sealed) for n in NAMES]

    def scenery(self, level):
        return [thing("Wire", one=Ref(a), other=Ref(b)) for a, b in level.wires]


def make_env():
    """Six lamps, joined by wires."""
    return Circuit(max_steps=100)

"""Kinds whose things come and go while others of them stay: how they go, and so which of them is which after a step.

In a step in which one drop falls out of sight and another one appears there are as many as before; where drops fall
below each other, one takes the place of another. Nothing in the two states tells that from a drop that leapt or one
that stayed. What all steps together tell is how such things go; that says which is which, and is read from it anew
(as in hard expectation maximisation, Celeux & Govaert 1992).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from worldcoder.synthesis.rules.matching import Became, Ways, becomes, ways_in
from worldcoder.world.values import State, Transition

_ROUNDS = 3
"""Times that ways and matches are read from each other."""
_GROWTH = 1.5
"""How many times as many steps there have to be before that is done anew."""


class Comings:
    """Which kinds things without names were seen to come of in one step and to go of in another.

    fleeting: these kinds, and how their things go.
    """

    def __init__(self) -> None:
        self.fleeting: Mapping[str, Ways] = {}
        self._came: set[str] = set()
        self._went: set[str] = set()
        self._steps: list[tuple[State, State]] = []
        self._due = 0

    def note(self, transition: Transition) -> bool:
        """Take in a step; whether what became of things in earlier ones is seen in another way now."""
        before, after = _nameless(transition.state), _nameless(transition.next_state)
        self._came.update(kind for kind in after if after[kind] > before[kind])
        self._went.update(kind for kind in before if before[kind] > after[kind])
        self._steps.append((transition.state, transition.next_state))
        kinds = self._came & self._went
        if not kinds or (kinds <= self.fleeting.keys() and len(self._steps) < self._due):
            return False
        self._due = int(_GROWTH * len(self._steps)) + 1
        matches = self._matches(self.fleeting)
        ways, again = self.fleeting, matches
        for _ in range(_ROUNDS):
            ways = {kind: ways_in(self._steps, again, kind) for kind in sorted(kinds)}
            latest, again = again, self._matches(ways)
            if again == latest:
                break
        if again == matches and kinds <= self.fleeting.keys():
            return False
        self.fleeting = ways
        return True

    def _matches(self, ways: Mapping[str, Ways]) -> list[Became]:
        return [becomes(before, after, ways) for before, after in self._steps]


def _nameless(state: State) -> Counter[str]:
    return Counter(o.kind for o in state.objects if o.name is None)

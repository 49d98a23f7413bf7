"""How much a step would teach: what is not known of it, and how often steps of that sort taught something so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal

from worldcoder.synthesis.rules.novelty import Doubt

Sort = Literal["unseen", "lonely", "disputed", "unpaired", "usual"]
"""Something was never met; what the step led to needed a rule of its own, as with many others; hypotheses disagree;
things were never met together, or it is not known where it leads; any of these around an action that always did the
same, whatever was around."""

BEFORE: Mapping[Sort, float] = {"unseen": 3.0, "lonely": 2.5, "disputed": 2.0, "unpaired": 1.0, "usual": 0.3}
"""What a step of each sort is worth before any was tried."""
NAMED = 2.0
"""How many times as much what the goal speaks of is worth, where it was never met."""
_TRUST = 3.0
"""Surprising steps of each sort that are supposed to have been tried already."""


class Interest:
    """Says what steps are worth. A sort of steps that surprised seldom so far is worth less.

    What was never met stays as it is: there is an end to it, and there is none to what may be disputed.
    """

    def __init__(self) -> None:
        self._tried: Counter[Sort] = Counter()
        self._surprised: Counter[Sort] = Counter()

    def note(self, sort: Sort, *, surprised: bool) -> None:
        """One step of a sort was tried."""
        self._tried[sort] += 1
        self._surprised[sort] += surprised

    def rate(self, sort: Sort) -> float:
        """How often steps of a sort surprise: 1 before any was tried."""
        if sort == "unseen":
            return 1.0
        return (_TRUST + self._surprised[sort]) / (_TRUST + self._tried[sort])

    def of(self, sort: Sort) -> float:
        """What a step of a sort is worth now."""
        return BEFORE[sort] * self.rate(sort)


def sort_of(doubt: Doubt, *, usual: bool = False) -> Sort | None:
    """What is not known of a step; None: nothing. usual: its action always did the same, whatever was around."""
    if doubt.unseen and not usual:
        return "unseen"
    if doubt.disputed:
        return "disputed"
    known = not (doubt.unseen or doubt.pairs or doubt.lost)
    return None if known else "usual" if usual else "unpaired"

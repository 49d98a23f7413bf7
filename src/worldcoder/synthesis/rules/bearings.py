"""Where the avatar heads: by its actions, by an attribute that says so, or along the one axis that actions tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from worldcoder.synthesis.rules.headings import Remembered
from worldcoder.synthesis.rules.statistics import Vector, Verb, complete, is_sure, majority, steered, suppose

if TYPE_CHECKING:
    from worldcoder.synthesis.rules.vocabulary import Vocabulary

_MOST_FACINGS = 8
_PURE = 0.6
"""The share of moves that actions have to tell, if they tell where the avatar heads,"""
_ENOUGH = 4
"""once there were more moves than so many."""


def find_bearings(
    vocabulary: Vocabulary,
    by_verb: Mapping[Verb, Counter[Vector]],
    by_value: Mapping[str, Mapping[Any, Counter[Vector]]],
    remembered: Remembered,
    *,
    turned_round: bool,
) -> None:
    """Conclude where the avatar heads, from its displacements by action and by the values of its attributes."""
    steps, purity = majority(by_verb)
    best = purity
    for attribute, moves in by_value.items():
        if 1 < len(moves) <= _MOST_FACINGS:
            facings, share = majority(moves)
            if share > best + 0.05 and len(set(facings.values())) > 1:
                best, vocabulary.facing, vocabulary.facings = share, attribute, facings
    if vocabulary.facing is not None:
        facings = vocabulary.facings
        known = vocabulary.values.get((vocabulary.avatar or "", vocabulary.facing), {})
        complete(facings, [v for v in known if v not in facings])
        vocabulary.assumed = suppose(
            facings, [v for v in known if v not in facings], turned_round=turned_round
        )
        return
    own = {verb: to for verb, to in steps.items() if verb in vocabulary.movers}
    found = {
        verb: to for verb, to in steps.items() if verb in own or is_sure(by_verb[verb], to, own.values())
    }
    aslant = None if vocabulary.avatar in vocabulary.headings else steered(by_verb)
    if aslant is not None:
        found, vocabulary.sways = aslant
    elif purity < _PURE and sum(moves.total() for moves in by_verb.values()) > _ENOUGH:
        found = {}
    complete(found, [v for v in vocabulary.verbs if v not in steps and v not in vocabulary.with_objects])
    vocabulary.remembers, vocabulary.remembered = remembered.found(vocabulary.avatar or "", found) or (
        None,
        {},
    )
    if vocabulary.remembers:  # what never moved it, and heads as another action, is done to what is ahead
        found = {v: to for v, to in found.items() if v in own or to not in own.values()}
    vocabulary.steps = found

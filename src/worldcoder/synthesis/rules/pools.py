"""Which kinds share their rules: those that have the same attributes, and those that the same rules explain.

A thing that is carried goes where its bearer says, whatever else can be said of it. So where the rules for some kinds
explain all that was seen of others, one list is learned for both, and what happens to the others is known before it was
seen. They are told apart again where one list with exceptions by kind is longer than two.
"""

from __future__ import annotations

from collections.abc import Mapping

from worldcoder.synthesis.rules.lists import Literals, search
from worldcoder.synthesis.rules.rows import Rows
from worldcoder.synthesis.rules.scene import PLACE
from worldcoder.synthesis.rules.targets import CONTRADICTION_COST, EXISTS, Target, TargetKey, changing
from worldcoder.synthesis.rules.vocabulary import Vocabulary

Name = tuple[tuple[str, ...], str]
"""The kinds and the attribute."""
_Part = tuple[str, tuple[str, ...]]
"""What is decided, and the attributes that the kinds have of which it is decided."""


class Pools:
    """What was found so far."""

    def __init__(self) -> None:
        self._joined: dict[_Part, _Part] = {}  # to what it was joined
        self._apart: set[frozenset[_Part]] = set()  # what was joined once, and is told apart

    def names(self, vocabulary: Vocabulary) -> list[Name]:
        """The kinds and the attribute of all that changes."""
        pools: dict[object, Name] = {}
        for kinds, attribute in changing(vocabulary):
            part = attribute, vocabulary.attributes_of(kinds[0])
            shared = attribute in (PLACE, EXISTS) and kinds != (vocabulary.avatar,)
            key = self._joined.get(part, part) if shared else (kinds, attribute)
            before, _ = pools.get(key, ((), attribute))
            pools[key] = (*before, *kinds), attribute
        return list(pools.values())

    def reconsider(
        self, targets: Mapping[TargetKey, Target], vocabulary: Vocabulary, literals: Literals
    ) -> bool:
        """Join two pools, or tell those of one apart; whether anything is to be read anew."""
        some = [
            target
            for target in targets.values()
            if target.attribute in (PLACE, EXISTS)
            and target.pool != (vocabulary.avatar,)
            and target.follows is None
            and target.leads is None
        ]
        for target in some:
            parts = self._parts(target, vocabulary)
            if len(parts) > 1 and _is_shorter_apart(target, parts, literals):
                self._apart |= {frozenset((a, b)) for a in parts for b in parts if a != b}
                for part in parts:
                    self._joined.pop(part, None)
                return True
        for i, one in enumerate(some):
            for other in some[i + 1 :]:
                if self._may_join(one, other, vocabulary) and (
                    _explains(one, other) or _explains(other, one)
                ):
                    parts = {**self._parts(one, vocabulary), **self._parts(other, vocabulary)}
                    first = next(iter(parts))
                    self._joined |= dict.fromkeys(parts, first)
                    return True
        return False

    @staticmethod
    def _parts(target: Target, vocabulary: Vocabulary) -> dict[_Part, list[str]]:
        """The kinds of a pool by the attributes that they have."""
        parts: dict[_Part, list[str]] = {}
        for kind in target.pool:
            parts.setdefault((target.attribute, vocabulary.attributes_of(kind)), []).append(kind)
        return parts

    def _may_join(self, one: Target, other: Target, vocabulary: Vocabulary) -> bool:
        if (one.attribute, one.phase, one.in_turn) != (other.attribute, other.phase, other.in_turn):
            return False
        mine, its = self._parts(one, vocabulary), self._parts(other, vocabulary)
        return not any(frozenset((a, b)) in self._apart for a in mine for b in its)


def _explains(one: Target, other: Target) -> bool:
    """Whether the rules for some explain all that was seen of others."""
    if one.rows.contradictions or other.rows.contradictions:
        return False
    best = one.lists[0]
    return all(best.effect(row.mask) in row.effects for row in other.rows.by_mask.values())


def _is_shorter_apart(target: Target, parts: Mapping[_Part, list[str]], literals: Literals) -> bool:
    """Whether a list for each part is shorter than one for all."""
    of_kind = {kind: literals.mask([("kind", "self", kind)]) for kinds in parts.values() for kind in kinds}
    conditions = [rule.condition for rule in target.lists[0].rules]
    if not target.rows.contradictions and not any(c & m for c in conditions for m in of_kind.values()):
        return False
    length = 0.0
    for kinds in parts.values():
        wanted = sum(of_kind[kind] for kind in kinds)
        rows = Rows()
        rows.by_mask = {mask: row for mask, row in target.rows.by_mask.items() if mask & wanted}
        length += search(rows, literals, beam=0)[0].cost + CONTRADICTION_COST * len(rows.contradictions)
    return length < target.length

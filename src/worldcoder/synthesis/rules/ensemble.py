"""Which of many lists that fit are kept: those that say different things somewhere, the cheapest of each sort.

Most lists that fit as well as the best differ from it in words alone: the place two steps ahead of the avatar is the
place one step ahead of the box that stands before it. What differs is seen where steps were imagined so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from worldcoder.synthesis.rules.effects import Effect, apply_effect
from worldcoder.synthesis.rules.language import Context
from worldcoder.synthesis.rules.lists import DecisionList, bits
from worldcoder.synthesis.rules.scene import Thing

Probe = tuple[Context, int]
"""A context that was imagined, and the literals that are true in it."""


def varied(
    lists: Sequence[DecisionList], probes: Sequence[Probe], attribute: str | None, keep: int
) -> list[DecisionList]:
    """So many of the lists, cheapest first: the cheapest of those that say the same of all probes, then the others.

    lists: cheapest first. attribute: what the effects change; None where effects are outcomes themselves.
    """
    if len(lists) <= keep:
        return list(lists)
    signatures = _Signatures(probes, attribute)
    first: dict[Any, DecisionList] = {}
    others: list[DecisionList] = []
    for one in lists:
        if first.setdefault(signatures.of(one), one) is not one:
            others.append(one)
    chosen = [*first.values()][:keep]
    chosen += others[: keep - len(chosen)]
    return sorted(chosen, key=lambda one: one.cost)


class _Signatures:
    """What lists say of the probes."""

    def __init__(self, probes: Sequence[Probe], attribute: str | None) -> None:
        self._probes = probes
        self._attribute = attribute
        self._everything = (1 << len(probes)) - 1
        self._columns: dict[int, int] = {}
        self._outcomes: dict[Effect, list[tuple[int, int]]] = {}
        self._known: list[dict[Any, int]] = [{} for _ in probes]  # outcomes met at a probe, numbered

    def of(self, one: DecisionList) -> tuple[tuple[int, int], ...]:
        """The same for lists that say the same: for each number of an outcome, the probes where it is said."""
        remaining, said = self._everything, dict[int, int]()
        for rule in one.rules:
            cover = remaining
            for literal in bits(rule.condition):
                cover &= self._column(literal)
            for number, where in self._outcome(rule.effect) if cover else ():
                if cover & where:
                    said[number] = said.get(number, 0) | cover & where
            remaining &= ~cover
        return tuple(sorted(said.items()))

    def _column(self, literal: int) -> int:
        """The probes in which a literal is true."""
        found = self._columns.get(literal)
        if found is None:
            found = sum(1 << i for i, (_, mask) in enumerate(self._probes) if mask >> literal & 1)
            self._columns[literal] = found
        return found

    def _outcome(self, effect: Effect) -> list[tuple[int, int]]:
        """For each number that the outcome of an effect has, the probes where it has it."""
        found = self._outcomes.get(effect)
        if found is None:
            where: dict[int, int] = {}
            for i, (context, _) in enumerate(self._probes):
                known = self._known[i]
                number = known.setdefault(self._made(context, effect), len(known))
                where[number] = where.get(number, 0) | 1 << i
            found = self._outcomes[effect] = list(where.items())
        return found

    def _made(self, context: Context, effect: Effect) -> Any:
        if self._attribute is None:
            return effect
        value = apply_effect(context, self._attribute, effect)
        return ("thing", value.index) if isinstance(value, Thing) else (type(value), value)

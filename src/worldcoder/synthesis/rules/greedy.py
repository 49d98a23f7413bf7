"""Greedy decision lists, for rows that no list explains as a whole.

Each rule is the one that gains most: the rows that it explains and those before it do not, less the rows that it
spoils, by what they are worth, less what it costs to say it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from worldcoder.synthesis.rules.effects import KEEP, Effect
from worldcoder.synthesis.rules.lists import RULE_COST, Literals, Rule, bits

Worth = Callable[[int], float]
"""Nats that a set of rows is worth."""
_LONGEST = 4
_BEAM = 6


class Chosen(NamedTuple):
    """A rule, the rows that it decides, and its description length."""

    rule: Rule
    cover: int
    cost: float


class Greedy:
    """Rows as columns: for each literal and each effect, the rows it holds in or explains, as bits.

    cases: for each row the literals that are true and the effects that explain it, with their costs. default: what
    happens where no rule applies. rule_cost: of a rule besides its literals and its effect.
    """

    def __init__(
        self,
        cases: Iterable[tuple[int, Mapping[Effect, float]]],
        literals: Literals,
        default: Effect = KEEP,
        rule_cost: float = RULE_COST,
    ) -> None:
        self.default = default
        self._rule_cost = rule_cost
        self.explained: dict[Effect, int] = {}
        self.price: dict[Effect, float] = {}
        self._columns: dict[int, int] = {}
        rows = 0
        for i, (mask, effects) in enumerate(cases):
            rows += 1
            for literal in bits(mask):
                self._columns[literal] = self._columns.get(literal, 0) | 1 << i
            for effect, cost in effects.items():
                self.explained[effect] = self.explained.get(effect, 0) | 1 << i
                self.price[effect] = max(cost, self.price.get(effect, 0.0))
        self.everything = (1 << rows) - 1
        self.fine = self.explained.get(default, 0)
        cheapest: dict[int, int] = {}
        for literal, column in self._columns.items():
            known = cheapest.get(column)
            if column != self.everything and (known is None or literals.cost[literal] < literals.cost[known]):
                cheapest[column] = literal
        self._choice = [(literal, column, literals.cost[literal]) for column, literal in cheapest.items()]

    def commonest(self, rows: int, most: int) -> list[Effect]:
        """The effects that explain most of some rows."""
        return sorted(self.explained, key=lambda e: -(self.explained[e] & rows).bit_count())[:most]

    def rules(
        self, worth: Worth, among: Callable[[int], Sequence[Effect]], most_rules: int
    ) -> Iterator[Chosen]:
        """One rule after the other, as long as one gains anything. among: the effects looked at for what is left."""
        left = self.everything
        for _ in range(most_rules):
            best: tuple[float, Chosen] | None = None
            for effect in among(left):
                if effect != self.default:
                    gained, chosen = self._grow(left, effect, left & ~self.fine, self.fine, worth)
                    if gained > 0 and (best is None or gained > best[0]):
                        best = gained, chosen
            if best is None:
                return
            yield best[1]
            left &= ~best[1].cover

    def exception(self, rules: Sequence[Rule], worth: Worth, most: int) -> Chosen | None:
        """The rule that gains most before all others; None where none gains anything. most: effects looked at."""
        missed = self.missed(rules)
        best: tuple[float, Chosen | None] = 0.0, None
        for effect in self.commonest(missed, most):
            if self.explained[effect] & missed:
                found = self._grow(self.everything, effect, missed, ~missed, worth)
                best = max(best, found, key=lambda one: one[0])
        return best[1]

    def missed(self, rules: Iterable[Rule]) -> int:
        """The rows that a list does not explain."""
        left, wrong = self.everything, 0
        for rule, cover in self.decided(rules):
            wrong |= cover & ~self.explained[rule.effect]
            left &= ~cover
        return wrong | left & ~self.fine

    def decided(self, rules: Iterable[Rule]) -> Iterator[tuple[Rule, int]]:
        """The rules of a list, each with the rows that it decides."""
        left = self.everything
        for rule in rules:
            cover = left
            for literal in bits(rule.condition):
                cover &= self._columns.get(literal, 0)
            left &= ~cover
            yield rule, cover

    def _grow(self, left: int, effect: Effect, wrong: int, right: int, worth: Worth) -> tuple[float, Chosen]:
        """The rule that gains most for an effect, and how much. wrong, right: what is explained without it or not."""
        base = self._rule_cost + self.price[effect]
        wanted, spoiled = self.explained[effect] & wrong, right & ~self.explained[effect]

        def gain(cover: int, cost: float) -> float:
            return worth(cover & wanted) - worth(cover & spoiled) - cost

        beam: list[tuple[float, int, int, float]] = [(gain(left, base), 0, left, base)]
        best = beam[0]
        for _ in range(_LONGEST):
            following: dict[int, tuple[float, int, int, float]] = {}
            for _, condition, cover, cost in beam:
                for literal, column, price in self._choice:
                    both = cover & column
                    if both == cover or not both & wanted:
                        continue
                    gained = gain(both, cost + price)
                    known = following.get(both)
                    if known is None or gained > known[0]:
                        following[both] = gained, condition | 1 << literal, both, cost + price
            beam = sorted(following.values(), key=lambda one: -one[0])[:_BEAM]
            if not beam:
                break
            best = max(best, beam[0], key=lambda one: one[0])
        gained, condition, cover, cost = best
        return gained, Chosen(Rule(condition, effect), cover, cost)

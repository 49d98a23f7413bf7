"""Lists of exceptions: one effect is the rule, and everything else is said by as few conditions as possible.

Greedy set covering (Chvátal 1979): the next rule is the one that costs least for each row it covers; its condition is
grown literal by literal in a beam, so that it holds in rows that need its effect and in none that need another
one (as in Clark & Niblett 1989).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from worldcoder.synthesis.rules.effects import Effect

_BEAM = 10
_LONGEST = 4
_STARTS = 3
_MOST_RULES = 24

Condition = tuple[int, Effect]
"""A mask of literals, and the effect where they hold."""
_Grown = tuple[float, int, int, float]  # score, condition, cover, price


class Covering:
    """The rows as columns.

    columns: literals with the rows they hold in. cost: of each literal. explained: the rows that an effect explains;
    of effects that explain the same rows one is enough. effect_cost: of each effect. rule_cost: of each rule.
    """

    def __init__(
        self,
        columns: Sequence[tuple[int, int]],
        cost: Sequence[float],
        explained: Mapping[Effect, int],
        effect_cost: Mapping[Effect, float],
        everything: int,
        rule_cost: float,
    ) -> None:
        self._columns = columns
        self._cost = cost
        self._explained = explained
        self._effect_cost = effect_cost
        self._everything = everything
        self._rule_cost = rule_cost

    def lists(self) -> Iterator[tuple[tuple[Condition, ...], float]]:
        """Lists that explain all rows, with their costs; the last condition of each is empty."""
        common = sorted(self._explained, key=lambda effect: -self._explained[effect].bit_count())
        for default in common[:2]:
            for start in range(_STARTS):
                found = self._cover(default, start)
                if found is None:
                    break
                yield found

    def _cover(self, default: Effect, start: int) -> tuple[tuple[Condition, ...], float] | None:
        remaining = self._everything
        rules: list[Condition] = []
        total = self._effect_cost[default]
        fine = self._explained[default]
        while remaining & ~fine:
            if len(rules) >= _MOST_RULES:
                return None
            choice = start if not rules else 0
            found = self._best(remaining, fine)
            if len(found) <= choice:
                return None
            _, condition, effect, cover, price = found[choice]
            rules.append((condition, effect))
            total += price
            remaining &= ~cover
        return (*rules, (0, default)), total

    def _best(self, remaining: int, fine: int) -> list[tuple[float, int, Effect, int, float]]:
        """The rules that cost least for what they cover: ratio, condition, effect, cover, price."""
        found = []
        for effect, explained in self._explained.items():
            wanted = remaining & explained & ~fine
            if wanted:
                for condition, cover, price in self._grow(remaining, wanted, remaining & ~explained):
                    total = price + self._rule_cost + self._effect_cost[effect]
                    ratio = total / (cover & wanted).bit_count()
                    found.append((ratio, condition, effect, cover, total))
        found.sort(key=lambda one: (one[0], one[4], -one[3].bit_count()))
        return found[: _STARTS + 1]

    def _grow(self, remaining: int, wanted: int, wrong: int) -> list[tuple[int, int, float]]:
        """Conditions that hold in rows that are wanted, and in none that are wrong: with cover and price."""
        if not wrong:
            return [(0, remaining, 0.0)]
        columns = [(literal, column) for literal, column in self._columns if column & wanted]
        beam: list[_Grown] = [(0.0, 0, remaining, 0.0)]
        pure: list[tuple[int, int, float]] = []
        for _ in range(_LONGEST):
            following: dict[int, _Grown] = {}
            for _, condition, cover, price in beam:
                bad = (cover & wrong).bit_count()
                for literal, column in columns:
                    good = (cover & column & wanted).bit_count()
                    if not good:
                        continue
                    both = cover & column
                    left = (both & wrong).bit_count()
                    if left >= bad:
                        continue
                    total = price + self._cost[literal]
                    score = total - 4.0 * math.log1p(good) + 3.0 * math.log1p(left)
                    known = following.get(both)
                    if known is None or score < known[0]:
                        following[both] = (score, condition | 1 << literal, both, total)
            grown = sorted(following.values(), key=lambda one: one[0])
            pure += [one[1:] for one in grown if not one[2] & wrong][:_BEAM]
            beam = [one for one in grown if one[2] & wrong][:_BEAM]
            if not beam or (
                pure and beam[0][0] > min(p - 4.0 * math.log1p(c.bit_count()) for _, c, p in pure)
            ):
                break
        return pure

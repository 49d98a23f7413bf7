"""Lists of exceptions: one effect is the rule, and everything else is said by as few conditions as possible.

Greedy set covering (Chvátal 1979): the next rule is the one that costs least for each row it covers, or else the
one that covers most; its condition is grown literal by literal in a beam, so that it holds in rows that need its
effect and in none that need another one (as in Clark & Niblett 1989). Rules that later ones make needless go.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from worldcoder.synthesis.rules.effects import Effect
from worldcoder.synthesis.rules.packed import Floats, Words, ascending, overlaps, pack

_BEAM = 10
_WHOLE = 5
_LONGEST = 5
_STARTS = 3
_MOST_RULES = 24
_LONG = 8
"""Rules from which on a list is not looked for in many ways."""
_MOST_EFFECTS = 10
_FAR = 1.25
"""By what part of them there have to be more rules than allowed."""

Condition = tuple[int, Effect]
"""A mask of literals, and the effect where they hold."""
_Grown = tuple[int, int, float]
"""A condition, the rows it holds in, and what its literals cost."""


class Covering:
    """The rows as columns.

    columns: literals with the rows they hold in. cost: of each literal. explained: the rows that an effect explains;
    of effects that explain the same rows one is enough. effect_cost: of each effect. rule_cost: of a rule besides both.
    most_rules: longer lists are not looked for.
    """

    def __init__(
        self,
        columns: Sequence[tuple[int, int]],
        cost: Sequence[float],
        explained: Mapping[Effect, int],
        effect_cost: Mapping[Effect, float],
        everything: int,
        rule_cost: Callable[[int, Effect], float],
        most_rules: int = _MOST_RULES,
    ) -> None:
        self._columns = columns
        self._cost = cost
        self._explained = explained
        self._effect_cost = effect_cost
        self._everything = everything
        self._rule_cost = rule_cost
        self._most_rules = min(most_rules, _MOST_RULES)
        self._found: dict[tuple[int, int], list[tuple[float, int, Effect, int, float]]] = {}
        self.effort = 0  # how often a literal was looked at in some rows
        self._least: dict[Effect, float] = {}  # what a rule with an effect costs at least
        rows = everything.bit_count() + 1
        self._gain = 4.0 * np.log1p(np.arange(rows))
        self._loss = 3.0 * np.log1p(np.arange(rows))
        self._words = -(-rows // 64)

    def lists(self) -> Iterator[tuple[tuple[Condition, ...], float]]:
        """Lists that explain all rows, with their costs; the last condition of each is empty."""
        common = sorted(self._explained, key=lambda effect: -self._explained[effect].bit_count())
        starts = ((0, False), (0, True), *((n, False) for n in range(1, _STARTS)))
        for default in common[:2]:
            for start, widest in starts:
                found = self._cover(default, start, widest)
                if found is not None:
                    yield found
                    yield from self._said_last(found[0])
                if found is None or len(found[0]) > _LONG:  # what is learned by heart is not said much better
                    starts = starts[:2]
                    if start or widest:
                        break

    def _said_last(self, rules: Sequence[Condition]) -> Iterator[tuple[tuple[Condition, ...], float]]:
        """The same, with what has one of the effects said anew when all else is: then fewer words may do for it."""
        default = rules[-1][1]
        for effect, n in Counter(effect for _, effect in rules[:-1]).items():
            others = [rule for rule in rules[:-1] if rule[1] != effect]
            found = self._cover(default, 0, False, others) if n > 1 and others else None
            if found is not None and self._explains(found[0], [self._holds(c) for c, _ in found[0]]):
                yield found

    def _cover(
        self, default: Effect, start: int, widest: bool, begun: Sequence[Condition] = ()
    ) -> tuple[tuple[Condition, ...], float] | None:
        remaining = self._everything
        rules: list[Condition] = []
        total = self._effect_cost[default]
        fine = self._explained[default]
        for condition, effect in begun:
            rules.append((condition, effect))
            total += self._whole_price(condition, effect)
            remaining &= ~self._holds(condition)
        at_first = (remaining & ~fine).bit_count()
        while remaining & ~fine:
            if len(rules) >= self._most_rules or self._is_hopeless(len(rules), at_first, remaining & ~fine):
                return None
            choice = start if not rules else 0
            found = self._best(remaining, fine, widest)
            if len(found) <= choice:
                return None
            _, condition, effect, cover, price = found[choice]
            if not condition:  # it explains all that is left
                total += self._effect_cost[effect] - self._effect_cost[default]
                return self._reduced([*rules, (0, effect)], total)
            rules.append((condition, effect))
            total += price
            remaining &= ~cover
        return self._reduced([*rules, (0, default)], total)

    def _is_hopeless(self, rules: int, at_first: int, left: int) -> bool:
        """Whether the rules would be far too many, if those to come cover as much as those that there are."""
        done = at_first - left.bit_count()
        return rules >= _LONG and rules * at_first > _FAR * self._most_rules * done

    def _reduced(self, rules: list[Condition], total: float) -> tuple[tuple[Condition, ...], float]:
        """The list without rules whose rows the later ones explain as well."""
        covers = [self._holds(condition) for condition, _ in rules]
        i = 0
        while i < len(rules) - 1:
            if self._explains([*rules[:i], *rules[i + 1 :]], [*covers[:i], *covers[i + 1 :]]):
                condition, effect = rules.pop(i)
                del covers[i]
                total -= self._whole_price(condition, effect)
            else:
                i += 1
        return tuple(rules), total

    def _explains(self, rules: Sequence[Condition], covers: Sequence[int]) -> bool:
        remaining = self._everything
        for (_, effect), cover in zip(rules, covers, strict=True):
            if remaining & cover & ~self._explained[effect]:
                return False
            remaining &= ~cover
        return True

    def _holds(self, condition: int) -> int:
        """The rows in which all literals of a condition hold."""
        cover = self._everything
        for literal, column in self._columns:
            if condition >> literal & 1:
                cover &= column
        return cover

    def _whole_price(self, condition: int, effect: Effect) -> float:
        price = sum(self._cost[literal] for literal, _ in self._columns if condition >> literal & 1)
        return price + self._rule_cost(condition, effect) + self._effect_cost[effect]

    def _best(self, remaining: int, fine: int, widest: bool) -> list[tuple[float, int, Effect, int, float]]:
        """The rules that cost least for what they cover: ratio, condition, effect, cover, price."""
        known = self._found.get((remaining, fine))
        if known is None:
            known = self._found[remaining, fine] = self._find(remaining, fine)
        found = list(known)
        if widest:
            found.sort(key=lambda one: (-(one[3] & remaining & ~fine).bit_count(), one[4]))
        else:
            found.sort(key=lambda one: (one[0], one[4], -one[3].bit_count()))
        return found[: _STARTS + 1]

    def _find(self, remaining: int, fine: int) -> list[tuple[float, int, Effect, int, float]]:
        found: list[tuple[float, int, Effect, int, float]] = []
        cheapest: dict[int, int] = {}
        for literal, column in self._columns:
            cover = column & remaining
            if cover and cover != remaining:
                known = cheapest.get(cover)
                if known is None or self._cost[literal] < self._cost[known]:
                    cheapest[cover] = literal
        columns = [(literal, cover) for cover, literal in cheapest.items()]
        packed = pack(list(cheapest), self._words)
        asked = _STARTS if remaining == self._everything else 1  # only for the first rule others are tried
        for effect, wanted in self._wanted(remaining & ~fine):
            wrong = remaining & ~self._explained[effect]
            if wrong and self._cannot_win(found, asked, effect, wanted, remaining & ~fine):
                continue
            for condition, cover, price in self._grow(columns, packed, remaining, wanted, wrong):
                total = price + self._rule_cost(condition, effect) + self._effect_cost[effect]
                ratio = total / (cover & wanted).bit_count()
                found.append((ratio, condition, effect, cover, total))
        return found

    def _cannot_win(
        self,
        found: Sequence[tuple[float, int, Effect, int, float]],
        asked: int,
        effect: Effect,
        wanted: int,
        open_rows: int,
    ) -> bool:
        """Whether as many rules as are asked for cost less for a row, and cover more, than any with an effect can."""
        if len(found) < asked:
            return False
        if effect not in self._least:
            singles = (self._cost[lit] + self._rule_cost(1 << lit, effect) for lit, _ in self._columns)
            self._least[effect] = min(singles, default=0.0) + self._effect_cost[effect]
        most = wanted.bit_count()
        ratios = sorted(one[0] for one in found)
        widths = sorted(((one[3] & open_rows).bit_count() for one in found), reverse=True)
        return ratios[asked - 1] < self._least[effect] / most and widths[asked - 1] > most

    def _wanted(self, rows: int) -> list[tuple[Effect, int]]:
        """The effects that explain some of the rows, most first; none that another one makes needless."""
        wanted = [
            (effect, explained & rows) for effect, explained in self._explained.items() if explained & rows
        ]
        wanted.sort(key=lambda pair: (-pair[1].bit_count(), self._effect_cost[pair[0]]))
        kept: list[tuple[Effect, int]] = []
        for effect, mine in wanted:
            cost = self._effect_cost[effect]
            if not any(mine & ~theirs == 0 and self._effect_cost[e] <= cost for e, theirs in kept):
                kept.append((effect, mine))
        return kept[:_MOST_EFFECTS]

    def _grow(
        self, columns: Sequence[tuple[int, int]], packed: Words, remaining: int, wanted: int, wrong: int
    ) -> list[_Grown]:
        """Conditions that hold in rows that are wanted, and in none that are wrong: with cover and price.

        packed: the rows of the columns.
        """
        if not wrong:
            return [(0, remaining, 0.0)]
        fitting = packed & pack([wanted], len(packed))
        useful = np.flatnonzero(fitting.any(axis=0))
        columns = [columns[i] for i in useful.tolist()]
        fitting, packed = fitting[:, useful], packed[:, useful]
        spoiling = packed & pack([wrong], len(packed))
        costs = np.array([self._cost[literal] for literal, _ in columns])
        least, all_wanted = min(costs, default=0.0), wanted.bit_count()
        beam: list[_Grown] = [(0, remaining, 0.0)]
        pure: list[_Grown] = []
        for _ in range(_LONGEST):
            self.effort += len(beam) * len(columns)
            covers = pack([cover for _, cover, _ in beam], len(packed))
            good, left = overlaps(covers, fitting), overlaps(covers, spoiling)
            bad = np.array([(cover & wrong).bit_count() for _, cover, _ in beam])
            prices = np.array([price for *_, price in beam])[:, None] + costs
            scores = prices - self._gain[good] + self._loss[left]
            better = (good > 0) & (left < bad[:, None])
            pure += _cheapest(beam, columns, prices, scores, better & (left == 0), _BEAM)
            better &= left > 0
            impure = _cheapest(beam, columns, prices, scores, better, _BEAM)
            # and those that lost nothing that is wanted, though many a literal is still needed
            whole = _cheapest(beam, columns, prices, scores, better & (good == all_wanted), _BEAM + _WHOLE)
            beam = impure + [one for one in whole if one not in impure][:_WHOLE]
            if not self._may_improve(beam, pure, wanted, least):
                break
        return pure

    def _may_improve(self, beam: Sequence[_Grown], pure: Sequence[_Grown], wanted: int, least: float) -> bool:
        """Whether one more literal, which at best takes away all that is wrong, may lead to a better or wider rule."""
        best, widest = math.inf, 0
        for _, cover, price in pure:
            good = (cover & wanted).bit_count()
            best, widest = min(best, price - self._gain[good]), max(widest, good)
        goods = (((cover & wanted).bit_count(), price) for _, cover, price in beam)
        return any(good > widest or price + least - self._gain[good] < best for good, price in goods)


def _cheapest(
    beam: Sequence[_Grown],
    columns: Sequence[tuple[int, int]],
    prices: Floats,
    scores: Floats,
    which: NDArray[np.bool_],
    most: int,
) -> list[_Grown]:
    """The best conditions with one more literal, one for each cover.

    prices, scores (less is better), which: of each condition of the beam with each of the columns.
    """
    found: dict[int, _Grown] = {}
    where = np.flatnonzero(which)
    for i in ascending(scores.ravel()[where]):
        one, other = divmod(int(where[i]), len(columns))
        (condition, cover, _), (literal, column) = beam[one], columns[other]
        both = cover & column
        if both not in found:
            found[both] = (condition | 1 << literal, both, float(prices[one, other]))
            if len(found) == most:
                break
    return list(found.values())

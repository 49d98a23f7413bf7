"""Decision lists, and the search for all short ones that fit.

A row is what is true in a context (a set of literals, as the bits of an int) and the effects that explain what
was observed there. A list is a sequence of rules, the first that applies decides; the last has no condition.
`search` returns lists that explain every row, cheapest first: a beam over the rows still to be explained, then
exchanges of single literals and effects that the data cannot tell apart. What the lists disagree on is what is
not known yet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import islice
from operator import or_
from typing import Any

from worldcoder.synthesis.rules.covering import Covering
from worldcoder.synthesis.rules.effects import KEEP, Effect
from worldcoder.synthesis.rules.language import Literal, literal_cost, speaks_of_itself
from worldcoder.synthesis.rules.rows import Row, Rows
from worldcoder.synthesis.rules.short_rules import Found, ShortRules

RULE_COST = 1.0
UNFINISHED_COST = 1e6
_MANY = 300
"""Rows from which on the beam is narrower where a list is known already."""
_SPECIAL = 100
"""Rows up to which a rule may be narrower than they tell: of what holds in all of them, more may be needed."""
_REMEMBERED = 64
"""Searches whose results are kept."""
KEPT = 400
"""Lists that a search finds, at most."""
WITHIN = 9.0
"""Lists this many nats above the best are kept: about one in 8,000 of its weight."""


DISTANT = 1.0
"""What it costs that a rule changes an object of which it says nothing."""


def last_cost(effect: Effect) -> float:
    """What it costs that an effect is what happens if no rule applies: mostly nothing happens, or comes, or goes."""
    return 0.0 if effect == KEEP else 4.0 if effect[0] in ("create", "delete") else 1.0


class Literals:
    """Gives each literal a bit, in the order in which they are met.

    own: those that speak of the very object that a rule is about. others: those that are true of objects other than
    the avatar.
    """

    def __init__(self, price: Callable[[Literal], float] = literal_cost) -> None:
        self._price = price
        self.bit: dict[Literal, int] = {}
        self.all: list[Literal] = []
        self.cost: list[float] = []
        self.own = self.others = 0
        self.searched: dict[Any, list[DecisionList]] = {}  # what `search` found lately, by what it looked at
        self.effort = 0  # of all searches so far, about how often a literal was looked at in some rows

    def mask(self, literals: Iterable[Literal]) -> int:
        """The set of literals as bits of an int."""
        mask = 0
        for literal in literals:
            bit = self.bit.get(literal)
            if bit is None:
                bit = self.bit[literal] = len(self.all)
                self.all.append(literal)
                self.cost.append(self._price(literal))
                self.own |= speaks_of_itself(literal) << bit
            mask |= 1 << bit
        return mask

    def of(self, mask: int) -> list[Literal]:
        """The literals of a mask, in the order of their bits."""
        return [self.all[i] for i in bits(mask)]


def bits(mask: int) -> Iterable[int]:
    """The positions of the ones of an int, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


@dataclass(frozen=True, slots=True)
class Rule:
    """condition: a mask of literals, all of which must hold."""

    condition: int
    effect: Effect


@dataclass(frozen=True)
class DecisionList:
    """Rules in order; the last one has condition 0. cost: description length in nats."""

    rules: tuple[Rule, ...]
    cost: float = field(compare=False)

    def effect(self, mask: int) -> Effect:
        """What the first rule that applies says."""
        return self.rule(mask).effect

    def rule(self, mask: int) -> Rule:
        """The first rule that applies."""
        for rule in self.rules:
            if rule.condition & mask == rule.condition:
                return rule
        raise AssertionError("the last rule has no condition")


def search(
    rows: Rows, literals: Literals, *, beam: int = 12, most_rules: int = 40, keep: int = KEPT
) -> list[DecisionList]:
    """Decision lists that explain all rows, cheapest first. Where none does, the one that explains most.

    beam: 0 for a quick answer: one list of exceptions, good and seldom the best. The same rows are searched for once:
    where other orders of effects are tried, most of what they make of the rows is what another one made of them.
    """
    if not rows.by_mask:
        return [DecisionList((Rule(0, KEEP),), 0.4)]
    met = reduce(or_, rows.by_mask)
    key = (
        tuple((row.mask, tuple(row.effects.items())) for row in rows.by_mask.values()),
        (literals.own & met, literals.others & met, beam, most_rules, keep),
    )
    found = literals.searched.get(key)
    if found is None:
        found = literals.searched[key] = _search(rows, literals, beam, most_rules, keep)
        if len(literals.searched) > _REMEMBERED:
            literals.searched.pop(next(iter(literals.searched)))
    return list(found)


def _search(rows: Rows, literals: Literals, beam: int, most_rules: int, keep: int) -> list[DecisionList]:
    problem = _Problem(list(rows.by_mask.values()), literals)
    complete = problem.exceptions(most_rules, None if beam else 1)
    if not beam:
        found = [DecisionList(rules, cost) for rules, cost in complete.items()]
        return sorted(found, key=lambda one: one.cost) or [DecisionList((Rule(0, KEEP),), UNFINISHED_COST)]
    if complete and len(rows) > _MANY:  # the beam looks for what is even shorter; not at any price
        beam, most_rules = max(2, beam // 3), min(most_rules, 3 + min(map(len, complete)))
    layer: dict[int, list[tuple[float, tuple[Rule, ...]]]] = {problem.everything: [(0.0, ())]}
    unfinished: tuple[int, tuple[Rule, ...]] = (
        problem.everything,
        (),
    )  # the list so far that leaves the fewest rows unexplained
    for depth in range(most_rules):
        following: dict[int, list[tuple[float, tuple[Rule, ...], Found]]] = {}
        for remaining, lists in layer.items():
            for effect in problem.last(remaining):
                for cost, rules in lists:
                    complete[(*rules, Rule(0, effect))] = (
                        cost + problem.effect_cost[effect] + last_cost(effect)
                    )
            for found_rule in problem.rules(remaining):
                _, _, cover, price = found_rule
                longer = following.setdefault(remaining & ~cover, [])
                longer += [(cost + price, rules, found_rule) for cost, rules in lists]
        best = min(complete.values(), default=math.inf)
        layer = {}
        if depth == 12:
            beam = max(2, beam // 4)  # a world this irregular is learned by heart; go on with less care
        promise = {
            rest: min(cost for cost, _, _ in ways) + problem.estimate(rest)
            for rest, ways in following.items()
        }
        for remaining in sorted(following, key=promise.__getitem__):
            ways = [way for way in following[remaining] if way[0] <= best + WITHIN and remaining]
            ways = sorted(ways, key=lambda way: way[0])[:4]
            if ways:
                layer[remaining] = [(cost, (*rules, Rule(*new[:2]))) for cost, rules, new in ways]
                if remaining.bit_count() < unfinished[0].bit_count():
                    unfinished = remaining, layer[remaining][0][1]
                if len(layer) >= beam:
                    break
        if not layer:
            break
    if not complete:  # keep what was found, and let the commonest effect stand for the rest
        remaining, rules_so_far = unfinished
        effect = max(problem.explained, key=lambda e: (problem.explained[e] & remaining).bit_count())
        complete[(*rules_so_far, Rule(0, effect))] = UNFINISHED_COST
    found = [DecisionList(rules, cost) for rules, cost in complete.items()]
    found.sort(key=lambda one: one.cost)
    return problem.widen(found, keep)


class _Problem:
    """The rows as columns: for each literal and each effect, the rows it holds in or explains, as bits."""

    def __init__(self, rows: Sequence[Row], literals: Literals) -> None:
        self.literals = literals
        self.everything = (1 << len(rows)) - 1
        self.columns: dict[int, int] = {}
        self.explained: dict[Effect, int] = {}
        self.effect_cost: dict[Effect, float] = {}
        self._own = literals.own if any(row.mask & literals.others for row in rows) else ~0
        for i, row in enumerate(rows):
            for literal in bits(row.mask):
                self.columns[literal] = self.columns.get(literal, 0) | 1 << i
            for effect, cost in row.effects.items():
                self.explained[effect] = self.explained.get(effect, 0) | 1 << i
                self.effect_cost[effect] = max(cost, self.effect_cost.get(effect, 0.0))
        # of effects that explain the same rows the cheapest is enough here; `widen` brings the others back
        by_cover: dict[int, Effect] = {}
        for effect, cover in sorted(self.explained.items(), key=lambda item: self.effect_cost[item[0]]):
            by_cover.setdefault(cover, effect)
        self.effects = [(effect, cover, cover.bit_count()) for cover, effect in by_cover.items()]
        self._distinct = self._cheapest([*self.columns.items()])
        self._rules: dict[int, list[Found]] = {}

    @cached_property
    def _short(self) -> ShortRules:
        effects = {}
        for effect, cover, _ in self.effects:
            own, foreign = (
                self.effect_cost[effect] + self.rule_cost(some, effect) for some in (self._own, 0)
            )
            effects[effect] = cover, own, foreign
        words = -(-self.everything.bit_length() // 64)
        return ShortRules(self._distinct, self.literals.cost, self._own, effects, words)

    def _cheapest(self, columns: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Each column once, with its cheapest literal, the first of them where they cost the same."""
        cost = self.literals.cost
        cheapest: dict[int, int] = {}
        for literal, column in columns:
            known = cheapest.get(column)
            if known is None or cost[literal] < cost[known]:
                cheapest[column] = literal
        return [(literal, column) for literal, column in columns if cheapest[column] == literal]

    def rule_cost(self, condition: int, effect: Effect) -> float:
        """What a rule costs besides its literals and its effect."""
        return RULE_COST if condition & self._own or effect == KEEP else RULE_COST + DISTANT

    def _base(self, condition: int, effect: Effect) -> float:
        return self.rule_cost(condition, effect) if condition else last_cost(effect)

    def exceptions(self, most_rules: int, tried: int | None = None) -> dict[tuple[Rule, ...], float]:
        """Lists of exceptions to one effect (see `covering.py`): what is found further has to be as short."""
        explained = {effect: rows for effect, rows, _ in self.effects}
        covering = Covering(
            self._distinct,
            self.literals.cost,
            explained,
            self.effect_cost,
            self.everything,
            self.rule_cost,
            most_rules,
        )
        found = {
            tuple(Rule(*rule) for rule in rules): cost + last_cost(rules[-1][1])
            for rules, cost in islice(covering.lists(), tried)
        }
        self.literals.effort += covering.effort
        return found

    def last(self, remaining: int) -> list[Effect]:
        """The effects that explain all of these rows by themselves."""
        return [effect for effect, cover in self.explained.items() if remaining & cover == remaining]

    def estimate(self, remaining: int) -> float:
        """A guess of what the rest will cost: two nats for each effect needed beyond the commonest."""
        left, needed = remaining, 0.0
        for _ in range(6):
            if not left:
                break
            most, effect, cover = -1, KEEP, 0
            for other, rows, count in self.effects:
                if count > most:
                    explains = (left & rows).bit_count()
                    if explains > most:
                        most, effect, cover = explains, other, rows
            left &= ~cover
            needed += 3.0 if left else self.effect_cost[effect]
        return needed

    def rules(self, remaining: int) -> list[Found]:
        """Pure rules on the remaining rows, the most useful first."""
        found = self._rules.get(remaining)
        if found is None:
            found = self._rules[remaining] = self._short.among(remaining)
            self.literals.effort += 2 * self._short.looked_at**2
        return found

    def widen(self, lists: list[DecisionList], keep: int) -> list[DecisionList]:
        """Add lists that differ in one literal or effect and fit the data as well."""
        if not lists:
            return []
        best = lists[0].cost
        pool: dict[tuple[Rule, ...], DecisionList] = {
            one.rules: one for one in lists if one.cost <= best + WITHIN
        }
        for one in list(pool.values())[:8]:
            remaining = self.everything
            for i, rule in enumerate(one.rules):
                cover = self._cover(rule.condition) & remaining
                for other, extra in self._exchanges(rule, cover, remaining):
                    cost = one.cost + extra
                    if cost <= best + WITHIN:
                        changed = (*one.rules[:i], other, *one.rules[i + 1 :])
                        if changed not in pool:
                            pool[changed] = DecisionList(changed, cost)
                remaining &= ~cover
        return sorted(pool.values(), key=lambda one: one.cost)[:keep]

    def _cover(self, condition: int) -> int:
        cover = self.everything
        for literal in bits(condition):
            cover &= self.columns.get(literal, 0)
        return cover

    def _exchanges(self, rule: Rule, cover: int, remaining: int) -> Iterable[tuple[Rule, float]]:
        cost, base_cost = self.literals.cost, self._base(rule.condition, rule.effect)
        for effect, explained in self.explained.items():
            if effect != rule.effect and cover & ~explained == 0:
                extra = self.effect_cost[effect] - self.effect_cost[rule.effect]
                yield Rule(rule.condition, effect), extra + self._base(rule.condition, effect) - base_cost
        for literal in bits(rule.condition):
            rest = rule.condition & ~(1 << literal)
            base = self._cover(rest) & remaining
            for other, column in self.columns.items():
                if not rule.condition >> other & 1 and base & column == cover:
                    changed = Rule(rest | 1 << other, rule.effect)
                    extra = cost[other] - cost[literal]
                    yield changed, extra + self._base(changed.condition, rule.effect) - base_cost
        if rule.condition and cover.bit_count() <= _SPECIAL:
            for other, column in self.columns.items():
                if not rule.condition >> other & 1 and cover & ~column == 0 and cost[other] < 3.0:
                    changed = Rule(rule.condition | 1 << other, rule.effect)
                    yield changed, cost[other] + self._base(changed.condition, rule.effect) - base_cost

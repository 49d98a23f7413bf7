"""Short lists that explain the larger part of what was seen, for what is changed once more in the same step.

Where an attribute changes twice in a step, no list explains what the first change alone does: what comes after it
hides some of it. A draft is greedy: each rule is the one that explains most of the rows that the rules before do
not, less those that it spoils; a row is worth little, so that a draft stays short. What is left is for the second
change to explain; see `order.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from worldcoder.synthesis.rules.effects import KEEP, Effect
from worldcoder.synthesis.rules.lists import RULE_COST, DecisionList, Literals, Rule, bits
from worldcoder.synthesis.rules.rows import Rows

_WORTH = (0.5, 1.5)
"""Nats that a row is worth."""
_MOST_RULES = 6
_LONGEST = 4
_BEAM = 6
_MOST_EFFECTS = 8


def drafts(rows: Rows, literals: Literals, most: int = 8) -> list[DecisionList]:
    """The most promising drafts, best first; none that keeps everything as it is."""
    columns: dict[int, int] = {}
    explained: dict[Effect, int] = {}
    price: dict[Effect, float] = {}
    for i, row in enumerate(rows.by_mask.values()):
        for literal in bits(row.mask):
            columns[literal] = columns.get(literal, 0) | 1 << i
        for effect, cost in row.effects.items():
            explained[effect] = explained.get(effect, 0) | 1 << i
            price[effect] = max(cost, price.get(effect, 0.0))
    everything = (1 << len(rows)) - 1
    cheapest: dict[int, int] = {}
    for literal, column in columns.items():
        known = cheapest.get(column)
        if column != everything and (known is None or literals.cost[literal] < literals.cost[known]):
            cheapest[column] = literal
    choice = [(literal, column, literals.cost[literal]) for column, literal in cheapest.items()]
    found: dict[tuple[Rule, ...], tuple[float, float]] = {}
    for worth in _WORTH:
        _draft(choice, explained, price, everything, worth, found)
    ranked = sorted(found.items(), key=lambda item: item[1][1])[:most]
    chosen = {rules: cost for rules, (cost, _) in ranked}
    for rules, (cost, _) in ranked:  # what comes after may hide where a rule holds: it may hold more often
        for i, rule in enumerate(rules):
            for literal in bits(rule.condition) if rule.condition.bit_count() > 1 else ():
                wider = (*rules[:i], Rule(rule.condition & ~(1 << literal), rule.effect), *rules[i + 1 :])
                chosen.setdefault(wider, cost - literals.cost[literal])
    return [DecisionList(rules, cost) for rules, cost in chosen.items()]


def _draft(
    columns: Sequence[tuple[int, int, float]],
    explained: Mapping[Effect, int],
    price: Mapping[Effect, float],
    everything: int,
    worth: float,
    found: dict[tuple[Rule, ...], tuple[float, float]],
) -> None:
    """Add one greedy list and its beginnings: with their costs, and with what they leave unexplained."""
    left = everything
    rules: list[Rule] = []
    cost, right = price.get(KEEP, 0.4), 0
    fine = explained.get(KEEP, 0)
    common = sorted(explained, key=lambda e: -(explained[e] & ~fine).bit_count())[:_MOST_EFFECTS]
    for _ in range(_MOST_RULES):
        best: tuple[float, Rule, int, float] | None = None
        for effect in common:
            if effect == KEEP:
                continue
            base = RULE_COST + price[effect]
            rule = _grow(columns, left, explained[effect], fine, worth, base)
            if rule is not None and (best is None or rule[0] > best[0]):
                best = rule[0], Rule(rule[1], effect), rule[2], rule[3]
        if best is None:
            return
        _, chosen, cover, total = best
        rules.append(chosen)
        right |= cover & explained[chosen.effect]
        left &= ~cover
        cost += total
        unexplained = (everything & ~right & ~(left & fine)).bit_count()
        found[(*rules, Rule(0, KEEP))] = cost, cost + unexplained


def _grow(
    columns: Sequence[tuple[int, int, float]], left: int, wanted: int, fine: int, worth: float, base: float
) -> tuple[float, int, int, float] | None:
    """The condition that gains most: what it gains, the condition, its cover, its price. None without a gain."""

    def gain(cover: int, price: float) -> float:
        helped, spoiled = (cover & wanted & ~fine).bit_count(), (cover & fine & ~wanted).bit_count()
        return worth * (helped - spoiled) - price

    beam: list[tuple[float, int, int, float]] = [(gain(left, base), 0, left, base)]
    best = beam[0]
    for _ in range(_LONGEST):
        following: dict[int, tuple[float, int, int, float]] = {}
        for _, condition, cover, price in beam:
            for literal, column, cost in columns:
                both = cover & column
                if both == cover or not both & wanted & ~fine:
                    continue
                gained = gain(both, price + cost)
                known = following.get(both)
                if known is None or gained > known[0]:
                    following[both] = gained, condition | 1 << literal, both, price + cost
        beam = sorted(following.values(), key=lambda one: -one[0])[:_BEAM]
        if not beam:
            break
        best = max(best, beam[0], key=lambda one: one[0])
    return best if best[0] > 0 else None

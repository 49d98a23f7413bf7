"""Short lists that explain the larger part of what was seen, for what is changed once more in the same step.

Where an attribute changes twice in a step, no list explains what the first change alone does: what comes after it
hides some of it. A draft is greedy (`greedy.py`); a row is worth little, so that a draft stays short. What is left is
for the second change to explain; see `order.py`.
"""

from __future__ import annotations

from worldcoder.synthesis.rules.effects import KEEP
from worldcoder.synthesis.rules.greedy import Greedy
from worldcoder.synthesis.rules.lists import DecisionList, Literals, Rule, bits
from worldcoder.synthesis.rules.rows import Rows

_WORTH = (0.5, 1.5)
"""Nats that a row is worth."""
_MOST_RULES = 6
_MOST_EFFECTS = 8


def drafts(rows: Rows, literals: Literals, most: int = 8) -> list[DecisionList]:
    """The most promising drafts, best first; none that keeps everything as it is."""
    greedy = Greedy(((row.mask, row.effects) for row in rows.by_mask.values()), literals)
    found: dict[tuple[Rule, ...], tuple[float, float]] = {}
    for worth in _WORTH:
        found.update(_draft(greedy, worth))
    ranked = sorted(found.items(), key=lambda item: item[1][1])[:most]
    chosen = {rules: cost for rules, (cost, _) in ranked}
    for rules, (cost, _) in ranked:  # what comes after may hide where a rule holds: it may hold more often
        for i, rule in enumerate(rules):
            for literal in bits(rule.condition) if rule.condition.bit_count() > 1 else ():
                wider = (*rules[:i], Rule(rule.condition & ~(1 << literal), rule.effect), *rules[i + 1 :])
                chosen.setdefault(wider, cost - literals.cost[literal])
    return [DecisionList(rules, cost) for rules, cost in chosen.items()]


def _draft(greedy: Greedy, worth: float) -> dict[tuple[Rule, ...], tuple[float, float]]:
    """One greedy list and its beginnings: with their costs, and with what they leave unexplained."""
    common = greedy.commonest(greedy.everything & ~greedy.fine, _MOST_EFFECTS)
    found: dict[tuple[Rule, ...], tuple[float, float]] = {}
    rules: list[Rule] = []
    cost = greedy.price.get(KEEP, 0.4)
    for rule, _, its in greedy.rules(lambda rows: worth * rows.bit_count(), lambda left: common, _MOST_RULES):
        rules.append(rule)
        cost += its
        found[(*rules, Rule(0, KEEP))] = cost, cost + greedy.missed(rules).bit_count()
    return found

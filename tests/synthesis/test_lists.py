"""Decision lists: what the search finds, and that its shortcuts change nothing."""

from __future__ import annotations

import random

import pytest

from worldcoder.synthesis.rules.effects import KEEP, Effect
from worldcoder.synthesis.rules.lists import UNFINISHED_COST, Literals, _Problem, search
from worldcoder.synthesis.rules.rows import Rows

LITERALS = 12


def literals() -> Literals:
    found = Literals(lambda literal: 1.0 + literal[1] % 4 / 2)
    found.mask([("at", i) for i in range(LITERALS)])
    return found


def hidden(mask: int) -> Effect:
    """Three rules and the rest."""
    if mask & 0b101 == 0b101:
        return ("set", 1)
    if mask >> 3 & 1:
        return ("set", 2)
    return ("set", 3) if mask & 0b110000 == 0b110000 else KEEP


def rows_of(count: int, seed: int) -> Rows:
    rng = random.Random(seed)
    rows = Rows()
    for i in range(count):
        mask = rng.getrandbits(LITERALS)
        rows.add(mask, {hidden(mask): 1.5, ("add", rng.randrange(5)): 2.0}, i)
    return rows


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [20, 300])
def test_every_list_explains_every_row_and_the_cheapest_is_first(count: int, seed: int) -> None:
    rows = rows_of(count, seed)
    lists = search(rows, literals())
    assert all(one.effect(row.mask) in row.effects for one in lists for row in rows.by_mask.values())
    assert [one.cost for one in lists] == sorted(one.cost for one in lists)
    assert len({one.rules for one in lists}) == len(lists)


def test_the_hidden_rules_are_found_among_many_rows() -> None:
    rows = rows_of(3000, 1)
    best = search(rows, literals())[0]
    assert len(best.rules) == 4
    assert all(best.effect(mask) == hidden(mask) for mask in range(1 << LITERALS))


def test_where_nothing_is_regular_what_explains_most_is_kept() -> None:
    rng = random.Random(2)
    rows = Rows()
    for i in range(400):
        rows.add(rng.getrandbits(LITERALS) & rng.getrandbits(LITERALS), {("set", rng.randrange(2)): 1.5}, i)
    best = search(rows, literals(), most_rules=10)[0]
    explained = [row for row in rows.by_mask.values() if best.effect(row.mask) in row.effects]
    commonest = max(_Problem(list(rows.by_mask.values()), literals()).explained.values(), key=int.bit_count)
    assert best.cost >= UNFINISHED_COST - 100
    assert commonest.bit_count() < len(explained) < len(rows)


def test_a_rule_is_made_of_the_cheapest_literals_that_cover_the_same() -> None:
    """Of two that cost the same, the one that was met first in the rows."""
    names = Literals(lambda literal: literal[2])
    dear, cheap, same = ("at", "dear", 3.0), ("at", "cheap", 1.0), ("at", "same", 1.0)
    names.mask([dear, same, cheap])
    rows = Rows()
    rows.add(names.mask([cheap, dear]), {("set", 1): 1.0}, 0)
    rows.add(names.mask([cheap, dear, same]), {("set", 1): 1.0}, 1)
    rows.add(0, {KEEP: 0.4}, 2)
    best = search(rows, names)[0]
    assert [names.of(rule.condition) for rule in best.rules] == [[cheap], []]


def test_the_same_rows_are_searched_once() -> None:
    known = literals()
    first = search(rows_of(60, 3), known)
    effort = known.effort
    again = search(rows_of(60, 3), known)
    assert effort > 0 and known.effort == effort
    assert again == first and again is not first
    search(rows_of(61, 3), known)
    assert known.effort > effort

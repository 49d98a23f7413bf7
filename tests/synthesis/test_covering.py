"""Lists of exceptions: whatever is found explains every row."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldcoder.synthesis.rules.covering import Covering

EFFECTS = ("keep",), ("go",), ("stop",)


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[tuple[int, int]], dict[tuple[str], int], int]:
    """Columns of literals over a few rows, no two rows alike, and for each row the effects that explain it."""
    literals = draw(st.integers(3, 6))
    masks = draw(st.lists(st.integers(0, 2**literals - 1), min_size=1, max_size=14, unique=True))
    explained = dict.fromkeys(EFFECTS, 0)
    columns = [0] * (2 * literals)  # each literal, and its opposite
    for i, mask in enumerate(masks):
        for n in range(literals):
            columns[n if mask >> n & 1 else literals + n] |= 1 << i
        for effect in draw(st.sets(st.sampled_from(EFFECTS), min_size=1)):
            explained[effect] |= 1 << i
    return [(n, c) for n, c in enumerate(columns) if c], {e: r for e, r in explained.items() if r}, len(masks)


@given(problems())
def test_every_list_explains_every_row(
    problem: tuple[list[tuple[int, int]], dict[tuple[str], int], int],
) -> None:
    columns, explained, rows = problem
    by_literal = dict(columns)
    cost = [1.0 + 0.1 * n for n in range(20)]
    effect_cost = dict.fromkeys(explained, 1.0)
    covering = Covering(columns, cost, explained, effect_cost, (1 << rows) - 1, lambda *rule: 1.0)
    for rules, total in covering.lists():
        assert rules[-1][0] == 0
        price = 0.0
        for i in range(rows):
            for condition, effect in rules:
                literals = [n for n in by_literal if condition >> n & 1]
                if all(by_literal[n] >> i & 1 for n in literals):
                    assert explained[effect] >> i & 1
                    break
        for condition, effect in rules:
            literals = [n for n in by_literal if condition >> n & 1]
            price += effect_cost[effect] + (sum(cost[n] for n in literals) + 1.0 if condition else 0.0)
        assert abs(price - total) < 1e-9


def test_a_conjunction_of_four_is_found() -> None:
    """One effect where four things hold at once, among all the ways in which they may hold."""
    rows = range(16)
    columns = [(n, sum(1 << i for i in rows if i >> n & 1)) for n in range(4)]
    explained = {("keep",): (1 << 16) - 1 - (1 << 15), ("go",): 1 << 15}
    covering = Covering(
        columns, [1.0] * 4, explained, {("keep",): 0.4, ("go",): 1.0}, (1 << 16) - 1, lambda *rule: 1.0
    )
    assert (((0b1111, ("go",)), (0, ("keep",))), 0.4 + 1.0 + 1.0 + 4.0) in list(covering.lists())


def planted(seed: int, rules: list[tuple[int, tuple[str]]], literals: int = 9, rows: int = 60) -> Covering:
    """Rows that a list explains, of literals that hold at random."""
    rng = random.Random(seed)
    masks = sorted({rng.getrandbits(literals) for _ in range(rows)})
    explained = dict.fromkeys(EFFECTS, 0)
    for i, mask in enumerate(masks):
        effect = next(effect for condition, effect in rules if condition & mask == condition)
        explained[effect] |= 1 << i
    columns = [(n, sum(1 << i for i, mask in enumerate(masks) if mask >> n & 1)) for n in range(literals)]
    price = dict.fromkeys(EFFECTS, 1.0)
    return Covering(columns, [1.0] * literals, explained, price, (1 << len(masks)) - 1, lambda *rule: 1.0)


@pytest.mark.parametrize("seed", range(20))
def test_effects_that_are_passed_over_would_not_have_been_chosen(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    rules = [(1 << rng.randrange(9) | 1 << rng.randrange(9), rng.choice(EFFECTS)) for _ in range(5)]
    passing = planted(seed, [*rules, (0, EFFECTS[0])])
    found, effort = list(passing.lists()), passing.effort
    monkeypatch.setattr(Covering, "_cannot_win", lambda *arguments: False)
    careful = planted(seed, [*rules, (0, EFFECTS[0])])
    assert list(careful.lists()) == found
    assert effort <= careful.effort


def test_what_cannot_be_said_is_given_up_early() -> None:
    """Of rows without any rule, each would need its own: that is seen before all are tried."""
    rng = random.Random(1)
    masks = sorted({rng.getrandbits(14) for _ in range(400)})
    chosen = [rng.choice(EFFECTS) for _ in masks]
    explained = {e: sum(1 << i for i, own in enumerate(chosen) if own == e) for e in EFFECTS}
    columns = [(n, sum(1 << i for i, mask in enumerate(masks) if mask >> n & 1)) for n in range(14)]
    price = dict.fromkeys(EFFECTS, 1.0)
    covering = Covering(columns, [1.0] * 14, explained, price, (1 << len(masks)) - 1, lambda *rule: 1.0)
    assert list(covering.lists()) == []
    assert covering.effort < 1_000_000


def test_what_has_one_effect_is_said_anew_when_all_else_is() -> None:
    """Of these rows the greedy lists are longer than the one that explains them."""
    rules = [(0b0111, ("stop",)), (0b0011, ("go",)), (0b1000001, ("stop",)), (0, ("keep",))]
    found = [cost for _, cost in planted(149, rules, rows=25).lists()]
    assert min(found) <= 3 * (1 + 1) + 3 + 2 + 2 + 1


def test_a_condition_of_many_parts_is_found_though_two_shorter_ones_say_as_much() -> None:
    """Eleven rows go, which have four things in common; of six, and of the five others, less can be said."""
    lacking = {0: 100, 1: 3, 2: 4, 3: 2}  # how many of the rows that stop lack just one of the four
    rows = [{0, 1, 2, 3, 4}] * 6 + [{0, 1, 2, 3, 5}] * 5
    for literal, count in lacking.items():
        rows += [{0, 1, 2, 3} - {literal} | ({4 + i % 2} if literal == 0 else set()) for i in range(count)]
    columns = [(n, sum(1 << i for i, row in enumerate(rows) if n in row)) for n in range(6)]
    everything, go = (1 << len(rows)) - 1, (1 << 11) - 1
    explained, cost = {EFFECTS[0]: everything & ~go, EFFECTS[1]: go}, {EFFECTS[0]: 0.4, EFFECTS[1]: 1.2}
    covering = Covering(
        columns, [1.0, 2.3, 2.3, 2.2, 2.8, 2.8], explained, cost, everything, lambda *rule: 1.0
    )
    shortest = min(covering.lists(), key=lambda found: found[1])
    assert shortest[0] == ((0b1111, EFFECTS[1]), (0, EFFECTS[0]))

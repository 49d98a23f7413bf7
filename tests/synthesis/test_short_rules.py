"""The searches over packed sets, against the same said in plain Python."""

from __future__ import annotations

import math
import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldcoder.synthesis.rules.packed import ascending, fingerprints, firsts, overlaps, pack, sizes, unpack
from worldcoder.synthesis.rules.short_rules import ShortRules

ROWS = 150
WORDS = 3
sets = st.lists(st.integers(0, 2**ROWS - 1), min_size=1, max_size=12)
few_rows = st.integers(0, 2**10 - 1)


@given(sets, sets)
def test_packed_sets_are_the_sets(some: list[int], others: list[int]) -> None:
    packed = pack(some, WORDS)
    assert unpack(packed) == some
    assert sizes(packed).tolist() == [one.bit_count() for one in some]
    shared = overlaps(packed, pack(others, WORDS)).tolist()
    assert shared == [[(one & other).bit_count() for other in others] for one in some]


@given(sets, st.integers(1, 3))
def test_the_first_of_equal_sets_is_found(some: list[int], times: int) -> None:
    found = firsts(fingerprints(pack(some * times, WORDS))).tolist()
    assert found == [i for i, one in enumerate(some) if one not in some[:i]]


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, math.inf]), max_size=6), st.integers(1, 700))
def test_the_least_come_first_and_equal_ones_in_order(values: list[float], times: int) -> None:
    values = values * times
    assert list(ascending(np.array(values))) == sorted(range(len(values)), key=values.__getitem__)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(few_rows, min_size=1, max_size=7, unique=True),
    st.lists(few_rows, min_size=1, max_size=4, unique=True),
    st.lists(st.sampled_from([0.5, 1.0, 2.5]), min_size=7, max_size=7),
    st.integers(1, 2**10 - 1),
    st.sampled_from([0, 2**7 - 1]),
)
def test_short_rules_are_right_and_the_best_of_two_literals_are_among_them(
    columns: list[int], explained: list[int], cost: list[float], remaining: int, own: int
) -> None:
    effects = {("set", i): (rows, 1.0 + i, 2.0 + i) for i, rows in enumerate(explained)}
    found = ShortRules(list(enumerate(columns)), cost, own, effects, 1).among(remaining)
    best: dict[tuple[str, int], float] = {}
    for condition, effect, cover, price in found:
        literals = [i for i in range(len(columns)) if condition >> i & 1]
        rows, near, far = effects[effect]
        holds = remaining
        for literal in literals:
            holds &= columns[literal]
        assert cover == holds and cover & ~rows == 0 and cover.bit_count() > 0
        assert math.isclose(price, sum(cost[i] for i in literals) + (near if condition & own else far))
        rank = price - 4.0 * math.log1p(cover.bit_count())
        best[effect] = min(rank, best.get(effect, math.inf))
    for count in (1, 2):
        for literals in combinations(range(len(columns)), count):
            cover = remaining
            for literal in literals:
                cover &= columns[literal]
            single = [columns[literal] & remaining for literal in literals]
            for effect, (rows, near, far) in effects.items():
                pure = any(one and not one & ~theirs for one in single for theirs, *_ in effects.values())
                if not cover or cover & ~rows or remaining in single or (count == 2 and pure):
                    continue  # what holds everywhere says nothing; what is right alone needs no second literal
                condition = sum(1 << i for i in literals)
                price = sum(cost[i] for i in literals) + (near if condition & own else far)
                assert best[effect] <= price - 4.0 * math.log1p(cover.bit_count()) + 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_pairs_that_a_third_literal_is_added_to_are_the_best_of_a_full_sort(seed: int) -> None:
    """Said in plain Python: literals by price, pairs, and the 40 best pairs with a third literal."""
    rng = random.Random(seed)
    remaining = (1 << 60) - 1
    columns = [rng.getrandbits(60) | rng.getrandbits(60) for _ in range(16)]
    cost = [1.0 + i / 64 for i in range(16)]  # no two conditions cost the same
    explained = [rng.getrandbits(60) & rng.getrandbits(60) for _ in range(5)]
    effects = {("set", i): (rows, 1.0, 2.0) for i, rows in enumerate(explained)}
    found = ShortRules(list(enumerate(columns)), cost, 0, effects, 1).among(remaining)

    def pure(cover: int) -> bool:
        return any(not cover & ~rows for rows in explained)

    def badness(pair: tuple[int, int, float]) -> float:
        most = max((pair[0] & rows).bit_count() for rows in explained)
        return pair[0].bit_count() - 2 * most + 0.3 * pair[2]

    offered = [(column, 1 << i, cost[i]) for i, column in enumerate(columns)]
    single = [one for one in offered if not pure(one[0])]
    pairs: dict[int, tuple[int, int, float]] = {}
    for (a, one, price), (b, two, more) in combinations(single, 2):
        if a & b and a & b not in (a, b):
            pairs.setdefault(a & b, (a & b, one | two, price + more))
    best = sorted((p for p in pairs.values() if not pure(p[0]) and p[0].bit_count() > 1), key=badness)[:40]
    threes: dict[int, tuple[int, int, float]] = {}
    for cover, condition, price in best:
        for column, literal, more in single:
            three = cover & column
            if three and three != cover and three not in pairs:
                threes.setdefault(three, (three, condition | literal, price + more))
    for effect, (rows, _, far) in effects.items():
        fitting = [
            one for one in (*offered, *pairs.values(), *threes.values()) if one[0] and not one[0] & ~rows
        ]
        ranks = sorted(price + far - 4.0 * math.log1p(cover.bit_count()) for cover, _, price in fitting)[:8]
        mine = [price - 4.0 * math.log1p(cover.bit_count()) for _, e, cover, price in found if e == effect]
        assert np.allclose(mine, ranks)
    assert len(pairs) > 40 and threes

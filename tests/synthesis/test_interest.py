"""What is worth exploring: what is not known, by how often such steps taught something."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

import pytest

from worldcoder.synthesis.rules.interest import BEFORE, Interest, Sort, sort_of
from worldcoder.synthesis.rules.novelty import Doubt

SORTS: tuple[Sort, ...] = get_args(Sort)


@pytest.mark.parametrize("sort", SORTS)
def test_nothing_was_tried_yet(sort: Sort) -> None:
    assert Interest().of(sort) == BEFORE[sort]


@pytest.mark.parametrize("sort", ["disputed", "unpaired", "usual"])
def test_what_never_surprises_is_worth_less_and_less_and_never_nothing(sort: Sort) -> None:
    interest, worth = Interest(), [BEFORE[sort]]
    for _ in range(50):
        interest.note(sort, surprised=False)
        worth.append(interest.of(sort))
    assert all(0 < after < before for before, after in pairwise(worth))


@pytest.mark.parametrize("sort", SORTS)
def test_what_always_surprises_is_worth_what_it_was(sort: Sort) -> None:
    interest = Interest()
    for _ in range(50):
        interest.note(sort, surprised=True)
    assert interest.of(sort) == BEFORE[sort]


def test_sorts_do_not_count_for_each_other_and_what_was_never_met_stays_as_it_is() -> None:
    interest = Interest()
    for _ in range(50):
        interest.note("disputed", surprised=False)
        interest.note("unseen", surprised=False)
    assert interest.of("disputed") < interest.of("unpaired") == BEFORE["unpaired"]
    assert interest.of("unseen") == BEFORE["unseen"]


def test_the_sort_of_a_step_is_the_first_that_fits() -> None:
    assert sort_of(Doubt((), 0, 0, False)) is None
    assert sort_of(Doubt((("at", ("me", 1), "Cup"),), 2, 1, True)) == "unseen"
    assert sort_of(Doubt((), 2, 1, True)) == "disputed"
    assert sort_of(Doubt((), 2, 0, False)) == sort_of(Doubt((), 0, 0, True)) == "unpaired"


def test_around_what_always_did_the_same_only_a_dispute_counts_in_full() -> None:
    unseen = (("at", ("me", 1), "Cup"),)
    assert sort_of(Doubt((), 0, 0, False), usual=True) is None
    assert sort_of(Doubt(unseen, 2, 1, True), usual=True) == "disputed"
    assert (
        sort_of(Doubt(unseen, 0, 0, False), usual=True)
        == sort_of(Doubt((), 2, 0, False), usual=True)
        == "usual"
    )

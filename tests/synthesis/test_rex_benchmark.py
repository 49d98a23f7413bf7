"""The simulated problems of `benchmarks/rex.py`: their chances are those that are stated, and the paper's order."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from rex import CHANCES, TESTS, WAYS, Chances, Parts, Written, calls, compare, interval


@pytest.mark.parametrize("passing", [0, 4, 9])
@pytest.mark.parametrize("difficulty", [1.0, 0.1])
def test_chances_are_those_that_rex_believes_in(passing: int, difficulty: float) -> None:
    """What a program's refinement solves is Beta distributed around difficulty · (1 + C·h) / (2 + C)."""
    rng, tests = random.Random(0), [True] * passing + [False] * (TESTS - passing)
    drawn = [CHANCES._chance(tests, difficulty, rng) for _ in range(4000)]
    mean = difficulty * (1 + 5 * passing / TESTS) / 7
    assert fmean(drawn) == pytest.approx(mean, abs=0.015)
    spread = fmean((chance - mean) ** 2 for chance in drawn)
    assert spread == pytest.approx(mean * (1 - mean) / 8, rel=0.15)  # the variance of Beta(7·μ, 7·(1 − μ))


def test_a_program_is_solved_as_often_as_its_chance_says() -> None:
    rng, program = random.Random(1), Written((True,) * 5 + (False,) * 5, 0.2)
    solved = [CHANCES.refined(program, False, 1.0, rng) is None for _ in range(4000)]
    assert fmean(solved) == pytest.approx(0.2, abs=0.02)


def test_a_wrong_idea_holds_until_it_is_given_up() -> None:
    rng, stuck = random.Random(2), Parts("", idea=1.0, mend=0.9)
    program = stuck.refined(stuck.blank(1.0, rng), True, 1.0, rng)
    for _ in range(30):
        assert program is not None and program.wrong_idea and not any(program.tests[:2])
        program = stuck.refined(program, False, 1.0, rng)
    assert program is not None
    assert any(replace(stuck, rewrite=1.0).refined(program, False, 1.0, rng) is None for _ in range(30))


def test_all_strategies_have_the_same_problems_and_budget() -> None:
    impossible = Chances("impossible", hardest=1e-9, easiest=1e-9)
    for way in WAYS:
        assert calls(impossible, way, 0, 7) is None
        assert calls(CHANCES, way, 3, 30) == calls(CHANCES, way, 3, 30)
    certain = Parts("certain", begin=1.0)
    assert {calls(certain, way, 0, 5) for way in WAYS} == {1}


def test_intervals_are_those_of_the_bootstrap() -> None:
    low, high = interval([0.0, 1.0] * 50, fmean)
    assert low == pytest.approx(0.4, abs=0.03) and high == pytest.approx(0.6, abs=0.03)


def test_rex_is_ahead_of_what_the_paper_compares_it_with() -> None:
    """With chances as REx believes them to be: fewer calls in the mean, which is the area under the paper's curves."""
    ways = ("rex", "breadth-first", "greedy", "best-of-n")
    first, *others = compare(CHANCES, ways, 100, 300)
    for row in others:
        assert row.more > 0 and row.solved < first.solved, row

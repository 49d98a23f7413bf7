"""REx and the other choices of what to refine: counts, distribution, order of calls, determinism."""

from __future__ import annotations

import random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldcoder.errors import ValueFormError
from worldcoder.synthesis.bandit import STRATEGIES, Arm, best_of_n, breadth_first, greedy, posterior, rex

VALUES = st.floats(0, 1)
STEPS = st.lists(
    st.tuples(st.sampled_from(["ask", "tell", "withdraw"]), st.integers(0, 9), VALUES), max_size=40
)


@given(VALUES, st.integers(0, 50), st.integers(0, 9), st.floats(0, 30))
def test_the_posterior_is_the_paper_s(value: float, refined: int, pending: int, c: float) -> None:
    a, b = posterior(Arm(value, refined, pending), c)
    assert a == pytest.approx(1 + c * value)
    assert b == pytest.approx(1 + c * (1 - value) + refined + pending)
    assert a + b == pytest.approx(2 + c + refined + pending)


@pytest.mark.parametrize("name", STRATEGIES)
@given(STEPS, st.integers(0, 99))
def test_counts_are_honest(name: str, steps: list[tuple[str, int, float]], seed: int) -> None:
    """Whatever the order of answers: what is in flight counts until it is told, what was withdrawn never."""
    bandit = STRATEGIES[name](random.Random(seed))
    bandit.add("root", 0.0)
    in_flight: list[str] = []
    told: list[str] = []
    for number, (what, which, value) in enumerate(steps):
        if what == "ask":
            in_flight.append(bandit.ask())
        elif in_flight:
            arm = in_flight.pop(which % len(in_flight))
            if what == "tell":
                told.append(arm)
                bandit.tell(arm, [(f"p{number}", value)] if which % 3 else [])
            else:
                bandit.withdraw(arm)
        for key, arm_ in bandit.arms.items():
            assert arm_.pending == in_flight.count(key)
            assert arm_.refined == told.count(key)
            assert arm_.refinements == arm_.pending + arm_.refined


@pytest.mark.parametrize("name", STRATEGIES)
@given(st.integers(0, 999))
def test_the_same_generator_chooses_the_same_and_json_goes_on(name: str, seed: int) -> None:
    def play(rounds: int, restored_at: int | None) -> list[str]:
        rng = random.Random(seed)
        bandit, chosen = STRATEGIES[name](rng), []
        bandit.add("root", 0.1)
        for i in range(rounds):
            if i == restored_at:
                written = bandit.to_json()
                bandit = STRATEGIES[name](rng)
                bandit.restore(written)
            chosen.append(bandit.ask())
            bandit.tell(chosen[-1], [(f"p{i}", (seed * 7 + i * 13) % 11 / 10)])
        return chosen

    assert play(12, None) == play(12, None) == play(12, 5)


def test_what_is_in_flight_when_the_state_is_written_is_lost_and_does_not_count() -> None:
    bandit = rex(random.Random(0))
    bandit.add("root", 0.5)
    bandit.ask()
    again = rex(random.Random(0))
    again.restore(bandit.to_json())
    assert bandit.arms["root"].pending == 1 and again.arms["root"].pending == 0


def test_wrong_order_and_wrong_values_are_errors() -> None:
    bandit = rex(random.Random(0))
    with pytest.raises(ValueError, match="add one first"):
        bandit.ask()
    bandit.add("root", 0.0)
    with pytest.raises(ValueError, match="ask first"):
        bandit.tell("root")
    with pytest.raises(ValueError, match="ask first"):
        bandit.withdraw("root")
    with pytest.raises(ValueError, match="no arm 'other'"):
        bandit.rescore({"other": 0.5})
    with pytest.raises(ValueError, match="from 0 to 1"):
        bandit.add("other", 1.5)
    with pytest.raises(ValueFormError):
        bandit.restore({"arms": [{"name": "x"}]})


def test_rex_draws_from_the_posterior() -> None:
    """The share of choices of one of two arms is that of draws from the two Beta distributions."""
    rng, chosen = random.Random(1), 0
    for _ in range(3000):
        bandit = rex(rng)
        bandit.add("bad", 0.2)
        bandit.add("good", 0.6)
        for _ in range(3):
            bandit.arms["good"].refined += 1
        chosen += bandit.ask() == "good"
    draws = random.Random(2)
    expected = mean(
        draws.betavariate(1 + 5 * 0.6, 1 + 5 * 0.4 + 3) > draws.betavariate(1 + 5 * 0.2, 1 + 5 * 0.8)
        for _ in range(3000)
    )
    assert chosen / 3000 == pytest.approx(expected, abs=0.04)


def test_an_arm_in_flight_is_chosen_less_often_in_one_batch() -> None:
    def share(withdrawn: bool) -> float:
        rng, same = random.Random(3), 0
        for _ in range(800):
            bandit = rex(rng)
            bandit.add("a", 0.5)
            bandit.add("b", 0.5)
            first = bandit.ask()
            if withdrawn:
                bandit.withdraw(first)
            same += bandit.ask() == first
        return same / 800

    assert share(withdrawn=False) < share(withdrawn=True) - 0.03


def test_the_baselines_choose_as_they_are_called() -> None:
    wide = breadth_first(random.Random(0), width=2)
    wide.add("r", 0.0)
    order = []
    for i in range(6):
        order.append(wide.ask())
        wide.tell(order[-1], [(f"p{i}", 0.9)])
    assert order == ["r", "r", "p0", "p0", "p1", "p1"]
    best = greedy(random.Random(0))
    best.add("r", 0.1)
    best.tell(best.ask(), [("low", 0.05), ("high", 0.7)])
    assert [best.ask(), best.ask()] == ["high", "high"]
    fresh = best_of_n(random.Random(0))
    fresh.add("r", 0.0)
    fresh.add("s", 0.9)
    for i in range(4):
        fresh.tell(fresh.ask(), [(f"p{i}", 0.99)])
    assert [fresh.arms[n].refined for n in ("r", "s")] == [2, 2]


def test_rescoring_keeps_the_counts() -> None:
    bandit = rex(random.Random(0))
    bandit.add("r", 1.0)
    bandit.tell(bandit.ask())
    bandit.rescore({"r": 0.5})
    assert (bandit.arms["r"].value, bandit.arms["r"].refined) == (0.5, 1)

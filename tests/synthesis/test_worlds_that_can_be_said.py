"""Worlds that the rules have words for: shown enough of one, they are right where they have not looked."""

from __future__ import annotations

import random

import pytest

from worldcoder.comparison.gathering import gather
from worldcoder.envs import make
from worldcoder.envs.guarded import guarded
from worldcoder.programs import Check, Runner
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer
from worldcoder.world import Transition


def steps(name: str, seeds: range, wanted: int) -> list[Transition]:
    """So many steps of different situations."""
    rng = random.Random(len(seeds))
    found = gather(
        lambda: guarded(make(name)), list(seeds), wanted=3 * wanted, guide=lambda state, goal: (), rng=rng
    )
    return [
        Transition(s.state, s.goal, s.action, s.step.state, s.step.reward, s.step.done)
        for s in rng.sample(found, wanted)
    ]


@pytest.mark.parametrize(
    ("name", "wrong", "lines"),
    [
        ("sokoban", 0.0, 80),
        ("lab:rows", 0.0, 100),
        ("lab:teleport", 0.01, 120),
        ("lab:twins", 0.01, 80),
        ("lab:shop", 0.02, 130),
        ("lab:railway", 0.01, 90),
    ],
)
def test_it_is_right_elsewhere_and_short(name: str, wrong: float, lines: int, runner: Runner) -> None:
    """wrong: the share of steps on other levels that may be wrong. lines: the most that the program may have."""
    world, seen = make(name), steps(name, range(12), 350)
    synthesizer = RulesSynthesizer()
    start, goal = world.reset(0)
    synthesizer.begin(start, goal, world.actions(start))
    for transition in seen:
        synthesizer.observe(transition)
    synthesizer.fit()
    program = synthesizer.transition_program()
    assert runner.check(Check(seen), program) == []
    elsewhere = steps(name, range(600, 612), 300)
    assert len(runner.check(Check(elsewhere), program)) <= wrong * len(elsewhere)
    assert program.source.count("\n") <= lines


def test_the_order_of_effects_is_learned() -> None:
    """What is pushed through a gate leaves before the one who pushes comes: the program has two phases."""
    synthesizer = RulesSynthesizer()
    world = make("lab:teleport")
    start, goal = world.reset(0)
    synthesizer.begin(start, goal, world.actions(start))
    for transition in steps("lab:teleport", range(12), 350):
        synthesizer.observe(transition)
    synthesizer.fit()
    phases = {target.pool: target.phase for target in synthesizer.dynamics.targets.values()}
    assert phases[("Player",)] > phases[("Box",)]
    assert "# Then, with all that has happened:" in synthesizer.transition_program().source

"""Worlds that the rules have words for: shown enough of one, they are right where they have not looked."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from worldcoder.comparison.gathering import gather
from worldcoder.envs import make
from worldcoder.envs.guarded import guarded
from worldcoder.programs import Check, Runner
from worldcoder.synthesis.rules.scene import PLACE
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer
from worldcoder.world import Action, Obj, State, Transition


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


def learned(name: str, seen: list[Transition]) -> RulesSynthesizer:
    """The rules for these steps."""
    synthesizer, world = RulesSynthesizer(), make(name)
    start, goal = world.reset(0)
    synthesizer.begin(start, goal, world.actions(start))
    for transition in seen:
        synthesizer.observe(transition)
    synthesizer.fit()
    return synthesizer


@pytest.mark.parametrize(
    ("name", "wrong", "lines"),
    [
        ("sokoban", 0.0, 80),
        ("lab:rows", 0.0, 100),
        ("lab:teleport", 0.01, 120),
        ("lab:twins", 0.01, 80),
        ("lab:shop", 0.02, 130),
        ("lab:railway", 0.01, 90),
        ("tests/worlds/hanoi.py:make_env", 0.0, 70),
        ("tests/worlds/circuit.py:make_env", 0.0, 70),
        ("tests/worlds/magnet.py:make_env", 0.01, 120),
        ("tests/worlds/bombs.py:make_env", 0.03, 160),
        ("tests/worlds/farm.py:make_env", 0.03, 110),
        ("tests/worlds/herd.py:make_env", 0.01, 110),
        ("tests/worlds/lagoon.py:make_env", 0.04, 130),
        ("tests/worlds/lamps.py:make_env", 0.0, 90),
        ("tests/worlds/troop.py:make_env", 0.0, 90),
        ("tests/worlds/rover.py:make_env", 0.0, 90),
        ("tests/worlds/toll.py:make_env", 0.0, 80),
        ("tests/worlds/cliff.py:make_env", 0.0, 100),
        ("tests/worlds/train.py:make_env", 0.0, 120),
        ("tests/worlds/vault.py:make_env", 0.0, 110),
        ("tests/worlds/leak.py:make_env", 0.0, 140),
    ],
)
def test_it_is_right_elsewhere_and_short(name: str, wrong: float, lines: int, runner: Runner) -> None:
    """wrong: the share of steps on other levels that may be wrong. lines: the most that the program may have."""
    seen = steps(name, range(12), 350)
    program = learned(name, seen).transition_program()
    assert runner.check(Check(seen), program) == []
    elsewhere = steps(name, range(600, 612), 300)
    assert len(runner.check(Check(elsewhere), program)) <= wrong * len(elsewhere)
    assert program.source.count("\n") <= lines


def test_the_order_of_effects_is_learned() -> None:
    """What is pushed through a gate leaves before the one who pushes comes: the program has two phases."""
    synthesizer = learned("lab:teleport", steps("lab:teleport", range(12), 350))
    phases = {target.pool: target.phase for target in synthesizer.dynamics.targets.values()}
    assert phases[("Player",)] > phases[("Box",)]
    assert "# Then, with all that has happened:" in synthesizer.transition_program().source


def test_what_changes_twice_in_a_step_is_learned() -> None:
    """Who steps onto a belt is carried on in the same step: no single rule says where he ends up."""
    synthesizer = learned("lab:belts", steps("lab:belts", range(12), 250))
    avatar = synthesizer.dynamics.vocabulary.avatar
    moves = [t for t in synthesizer.dynamics.targets.values() if t.pool == (avatar,) and t.attribute == PLACE]
    assert [len(t.lists[0].rules) for t in moves] == [2, 2]
    assert moves[0].phase < moves[1].phase and moves[1].follows is moves[0]


def test_what_is_gone_is_followed_to_its_end() -> None:
    """A thing that is caught where it went is gone: that is seen in no state, and still learned."""
    synthesizer, rng = RulesSynthesizer(), random.Random(0)
    actions = [Action("left"), Action("right")]
    for _ in range(150):
        x, traps = rng.randint(2, 7), sorted(rng.sample(range(10), 4))
        fixed = [*(Obj("Trap", x=t, y=0) for t in traps), Obj("Sign", x=0, y=5)]
        action = rng.choice(actions)
        end = x + (1 if action.name == "right" else -1)
        mouse = [Obj("Mouse", x=end, y=0)] if end not in traps else []
        before = State([*fixed, Obj("Mouse", x=x, y=0)])
        synthesizer.begin(before, "live", actions)
        synthesizer.observe(Transition(before, "live", action, State([*fixed, *mouse]), 0.0, not mouse))
    synthesizer.fit()
    assert synthesizer.dynamics.unexplained() == []
    assert len(synthesizer.transition_program().source.splitlines()) <= 60


def test_another_process_writes_the_same_program() -> None:
    """Sets of words come in another order in each process: nothing may hang on it, or a run could not be resumed."""
    code = (
        "from test_worlds_that_can_be_said import learned, steps; name = 'lab:belts'; "
        "rules = learned(name, steps(name, range(6), 60)); "
        "print(rules.transition_program().source, rules.dynamics.literals.all)"
    )
    written = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parent)},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert len(set(written)) == 1 and b"def transition" in written[0]


def test_what_a_slide_passed_is_learned() -> None:
    """Every gate of a colour turns when its switch is passed, however far the skater goes: one rule in few words."""
    seen = steps("lab:ice", range(12), 120)
    synthesizer = learned("lab:ice", seen)
    source = synthesizer.transition_program().source
    assert "for o in on_the_way(state, origin, skater, 'Switch')" in source
    (gates,) = (t for t in synthesizer.dynamics.targets.values() if t.pool == ("Gate",))
    assert len(gates.lists[0].rules) == 2 and not gates.rows.contradictions

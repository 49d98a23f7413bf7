"""Comparing programs that hang, crash and worse: each is a mistake where it does that, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from programs_for_sokoban import TRANSITION, sokoban_model

from worldcoder.comparison import Comparison, compare
from worldcoder.envs import make
from worldcoder.errors import ProgramError
from worldcoder.programs import Runner
from worldcoder.sandbox import Limits


@pytest.fixture(scope="module")
def impatient() -> Iterator[Runner]:
    """Runs programs, and waits for none that hangs."""
    with Runner(limits=Limits(call_seconds=0.2)) as runner:
        yield runner


def compared(what: str, runner: Runner) -> Comparison:
    """Sokoban, with something else that its program does first."""
    program = TRANSITION.replace("    player =", f"    {what}\n    player =")
    return compare(sokoban_model(program), lambda: make("sokoban"), range(3), tests=150, runner=runner)


@pytest.mark.parametrize(
    ("what", "failing"),
    [
        ("while action.name == 'up': pass", "timeout"),
        ("import os; action.name == 'up' and os._exit(3)", "crash"),
        ("x = [0] * 10**11 if action.name == 'up' else None", "memory"),
    ],
)
def test_the_action_in_which_it_fails_is_wrong_and_no_other(
    impatient: Runner, what: str, failing: str
) -> None:
    found = compared(what, impatient)
    assert found.tested == 150
    assert 0 < found.wrong < 100
    assert {m.what for m in found.mistakes} == {"error"}
    assert {repeated.action.name for repeated in found.repeated} == {"up"}
    assert found.first_error is not None and found.first_error.startswith(f"{failing}: ")
    assert failing in {m.predicted.failing for m in found.mistakes}
    texts = [repeated.difference.split(":")[0] for repeated in found.repeated]
    assert set(texts) <= {failing, "not run"}
    each = [mistake["predicted"] for mistake in found.to_json()["mismatches"]]
    assert all(set(predicted) == {"error", "failing"} for predicted in each)


STUCK_BOX = "while action.name == 'right' and state.at(3, 3, 'Box') and state.at(2, 3, 'Player'): pass"


def test_a_rare_step_that_hangs_costs_that_test_alone(impatient: Runner) -> None:
    found = compared(STUCK_BOX, impatient)
    assert 0 < found.wrong < 10
    assert all(m.state.at(3, 3, "Box") and m.action.name == "right" for m in found.mistakes)


def test_a_program_that_hangs_when_it_is_loaded_is_refused(impatient: Runner) -> None:
    with pytest.raises(ProgramError, match="took too long"):
        compare(sokoban_model("while True: pass"), lambda: make("sokoban"), [0], tests=10, runner=impatient)

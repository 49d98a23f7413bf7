"""Reward programs for goals of several parts: run, planned with, saved."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from worldcoder.errors import ModelFormatError
from worldcoder.planning import Status
from worldcoder.programs import Check, Knowledge, Program, Runner, WorldModel, load_model
from worldcoder.programs.joining import joined
from worldcoder.world import Action, Obj, State, Transition

LEFT, RIGHT = Action("left"), Action("right")
GOAL = "be at 3, then be at 0"
MOVE = Program(
    """
def transition(state, action):
    for walker in state.all("Walker"):
        walker.x = min(max(walker.x + (1 if action.name == "right" else -1), -4), 4)
    return state
""",
    "transition",
)


def at(x: int, *, ending: str = "False") -> Program:
    source = f"""
def here(state):
    return any(o.x == {x} for o in state.all("Walker"))


def reward(state, action, next_state):
    if {ending}:
        return 0.0, True
    return (1.0, True) if here(next_state) else (0.0, False)
"""
    return Program(source, "reward", f"be at {x}")


def place(x: int) -> State:
    return State([Obj("Walker", x=x)])


def step(x: int, action: Action, to: int, *, reward: float = 0.0, done: bool = False) -> Transition:
    return Transition(place(x), GOAL, action, place(to), reward, done)


BOTH = joined(GOAL, [at(3), at(0)], [(), (0,)], origin="test")


@pytest.fixture(scope="module")
def runner() -> Any:
    with Runner() as one:
        yield one


def test_the_way_leads_over_the_first_part(runner: Runner) -> None:
    simulation = runner.simulation(MOVE, BOTH, place(1), (LEFT, RIGHT))
    plan = simulation.plan()
    assert plan.actions == (RIGHT, RIGHT, LEFT, LEFT, LEFT)
    assert [(p.reward, p.done) for p in simulation.follow(plan.actions)] == [(0.0, False)] * 4 + [(1.0, True)]


def test_what_was_done_before_counts(runner: Runner) -> None:
    simulation = runner.simulation(MOVE, BOTH, place(1), (LEFT, RIGHT), progress=1)
    assert simulation.plan().actions == (LEFT,)
    assert simulation.predict(place(1), LEFT).done
    assert not runner.simulation(MOVE, BOTH, place(1), (LEFT, RIGHT)).predict(place(1), LEFT).done


def test_what_cannot_be_reached_in_this_order_is_proved_to_be_so(runner: Runner) -> None:
    """Part two can be reached, but after part one there is no step any more."""
    stuck = Program(
        MOVE.source.replace("for walker in", "for walker in [] if state.all('Walker')[0].x == 3 else"),
        "transition",
    )
    assert runner.simulation(stuck, BOTH, place(1), (LEFT, RIGHT)).plan().status is Status.UNREACHABLE
    other = joined(GOAL, [at(3), at(0)], [(1,), ()], origin="test")
    assert runner.simulation(stuck, other, place(1), (LEFT, RIGHT)).plan().found


def test_real_steps_advance_it(runner: Runner) -> None:
    progress = runner.advance(BOTH, 0, step(1, LEFT, 0))
    assert progress == 0  # too early
    progress = runner.advance(BOTH, progress, step(2, RIGHT, 3))
    assert progress == 1
    assert runner.advance(BOTH, progress, step(2, LEFT, 1)) == 1
    assert runner.advance(BOTH, progress, step(1, LEFT, 0)) == 3


def test_a_part_that_fails_achieves_nothing(runner: Runner) -> None:
    broken = Program("def reward(state, action, next_state):\n    return 1 / 0, True\n", "reward", "fail")
    assert runner.advance(joined(GOAL, [at(3), broken], [(), ()], origin="test"), 0, step(2, RIGHT, 3)) == 0


def test_an_end_in_vain_of_a_part_is_avoided(runner: Runner) -> None:
    never_left = at(
        0, ending="action.name == 'right' and here(next_state) and False or next_state.one('Walker').x == -1"
    )
    program = joined(GOAL, [at(-3), never_left], [(), ()], origin="test")
    assert runner.simulation(MOVE, program, place(1), (LEFT, RIGHT)).plan().status is Status.UNREACHABLE


def walked(*places: int, reward: float = 1.0, done: bool = True) -> list[Transition]:
    """A walk; its last step is rewarded and ends the episode."""
    steps = [step(x, RIGHT if to > x else LEFT, to) for x, to in pairwise(places)]
    last = steps[-1]
    return [*steps[:-1], step(last.state.objects[0].x, last.action, places[-1], reward=reward, done=done)]


RIGHT_WAY = walked(2, 3, 2, 1, 0)


def test_what_a_step_was_worth_is_compared_after_those_before_it(runner: Runner) -> None:
    for transition in (MOVE, None):
        assert runner.check(Check(RIGHT_WAY), transition, {GOAL: BOTH}) == []
        (early,) = runner.check(Check(walked(1, 0)), transition, {GOAL: BOTH})
        assert (early.index, early.what, early.predicted, early.observed) == (0, "reward", 0.0, 1.0)
        (other,) = runner.check(Check(walked(2, 3, 2, 1, 0, reward=7.0)), transition, {GOAL: BOTH})
        assert (other.index, other.predicted, other.observed) == (3, 1.0, 7.0)
        (on,) = runner.check(Check(walked(2, 3, 2, 1, 0, done=False)), transition, {GOAL: BOTH})
        assert (on.index, on.what) == (3, "done")


def test_each_episode_begins_with_nothing_done(runner: Runner) -> None:
    """In the second the first part is not done, though it was in the first; and what is cut off is another one."""
    again = Check([*RIGHT_WAY, *walked(1, 0), *walked(2, 3, reward=0.0, done=False), *walked(1, 0)])
    assert [m.index for m in runner.check(again, MOVE, {GOAL: BOTH})] == [4, 6]
    assert [m.index for m in runner.check(again, MOVE, {GOAL: BOTH}, stop_after=1)] == [4]


def test_a_part_that_fails_is_a_mismatch(runner: Runner) -> None:
    broken = Program("def reward(state, action, next_state):\n    return 1 / 0, True\n", "reward", "fail")
    program = joined(GOAL, [at(3), broken], [(), ()], origin="test")
    (first, *rest) = runner.check(Check(RIGHT_WAY), MOVE, {GOAL: program})
    assert first.what == "error" and len(rest) == len(RIGHT_WAY) - 1
    assert runner.replay(Check(RIGHT_WAY), MOVE, {GOAL: BOTH}) is None


def test_it_is_saved_with_its_order(tmp_path: Path, runner: Runner) -> None:
    model = WorldModel(MOVE, {GOAL: BOTH, "be at 3": at(3)})
    loaded = load_model(model.save(tmp_path / "model"))
    assert loaded.rewards[GOAL].order == ((), (0,))
    assert loaded.rewards[GOAL].id == BOTH.id
    assert loaded.simulation(place(1), GOAL, (LEFT, RIGHT), runner=runner).plan().found
    again = Knowledge.from_json(json.loads(json.dumps(Knowledge(model).to_json()))).model
    assert again is not None and again.rewards[GOAL] == BOTH and again.rewards["be at 3"].order == ()


@pytest.mark.parametrize("order", [[[1], [0]], [[0], []], "then", [["x"], []], 3])
def test_an_order_that_cannot_be_kept_is_an_error_in_the_file(order: Any, tmp_path: Path) -> None:
    folder = WorldModel(MOVE, {GOAL: BOTH}).save(tmp_path / "model")
    description = json.loads((folder / "model.json").read_text())
    description["goals"][GOAL]["order"] = order
    (folder / "model.json").write_text(json.dumps(description))
    with pytest.raises(ModelFormatError, match=GOAL):
        load_model(folder)


def test_two_programs_need_an_order_of_two() -> None:
    with pytest.raises(ValueError, match="2 parts"):
        joined(GOAL, [at(3), at(0)], [()], origin="test")

"""What an environment returns is put into form, or refused at once in one line."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from worldcoder.envs import Start, Step
from worldcoder.envs.guarded import GuardedWorld, guarded
from worldcoder.errors import ValueFormError, WorldError
from worldcoder.world.values import Action, Obj, State

STATE = State([Obj("Lamp", lit=True), Obj("Lamp", lit=False)])
GO = Action("go")


class Returns:
    def __init__(self, start: Any = (STATE, "go"), step: Any = None, actions: Any = (GO,)) -> None:
        self.start, self.taken, self.offered = start, step, actions

    def reset(self, seed: int) -> Any:
        return self.start

    def step(self, action: Action) -> Any:
        if isinstance(self.taken, Exception):
            raise self.taken
        return self.taken

    def actions(self, state: State) -> Any:
        return self.offered


class Truth:
    """As numpy's bool_: no bool, and equal to one."""

    def __eq__(self, other: object) -> bool:
        return other is True

    __hash__ = None  # type: ignore[assignment]


class Unclear:
    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth value of an array is ambiguous")

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("start", [(STATE, "go"), [STATE, "go"], Start(STATE, "go")])
def test_starts_are_put_into_form(start: Any) -> None:
    found = GuardedWorld(Returns(start), "mine").reset(0)
    assert isinstance(found, Start) and found == Start(STATE, "go")


@pytest.mark.parametrize(
    "step", [(STATE, 1, 1, 0), [STATE, True, Truth(), False], Step(STATE, 1.0, True, False)]
)
def test_steps_are_put_into_form(step: Any) -> None:
    found = GuardedWorld(Returns(step=step), "mine").step(GO)
    assert isinstance(found, Step) and found == Step(STATE, 1.0, True, False)
    assert [type(part) for part in found[1:]] == [float, bool, bool]


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (STATE, "reset gave a State, expected Start(state, goal); return Start(state, goal)"),
        (None, "reset gave None, expected Start(state, goal)"),
        ((STATE, "go", {}), "reset gave a tuple of 3, expected Start(state, goal)"),
        (([], "go"), "reset gave list as the state, expected a State; return Start(state, goal) with State("),
        ((STATE, 3), "reset gave 3 as the goal, expected a sentence (str)"),
    ],
)
def test_starts_that_are_refused(start: Any, said: str) -> None:
    with pytest.raises(WorldError) as caught:
        GuardedWorld(Returns(start), "mine").reset(0)
    assert str(caught.value).startswith(f"mine: {said}")


FULL = "expected Step(state, reward, done, truncated); return Step(state, reward, done, truncated)"


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (None, f"gave None, {FULL}"),
        (STATE, f"gave a State, {FULL}"),
        ((STATE, 0.0, False), f"gave a tuple of 3, {FULL}"),
        ((STATE, 0.0, False, False, {}), f"gave a tuple of 5, {FULL}"),
        ((None, 0.0, False, False), "gave NoneType as the state, expected a State"),
        ((STATE, "1", False, False), "gave '1' as the reward, expected a finite number"),
        ((STATE, None, False, False), "gave None as the reward, expected a finite number"),
        ((STATE, float("inf"), False, False), "gave inf as the reward"),
        ((STATE, 0.0, None, False), "gave None as done, expected True or False"),
        ((STATE, 0.0, False, {}), "gave {} as truncated, expected True or False"),
        ((STATE, 0.0, Unclear(), False), "as done, expected True or False"),
        (KeyError("go"), "raised KeyError: 'go'"),
    ],
)
def test_steps_that_are_refused(step: Any, said: str) -> None:
    with pytest.raises(WorldError) as caught:
        GuardedWorld(Returns(step=step), "mine").step(GO)
    assert str(caught.value).startswith("mine: step(go) ") and said in str(caught.value)


@pytest.mark.parametrize("actions", [(), [], ["go"], "go", (GO, "go")])
def test_actions_that_are_refused(actions: Any) -> None:
    with pytest.raises(
        WorldError, match=r"mine: actions gave .*, expected one Action or more; return a list"
    ):
        GuardedWorld(Returns(actions=actions), "mine").actions(STATE)


def test_errors_of_the_library_are_left_as_they_are() -> None:
    error = ValueFormError("two objects have one name")
    with pytest.raises(ValueFormError) as caught:
        GuardedWorld(Returns(step=error), "mine").step(GO)
    assert caught.value is error


def test_guarding_twice_is_guarding_once_and_copies_work() -> None:
    world = guarded(Returns())
    assert guarded(world) is world and world.name == "Returns"
    assert copy.deepcopy(world).reset(0) == Start(STATE, "go")

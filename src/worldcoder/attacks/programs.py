"""Hostile programs, run as every program is: whatever they do has to become a result of a type."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from string import Template
from typing import Any, NamedTuple

from worldcoder.attacks.case import Case, Ending, Mode
from worldcoder.planning import Budget, Status
from worldcoder.programs import Check, Mismatch, Program, Runner
from worldcoder.sandbox import Layer, Limits
from worldcoder.world.values import Action, Obj, State, Transition

LIMITS = Limits(
    call_seconds=0.1,
    silence_seconds=0.5,
    request_seconds=7.0,
    memory=256 << 20,
    frame_bytes=1 << 20,
    reply_bytes=4 << 20,
)
GOAL = "arrive"
GO, STAY = Action("go"), Action("stay")
BUDGET = Budget(500, 1.0)
PLACES = 5

WALK = "def transition(state, action):\n    state.one('Walker').x += action.name == 'go'\n"
ARRIVED = """
def reward(state, action, next_state):
    won = next_state.one("Walker").x == 5
    return float(won), won
"""


class Tried(NamedTuple):
    """What came of a program. replies: everything that came back of it, as text."""

    ending: Ending
    detail: str
    replies: str


def new_runner(off: frozenset[Layer]) -> Runner:
    """A runner that loses patience soon."""
    return Runner(limits=LIMITS, off=off, workers=1, unsafe=Layer.NO_NEW_PRIVILEGES in off)


def try_program(runner: Runner, case: Case, told: Mapping[str, Any], expected: str) -> Tried:
    """Run a hostile program; expected: a token that is only in what should come out."""
    program = _program(case, told)
    match case.mode:
        case Mode.CHECK:
            found = runner.check(walked(), program)
        case Mode.REWARD:
            found = runner.check(walked(), None, {"*": program})
        case Mode.REPLAY:
            check = walked()
            found = runner.check(check, program)
            again = None if found else runner.replay(check, program)
            found += [] if again is None else [again]
        case Mode.SECRET:
            runner.check(noted(expected), Program(WALK, "transition"))  # an honest one, before
            found = runner.check(noted(expected), program)
        case _:
            return _planned(runner, program)
    return _checked(found)


def healthy(runner: Runner) -> str:
    """What is wrong with an honest program after a hostile one; empty if nothing is."""
    wrong = runner.check(walked(), Program(WALK, "transition"), {"*": Program(ARRIVED, "reward", GOAL)})
    return str(wrong[0])[:200] if wrong else ""


def place(x: int) -> State:
    """The walker at a place."""
    return State([Obj("Walker", x=x)])


def walked() -> Check:
    """What happens on the way."""
    return Check(
        Transition(place(x), GOAL, GO, place(x + 1), float(x == PLACES - 1), x == PLACES - 1)
        for x in range(PLACES)
    )


def noted(secret: str) -> Check:
    """A way at the end of which something comes up that nobody can foresee."""
    last = State([Obj("Walker", x=3), Obj("Note", text=secret)])
    states = [place(0), place(1), place(2), last]
    return Check(Transition(s, GOAL, GO, t, 0.0, False) for s, t in pairwise(states))


def _program(case: Case, told: Mapping[str, Any]) -> Program:
    source = Template(case.source).safe_substitute(told)
    reward = case.mode is Mode.REWARD
    return Program(source, "reward" if reward else "transition", GOAL if reward else None, "attack")


def _checked(found: list[Mismatch]) -> Tried:
    if not found:
        return Tried(Ending.HARMLESS, "", "")
    first = found[0]
    wrong = first.what in ("state", "reward", "done")
    ending = Ending.WRONG if wrong else Ending(first.what)
    predicted = "; ".join(str(m.predicted) for m in found)
    errors = "; ".join(m.error or "" for m in found)
    return Tried(ending, f"transition {first.index}: {first.error or first.what}", predicted + errors)


def _planned(runner: Runner, program: Program) -> Tried:
    reward = Program(ARRIVED, "reward", GOAL)
    plan = runner.simulation(program, reward, place(0), [GO, STAY]).plan(budget=BUDGET)
    if plan.fault is not None:
        fault = plan.fault
        return Tried(Ending(fault.failing), f"at {fault.state}: {fault.error}", str(fault))
    if plan.status is Status.FOUND:  # in none of these worlds is there a way
        return Tried(Ending.WRONG, f"a plan of {len(plan.actions)} actions that leads nowhere", "")
    return Tried(Ending.HARMLESS, f"no plan: {plan.status}", "")

"""What the final model of a run is worth: φ1 and φ2."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from worldcoder.errors import ModelFormatError, ProgramError
from worldcoder.planning import Budget, Status
from worldcoder.programs import Actions, Check, Mismatch, Runner, WorldModel
from worldcoder.world.values import Action, Goal, State, Transition

FEW = 10
"""Starts for which each search has its full budget."""


def not_reproduced(model: WorldModel, transitions: Sequence[Transition], runner: Runner) -> list[Mismatch]:
    """The transitions that the model does not reproduce, reward and end included, in order.

    All of them, with the error, where a program does not load.
    """
    return runner.check(Check(transitions), model.transition, model.rewards)


def reachable(
    model: WorldModel,
    starts: Iterable[tuple[State, Goal]],
    actions: Callable[[State], Sequence[Action]],
    transitions: Sequence[Transition],
    budget: Budget,
    runner: Runner,
) -> list[Status]:
    """φ2: whether the model admits a plan to a reward, from each start.

    actions: as the environment's. transitions: where the states come from in which it was asked.
    budget: of each search, and less where there are many starts.
    """
    starts = tuple(starts)
    source = _source(actions, (*(s for s, _ in starts), *(t.next_state for t in transitions)))
    budget = replace(budget, nodes=budget.nodes * FEW // max(FEW, len(starts)))
    answers = []
    for state, goal in starts:
        try:
            found = model.simulation(state, goal, source, runner=runner).plan(budget=budget)
            if found.fault is not None:
                runner.load(model.transition, model.reward(goal))
            answers.append(found.status)
        except (ModelFormatError, ProgramError):  # no reward program for this goal, or a broken one
            answers.append(Status.UNREACHABLE)
    return answers


def from_all(answers: Sequence[Status]) -> Status | None:
    """φ2 for all starts together.

    FOUND if there is a plan from each; UNREACHABLE if there is proof for one that there is none; else BUDGET. None
    for no start.
    """
    for status in (Status.UNREACHABLE, Status.BUDGET, Status.FOUND):
        if status in answers:
            return status
    return None


def _source(actions: Callable[[State], Sequence[Action]], states: Iterable[State]) -> Actions:
    """The actions themselves where they are the same in every state (faster); else the function."""
    sets = {tuple(actions(state)) for state in states}
    return next(iter(sets)) if len(sets) == 1 else actions

"""What the final model of a run is worth: φ1 and φ2."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from worldcoder.errors import ModelFormatError, ProgramError
from worldcoder.planning import Budget, Status
from worldcoder.programs import Actions, Check, Mismatch, Runner, WorldModel
from worldcoder.world.values import Action, Goal, State, Transition

FEW = 10
"""Starts for which no search has less than the others."""
_SHARE = 4
"""A search from a start has such a part of the nodes: nothing is done with what it finds."""
_LESS = 4
"""After a search whose budget ran out the others have so many times fewer nodes: what all ask is mostly as hard."""


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
    budget: of all searches; each has a part of it, and less where there are many starts, or after one that it did not
    suffice for.
    """
    starts = tuple(starts)
    source = _source(actions, (*(s for s, _ in starts), *(t.next_state for t in transitions)))
    budget = replace(budget, nodes=max(1, budget.nodes * FEW // (_SHARE * max(FEW, len(starts)))))
    answers = []
    for state, goal in starts:
        try:
            found = model.simulation(state, goal, source, runner=runner).plan(budget=budget)
            if found.fault is not None:
                runner.load(model.transition, model.reward(goal))
            answers.append(found.status)
            if found.status is Status.BUDGET:
                budget = replace(budget, nodes=max(1, budget.nodes // _LESS))
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

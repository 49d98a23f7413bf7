"""The search that is used unless another one is asked for."""

from __future__ import annotations

from dataclasses import replace

from worldcoder.planning.bfs import breadth_first
from worldcoder.planning.guided import guided_search
from worldcoder.planning.model import DEFAULT_BUDGET, Budget, IsGoal, Model, Plan, Status, rewarding
from worldcoder.planning.shorten import shorten

SMALL = 25_000
"""Nodes that breadth-first search gets at most before guided search takes over, and again to shorten its plan."""


def plan(model: Model, *, budget: Budget = DEFAULT_BUDGET, is_goal: IsGoal = rewarding) -> Plan:
    """A plan, a proof that there is none, or BUDGET.

    Breadth-first search on a quarter of the budget (`SMALL` nodes at most): where the space is small, that
    gives a shortest plan or the proof. Guided search on the rest: it goes much deeper, and as it drops
    nothing, it proves unreachability as well. Its plan is shortened as far as `SMALL` more nodes of the budget allow.

    A plan that was found is replayed step by step with nothing remembered. If the replay ends elsewhere, the
    model is told to remember nothing, and the search runs again on what is left of the budget; a plan that
    fails even then is not returned (status BUDGET: the model does not repeat itself, nothing is known).
    """
    result = _search(model, budget, is_goal)
    if result.found and not _replays(model, result, is_goal):
        model.distrust()
        spent = result
        result = _search(model, _left(budget, spent), is_goal)
        result = replace(result, nodes=spent.nodes + result.nodes, seconds=spent.seconds + result.seconds)
        if result.found and not _replays(model, result, is_goal):
            result = replace(result, status=Status.BUDGET, actions=(), rewards=())
    return result


def _search(model: Model, budget: Budget, is_goal: IsGoal) -> Plan:
    share = Budget(min(budget.nodes // 4, SMALL), None if budget.seconds is None else budget.seconds / 4)
    small = breadth_first(model, budget=share, is_goal=is_goal)
    if small.status is not Status.BUDGET:
        return small
    deep = guided_search(model, budget=_left(budget, small), is_goal=is_goal)
    if deep.found:
        left = _left(_left(budget, small), deep)
        deep = shorten(model, deep, budget=Budget(min(left.nodes, SMALL), left.seconds), is_goal=is_goal)
    return replace(deep, nodes=small.nodes + deep.nodes, seconds=small.seconds + deep.seconds)


def _left(budget: Budget, spent: Plan) -> Budget:
    seconds = None if budget.seconds is None else max(0.0, budget.seconds - spent.seconds)
    return Budget(max(0, budget.nodes - spent.nodes), seconds)


def _replays(model: Model, found: Plan, is_goal: IsGoal) -> bool:
    steps = model.replay(found.actions)
    return (
        len(steps) == len(found.actions) and is_goal(*steps[-1]) and not any(done for _, done in steps[:-1])
    )

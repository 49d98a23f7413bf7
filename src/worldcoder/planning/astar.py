"""A* search."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from worldcoder.planning.model import (
    DEFAULT_BUDGET,
    Budget,
    IsGoal,
    Meter,
    Model,
    Plan,
    rewarding,
    seldom_collected,
)
from worldcoder.world.values import Action

Heuristic = Callable[[Model], float]
"""An estimate of the steps still needed after the step that the model's iterator stands at."""


def unmet(model: Model) -> float:
    """The parts of the goal that are open.

    A lower bound of the steps still needed only where no step can close two parts at once; read off the
    reward program, so nobody vouches for that. Elsewhere A* still finds a plan, though perhaps not a shortest
    one.
    """
    return model.unmet()


@seldom_collected()
def astar(
    model: Model, *, budget: Budget = DEFAULT_BUDGET, is_goal: IsGoal = rewarding, h: Heuristic = unmet
) -> Plan:
    """A plan of few steps, guided by a heuristic (Hart, Nilsson & Raphael 1968); each step costs 1.

    The plan is a shortest one if `h` never exceeds the steps still needed, and it is a proof of
    unreachability in any case: nothing is pruned. A state met again on a shorter way is expanded again.
    """
    meter = Meter(budget, "astar")
    start = model.start()
    first = model.key(start)
    parents: dict[int, tuple[int, Action, float] | None] = {first: None}
    depth = {first: 0}
    estimates: dict[int, float] = {}
    heap: list[tuple[float, int, int, int, Any, tuple[int, Action, float] | None]] = [
        (0.0, 0, 0, first, start, None)
    ]
    goal: tuple[int, Action, float] | None = None
    while heap:
        _, minus_g, _, here, node, last = heappop(heap)
        if last is not None and node is None:
            return meter.found(parents, *last)
        g = -minus_g
        if g > depth[here]:
            continue  # a shorter way was found since
        for action, key, reward, done in model.successors(node):
            if meter.spent():
                return meter.found(parents, *goal) if goal is not None else meter.budget()
            if is_goal(reward, done):
                goal = (here, action, reward)
                heappush(heap, (g + 1, -g - 1, meter.nodes, key, None, goal))
            elif not done and g + 1 < depth.get(key, g + 2):
                depth[key] = g + 1
                parents[key] = (here, action, reward)
                if key not in estimates:
                    estimates[key] = h(model)
                heappush(heap, (g + 1 + estimates[key], -g - 1, meter.nodes, key, model.keep(), None))
    return meter.unreachable()

"""Breadth-first search."""

from __future__ import annotations

from collections import deque

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


@seldom_collected()
def breadth_first(model: Model, *, budget: Budget = DEFAULT_BUDGET, is_goal: IsGoal = rewarding) -> Plan:
    """A shortest plan, or a proof that there is none.

    Complete: UNREACHABLE means that every reachable state was expanded. Steps that end the episode lead
    nowhere but to the goal.
    """
    meter = Meter(budget, "breadth_first")
    start = model.start()
    first = model.key(start)
    parents: dict[int, tuple[int, Action, float] | None] = {first: None}
    queue = deque([(start, first)])
    while queue:
        node, here = queue.popleft()
        for action, key, reward, done in model.successors(node):
            if meter.spent():
                return meter.budget()
            if is_goal(reward, done):
                return meter.found(parents, here, action, reward)
            if not done and key not in parents:
                parents[key] = (here, action, reward)
                queue.append((model.keep(), key))
    return meter.unreachable()

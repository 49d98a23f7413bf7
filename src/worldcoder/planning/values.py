"""Depth-limited value iteration."""

from __future__ import annotations

from array import array

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

_NEVER = float("-inf")


@seldom_collected()
def value_iteration(
    model: Model,
    *,
    budget: Budget = DEFAULT_BUDGET,
    is_goal: IsGoal = rewarding,
    depth: int = 100,
    discount: float = 0.95,
) -> Plan:
    """The plan of at most `depth` steps to a goal with the largest discounted sum of rewards.

    The planner of the paper's Appendix. Values are of plans that reach a goal: V₀ = −∞, and
    Vₖ(s) = maxₐ r(s, a) + (0 if the step is a goal else discount · Vₖ₋₁(s′)). Where only the last step is
    rewarded, and with a discount below 1, the plan is a shortest one.

    The part of the model within `depth` steps is built first, breadth-first; the budget is for that. When it
    runs out, or when states beyond the depth are left, no plan means BUDGET, not UNREACHABLE.
    """
    meter = Meter(budget, "value_iteration")
    start = model.start()
    index = {model.key(start): 0}
    edges: list[list[tuple[Action, float, int]]] = []  # by state: action, reward, next state (-1: the goal)
    layer = [start]
    complete = True
    for _ in range(depth):
        following = []
        for node in layer:
            steps: list[tuple[Action, float, int]] = []
            edges.append(steps)
            if not complete:
                continue
            for action, key, reward, done in model.successors(node):
                if meter.spent():
                    complete = False
                    break
                if is_goal(reward, done):
                    steps.append((action, reward, -1))
                elif not done:
                    after = index.get(key)
                    if after is None:
                        after = index[key] = len(index)
                        following.append(model.keep())
                    steps.append((action, reward, after))
        layer = following
        if not layer or not complete:
            break
    complete = complete and not layer
    edges.extend([] for _ in range(len(index) - len(edges)))

    values = array("d", [_NEVER]) * (len(index) + 1)
    values[-1] = 0.0  # the goal: nothing comes after it
    history = [values]
    for _ in range(depth):
        if meter.late():
            break
        last = history[-1]
        best = [max([r + discount * last[after] for _, r, after in steps], default=_NEVER) for steps in edges]
        values = array("d", best)
        values.append(0.0)
        if values == last:
            break
        history.append(values)
    if history[-1][0] == _NEVER:
        return meter.unreachable() if complete else meter.budget()

    def worth(step: tuple[Action, float, int]) -> float:
        return step[1] + discount * following_values[step[2]]

    actions, rewards, state = [], [], 0
    while state >= 0:
        if len(history) > 1:
            history.pop()
        following_values = history[-1]
        action, reward, state = max(edges[state], key=worth)
        actions.append(action)
        rewards.append(reward)
    return meter.plan(actions, rewards)

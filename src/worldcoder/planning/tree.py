"""Monte-Carlo tree search."""

from __future__ import annotations

import math
import random
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


class _Branch:
    """A state of the tree."""

    __slots__ = ("action", "children", "node", "parent", "reward", "total", "visits")

    def __init__(self, node: Any, parent: _Branch | None, action: Action | None, reward: float) -> None:
        self.node = node
        self.parent = parent
        self.action = action
        self.reward = reward
        self.children: list[_Branch] | None = None  # None: not expanded yet
        self.visits = 0
        self.total = 0.0


@seldom_collected()
def mcts(
    model: Model,
    *,
    budget: Budget = DEFAULT_BUDGET,
    is_goal: IsGoal = rewarding,
    rng: random.Random | None = None,
    exploration: float = 1.4,
    rollout: int = 20,
    discount: float = 0.99,
) -> Plan:
    """The first plan that simulated play meets (UCT, Kocsis & Szepesvári 2006).

    Each state stands in the tree once, under the step that reached it first. A state whose steps all lead
    nowhere new is taken out; when the root goes, every reachable state was expanded: UNREACHABLE is a proof.

    rng: for the order of expansion and the rollouts; Random(0) if none is given.
    exploration: the constant of the upper confidence bound, for returns scaled to 0..1.
    rollout: how many random steps follow a new state.
    """
    meter = Meter(budget, "mcts")
    rng = rng or random.Random(0)
    start = model.start()
    seen = {model.key(start)}
    root = _Branch(start, None, None, 0.0)
    low, high = math.inf, -math.inf

    def reached(branch: _Branch, steps: list[tuple[Action, float]]) -> Plan:
        above: _Branch | None = branch
        before = []
        while above is not None and above.action is not None:
            before.append((above.action, above.reward))
            above = above.parent
        whole = before[::-1] + steps
        return meter.plan([a for a, _ in whole], [r for _, r in whole])

    while True:
        branch = root
        while branch.children is not None:  # selection
            branch = _select(branch.children, branch.visits, exploration, low, high)

        branch.children = []  # expansion
        for action, key, reward, done in model.successors(branch.node):
            if meter.spent():
                return meter.budget()
            if is_goal(reward, done):
                return reached(branch, [(action, reward)])
            if not done and key not in seen:
                seen.add(key)
                branch.children.append(_Branch(model.keep(), branch, action, reward))
        branch.node = None
        dead: _Branch | None = branch
        while dead is not None and not dead.children:
            if dead.parent is None:
                return meter.unreachable()
            siblings = dead.parent.children
            assert siblings is not None
            siblings.remove(dead)
            dead = dead.parent
        if not branch.children:
            continue

        branch = rng.choice(branch.children)
        steps: list[tuple[Action, float]] = []  # rollout
        node = branch.node
        for _ in range(rollout):
            chosen: tuple[Any, Action, float] | None = None
            count = 0
            for action, _, reward, done in model.successors(node):
                if meter.spent():
                    return meter.budget()
                if is_goal(reward, done):
                    return reached(branch, [*steps, (action, reward)])
                if not done:
                    count += 1
                    if rng.random() * count < 1:
                        chosen = (model.keep(), action, reward)
            if chosen is None:
                break
            node = chosen[0]
            steps.append(chosen[1:])

        value = 0.0  # backup
        for _, reward in reversed(steps):
            value = reward + discount * value
        above: _Branch | None = branch
        while above is not None:
            value = above.reward + discount * value
            low, high = min(low, value), max(high, value)
            above.visits += 1
            above.total += value
            above = above.parent


def _select(children: list[_Branch], visits: int, exploration: float, low: float, high: float) -> _Branch:
    """The child with the largest upper confidence bound (equation 1 of the paper)."""
    spread = (high - low) or 1.0

    def bound(child: _Branch) -> float:
        if child.visits == 0:
            return math.inf
        value = (child.total / child.visits - low) / spread
        return value + exploration * math.sqrt(math.log(visits + 1) / child.visits)

    return max(children, key=bound)

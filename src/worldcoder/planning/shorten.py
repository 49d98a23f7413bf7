"""Shorter plans out of one that was found, by looking through its neighbourhood.

Plan neighborhood graph search (Nakhost and Müller, "Action Elimination and Plan Neighborhood Graph Search", ICAPS
2010): a graph is grown breadth-first from all states of a plan at once, and the shortest way to the goal in it is
the next plan, whose neighbourhood is looked through in turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from worldcoder.planning.model import (
    DEFAULT_BUDGET,
    Budget,
    IsGoal,
    Meter,
    Model,
    Node,
    Plan,
    rewarding,
    seldom_collected,
)
from worldcoder.world.values import Action

ROUNDS = 4
"""Plans whose neighbourhood is looked through, at most; each gets its share of the budget."""


@seldom_collected()
def shorten(
    model: Model, found: Plan, *, budget: Budget = DEFAULT_BUDGET, is_goal: IsGoal = rewarding
) -> Plan:
    """A plan that is no longer than the one that was found, and often shorter.

    nodes and seconds of the result are those of both searches together.
    """
    meter = Meter(budget, found.method)
    neighbourhood = _Neighbourhood(model, meter, is_goal)
    best = found
    for n in range(1, ROUNDS + 1):
        neighbourhood.grow(best.actions, budget.nodes * n // ROUNDS)
        shorter = neighbourhood.shortest()
        if shorter is None or len(shorter.actions) >= len(best.actions):
            break
        best = shorter
    looked = meter.budget()
    return replace(best, nodes=found.nodes + looked.nodes, seconds=found.seconds + looked.seconds)


class _Neighbourhood:
    """A part of the graph of all states."""

    def __init__(self, model: Model, meter: Meter, is_goal: IsGoal) -> None:
        self._model = model
        self._meter = meter
        self._is_goal = is_goal
        start = model.start()
        self._first = model.key(start)
        self._nodes: dict[int, Node] = {self._first: start}  # states that are not expanded yet
        self._edges: dict[
            int, list[tuple[Action, int | None, float]]
        ] = {}  # what follows a state; None: the goal

    def grow(self, actions: Sequence[Action], nodes: int) -> None:
        """Expand the states of a plan, and then those around them, until so many nodes are generated in all."""
        here, queue = self._first, deque([self._first])
        for chosen in actions[:-1]:
            following = {action: key for action, key, _ in self._expand(here)}
            key = following.get(chosen)
            if key is None:
                return
            here = key
            queue.append(here)
        seen = set(queue)
        while queue and self._meter.nodes < nodes:
            for _, key, _ in self._expand(queue.popleft()):
                if key is not None and key not in seen:
                    seen.add(key)
                    queue.append(key)

    def _expand(self, key: int) -> list[tuple[Action, int | None, float]]:
        """What follows a state; nothing where the budget does not allow to look at all of it."""
        known = self._edges.get(key)
        if known is not None:
            return known
        edges: list[tuple[Action, int | None, float]] = []
        for action, following, reward, done in self._model.successors(self._nodes[key]):
            if self._meter.spent():
                return []
            if self._is_goal(reward, done):
                edges.append((action, None, reward))
            elif not done:
                edges.append((action, following, reward))
                if following not in self._edges and following not in self._nodes:
                    self._nodes[following] = self._model.keep()
        del self._nodes[key]
        self._edges[key] = edges
        return edges

    def shortest(self) -> Plan | None:
        """The shortest way to the goal."""
        parents: dict[int, tuple[int, Action, float] | None] = {self._first: None}
        queue = deque([self._first])
        while queue:
            here = queue.popleft()
            for action, key, reward in self._edges.get(here, ()):
                if key is None:
                    return self._meter.found(parents, here, action, reward)
                if key not in parents:
                    parents[key] = (here, action, reward)
                    queue.append(key)
        return None

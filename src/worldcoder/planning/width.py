"""Best-first width search."""

from __future__ import annotations

from collections.abc import Sequence
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


@seldom_collected()
def width_search(
    model: Model, *, budget: Budget = DEFAULT_BUDGET, is_goal: IsGoal = rewarding, pairs: int = 4_000_000
) -> Plan:
    """A plan, found by looking first at states that show something new (Lipovetzky & Geffner 2017, BFWS).

    The novelty of a state is 1 if something holds in it that held in no state before with as many open parts
    of the goal, 2 if two things hold together for the first time, else 3. States of small novelty come first,
    then those with few open parts. States of novelty 3 come last, but they come: nothing is pruned, and
    UNREACHABLE is a proof. The plan need not be short.

    pairs: how many pairs of things to remember (about 100 bytes each); beyond it, novelty 2 is no longer told
    from 3.
    """
    meter = Meter(budget, "width_search")
    start = model.start()
    first = model.key(start)
    parents: dict[int, tuple[int, Action, float] | None] = {first: None}
    novelty = Novelty(pairs)
    heap: list[tuple[int, int, int, int, Any]] = [(0, 0, 0, first, start)]
    while heap:
        _, open_before, _, here, node = heappop(heap)
        for action, key, reward, done in model.successors(node):
            if meter.spent():
                return meter.budget()
            if is_goal(reward, done):
                return meter.found(parents, here, action, reward)
            if not done and key not in parents:
                parents[key] = (here, action, reward)
                unmet = model.unmet()
                atoms = model.atoms()
                fresh = model.changed_atoms() if unmet == open_before and here != first else atoms
                heappush(heap, (novelty(unmet, fresh, atoms), unmet, meter.nodes, key, model.keep()))
    return meter.unreachable()


class Novelty:
    """How new a state is among those with as many open parts of the goal."""

    def __init__(self, pairs: int) -> None:
        self._left = pairs
        self._seen: dict[int, tuple[set[int], set[int]]] = {}

    def __call__(self, unmet: int, fresh: Sequence[int], atoms: Sequence[int]) -> int:
        """1, 2 or 3. Only what is fresh can be new: the rest was seen in the state before."""
        seen = self._seen.get(unmet)
        if seen is None:
            seen = self._seen[unmet] = set(), set()
        single, double = seen
        result = 3
        if not single.issuperset(fresh):
            single.update(fresh)
            result = 1
        if self._left > 0:
            before = len(double)
            for atom in fresh:
                double.update([atom ^ other for other in atoms])
            gained = len(double) - before
            self._left -= gained
            if gained and result == 3:
                result = 2
        return result

"""Width search that also learns how far it is from the goal."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
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
from worldcoder.planning.ways import Ways
from worldcoder.planning.width import Novelty
from worldcoder.world.values import Action

FIRST_LOOK = 2_000
"""Nodes after which distances are measured first, and then each time that there are half as many more."""
WORTH = 6
"""Steps of distance that one degree of novelty is worth."""


@seldom_collected()
def guided_search(
    model: Model, *, budget: Budget = DEFAULT_BUDGET, is_goal: IsGoal = rewarding, pairs: int = 4_000_000
) -> Plan:
    """A plan, found by two queues in turn: the one of `width_search`, and one that goes by learned distances.

    While it searches, it notes what becomes of each thing and when parts of the goal close (`Ways`). The second queue
    takes the least sum of distance and novelty, where novelty is among states of the same distance. States from which
    something cannot get to where it is wanted, as far as was seen, come late, but they come: nothing is pruned, and
    UNREACHABLE is a proof. Where nothing is learned it is `width_search`. The plan need not be short.

    pairs: how many pairs of things to remember, half of them for each queue.
    """
    meter = Meter(budget, "guided_search")
    start = model.start()
    first = model.key(start)
    parents: dict[int, tuple[int, Action, float] | None] = {first: None}
    frontier = _Frontier(pairs // 2)
    frontier.push(first, _State(start, (), 0), (), None)
    while frontier:
        frontier.measure(meter.nodes)
        here, state = frontier.pop()
        for action, key, reward, done in model.successors(state.node):
            if meter.spent():
                return meter.budget()
            if is_goal(reward, done):
                return meter.found(parents, here, action, reward)
            if not done:
                atoms, unmet = model.atoms(), model.unmet()
                frontier.ways.see(state.atoms, atoms, unmet - state.unmet)
                if key not in parents:
                    parents[key] = (here, action, reward)
                    frontier.push(key, _State(model.keep(), atoms, unmet), model.changed_atoms(), state)
    return meter.unreachable()


class _State:
    """A state that is to be expanded. novelty: among states as far from the goal."""

    __slots__ = ("atoms", "distance", "node", "novelty", "unmet")

    def __init__(self, node: Any, atoms: Sequence[int], unmet: int) -> None:
        self.node = node
        self.atoms = atoms
        self.unmet = unmet
        self.distance = 0
        self.novelty = 1


class _Frontier:
    """The states that are to be expanded, each in both queues; who takes it out of one takes it out of the other."""

    def __init__(self, pairs: int) -> None:
        self.ways = Ways()
        self._states: dict[int, _State] = {}
        self._new: list[tuple[int, int, int, int]] = []
        self._near: list[tuple[int, int, int, int]] = []
        self._pairs = pairs
        self._novelty = Novelty(pairs)
        self._novelty_near = Novelty(pairs)
        self._guided = False
        self._look_at = FIRST_LOOK
        self._pushed = self._popped = 0

    def __bool__(self) -> bool:
        return bool(self._states)

    def push(self, key: int, state: _State, changed: Sequence[int], last: _State | None) -> None:
        """Add a state. changed: the atoms that are not those of the state before, `last`."""
        self._states[key] = state
        self._pushed += 1
        atoms = state.atoms
        beside = last is not None and bool(last.atoms)  # else nothing is known of the state before
        fresh = changed if last is not None and beside and last.unmet == state.unmet else atoms
        novelty = self._novelty(state.unmet, fresh, atoms)
        heappush(self._new, (novelty, state.unmet, self._pushed, key))
        if self._guided:
            state.distance = self.ways.distance(atoms)
            fresh = changed if last is not None and beside and last.distance == state.distance else atoms
            state.novelty = self._novelty_near(state.distance, fresh, atoms)
            heappush(self._near, (state.distance + WORTH * state.novelty, state.unmet, self._pushed, key))

    def pop(self) -> tuple[int, _State]:
        """The next state, from either queue in turn."""
        self._popped += 1
        queue = self._near if self._near and self._popped % 2 else self._new
        while True:
            key = heappop(queue)[-1]
            state = self._states.pop(key, None)
            if state is not None:
                self.ways.expand(state.atoms)
                return key, state
            if not queue:
                queue = self._new if queue is self._near else self._near

    def measure(self, nodes: int) -> None:
        """Learn from what was seen, if it is time to, and put the second queue in order again."""
        if nodes < self._look_at:
            return
        self._look_at = self._look_at * 3 // 2
        self._guided = self.ways.measure()
        self._novelty_near = Novelty(self._pairs)
        self._near = []
        if self._guided:
            for n, (key, state) in enumerate(self._states.items()):
                state.distance = self.ways.distance(state.atoms)
                self._near.append((state.distance + WORTH * state.novelty, state.unmet, n, key))
            heapify(self._near)

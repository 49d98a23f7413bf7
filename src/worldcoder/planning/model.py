"""What a search needs, and what it gives: a model, a budget, a plan.

A search knows nothing of worlds or programs. It gets one `Model`, which generates the steps that leave a
node, and returns one `Plan`, whose status tells apart a plan, a proof that there is none, and a budget that
ran out.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from worldcoder.world.values import Action

Node = Any
"""What a model keeps of a state: opaque to a search, and only of use to the model that made it."""


class Model(Protocol):
    """A world that can be searched. States are told apart by their keys.

    The steps of `successors` are looked at one by one, and `keep`, `atoms`, `changed_atoms` and `unmet` speak
    of the step that the iterator stands at: call them before asking for the next one.
    """

    def start(self) -> Node:
        """The node that the search begins with."""
        ...

    def key(self, node: Node) -> int:
        """A number for the state of a node: equal for equal states."""
        ...

    def successors(self, node: Node) -> Iterator[tuple[Action, int, float, bool]]:
        """The steps that leave a node: (action, key of the state after, reward, done)."""
        ...

    def keep(self) -> Node:
        """The node after the current step, for `successors`."""
        ...

    def atoms(self) -> Sequence[int]:
        """One number for each thing that holds after the current step and that can change."""
        ...

    def changed_atoms(self) -> Sequence[int]:
        """Those of `atoms` that the current step brought about."""
        ...

    def unmet(self) -> int:
        """How many parts of the goal are open after the current step; 0 where that is not known."""
        ...

    def replay(self, actions: Sequence[Action]) -> list[tuple[float, bool]]:
        """Reward and done of each action from the start, computed anew; ends early where a step fails."""
        ...

    def distrust(self) -> None:
        """From now on, compute every step anew: a replay showed that something remembered was wrong."""
        ...


class Status(StrEnum):
    """What a search found out."""

    FOUND = "found"
    UNREACHABLE = "unreachable"
    """Every state that can be reached was looked at, and no step into a goal was among them."""
    BUDGET = "budget"
    """Neither: nodes, seconds or depth ran out first."""


@dataclass(frozen=True)
class Budget:
    """How much a search may spend.

    nodes: steps generated (transition, reward and duplicate check each).
    seconds: wall-clock time, or None for as long as the nodes last.
    """

    nodes: int = 100_000
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.nodes < 0 or (self.seconds is not None and self.seconds < 0):
            raise ValueError(f"a budget cannot be negative, got {self}")


DEFAULT_BUDGET = Budget()


@dataclass(frozen=True)
class Plan:
    """What a search returns.

    actions: from the start to the goal; empty unless the status is FOUND.
    rewards: what the model says each action brings.
    nodes: steps generated. seconds: wall-clock time. method: the search that found out.
    fault: what went wrong with the model itself, if anything did.
    """

    status: Status
    actions: tuple[Action, ...]
    rewards: tuple[float, ...]
    nodes: int
    seconds: float
    method: str
    fault: Any = None

    @property
    def found(self) -> bool:
        return self.status is Status.FOUND


IsGoal = Callable[[float, bool], bool]
"""Whether a step is what the search looks for, from its reward and done."""

Parents = Mapping[int, tuple[int, Action, float] | None]
"""How each state was reached first: (key of the state before, action, reward), None for the start."""


def rewarding(reward: float, done: bool) -> bool:
    """The goal of the paper's condition φ2: a step that ends the episode with a positive reward."""
    return done and reward > 0


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Within a search, let Python look for reference cycles a hundred times less often.

    A search keeps many objects and makes no cycles, so that looking through them again and again costs 10 to 25 %
    of its time. It is not switched off: a program may make cycles in every call.
    """
    before = gc.get_threshold()
    gc.set_threshold(70_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class Meter:
    """Counts nodes and seconds against a budget, and writes the result."""

    def __init__(self, budget: Budget, method: str) -> None:
        self.nodes = 0
        self._method = method
        self._allowed = budget.nodes
        self._began = time.perf_counter()
        self._until = None if budget.seconds is None else self._began + budget.seconds

    def spent(self) -> bool:
        """Count one more node; True when the budget does not allow it."""
        if self.nodes >= self._allowed:
            return True
        self.nodes += 1
        return self._until is not None and self.nodes % 16 == 1 and time.perf_counter() > self._until

    def late(self) -> bool:
        """Whether the seconds are over."""
        return self._until is not None and time.perf_counter() > self._until

    def found(self, parents: Parents, key: int, action: Action, reward: float) -> Plan:
        """The plan that ends with `action` in the state `key`."""
        actions, rewards = [action], [reward]
        while (step := parents[key]) is not None:
            key, action, reward = step
            actions.append(action)
            rewards.append(reward)
        return self.plan(actions[::-1], rewards[::-1])

    def plan(self, actions: Sequence[Action], rewards: Sequence[float]) -> Plan:
        """The plan made of these actions."""
        return self._result(Status.FOUND, tuple(actions), tuple(rewards))

    def unreachable(self) -> Plan:
        """Every reachable state was looked at."""
        return self._result(Status.UNREACHABLE)

    def budget(self) -> Plan:
        """The budget is used up."""
        return self._result(Status.BUDGET)

    def _result(
        self, status: Status, actions: tuple[Action, ...] = (), rewards: tuple[float, ...] = ()
    ) -> Plan:
        seconds = time.perf_counter() - self._began
        return Plan(status, actions, rewards, self.nodes, seconds, self._method)

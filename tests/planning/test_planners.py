"""Contract tests: every search in PLANNERS, on small graphs where the truth is known."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldcoder.planning import PLANNERS, Budget, Plan, Status, astar, breadth_first, value_iteration
from worldcoder.world import Action

ACTIONS = (Action("a"), Action("b"), Action("c"))
GOAL = -1
"""A step to this node is rewarded and ends the episode."""
DEAD = -2
"""A step to this node ends the episode without reward."""


class Graph:
    """A model whose states are numbers; edges[state][i] is where action i leads."""

    def __init__(self, edges: Sequence[Sequence[int]], reward: float = 0.0) -> None:
        self.edges = edges
        self.reward = reward
        self.at = 0
        self.before = 0
        self.distrusted = 0

    def start(self) -> Any:
        return 0

    def key(self, node: Any) -> int:
        return int(node) + 10

    def successors(self, node: Any) -> Iterator[tuple[Action, int, float, bool]]:
        for action, after in zip(ACTIONS, self.edges[node], strict=False):
            self.before, self.at = node, after
            yield action, after + 10, 1.0 if after == GOAL else self.reward, after < 0

    def keep(self) -> Any:
        return self.at

    def atoms(self) -> list[int]:
        return [1000 + self.at // 3, 2000 + self.at % 3]

    def changed_atoms(self) -> list[int]:
        return [a for a in self.atoms() if a not in (1000 + self.before // 3, 2000 + self.before % 3)]

    def unmet(self) -> int:
        return 0

    def replay(self, actions: Sequence[Action]) -> list[tuple[float, bool]]:
        steps, node = [], 0
        for action in actions:
            node = self.edges[node][ACTIONS.index(action)]
            steps.append((1.0 if node == GOAL else self.reward, node < 0))
        return steps

    def distrust(self) -> None:
        self.distrusted += 1


def distance(edges: Sequence[Sequence[int]]) -> int | None:
    """Steps to the goal, computed plainly."""
    depth = {0: 0}
    queue = deque([0])
    while queue:
        node = queue.popleft()
        for after in edges[node]:
            if after == GOAL:
                return depth[node] + 1
            if after >= 0 and after not in depth:
                depth[after] = depth[node] + 1
                queue.append(after)
    return None


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    n = draw(st.integers(1, 14))
    ends = st.integers(0, n - 1) | st.sampled_from([DEAD])
    edges = [draw(st.lists(ends, max_size=3)) for _ in range(n)]
    if draw(st.booleans()):
        place = draw(st.integers(0, n - 1))
        edges[place] = [*edges[place][:2], GOAL]
    return edges


def valid(plan: Plan, edges: Sequence[Sequence[int]]) -> bool:
    node = 0
    for action in plan.actions:
        if node < 0:
            return False
        node = edges[node][ACTIONS.index(action)]
    return node == GOAL and len(plan.rewards) == len(plan.actions)


@pytest.mark.parametrize("name", PLANNERS)
@settings(max_examples=150, deadline=None)
@given(edges=graphs())
def test_tells_found_from_unreachable(name: str, edges: list[list[int]]) -> None:
    plan = PLANNERS[name](Graph(edges), budget=Budget(100_000))
    if distance(edges) is None:
        assert plan.status is Status.UNREACHABLE
        assert plan.actions == () == plan.rewards
    else:
        assert plan.status is Status.FOUND
        assert valid(plan, edges)


@pytest.mark.parametrize("name", PLANNERS)
@settings(max_examples=150, deadline=None)
@given(edges=graphs(), nodes=st.integers(0, 12))
def test_a_tight_budget_is_kept_and_nothing_false_is_claimed(
    name: str, edges: list[list[int]], nodes: int
) -> None:
    plan = PLANNERS[name](Graph(edges), budget=Budget(nodes))
    assert plan.nodes <= nodes
    if plan.status is Status.FOUND:
        assert valid(plan, edges)
    elif plan.status is Status.UNREACHABLE:
        assert distance(edges) is None


@settings(max_examples=300, deadline=None)
@given(edges=graphs())
def test_shortest_plans(edges: list[list[int]]) -> None:
    best = distance(edges)
    for search in (breadth_first, value_iteration, astar, PLANNERS["plan"]):
        plan = search(Graph(edges))
        assert (len(plan.actions) or None) == best


@pytest.mark.parametrize("name", PLANNERS)
def test_seconds_are_kept(name: str) -> None:
    class Endless(Graph):
        def successors(self, node: Any) -> Iterator[tuple[Action, int, float, bool]]:
            for i, action in enumerate(ACTIONS):
                self.at = 3 * node + i + 1
                yield action, self.at, 0.0, False

    plan = PLANNERS[name](Endless([]), budget=Budget(10**9, seconds=0.1))
    assert plan.status is Status.BUDGET
    assert plan.seconds < 2


@pytest.mark.parametrize("name", PLANNERS)
def test_ctrl_c_gets_through(name: str) -> None:
    class Interrupted(Graph):
        def successors(self, node: Any) -> Iterator[tuple[Action, int, float, bool]]:
            raise KeyboardInterrupt
            yield  # type: ignore[unreachable]

    with pytest.raises(KeyboardInterrupt):
        PLANNERS[name](Interrupted([[0]]))


def test_value_iteration_prefers_the_larger_reward() -> None:
    """A longer way that pays on each step is worth more than the short one."""

    class Paying(Graph):
        def successors(self, node: Any) -> Iterator[tuple[Action, int, float, bool]]:
            for action, key, reward, done in super().successors(node):
                yield action, key, 2.0 if self.at == 2 else reward, done

    edges = [[1, 2], [GOAL], [3], [GOAL]]
    found = value_iteration(Paying(edges), discount=0.9)
    assert found.actions == (ACTIONS[1], ACTIONS[0], ACTIONS[0])
    assert found.rewards == (2.0, 0.0, 1.0)


def test_beyond_the_depth_nothing_is_claimed() -> None:
    chain = [[i + 1] for i in range(9)] + [[GOAL]]
    assert value_iteration(Graph(chain), depth=9).status is Status.BUDGET
    assert value_iteration(Graph(chain), depth=10).status is Status.FOUND
    assert value_iteration(Graph([[1], [0]]), depth=10).status is Status.UNREACHABLE


def test_a_heuristic_that_never_exceeds_the_steps_gives_shortest_plans_with_fewer_nodes() -> None:
    size = 20  # a line with a long detour; the goal lies at its end
    edges = [[max(0, i - 1), i + 1] for i in range(size)] + [[GOAL]]
    plain = breadth_first(Graph(edges))
    found = astar(Graph(edges), h=lambda model: size - model.at + 1)  # type: ignore[attr-defined]
    assert found.actions == plain.actions and found.nodes <= plain.nodes


def test_a_plan_that_does_not_replay_is_not_returned() -> None:
    class Lying(Graph):
        def replay(self, actions: Sequence[Action]) -> list[tuple[float, bool]]:
            return []

    model = Lying([[GOAL]])
    found = PLANNERS["plan"](model)
    assert found.status is Status.BUDGET and found.actions == () and model.distrusted == 1


def test_a_negative_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        Budget(-1)

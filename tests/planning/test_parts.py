"""Goals of several parts: what counts when, and every search in the product of a world with what is done."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldcoder.planning import PLANNERS, Budget, Status
from worldcoder.planning.parts import InParts, Order, advance, checked, complete, worth
from worldcoder.world import Action

ACTIONS = (Action("a"), Action("b"), Action("c"))


@st.composite
def orders(draw: st.DrawFn) -> Order:
    """Each part waits for some of those that stand before it in a random order."""
    size = draw(st.integers(1, 4))
    ranks = draw(st.permutations(range(size)))
    return tuple(
        tuple(n for n in range(size) if ranks[n] < ranks[part] and draw(st.booleans()))
        for part in range(size)
    )


@given(orders(), st.lists(st.integers(0, 15), max_size=12))
def test_what_is_done_stays_done_and_nothing_counts_too_early(order: Order, steps: list[int]) -> None:
    done = 0
    for achieved in steps:
        after = advance(order, done, achieved)
        assert after & done == done
        for part, needed in enumerate(order):
            if after >> part & 1 and not done >> part & 1:
                assert achieved >> part & 1
                assert all(after >> n & 1 for n in needed)
        assert advance(order, after, achieved) == after
        done = after


@given(orders())
def test_a_step_that_achieves_everything_completes_the_goal(order: Order) -> None:
    assert complete(order, advance(order, 0, (1 << len(order)) - 1))
    assert worth(order, 0, float((1 << len(order)) - 1), False)[1:] == (1.0, True)


@pytest.mark.parametrize("order", [((0,),), ((1,), (0,)), ((5,),), ((-1,),), (("0",),), ((True,), ())])
def test_an_order_that_cannot_be_kept_is_refused(order: Any) -> None:
    with pytest.raises(ValueError, match="order"):
        checked(order)


def test_an_end_in_vain_is_the_end() -> None:
    assert worth(((), (0,)), 0, 0.0, True) == (0, 0.0, True)
    assert worth(((), (0,)), 0, 2.0, False) == (0, 0.0, False)
    assert worth(((), (0,)), 1, 2.0, False) == (3, 1.0, True)


class Places:
    """A world of numbered places; entering some of them achieves parts, and some end it in vain."""

    def __init__(
        self, edges: Sequence[Sequence[int]], parts: Sequence[int], vain: frozenset[int] = frozenset()
    ) -> None:
        self.edges, self.parts, self.vain = edges, parts, vain
        self.at = 0

    def start(self) -> Any:
        return 0

    def key(self, node: Any) -> int:
        return int(node)

    def successors(self, node: Any) -> Iterator[tuple[Action, int, float, bool]]:
        for action, after in zip(ACTIONS, self.edges[node], strict=False):
            self.at = after
            yield action, after, float(self.parts[after]), after in self.vain

    def keep(self) -> Any:
        return self.at

    def atoms(self) -> list[int]:
        return [1 + self.at]

    def changed_atoms(self) -> list[int]:
        return [1 + self.at]

    def unmet(self) -> int:
        return 0

    def replay(self, actions: Sequence[Action]) -> list[tuple[float, bool]]:
        node, steps = 0, []
        for action in actions:
            node = self.edges[node][ACTIONS.index(action)]
            steps.append((float(self.parts[node]), node in self.vain))
        return steps

    def distrust(self) -> None:
        pass


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Places, Order]:
    size = draw(st.integers(2, 7))
    order = draw(orders())
    place = st.integers(0, size - 1)
    edges = draw(st.lists(st.lists(place, min_size=3, max_size=3), min_size=size, max_size=size))
    parts = draw(st.lists(st.integers(0, (1 << len(order)) - 1), min_size=size, max_size=size))
    vain = draw(st.frozensets(place.filter(lambda n: not parts[n]), max_size=2))
    return Places(edges, parts, vain), order


def fewest(world: Places, order: Order) -> int | None:
    """Steps to all parts, computed plainly."""
    depth = {(0, 0): 0}
    queue = deque([(0, 0)])
    while queue:
        place, done = queue.popleft()
        for after in world.edges[place]:
            then = advance(order, done, world.parts[after])
            if complete(order, then):
                return depth[place, done] + 1
            if after not in world.vain and (after, then) not in depth:
                depth[after, then] = depth[place, done] + 1
                queue.append((after, then))
    return None


@given(worlds())
@pytest.mark.parametrize("name", [name for name in PLANNERS if name not in ("mcts", "value_iteration")])
def test_searches_reach_all_parts_in_their_order_or_prove_that_they_cannot(
    name: str, given_world: tuple[Places, Order]
) -> None:
    world, order = given_world
    plan = PLANNERS[name](InParts(world, order, 0), budget=Budget(20_000))
    best = fewest(world, order)
    assert plan.found == (best is not None)
    if not plan.found:
        assert plan.status is Status.UNREACHABLE
        return
    steps = InParts(world, order, 0).replay(plan.actions)
    assert steps[-1] == (1.0, True)
    assert not any(done for _, done in steps[:-1])
    if name == "breadth_first":
        assert len(plan.actions) == best


def test_what_is_done_at_the_start_need_not_be_done_again() -> None:
    world = Places(((1, 2, 0), (0, 0, 0), (0, 0, 0)), (0, 1, 2))
    for done, steps in ((0, 3), (1, 1)):
        plan = PLANNERS["plan"](InParts(world, ((), (0,)), done), budget=Budget(1000))
        assert len(plan.actions) == steps

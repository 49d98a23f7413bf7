"""Which object became which, where several of a kind moved at once."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from worldcoder.world import Obj, State
from worldcoder.world.difference import assignment, match

Spot = tuple[int, int]


def places(kind: str, *spots: Spot) -> State:
    return State([Obj(kind, x=x, y=y) for x, y in spots])


def became(before: State, after: State) -> dict[Spot, Spot]:
    """Where the object at each place went."""
    found = {}
    for o, j in zip(before.objects, match(before, after), strict=True):
        assert j is not None
        new = after.objects[j]
        found[o.attributes["x"], o.attributes["y"]] = (new.attributes["x"], new.attributes["y"])
    return found


def test_each_of_a_row_that_was_pushed_moved_one_step() -> None:
    before, after = (
        places("Crate", (3, 1), (4, 1), (5, 1), (5, 4)),
        places("Crate", (4, 1), (5, 1), (6, 1), (5, 4)),
    )
    assert became(before, after) == {(3, 1): (4, 1), (4, 1): (5, 1), (5, 1): (6, 1), (5, 4): (5, 4)}


def test_what_leaps_leaves_the_others_where_they_are() -> None:
    before, after = places("Box", (3, 5), (4, 2)), places("Box", (4, 2), (6, 3))
    assert became(before, after) == {(3, 5): (6, 3), (4, 2): (4, 2)}


def guards(*rows: tuple[int, int, str]) -> State:
    return State([Obj("Guard", x=x, y=y, facing=facing) for x, y, facing in rows])


def test_those_that_meet_keep_what_they_are() -> None:
    before = guards((7, 2, "south"), (7, 2, "north"), (7, 3, "north"))
    after = guards((7, 3, "south"), (7, 1, "north"), (7, 2, "north"))
    for o, j in zip(before.objects, match(before, after), strict=True):
        assert j is not None
        new = after.objects[j]
        assert new.attributes["facing"] == o.attributes["facing"]
        assert abs(new.attributes["y"] - o.attributes["y"]) == 1


tables = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=n, max_size=n)
)


@given(tables)
def test_anassignment_costs_as_little_as_any(table: list[list[int]]) -> None:
    costs = [[float(v) for v in row] for row in table]
    found = assignment(costs)
    size = range(len(costs))
    assert sorted(found) == list(size)
    assert sum(costs[i][found[i]] for i in size) == min(
        sum(costs[i][chosen[i]] for i in size) for chosen in permutations(size)
    )

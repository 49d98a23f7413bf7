"""The search that learns distances: what it learns, and that this helps."""

from __future__ import annotations

from pathlib import Path

from programs_for_sokoban import sokoban_model

from worldcoder.envs import make
from worldcoder.planning import Budget
from worldcoder.planning.ways import FAMILIAR, FAR, LOST, Ways
from worldcoder.programs import Runner


def line(*, length: int = 5) -> Ways:
    """A thing that goes along 100, 101, ... to where it is wanted; at each place it may fall to 200 for good."""
    ways = Ways()
    for i in range(length):
        last = i == length - 1
        ways.see([100 + i, 7], [101 + i, 7], -1 if last else 0)
        ways.see([101 + i, 7], [100 + i, 7], 1 if last else 0)
    ways.see([101, 7], [200, 7], 0)
    return ways


def test_distances_are_steps_of_a_thing_to_where_it_closes_a_part() -> None:
    ways = line()
    assert ways.measure()
    # the thing to its place, and the place to the thing
    assert [ways.distance([100 + i, 7]) for i in range(6)] == [10, 8, 6, 4, 2, 0]


def test_without_a_part_that_was_closed_nothing_is_far() -> None:
    ways = Ways()
    ways.see([100], [101], 0)
    assert not ways.measure()
    assert ways.distance([100]) == ways.distance([]) == 0


def test_what_closes_a_part_only_at_times_is_not_wanted() -> None:
    ways = line()
    ways.see([7, 104], [8, 105], -1)  # something else moved as well, as a part was closed
    ways.see([7, 104], [8, 104], 0)  # and here without
    ways.measure()
    assert ways.distance([105, 7]) == 0


def test_a_thing_with_no_way_back_is_lost_once_that_is_familiar() -> None:
    ways = line()
    for _ in range(FAMILIAR - 1):
        ways.expand([200, 7])
    ways.measure()
    assert ways.distance([200, 7]) == 0
    ways.expand([200, 7])
    assert ways.distance([200, 7]) == LOST


def test_each_of_two_things_has_a_place_of_its_own() -> None:
    ways = Ways()
    for i in (0, 1, 2):
        ways.see([10 + i, 30], [11 + i, 30], -1 if i == 2 else 0)
        ways.see([30, 20 + i], [30, 21 + i], -1 if i == 2 else 0)
    ways.measure()
    assert ways.distance([13, 23]) == 0
    assert ways.distance([13, 22]) == ways.distance([22, 13]) == 2
    assert ways.distance([12, 22]) == 4 < FAR


LEVELS = Path(__file__).parents[1] / "data/boxoban/unfiltered-test-000.txt"


def test_a_level_that_is_hard_without_distances(runner: Runner) -> None:
    env = make(f"sokoban:{LEVELS}#9")
    state, goal = env.reset(0)
    simulation = sokoban_model().simulation(state, goal, env.actions(state), runner=runner)
    assert simulation.plan("guided_search", budget=Budget(50_000)).found
    assert not simulation.plan("width_search", budget=Budget(50_000)).found

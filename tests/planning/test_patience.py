"""Searches whose budgets run out again and again."""

from __future__ import annotations

from worldcoder.planning import Status
from worldcoder.planning.patience import LEAST, NODES_PER_ACTION, Patience


def spent(patience: Patience, nodes: int, actions: int, status: Status = Status.BUDGET) -> list[int]:
    """What a search that always ends the same may cost, action by action."""
    found = []
    for _ in range(actions):
        found.append(patience.nodes("way", nodes))
        patience.note("way", status)
        patience.now += 1
    return found


def test_a_search_in_vain_waits_longer_each_time_and_is_small_meanwhile() -> None:
    nodes = 8 * NODES_PER_ACTION
    found = spent(Patience(), nodes, 40)
    assert set(found) == {nodes, nodes // LEAST}
    assert [n for n, allowed in enumerate(found) if allowed == nodes] == [0, 2, 5, 10, 19, 28, 37]


def test_where_it_is_said_how_many_nodes_come_first_they_double_with_each_search_in_vain() -> None:
    patience, nodes, found = Patience(), 32 * NODES_PER_ACTION, []
    for _ in range(150):
        found.append(patience.nodes("way", nodes, first=nodes // 8))
        patience.note("way", Status.BUDGET)
        patience.now += 1
    large = [allowed for allowed in found if allowed != nodes // LEAST]
    assert large[:5] == [nodes // 8, nodes // 4, nodes // 2, nodes, nodes] and set(large[5:]) <= {nodes}
    patience.note("way", Status.FOUND)
    assert patience.nodes("way", nodes, first=nodes // 8) == nodes // 8


def test_what_is_in_vain_costs_so_much_for_each_action_in_the_long_run() -> None:
    for nodes in (5_000, 20_000, 200_000):
        found = spent(Patience(), nodes, 5_000)
        assert sum(n for n in found if n == nodes) <= 1.2 * NODES_PER_ACTION * len(found)


def test_a_search_that_comes_to_an_end_has_its_turn_at_once() -> None:
    for status in (Status.FOUND, Status.UNREACHABLE):
        assert spent(Patience(), 10_000, 5, status) == [10_000] * 5
    patience = Patience()
    spent(patience, 10_000, 3)
    patience.nodes("way", 10_000)
    patience.note("way", Status.FOUND)
    assert patience.nodes("way", 10_000) == 10_000


def test_purposes_wait_for_themselves_and_nothing_waits_in_a_new_episode() -> None:
    patience = Patience()
    patience.nodes("way", 50_000)
    patience.note("way", Status.BUDGET)
    assert patience.nodes("news", 50_000) == 50_000
    assert patience.nodes("way", 50_000) == 50_000 // LEAST
    patience.renew()
    assert patience.nodes("way", 50_000) == 50_000

"""Shorter plans out of longer ones."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from test_planners import ACTIONS, DEAD, GOAL, Graph, distance, valid

from worldcoder.planning import Budget, Plan, Status
from worldcoder.planning.shorten import shorten


@st.composite
def chains(draw: st.DrawFn) -> list[list[int]]:
    """States in a row, each of which leads to the next one, the last to the goal; and perhaps elsewhere as well."""
    n = draw(st.integers(1, 14))
    elsewhere = st.lists(st.integers(0, n - 1) | st.sampled_from([DEAD, GOAL]), max_size=2)
    return [[i + 1 if i + 1 < n else GOAL, *draw(elsewhere)] for i in range(n)]


def whole_row(edges: list[list[int]]) -> Plan:
    """The plan through all of them."""
    n = len(edges)
    return Plan(Status.FOUND, (ACTIONS[0],) * n, (0.0,) * (n - 1) + (1.0,), 7, 0.5, "by hand")


@settings(max_examples=200, deadline=None)
@given(edges=chains())
def test_with_enough_nodes_it_is_a_shortest_plan(edges: list[list[int]]) -> None:
    found = whole_row(edges)
    shorter = shorten(Graph(edges), found, budget=Budget(10_000))
    assert valid(shorter, edges)
    assert len(shorter.actions) == distance(edges)
    assert shorter.method == "by hand"
    assert shorter.nodes >= found.nodes and shorter.seconds >= found.seconds


@settings(max_examples=200, deadline=None)
@given(edges=chains(), nodes=st.integers(0, 12))
def test_a_tight_budget_is_kept_and_the_plan_stays_one(edges: list[list[int]], nodes: int) -> None:
    found = whole_row(edges)
    shorter = shorten(Graph(edges), found, budget=Budget(nodes))
    assert valid(shorter, edges)
    assert len(shorter.actions) <= len(found.actions)
    assert shorter.nodes <= found.nodes + nodes


def test_a_step_that_ends_the_episode_in_vain_is_no_way() -> None:
    found = whole_row(edges := [[1, DEAD], [2], [GOAL]])
    assert shorten(Graph(edges), found).actions == found.actions

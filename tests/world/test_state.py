"""States as values: equality up to the renaming of unnamed objects, text, JSON."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_live import states  # type: ignore[import-not-found]

from worldcoder.errors import ValueFormError
from worldcoder.world import Action, Obj, Ref, State


@settings(max_examples=300, deadline=None)
@given(state=states())
def test_json_and_pickle_round_trips(state: State) -> None:
    assert State.from_json(json.loads(json.dumps(state.to_json()))) == state
    assert pickle.loads(pickle.dumps(state)) == state
    assert hash(State.from_json(state.to_json())) == hash(state)


def test_a_state_of_another_process_is_equal() -> None:
    """Hashes of strings differ from process to process."""
    made = (
        "import pickle, sys; from worldcoder.world import Obj, State; s = State([Obj('Box', x=1)]); hash(s)"
    )
    code = f"{made}; sys.stdout.buffer.write(pickle.dumps(s))"
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    there = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
    here = State([Obj("Box", x=1)])
    state = pickle.loads(there.stdout)
    assert state == here
    assert hash(state) == hash(here)
    assert pickle.loads(pickle.dumps(state)) == here


def renamed(state: State, order: list[int]) -> State:
    """The same objects in another order, references following."""
    place = {old: new for new, old in enumerate(order)}
    objects = []
    for old in order:
        o = state.objects[old]
        changes = {
            a: Ref(place[v.target])
            for a, v in o.attributes.items()
            if isinstance(v, Ref) and isinstance(v.target, int)
        }
        objects.append(o.replace(**changes))
    return State(objects)


@settings(max_examples=300, deadline=None)
@given(state=states(), data=st.data())
def test_the_order_of_objects_does_not_matter(state: State, data: Any) -> None:
    order = data.draw(st.permutations(range(len(state))))
    assert renamed(state, order) == state
    assert hash(renamed(state, order)) == hash(state)


def isomorphic(one: State, other: State) -> bool:
    """By trying every renaming."""

    def plain(state: State, order: tuple[int, ...]) -> list[Any]:
        place = {old: new for new, old in enumerate(order)}
        rows = []
        for old in order:
            o = state.objects[old]
            row = {}
            for a, v in o.attributes.items():
                if isinstance(v, Ref):
                    target = next(i for i, t in enumerate(state.objects) if t is state.follow(v))
                    v = ("ref", place[target])
                row[a] = v
            rows.append((o.kind, o.name, row))
        return rows

    if len(one) != len(other):
        return False
    fixed = plain(one, tuple(range(len(one))))
    return any(plain(other, order) == fixed for order in itertools.permutations(range(len(other))))


@settings(max_examples=200, deadline=None)
@given(
    edges=st.lists(st.integers(0, 3), min_size=4, max_size=4),
    others=st.lists(st.integers(0, 3), min_size=4, max_size=4),
)
def test_equality_is_isomorphism(edges: list[int], others: list[int]) -> None:
    one = State([Obj("A", to=Ref(t)) for t in edges])
    other = State([Obj("A", to=Ref(t)) for t in others])
    assert (one == other) == isomorphic(one, other)


@settings(max_examples=200, deadline=None)
@given(one=states(), other=states())
def test_equality_is_isomorphism_of_mixed_states(one: State, other: State) -> None:
    assert (one == other) == isomorphic(one, other)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: Obj("A", x=[1]),
        lambda: Obj("A", x=float("nan")),
        lambda: Obj(""),
        lambda: Obj("A", name=3),  # type: ignore[arg-type]
        lambda: State([Obj("A", name="a"), Obj("B", name="a")]),
        lambda: State([Obj("A", to=Ref("nobody"))]),
        lambda: State([Obj("A", to=Ref(3))]),
        lambda: State.from_json({}),
        lambda: State.from_json([["A"]]),
        lambda: State.from_json([["A", None, {"x": {"what": 1}}]]),
        lambda: Action(""),
        lambda: Action("a", ([],)),  # type: ignore[arg-type]
    ],
)
def test_bad_values_are_refused_with_one_line(bad: Any) -> None:
    with pytest.raises(ValueFormError) as caught:
        bad()
    assert "\n" not in str(caught.value)


def test_actions_round_trip() -> None:
    for action in (Action("up"), Action("go", ("key", 3, True, None))):
        assert Action.from_json(json.loads(json.dumps(action.to_json()))) == action

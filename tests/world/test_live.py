"""The live state: whatever a program does can be undone, kept and returned to, and hashes tell the truth."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldcoder.errors import ProgramError
from worldcoder.world import Obj, Ref, State
from worldcoder.world.live import LiveState, Snapshot

KINDS = ("A", "B")
VALUES = st.integers(0, 2) | st.none() | st.sampled_from(["x", (1, 2)])


@st.composite
def states(draw: st.DrawFn, references: bool = True) -> State:
    objects = []
    n = draw(st.integers(0, 5))
    for i in range(n):
        attributes: dict[str, Any] = {"x": draw(VALUES), "y": draw(st.integers(0, 1))}
        if draw(st.integers(0, 4)) == 0:
            attributes["extra"] = draw(VALUES)
        if references and draw(st.integers(0, 3)) == 0:
            attributes["to"] = Ref(draw(st.integers(0, n - 1)))
        name = f"n{i}" if draw(st.integers(0, 3)) == 0 else None
        objects.append(Obj(draw(st.sampled_from(KINDS)), name=name, **attributes))
    return State(objects)


EDITS = st.lists(
    st.tuples(
        st.sampled_from(
            ["x", "y", "new", "kind", "delete", "refer", "unrefer", "add", "named", "remove", "at"]
        ),
        st.integers(0, 9),
        st.integers(0, 9),
        VALUES,
    ),
    max_size=8,
)


def edit(live: LiveState, edits: list[Any], references: bool = True) -> None:
    """Do to a live state what a program could do."""
    for what, i, j, value in edits:
        objects = list(live)
        if what == "add":
            live.add(KINDS[i % 2], x=value, y=j % 2)
            continue
        if what == "named":
            if live.named(f"n{i % 6}") is None:
                live.add(KINDS[j % 2], name=f"n{i % 6}", x=value, y=0)
            continue
        if not objects:
            continue
        one, other = objects[i % len(objects)], objects[j % len(objects)]
        if what in ("x", "y"):
            setattr(one, what, value)
        elif what == "new":
            one.extra = value
        elif what == "kind":
            one.kind = KINDS[j % 2] if j < 8 else "C"
        elif what == "delete" and hasattr(one, "extra"):
            del one.extra
        elif what == "refer" and references:
            one.to = other
        elif what == "unrefer":
            one.to = None
        elif what == "remove":
            live.remove(one)
        elif what == "at":
            assert all(o.x == value and o.y == j % 2 for o in live.at(value, j % 2))


def agrees(live: LiveState, state: State) -> None:
    """The live state is this state, by every way to look at it."""
    assert live.freeze() == state
    assert len(live) == len(state) == len(list(live))
    for kind in (*KINDS, "C"):
        assert len(live.all(kind)) == len(state.all(kind))
        assert all(o.kind == kind for o in live.all(kind))
    for x in (0, 1, 2, None, "x", (1, 2)):
        for y in (0, 1):
            for kind in (None, *KINDS):
                assert len(live.at(x, y, kind)) == len(state.at(x, y, kind))
    for i in range(6):
        assert (live.named(f"n{i}") is None) == (state.named(f"n{i}") is None)


def settled(live: LiveState) -> tuple[int, Snapshot, State] | None:
    try:
        return live.settle(), live.snapshot(), live.freeze()
    except ProgramError:
        return None


@settings(max_examples=400, deadline=None)
@given(state=states(), rounds=st.lists(EDITS, max_size=5))
def test_undo_restores_the_exact_state(state: State, rounds: list[Any]) -> None:
    live = LiveState(state)
    agrees(live, state)
    for edits in rounds:
        before = live.hash_of(live.snapshot())
        edit(live, edits)
        known = settled(live)
        live.undo()
        agrees(live, state)
        if live.exact_hash:
            assert live.settle() == before
        assert known is None or known[2] is not None


@settings(max_examples=400, deadline=None)
@given(state=states(), rounds=st.lists(EDITS, max_size=6), order=st.randoms(use_true_random=False))
def test_kept_states_can_be_returned_to_and_hashes_tell_them_apart(
    state: State, rounds: list[Any], order: Any
) -> None:
    live = LiveState(state)
    live.settle()
    kept: list[tuple[Snapshot, State]] = [(live.snapshot(), state)]
    for edits in rounds:
        live.restore(order.choice(kept)[0])
        edit(live, edits)
        made = settled(live)
        if made is not None:
            kept.append(made[1:])
    order.shuffle(kept)
    hashes: dict[State, set[int]] = {}
    for snapshot, value in kept:
        expected = live.hash_of(snapshot)
        live.restore(snapshot)
        agrees(live, value)
        assert live.settle() == expected
        hashes.setdefault(value, set()).add(expected)
    everything = [h for found in hashes.values() for h in found]
    assert len(everything) == len(set(everything))  # equal hashes: equal states
    if live.exact_hash:
        assert all(len(found) == 1 for found in hashes.values())


@settings(max_examples=300, deadline=None)
@given(state=states(), other=states(), edits=EDITS)
def test_become_and_snapshot_of(state: State, other: State, edits: list[Any]) -> None:
    live = LiveState(state)
    edit(live, edits)
    live.become(other)
    agrees(live, other)
    made = live.settle()
    kept = live.snapshot()
    live.undo()
    agrees(live, state)
    live.restore(kept)
    agrees(live, other)
    assert live.settle() == made
    live.restore(live.snapshot_of(state))
    agrees(live, state)


@settings(max_examples=200, deadline=None)
@given(state=states(references=False), first=EDITS, second=EDITS)
def test_without_references_equal_states_have_equal_hashes(state: State, first: Any, second: Any) -> None:
    live, made = LiveState(state), []
    for edits in (first, second):
        edit(live, edits, references=False)
        found = settled(live)
        live.undo()
        if found is not None:
            made.append(found)
            assert live.hash_of(live.snapshot_of(found[2])) == found[0]
    for one in made:
        for another in made:
            assert (one[0] == another[0]) == (one[2] == another[2])


def test_a_copy_is_a_state_of_its_own() -> None:
    live = LiveState(State([Obj("A", x=0)]))
    other = copy.deepcopy(live)
    other.one("A").x = 5
    assert live.one("A").x == 0


def test_values_that_no_state_may_hold() -> None:
    live = LiveState(State([Obj("A", x=0), Obj("B", x=0)]))
    foreign = LiveState(State([Obj("A", x=0)])).one("A")
    for value in ([1], {1}, float("inf"), object(), foreign, (1, [2])):
        live.one("A").x = value
        with pytest.raises(ProgramError):
            live.settle()
        live.undo()
    live.one("A").to = live.one("B")
    live.remove(live.one("B"))
    with pytest.raises(ProgramError, match="removed"):
        live.settle()
    live.undo()
    agrees(live, State([Obj("A", x=0), Obj("B", x=0)]))


def test_objects_keep_their_names() -> None:
    live = LiveState(State([Obj("A", name="a", x=0)]))
    with pytest.raises(AttributeError, match="keep their names"):
        live.one("A").name = "b"
    with pytest.raises(ProgramError, match="name already"):
        live.add("A", name="a")


@settings(max_examples=400, deadline=None)
@given(state=states(), edits=EDITS)
def test_a_frozen_state_is_as_if_made_of_its_objects(state: State, edits: list[Any]) -> None:
    live = LiveState(state)
    edit(live, edits)
    try:
        frozen = live.freeze()
    except ProgramError:
        return
    places = {o: i for i, o in enumerate(live)}
    objects = []
    for o in live:
        values = {a: v for a, v in vars(o).items() if a != "kind"}
        for a, v in values.items():
            if hasattr(v, "kind"):
                values[a] = Ref(places[v] if v.name is None else v.name)
        objects.append(Obj(o.kind, name=o.name, **values))
    again = State(objects)
    assert frozen == again and hash(frozen) == hash(again)
    assert all(one.attributes == other.attributes for one, other in zip(frozen, again, strict=True))

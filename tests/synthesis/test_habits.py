"""Actions that always do the same, whatever is around."""

from __future__ import annotations

from collections.abc import Callable

from small_worlds import room

from worldcoder.synthesis.rules.habits import Habits
from worldcoder.synthesis.rules.vocabulary import Vocabulary
from worldcoder.world import Action, Obj, State, Transition

TURNS = {"east": "south", "south": "west", "west": "north", "north": "east"}
START = room(Obj("Walker", x=1, y=1, way="east", left=99), Obj("Rod", x=4, y=1), height=6)


def turned(state: State) -> State:
    me = state.one("Walker")
    return State(o.replace(way=TURNS[me.way]) if o is me else o for o in state)


def stepped(state: State) -> State:
    me = state.one("Walker")
    return State(o.replace(x=me.x + 1) if o is me and not state.at(me.x + 1, me.y) else o for o in state)


def tired(state: State) -> State:
    """A step, or none at a wall; each costs one."""
    me = state.one("Walker")
    after = stepped(state)
    return State(o.replace(left=me.left - 1) if o.kind == "Walker" else o for o in after)


def after(rule: Callable[[State], State], times: int) -> Habits:
    """What is known of an action when it was tried so often. Who the avatar is is known from another one."""
    vocabulary, habits, seen, state = Vocabulary(), Habits(), [], START
    for name, does, n in (("go", stepped, 2), ("turn", turned, 8), ("act", rule, times)):
        for _ in range(n):
            seen.append(Transition(state, "", Action(name), does(state), 0.0, False))
            vocabulary.observe(seen[-1])
            state = seen[-1].next_state
    assert vocabulary.avatar == "Walker"
    habits.read(vocabulary, seen)
    return habits


def test_what_always_turned_is_a_habit_once_it_was_seen_often() -> None:
    assert after(turned, 12).has("act")
    assert not after(turned, 7).has("act")


def test_what_depends_on_what_is_around_is_none() -> None:
    assert not after(stepped, 20).has("act")


def test_what_happened_once_in_each_state_of_the_avatar_says_nothing() -> None:
    assert not after(tired, 20).has("act")


def test_what_never_did_anything_is_none() -> None:
    assert not after(lambda state: state, 20).has("act")

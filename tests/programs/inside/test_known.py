"""What a worker makes of what it was sent."""

from __future__ import annotations

import json
from sys import intern

from worldcoder.programs.inside.known import Known
from worldcoder.programs.wire import Objects
from worldcoder.world import Action, Obj, Ref, State

STATES = [
    State([Obj("Door", colour="red", at=("hall", 3, None)), Obj("Door", colour="red", at=("hall", 3, None))]),
    State([Obj("Key", name="brass", colour="red"), Obj("Hand", holds=Ref("brass"), x=1.5, free=False)]),
    State([Obj("Cup", x=0), Obj("Hand", holds=Ref(0), mood="good")]),
]


def received(states: list[State], actions: list[Action]) -> tuple[Known, list[State]]:
    """As a worker gets them: through JSON, object by object."""
    objects, known = Objects(), Known()
    wire = [objects.to_wire(state) for state in states]
    rows = json.loads(json.dumps([objects.rows(0), [a.to_json() for a in actions], wire]))
    known.learn(rows[0], rows[1])
    return known, [known.state(one) for one in rows[2]]


def test_states_and_actions_come_through_as_they_are() -> None:
    actions = [Action("take", ("brass", 2, None)), Action("wait")]
    known, states = received(STATES, actions)
    assert states == STATES and known.actions == actions


def test_texts_are_the_objects_that_code_has() -> None:
    """A program compares its own words with what it reads: by identity, where that suffices."""
    known, states = received(STATES, [Action("take", ("brass",))])
    for o in (o for state in states for o in state):
        assert o.kind is intern(o.kind)
        assert all(a is intern(a) for a in o.attributes)
        values = [part for v in o.attributes.values() for part in (v if isinstance(v, tuple) else (v,))]
        assert all(v is intern(v) for v in values if isinstance(v, str))
    assert known.actions[0].name is intern("".join(["ta", "ke"]))
    assert known.actions[0].args[0] is intern("".join(["bra", "ss"]))

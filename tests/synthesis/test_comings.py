"""Which thing is which after a step, where some come while others go."""

from __future__ import annotations

import random

import pytest

from worldcoder.synthesis.rules.comings import Comings
from worldcoder.synthesis.rules.matching import becomes
from worldcoder.synthesis.rules.scene import scene_of
from worldcoder.world import Action, Obj, State, Transition

FLOOR = 6


def rain(seed: int, *, drift: int = 0) -> list[Transition]:
    """Drops that fall by one, and aside where there is a wind; most steps some are gone and some are new."""
    rng = random.Random(seed)
    drops = {(rng.randrange(6), rng.randrange(FLOOR)) for _ in range(6)}
    found = []
    for _ in range(60):
        fallen = {((x + drift) % 6, y + 1) for x, y in drops if y + 1 < FLOOR}
        new = {(rng.randrange(6), 0) for _ in range(rng.choice([0, 1, 1, 2]))}
        before, after = (
            State([Obj("Me", x=9, y=9), *(Obj("Drop", x=x, y=y) for x, y in sorted(places))])
            for places in (drops, fallen | new)
        )
        found.append(Transition(before, "", Action("wait"), after, 0.0, False))
        drops = fallen | new
    return found


@pytest.mark.parametrize("seed", range(5))
def test_all_steps_together_tell_which_drop_is_which(seed: int) -> None:
    steps, comings = rain(seed), Comings()
    changed = [comings.note(step) for step in steps]
    assert set(comings.fleeting) == {"Drop"} and 1 <= sum(changed) < 12
    for step in steps[5:]:
        became = becomes(step.state, step.next_state, comings.fleeting)
        for thing, new in zip(scene_of(step.state).things, became, strict=True):
            if thing.kind == "Drop":
                x, y = thing.place or (0, 0)
                assert (new and new.place) == ((x, y + 1) if y + 1 < FLOOR else None)
            else:
                assert new is not None and new.place == thing.place


def test_what_only_goes_or_only_comes_is_taken_for_the_same_thing() -> None:
    """Boxes that are pushed into a hole, and one that is taken far away."""
    here, there = Obj("Box", x=1, y=1), Obj("Box", x=5, y=4)
    gone = Transition(State([here, there]), "", Action("push"), State([there]), 0.0, False)
    far = Transition(State([there]), "", Action("push"), State([here]), 0.0, False)
    comings = Comings()
    assert not comings.note(gone) and not comings.note(far)
    assert comings.fleeting == {}
    assert becomes(far.state, far.next_state, comings.fleeting)[0] is not None


def test_a_thing_with_a_name_stays_the_same_thing() -> None:
    comings = Comings()
    for step in rain(1):
        comings.note(step)
    before = State([Obj("Drop", name="first", x=0, y=0), Obj("Drop", x=3, y=1)])
    after = State([Obj("Drop", name="first", x=5, y=5), Obj("Drop", x=3, y=2)])
    became = becomes(before, after, comings.fleeting)
    places = {
        thing.name: new and new.place for thing, new in zip(scene_of(before).things, became, strict=True)
    }
    assert places == {"first": (5, 5), None: (3, 2)}


def test_what_things_refer_to_is_the_same_after_a_step() -> None:
    """Each drop has a cloud, a well and a jug, which are other objects in each state."""
    parts = [Obj("Part", x=8, y=8), Obj("Part", name="well", x=8, y=7), Obj("Part", x=7, y=7)]
    comings = Comings()
    for seen in rain(2):
        before, after = (
            State(
                [
                    *parts,
                    *(
                        Obj("Drop", x=o.x, y=o.y, cloud=parts[0], well=parts[1], jug=parts[2])
                        for o in state.all("Drop")
                    ),
                ]
            )
            for state in (seen.state, seen.next_state)
        )
        step = Transition(before, "", seen.action, after, 0.0, False)
        comings.note(step)
        became = becomes(before, after, comings.fleeting)
    assert "Drop" in comings.fleeting
    fallen = [
        (thing.place, new and new.place)
        for thing, new in zip(scene_of(before).things, became, strict=True)
        if thing.kind == "Drop"
    ]
    assert fallen and all(
        new == (None if old is None or old[1] + 1 == FLOOR else (old[0], old[1] + 1)) for old, new in fallen
    )

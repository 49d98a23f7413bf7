"""Drawings: what is on top, what stands below, and what cannot be drawn."""

from __future__ import annotations

import pytest

from worldcoder.envs import make
from worldcoder.world import Obj, Ref, State
from worldcoder.world.drawing import choose_glyphs, draw, legend

WALLS = [Obj("Wall", x=x, y=y) for x in range(5) for y in range(3) if x in (0, 4) or y in (0, 2)]


def test_a_level_looks_as_its_environment_says() -> None:
    env = make("sokoban")
    state = env.reset(0).state
    rows = draw(state, env.glyphs).splitlines()
    for y, row in enumerate(rows):
        for x in range(7):
            kinds = {o.kind for o in state.at(x, y)}
            drawn = row[x] if x < len(row) else " "
            assert drawn == next(
                (env.glyphs[k] for k in ("Player", "Box", "Target", "Wall") if k in kinds), " "
            )
    assert legend(state, env.glyphs) == "@ Player  $ Box  . Target  # Wall"


def test_without_glyphs_kinds_have_letters_and_the_commonest_is_light() -> None:
    state = State([*WALLS, Obj("Player", x=1, y=1), Obj("Pit", x=2, y=1), Obj("Pearl", x=3, y=1)])
    assert draw(state).splitlines() == ["·····", "·lpP·", "·····"]
    assert legend(state) == "P Pearl  p Pit  l Player  · Wall"


def test_glyphs_are_distinct_and_the_given_ones_are_kept() -> None:
    state = State([Obj(f"Thing{i}", x=i, y=0) for i in range(40)])
    chosen = choose_glyphs([state], {"Thing3": "@", "Thing4": "*"})
    assert chosen["Thing3"] == "@" and chosen["Thing4"] == "*"
    assert len(set(chosen.values())) == 40
    assert all(len(glyph) == 1 for glyph in chosen.values())


def test_one_choice_serves_a_whole_episode() -> None:
    early, late = State([Obj("Seed", x=0, y=0)]), State([Obj("Sprout", x=0, y=0)])
    chosen = choose_glyphs([early, late])
    assert draw(early, chosen) != draw(late, chosen)


def test_the_rarest_is_on_top_and_the_others_are_told() -> None:
    state = State([*WALLS, *(Obj("Rug", x=x, y=1) for x in (1, 2)), Obj("Cat", x=2, y=1)])
    lines = draw(state, {"Wall": "#", "Rug": "_", "Cat": "c"}).splitlines()
    assert lines == ["#####", "#_c #", "#####", "(2, 1): c on _"]


def test_what_the_grid_cannot_show_stands_below() -> None:
    key = Obj("Key", x=None, y=None, color="red")
    state = State([Obj("Agent", x=0, y=0, facing=1, carrying=key), key, Obj("Ghost", x=0.5, y=2)])
    assert draw(state).splitlines() == [
        "A",
        "A Agent at (0, 0): facing 1, carrying Key",
        "G Ghost: x 0.5, y 2",
        "K Key: color red",
    ]


def test_a_long_list_is_cut() -> None:
    state = State([Obj("Lamp", x=x, y=0, lit=bool(x % 2)) for x in range(30)])
    lines = draw(state).splitlines()
    assert len(lines) == 13
    assert lines[-1] == "… and 19 more"


def test_places_below_zero() -> None:
    assert draw(State([Obj("A", x=-2, y=-1), Obj("B", x=0, y=0)])).splitlines() == ["A", "  B"]


@pytest.mark.parametrize(
    "state",
    [
        State([Obj("Cup", name="cup", inside=Ref("drawer")), Obj("Drawer", name="drawer")]),
        State([Obj("Star", x=0, y=0), Obj("Star", x=10**9, y=0)]),
        State([]),
    ],
    ids=["no places", "too large", "empty"],
)
def test_what_has_no_grid_is_written(state: State) -> None:
    assert draw(state) == str(state)

"""Which goals are alike, and steps that are worth showing."""

from __future__ import annotations

from worldcoder.synthesis.llm.experience import rarest_first
from worldcoder.synthesis.llm.novelty import TOP, Novelty
from worldcoder.synthesis.llm.words import letters, nearest
from worldcoder.world import Action, Obj, State


def test_the_most_similar_goal_is_first() -> None:
    goals = ["light the red lamp", "carry the leaf to the nest", "light every lamp", ""]
    assert nearest("light the blue lamp", goals)[:2] == [0, 2]
    assert nearest("bring the leaf home", goals)[0] == 1
    assert sorted(nearest("", goals)) == [0, 1, 2, 3]
    assert nearest("anything", []) == []


def test_of_equally_similar_goals_the_latest_is_first() -> None:
    assert nearest("lamp", ["lamp one", "lamp two"]) == [1, 0]


def test_letters_go_on_after_z() -> None:
    assert [letters(n) for n in (0, 1, 25, 26, 27, 51, 52, 701, 702)] == [
        "A", "B", "Z", "AA", "AB", "AZ", "BA", "ZZ", "AAA",
    ]  # fmt: skip


def test_one_of_each_sort_comes_before_the_second_of_any() -> None:
    order = rarest_first(range(7), ["a", "a", "b", "a", "c", "b", "a"])
    assert order == [4, 2, 0, 5, 6, 1, 3]


def test_what_was_tried_is_not_new_and_what_is_near_something_else_is() -> None:
    novelty, walk = Novelty(), Action("walk")
    alone = State([Obj("Snail", x=1, y=1), Obj("Stone", x=5, y=5)])
    beside = State([Obj("Snail", x=4, y=5), Obj("Stone", x=5, y=5)])
    novelty.observe(alone, walk, State([Obj("Snail", x=2, y=1), Obj("Stone", x=5, y=5)]))
    assert novelty.interest(alone, walk) == 0.0
    assert 0.0 < novelty.interest(beside, walk) <= TOP
    assert novelty.interest(alone, Action("turn")) == TOP
    elsewhere = State([Obj("Snail", x=2, y=3), Obj("Stone", x=5, y=5)])
    assert novelty.interest(elsewhere, walk) == 0.0


def snail(x: int, y: int, *stones: tuple[int, int], **more: str) -> State:
    return State([Obj("Snail", x=x, y=y, **more), *(Obj("Stone", x=x, y=y) for x, y in stones)])


def test_what_is_beside_the_way_of_an_action_is_new_once() -> None:
    novelty, east, north = Novelty(), Action("east"), Action("north")
    beside = [(2, 1), (2, 3), (1, 2)]
    novelty.observe(snail(2, 2), east, snail(3, 2))
    novelty.observe(snail(2, 2), north, snail(2, 1))
    assert novelty.interest(snail(2, 2, *beside), east) > 0.0, "that there is a stone at all"
    novelty.observe(snail(2, 2, *beside), east, snail(3, 2, *beside))
    for place in beside:
        assert novelty.interest(snail(2, 2, place), east) == 0.0
    assert novelty.interest(snail(2, 2, (3, 2)), east) > 0.0, "in the way of this action"
    assert novelty.interest(snail(2, 2, (2, 1)), north) > 0.0, "in the way of the other one"
    assert novelty.interest(snail(2, 2, (1, 2)), north) == 0.0


def test_where_an_action_leads_can_depend_on_the_object() -> None:
    """What is done there is done ahead as well, where things that head somewhere only ever go there."""
    novelty, creep, bite = Novelty(), Action("creep"), Action("bite")
    for heading, to in (("east", (3, 2)), ("west", (1, 2))):
        novelty.observe(snail(2, 2, heading=heading), creep, snail(*to, heading=heading))
    beside, ahead = snail(2, 2, (2, 1), heading="east"), snail(2, 2, (3, 2), heading="east")
    novelty.observe(beside, bite, beside)
    novelty.observe(beside, creep, snail(3, 2, (2, 1), heading="east"))
    assert novelty.interest(ahead, creep) > 0.0 and novelty.interest(ahead, bite) > 0.0
    behind = snail(2, 2, (1, 2), heading="east")
    assert novelty.interest(behind, creep) == novelty.interest(behind, bite) == 0.0


def test_as_long_as_no_way_is_known_every_side_counts() -> None:
    novelty, hum = Novelty(), Action("hum")
    novelty.observe(snail(2, 2, mood="low"), hum, snail(2, 2, mood="high"))
    for place in ((3, 2), (1, 2), (2, 1), (2, 3)):
        assert novelty.interest(snail(2, 2, place, mood="low"), hum) > 0.0

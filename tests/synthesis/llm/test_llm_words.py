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
    novelty.observe(alone, walk, {"Snail"})
    assert novelty.interest(alone, walk) == 0.0
    assert 0.0 < novelty.interest(beside, walk) <= TOP
    assert novelty.interest(alone, Action("turn")) == TOP
    elsewhere = State([Obj("Snail", x=2, y=3), Obj("Stone", x=5, y=5)])
    assert novelty.interest(elsewhere, walk) == 0.0

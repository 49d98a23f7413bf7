"""The rules of the lab's worlds without a grid, each in a situation small enough to see."""

from __future__ import annotations

import re
from typing import Any

import pytest

from worldcoder.envs import Environment
from worldcoder.envs.lab.kitchen import Kitchen, Room, Task, Thing
from worldcoder.envs.lab.railway import Line, Railway
from worldcoder.envs.lab.shop import Market, Shop
from worldcoder.errors import WorldError
from worldcoder.world.values import Action, State


class Game:
    """A world that is told what to do, in lines such as `put(tomato, sink)`."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.state, self.goal = env.reset(0)
        self.done = False

    def do(self, *actions: str) -> list[float]:
        """Take actions one by one; their rewards."""
        rewards = []
        for text in actions:
            name, *args = [word for word in re.split(r"[(,)]\s*", text) if word]
            self.state, reward, self.done, _ = self.env.step(Action(name, tuple(args)))
            rewards.append(reward)
        return rewards

    def can(self, start: str = "") -> list[str]:
        return [str(a) for a in self.env.actions(self.state) if str(a).startswith(start)]

    def of(self, name: str, attribute: str) -> Any:
        found = self.state.named(name)
        assert found is not None
        value = getattr(found, attribute)
        return getattr(value, "target", value)


# ── shop ─────────────────────────────────────────────────────────────────────────────────────────────────


def market(**changes: Any) -> Game:
    """Two stalls and two wares; two teas are on the list."""
    plain = Market(("mill", "pier"), ("tea", "wool"), (2, 0), 3, 0, 10, (0, 0), ((3, 4), (6, 2)))
    return Game(Shop(plain._replace(**changes)))


def prices(at: Game) -> list[int]:
    return [at.of(f"{ware} at {stall}", "price") for stall in ("mill", "pier") for ware in ("tea", "wool")]


def test_shop_to_buy_raises_the_price_here_alone() -> None:
    at = market()
    assert at.do("buy(tea)") == [0.0]
    assert (at.of("trader", "coins"), at.of("tea", "owned")) == (7, 1)
    assert prices(at) == [4, 4, 6, 2]


def test_shop_to_sell_again_at_once_changes_nothing() -> None:
    at = market()
    before = at.state
    at.do("buy(wool)", "buy(wool)", "sell(wool)", "sell(wool)")
    assert at.state == before


def test_shop_a_stall_pays_one_coin_less_than_it_asks() -> None:
    at = market(owned=(1, 0), here=1)
    at.do("sell(tea)")
    assert (at.of("trader", "coins"), at.of("tea", "owned")) == (15, 0)
    assert prices(at) == [3, 4, 5, 2]


def test_shop_what_costs_one_cannot_be_sold() -> None:
    at = market(owned=(0, 2), prices=((3, 1), (6, 2)))
    at.do("sell(wool)")
    assert at.of("wool", "owned") == 2 and prices(at)[1] == 1


def test_shop_buying_needs_coins_and_room() -> None:
    at = market(coins=2)
    before = at.state
    at.do("buy(tea)", "sell(tea)")
    assert at.state == before
    at = market(owned=(0, 3))
    before = at.state
    at.do("buy(wool)", "buy(tea)")
    assert at.state == before


def test_shop_the_way_to_another_stall_costs_a_coin() -> None:
    at = market(coins=1, owned=(1, 0))
    at.do("go(mill)")
    assert at.of("trader", "coins") == 1
    at.do("go(pier)")
    assert (at.of("trader", "coins"), at.of("trader", "stall")) == (0, "pier")
    at.do("go(mill)")
    assert at.of("trader", "stall") == "pier"


def test_shop_enough_of_a_ware_is_rewarded_as_often_as_it_comes_about() -> None:
    at = market(wanted=(1, 1), coins=20, owned=(0, 0))
    assert at.do("buy(tea)", "buy(tea)", "sell(tea)", "sell(tea)", "buy(tea)") == [1, 0, 0, -1, 1]
    assert at.do("buy(wool)") == [6]
    assert at.done


def test_shop_broke_is_nothing_left_at_all() -> None:
    at = market(coins=1)
    assert at.do("go(pier)") == [-1]
    assert at.done
    at = market(coins=3)
    assert at.do("buy(tea)") == [0]
    assert not at.done, "she has no coin left, but a tea"
    at = market(coins=3, wanted=(1, 0))
    assert at.do("buy(tea)") == [6]
    assert at.done


# ── kitchen ──────────────────────────────────────────────────────────────────────────────────────────────


def kitchen(*things: Thing, task: Task | None = None, opened: str = "", running: str = "") -> Game:
    task = task or Task("Potato", ("hot",), "fridge")
    return Game(Kitchen(Room(task, frozenset(opened.split()), frozenset(running.split()), things)))


def test_kitchen_doors_decide_what_can_be_taken_and_where_it_can_be_put() -> None:
    at = kitchen(Thing("tomato", "Tomato", "fridge"), Thing("knife", "Knife", "table"))
    assert at.can("take") == ["take(knife)"]
    at.do("open(fridge)")
    assert at.can("take") == ["take(knife)", "take(tomato)"]
    assert at.can("open") == ["open(oven)", "open(cupboard)"] and at.can("close") == ["close(fridge)"]
    at.do("take(tomato)")
    assert at.of("cook", "holding") == "tomato" and at.of("tomato", "kept_in") is None
    assert not at.can("take")
    assert at.can("put") == ["put(tomato, fridge)", "put(tomato, sink)", "put(tomato, table)"]
    at.do("close(fridge)", "put(tomato, sink)")
    assert at.of("cook", "holding") is None and at.of("tomato", "kept_in") == "sink"
    with pytest.raises(WorldError, match=r"there is no action take\(plate\) here"):
        at.do("take(plate)")


def test_kitchen_sink_and_oven_have_room_for_one() -> None:
    things = [
        Thing("knife", "Knife", None),
        Thing("tomato", "Tomato", "sink"),
        Thing("potato", "Potato", "oven"),
    ]
    at = kitchen(*things, opened="oven fridge")
    assert at.can("put") == ["put(knife, fridge)", "put(knife, table)"]


def test_kitchen_a_running_sink_cleans_what_is_not_sliced() -> None:
    at = kitchen(Thing("knife", "Knife", "table"), Thing("tomato", "Tomato", "sink"))
    assert not at.can("clean")
    at.do("toggle(sink)", "clean(tomato, sink)", "take(tomato)", "put(tomato, table)")
    assert at.of("tomato", "clean") and not at.of("knife", "clean")
    at = kitchen(Thing("tomato", "Tomato", "sink", sliced=True), running="sink")
    assert not at.can("clean")


def test_kitchen_the_oven_heats_shut_and_running_and_stops_when_it_is_opened() -> None:
    at = kitchen(Thing("potato", "Potato", "oven"), opened="oven")
    assert not at.can("heat") and not at.can("toggle(oven)")
    at.do("close(oven)")
    assert not at.can("heat")
    at.do("toggle(oven)", "heat(potato, oven)", "open(oven)")
    assert at.of("potato", "warmth") == "hot" and not at.of("oven", "running")
    at.do("close(oven)")
    assert not at.can("heat")


def test_kitchen_what_is_heated_twice_is_burnt() -> None:
    at = kitchen(Thing("potato", "Potato", "oven"), Thing("tomato", "Tomato", "fridge"), running="oven")
    assert at.do("heat(potato, oven)", "heat(potato, oven)") == [0.0, -1.0]
    assert at.done and at.of("potato", "warmth") == "burnt"


def test_kitchen_the_fridge_cools_while_it_is_shut() -> None:
    at = kitchen(Thing("potato", "Potato", "fridge", warmth="hot"), task=Task("Tomato", ("hot",), "table"))
    at.do("cool(potato, fridge)", "cool(potato, fridge)")
    assert at.of("potato", "warmth") == "cold"
    at.do("open(fridge)")
    assert not at.can("cool")


def test_kitchen_a_knife_that_is_not_clean_spoils_what_it_slices() -> None:
    clean = [Thing("potato", "Potato", "table", clean=True), Thing("tomato", "Tomato", "table", clean=True)]
    at = kitchen(Thing("knife", "Knife", "table", clean=True), *clean)
    assert not at.can("slice")
    at.do("take(knife)", "slice(potato, knife)")
    assert at.of("potato", "sliced") and at.of("potato", "clean") and not at.of("knife", "clean")
    assert at.can("slice") == ["slice(tomato, knife)"], "nothing is sliced twice"
    at.do("slice(tomato, knife)")
    assert at.of("tomato", "sliced") and not at.of("tomato", "clean")


def test_kitchen_only_food_is_sliced_heated_and_cooled() -> None:
    at = kitchen(Thing("knife", "Knife", "fridge"), Thing("other", "Knife", "oven"), running="oven sink")
    assert not at.can("cool") and not at.can("heat")


def test_kitchen_the_goal_is_any_thing_of_the_kind_that_is_all_of_it() -> None:
    task = Task("Tomato", ("clean", "cold"), "cupboard")
    things = [
        Thing("tomato 1", "Tomato", "cupboard", clean=True),
        Thing("tomato 2", "Tomato", None, clean=True, sliced=True, warmth="cold"),
        Thing("potato", "Potato", "cupboard", clean=True, warmth="cold"),
    ]
    at = kitchen(*things, task=task, opened="cupboard")
    assert at.goal == "put a clean cold tomato in the cupboard"
    assert at.do("put(tomato 2, table)", "take(tomato 2)", "put(tomato 2, cupboard)") == [0.0, 0.0, 1.0]
    assert at.done


def test_kitchen_the_last_thing_to_do_need_not_be_to_put_it_there() -> None:
    task = Task("Potato", ("cold",), "fridge")
    at = kitchen(Thing("potato", "Potato", "fridge"), task=task)
    assert at.do("cool(potato, fridge)") == [1.0]
    task = Task("Potato", ("clean", "sliced"), "table")
    at = kitchen(Thing("potato", "Potato", "table", clean=True), Thing("knife", "Knife", None), task=task)
    assert at.goal == "put a clean sliced potato on the table"
    assert at.do("slice(potato, knife)") == [0.0], "it was clean until then"


# ── railway ──────────────────────────────────────────────────────────────────────────────────────────────


def line(express: str, freight: str, **changes: Any) -> Game:
    """A ring a b c d, points p after a that lead to b or to the spur, and a yard that leads nowhere."""
    tracks = (("a", "p"), ("b", "c"), ("c", "d"), ("d", "a"), ("spur", None), ("yard", None))
    plain = Line(tracks, (("p", "b", "spur"),), (("west", "c"), ("east", "a")), express, freight)
    return Game(Railway(plain._replace(**changes)))


def trains(at: Game) -> tuple[str, str]:
    return at.of("express", "track"), at.of("freight", "track")


def test_railway_the_express_goes_when_it_is_told_and_the_freight_always() -> None:
    at = line("a", "c")
    assert at.can() == ["go", "hold", "throw(p)"]
    at.do("go")
    assert trains(at) == ("p", "d")
    at.do("hold")
    assert trains(at) == ("p", "a")


def test_railway_points_are_thrown_before_the_trains_go() -> None:
    at = line("d", "a")
    at.do("throw(p)")
    assert (at.of("p", "leads"), at.of("p", "divert"), trains(at)) == ("spur", "b", ("d", "p"))
    at.do("throw(p)")  # the freight stands on them
    assert (at.of("p", "leads"), at.of("p", "divert"), trains(at)) == ("spur", "b", ("d", "spur"))
    at.do("throw(p)")
    assert (at.of("p", "leads"), at.of("p", "divert"), trains(at)) == ("b", "spur", ("d", "spur"))


def test_railway_the_express_too_keeps_points_as_they_are() -> None:
    at = line("p", "spur")
    at.do("throw(p)")
    assert at.of("p", "leads") == "b"


def test_railway_the_freight_stays_on_a_dead_end() -> None:
    at = line("a", "yard")
    at.do("hold", "hold")
    assert trains(at) == ("a", "yard")


def test_railway_the_express_is_lost_on_one() -> None:
    at = line("p", "yard", points=(("p", "spur", "b"),), stations=(("west", "spur"), ("east", "a")))
    assert at.do("go") == [-1]
    assert at.done and not at.of("west", "served")


def test_railway_trains_collide_on_one_track() -> None:
    at = line("b", "a")
    assert at.do("hold") == [0]
    assert at.do("hold") == [-1]
    assert at.done and trains(at) == ("b", "b")
    at = line("a", "spur", points=(("p", "spur", "b"),))
    assert at.do("go", "go") == [0, -1]


def test_railway_trains_may_follow_one_another() -> None:
    at = line("b", "p")
    assert at.do("go", "go") == [1, 0]
    assert trains(at) == ("d", "c")
    at = line("b", "p")
    assert at.do("hold") == [-1]


def test_railway_trains_may_not_change_places() -> None:
    at = line(
        "x", "y", tracks=(("x", "y"), ("y", "x"), ("b", "x"), ("spur", None)), stations=(("west", "b"),)
    )
    assert at.do("go") == [-1]
    at = line(
        "x", "y", tracks=(("x", "y"), ("y", "x"), ("b", "x"), ("spur", None)), stations=(("west", "b"),)
    )
    assert at.do("hold") == [-1], "and the freight runs into one that stays"


def test_railway_a_station_is_served_once_by_the_express() -> None:
    at = line("b", "c", stations=(("west", "c"), ("east", "spur")))
    assert at.do("go") == [1]
    assert at.of("west", "served") and not at.of("east", "served")
    assert at.do("hold") == [0]
    at = line("p", "c")
    assert at.do("hold") == [0]
    assert not at.of("west", "served"), "not by the freight"


def test_railway_all_stations_end_the_episode() -> None:
    at = line("b", "yard")
    assert at.do("go", "go", "go") == [1, 0, 6]
    assert at.done


def test_a_state_of_each_refers_to_what_is_in_it() -> None:
    for at in (market(), kitchen(Thing("knife", "Knife", None)), line("a", "c")):
        assert State(list(at.state)) == at.state

"""The rules of the lab's worlds on grids, each in a situation small enough to see."""

from __future__ import annotations

from typing import Any

import pytest

from worldcoder import envs
from worldcoder.envs import Environment, Step
from worldcoder.envs.lab.belts import Belts, Fruit
from worldcoder.envs.lab.belts import read as read_farm
from worldcoder.envs.lab.patrol import Patrol
from worldcoder.envs.lab.patrol import read as read_grounds
from worldcoder.errors import LevelFormatError
from worldcoder.world.values import Action, Obj, State


class Game:
    """A world that is told what to do."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.state: State = env.reset(0).state
        self.last: Step | None = None

    def do(self, actions: str) -> list[float]:
        """Take actions one by one; their rewards."""
        rewards = []
        for name in actions.split():
            self.last = self.env.step(Action(name))
            self.state = self.last.state
            rewards.append(self.last.reward)
        return rewards

    def cells(self, kind: str) -> list[tuple[int | None, int | None]]:
        return sorted((o.x, o.y) for o in self.state.all(kind))

    def all(self, kind: str, *attributes: str) -> list[tuple[Any, ...]]:
        return sorted(tuple(getattr(o, a) for a in attributes) for o in self.state.all(kind))

    def one(self, kind: str) -> Obj:
        return self.state.one(kind)

    @property
    def done(self) -> bool:
        return self.last is not None and self.last.done


def game(name: str, level: str, **options: Any) -> Game:
    return Game(envs.make(f"lab:{name}", level=level, **options))


# ── teleport ─────────────────────────────────────────────────────────────────────────────────────────────


def test_teleport_who_steps_onto_a_gate_comes_out_at_the_other() -> None:
    at = game("teleport", "#######\n#@O $O#\n#.    #\n#######")
    assert at.do("right") == [-0.1]
    assert at.cells("Player") == [(5, 1)]
    at.do("right up")  # bumping does not count as stepping there
    assert at.cells("Player") == [(5, 1)]
    at.do("down up")
    assert at.cells("Player") == [(2, 1)]


def test_teleport_the_pair_is_off_while_a_box_is_on_it() -> None:
    at = game("teleport", "#######\n#@O .B#\n#######")
    at.do("right")
    assert at.cells("Player") == [(2, 1)]
    at = game("teleport", "#######\n#. B@O#\n#######")
    at.do("right")
    assert at.cells("Player") == [(5, 1)]


def test_teleport_a_box_comes_out_too_and_so_turns_the_pair_off() -> None:
    at = game("teleport", "########\n#@$O  O#\n#     .#\n########")
    at.do("right")
    assert (at.cells("Box"), at.cells("Player")) == ([(6, 1)], [(2, 1)])
    at.do("right")
    assert at.cells("Player") == [(3, 1)]


def test_teleport_a_box_stays_on_a_gate_when_another_is_on_the_other() -> None:
    at = game("teleport", "########\n#@$O  B#\n#    ..#\n########")
    at.do("right")
    assert (at.cells("Box"), at.cells("Player")) == ([(3, 1), (6, 1)], [(2, 1)])


def test_teleport_a_push_comes_first_so_the_player_himself_may_block_the_other_gate() -> None:
    at = game("teleport", "######\n#P$O #\n#   .#\n######")
    at.do("right")
    assert (at.cells("Box"), at.cells("Player")) == ([(3, 1)], [(2, 1)])


def test_teleport_who_pushes_a_box_off_a_gate_goes_to_the_other() -> None:
    at = game("teleport", "########\n#@B  .O#\n########")
    at.do("right")
    assert (at.cells("Box"), at.cells("Player")) == ([(3, 1)], [(6, 1)])


def test_teleport_a_gate_takes_no_second_box_and_a_wall_none() -> None:
    at = game("teleport", "########\n#@$B.O.#\n########")
    at.do("right")
    assert (at.cells("Box"), at.cells("Player")) == ([(2, 1), (3, 1)], [(1, 1)])
    at = game("teleport", "########\n#O .@$##\n#   O  #\n########")
    at.do("right")
    assert (at.cells("Box"), at.cells("Player")) == ([(5, 1)], [(4, 1)])


def test_teleport_rewards() -> None:
    at = game("teleport", "########\n#@$. $.#\n#O   O #\n########")
    assert at.do("right right left") == [0.9, -1.1, -0.1]
    at = game("teleport", "#####\n#@$.#\n#O O#\n#####")
    assert at.do("right") == [10.9]
    assert at.done


def test_teleport_levels_that_are_refused() -> None:
    with pytest.raises(LevelFormatError, match="two gates that are not side by side"):
        envs.make("lab:teleport", level="#####\n#@OO#\n#####")
    with pytest.raises(LevelFormatError, match="a target for each of 1 boxes, got 0"):
        envs.make("lab:teleport", level="#######\n#@O$ O#\n#######")


# ── ice ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_ice_the_skater_slides_to_the_wall_and_is_stopped_by_sand() -> None:
    at = game("ice", "#######\n#@    #\n#  , F#\n#######")
    at.do("right")
    assert at.cells("Skater") == [(5, 1)]
    at.do("right left")
    assert at.cells("Skater") == [(1, 1)]
    at.do("down right")
    assert at.cells("Skater") == [(3, 2)]


def test_ice_a_switch_works_in_passing_so_a_gate_ahead_opens_in_time() -> None:
    at = game("ice", "########\n#@ rR F#\n########")
    assert at.do("right") == [1.0]
    assert at.done and at.cells("Skater") == [(6, 1)]
    assert not at.one("Gate").shut


def test_ice_and_one_that_is_open_shuts_before_him() -> None:
    at = game("ice", "########\n#@ r( F#\n########")
    assert at.do("right") == [0.0]
    assert at.cells("Skater") == [(3, 1)]
    assert at.one("Gate").shut


def test_ice_a_switch_turns_every_gate_of_its_color_and_no_other() -> None:
    at = game("ice", "########\n#@ r,  #\n#R(B[ F#\n########")
    at.do("right")
    gates = at.all("Gate", "x", "color", "shut")
    assert gates == [(1, "red", False), (2, "red", True), (3, "blue", True), (4, "blue", False)]


def test_ice_two_switches_on_the_way_undo_each_other() -> None:
    at = game("ice", "########\n#@rrR F#\n########")
    at.do("right")
    assert at.cells("Skater") == [(3, 1)] and at.one("Gate").shut


def test_ice_standing_on_a_switch_or_leaving_it_does_nothing() -> None:
    at = game("ice", "#######\n#@  r##\n#R   F#\n#######")
    at.do("right")
    assert at.cells("Skater") == [(4, 1)] and not at.one("Gate").shut
    at.do("right up left")
    assert at.cells("Skater") == [(1, 1)] and not at.one("Gate").shut


def test_ice_a_hole_ends_in_failure_and_a_flag_in_success_in_passing() -> None:
    at = game("ice", "#######\n#@ oF #\n#######")
    assert at.do("right") == [-1.0]
    assert at.done and at.cells("Skater") == [(3, 1)]
    at = game("ice", "#######\n#@ Fo #\n#######")
    assert at.do("right") == [1.0]


def test_ice_needs_a_closed_map() -> None:
    with pytest.raises(LevelFormatError, match="the walls of the map have a gap"):
        envs.make("lab:ice", level="######\n#@  F\n######")


# ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_rows_of_any_length_move() -> None:
    at = game("rows", "########\n#@$$$$.#\n#.     #\n########")
    at.do("right")
    assert at.cells("Mover") == [(2, 1)]
    assert at.cells("Crate") == [(3, 1), (4, 1), (5, 1), (6, 1)]
    at.do("right")  # now there is the wall behind
    assert at.cells("Mover") == [(2, 1)]


def test_rows_end_at_a_gap() -> None:
    at = game("rows", "########\n#@$$ $.#\n########")
    at.do("right")
    assert at.cells("Crate") == [(3, 1), (4, 1), (5, 1)]


def test_rows_leave_what_is_beside_them() -> None:
    at = game("rows", "#####\n# @ #\n#$$$#\n# $$#\n#   #\n#. .#\n#####")
    at.do("down")
    assert at.cells("Mover") == [(2, 2)]
    assert at.cells("Crate") == [(1, 2), (2, 3), (2, 4), (3, 2), (3, 3)]


def test_rows_are_rewarded_by_how_many_marks_are_covered() -> None:
    at = game("rows", "########\n#@*$.  #\n########")
    assert at.do("right right right") == [0.0, 0.0, -1.0]  # at first one lost and one won
    at = game("rows", "#######\n#@$*. #\n#######")
    assert at.do("right") == [6.0]
    assert at.done
    at = game("rows", "########\n#@$$..$#\n########")
    assert at.do("right right") == [1.0, 6.0]
    assert at.done


def test_rows_need_all_marks_not_all_crates() -> None:
    at = game("rows", "######\n#@$. #\n#$   #\n######")
    assert at.do("down") == [0.0]
    assert at.do("up right") == [0.0, 6.0]
    assert at.done


# ── belts ────────────────────────────────────────────────────────────────────────────────────────────────


def farm(level: str, *fruits: tuple[int, int, int], wanted: int = 5) -> Game:
    """A farm on which some fruits lie already: x, y and how fresh they are."""
    lying = frozenset(Fruit((x, y), fresh) for x, y, fresh in fruits)
    return Game(Belts(read_farm(level, wanted)._replace(fruits=lying)))


def test_belts_a_plant_grows_while_it_is_wet() -> None:
    at = farm("######\n#@0 S#\n######")
    at.do("right water")
    assert at.all("Plant", "growth", "wet") == [(1, 1)]
    at.do("wait wait wait")
    assert at.all("Plant", "growth", "wet") == [(2, 0)]
    at.do("water wait")
    assert at.all("Plant", "growth", "wet") == [(3, 1)], "what is ripe leaves its water"
    at.do("water left")
    assert at.all("Plant", "growth", "wet") == [(3, 2)], "not 1 + 2"


def test_belts_a_ripe_plant_is_picked_and_grows_again() -> None:
    at = farm("######\n#@3 S#\n######")
    assert at.do("pick right pick pick") == [0, 0, 0.25, 0]
    assert at.all("Fruit", "x", "y", "fresh") == [(None, None, 10)]
    assert at.all("Plant", "growth") == [(0,)]
    at.do("drop pick")
    assert at.all("Fruit", "x", "y", "fresh") == [(None, None, 8)]


def test_belts_what_lies_here_is_picked_before_what_grows_here() -> None:
    at = farm("######\n#@3 S#\n######", (2, 1, 7))
    assert at.do("right pick") == [0, 0]
    assert at.all("Fruit", "x", "fresh") == [(None, 5)]
    assert at.all("Plant", "growth") == [(3,)]


def test_belts_nothing_is_dropped_onto_another_fruit() -> None:
    at = farm("######\n#@  S#\n######", (1, 1, 9), (2, 1, 8))
    at.do("pick right drop")
    assert sorted(at.all("Fruit", "fresh")) == [(5,), (6,)]
    assert (None, None) in [(o.x, o.y) for o in at.state.all("Fruit")]


def test_belts_fruit_is_sold_before_it_rots() -> None:
    at = farm("#####\n#@ S#\n#####", (1, 1, 4))
    assert at.do("pick right right drop") == [0, 0, 0, 1]
    at = farm("#####\n#@ S#\n#####", (1, 1, 3))
    assert at.do("pick right right drop") == [0, 0, -0.5, 0]
    assert not at.state.all("Fruit")
    at = farm("#####\n#@ S#\n#####", (1, 1, 4), wanted=1)
    at.do("pick right right drop")
    assert at.done and at.one("Stall").sold == 1


def test_belts_carry_the_farmer_once_a_step_after_he_has_gone() -> None:
    at = farm("#######\n#@>> S#\n#######")
    at.do("right")
    assert at.cells("Farmer") == [(3, 1)]
    at.do("left")
    assert at.cells("Farmer") == [(3, 1)], "one step back, one step on"
    at.do("right")
    assert at.cells("Farmer") == [(4, 1)], "he has left the belt before it runs"
    at = farm("#####\n#@>##\n#S  #\n#####")
    at.do("right wait")
    assert at.cells("Farmer") == [(2, 1)]


def test_belts_carry_a_queue_as_a_whole_if_its_head_can_go() -> None:
    level = "########\n#>>>  S#\n#@     #\n########"
    at = farm(level, (1, 1, 9), (2, 1, 8), (3, 1, 7))
    at.do("wait")
    assert at.all("Fruit", "x", "fresh") == [(2, 8), (3, 7), (4, 6)]
    at.do("wait")  # the head lies on no belt now, and nothing passes it
    assert at.all("Fruit", "x", "fresh") == [(2, 7), (3, 6), (4, 5)]
    at = farm("#####\n#>>##\n#@ S#\n#####", (1, 1, 9), (2, 1, 8))
    at.do("wait")
    assert at.all("Fruit", "x", "fresh") == [(1, 8), (2, 7)]


def test_belts_that_lead_to_one_cell_take_turns_by_their_headings() -> None:
    level = "#######\n#@ v  #\n# > < #\n#  ^ S#\n#######"
    at = farm(level, (2, 2, 9), (4, 2, 8), (3, 1, 7), (3, 3, 6))
    at.do("wait")
    assert at.all("Fruit", "x", "y", "fresh") == [(2, 2, 8), (3, 1, 6), (3, 2, 5), (4, 2, 7)]


def test_belts_in_a_ring_and_face_to_face_all_carry() -> None:
    at = farm("#####\n#>v #\n#^<S#\n# @ #\n#####", (1, 1, 9), (2, 1, 8), (2, 2, 7), (1, 2, 6))
    at.do("wait")
    assert at.all("Fruit", "x", "y", "fresh") == [(1, 1, 5), (1, 2, 6), (2, 1, 8), (2, 2, 7)]
    at = farm("#####\n#>< #\n# @S#\n#####", (1, 1, 9), (2, 1, 5))
    at.do("wait")
    assert at.all("Fruit", "x", "fresh") == [(1, 4), (2, 8)]


def test_belts_run_before_the_stall_buys() -> None:
    at = farm("######\n#>>S #\n#@   #\n######", (2, 1, 9))
    assert at.do("wait") == [1]
    sold_on_a_belt = read_farm("#####\n#@ S#\n#####")._replace(belts=(((3, 1), "left"),))
    at = Game(Belts(sold_on_a_belt._replace(fruits=frozenset({Fruit((2, 1), 9)}))))
    assert at.do("right pick right") == [0, 0, 0]
    assert at.cells("Farmer") == [(2, 1)], "the stall's own belt has carried him off again"
    assert at.do("drop") == [0]


# ── stones ───────────────────────────────────────────────────────────────────────────────────────────────


def test_stones_dirt_is_dug_and_a_diamond_collected() -> None:
    at = game("stones", "######\n#@:**#\n######")
    assert at.do("right right up") == [0.0, 1.0, 0.0]
    assert not at.state.all("Dirt") and at.cells("Digger") == [(3, 1)]
    assert at.do("right") == [6.0]
    assert at.done


def test_stones_a_boulder_is_pushed_sideways_only_and_only_into_the_empty() -> None:
    at = game("stones", "######\n#@O *#\n######")
    at.do("right right")
    assert (at.cells("Digger"), at.cells("Boulder")) == ([(2, 1)], [(3, 1)]), "a diamond is behind it"
    for behind in ":O#":
        at = game("stones", f"######\n#@O{behind}*#\n######")
        at.do("right")
        assert at.cells("Digger") == [(1, 1)]
    at = game("stones", "####\n#* #\n# O#\n# @#\n####")
    at.do("up")
    assert (at.cells("Digger"), at.cells("Boulder")) == ([(2, 3)], [(2, 2)])


def test_stones_one_that_lies_still_rests_on_the_digger() -> None:
    at = game("stones", "####\n#O*#\n#:@#\n####")
    at.do("left wait wait")
    assert at.all("Boulder", "x", "y", "falling") == [(1, 1, False)]
    assert not at.done


def test_stones_one_that_is_dug_away_comes_after_the_digger() -> None:
    level = "####\n#O*#\n#@ #\n#  #\n#  #\n#  #\n####"
    at = game("stones", level)
    assert at.do("down") == [0.0]
    assert at.all("Boulder", "x", "y", "falling") == [(1, 2, True)]
    assert at.do("down") == [0.0], "it falls as fast as he goes"
    assert at.do("wait") == [-1.0]
    assert at.done and at.cells("Boulder") == at.cells("Digger") == [(1, 4)]
    at = game("stones", level)
    assert at.do("down right wait") == [0.0, 0.0, 0.0], "aside is safe"
    assert at.all("Boulder", "x", "y", "falling") == [(1, 4, True)]


def test_stones_who_steps_under_a_falling_one_is_hit() -> None:
    at = game("stones", "#####\n#V *#\n# @ #\n#   #\n#####")
    assert at.do("left") == [-1.0]
    assert at.cells("Boulder") == [(1, 2)]
    at = game("stones", "#####\n#V *#\n#   #\n# @ #\n#####")
    assert at.do("left") == [0.0], "it is one cell short of him"
    assert at.do("wait") == [-1.0]


def test_stones_a_pile_falls_as_one() -> None:
    at = game("stones", "####\n#O*#\n#O #\n#  #\n# @#\n####")
    at.do("wait")
    assert at.all("Boulder", "y", "falling") == [(2, True), (3, True)]
    at.do("wait wait")
    assert at.all("Boulder", "y", "falling") == [(3, False), (4, False)]


def test_stones_one_that_is_pushed_over_an_edge_falls_in_that_step_and_is_not_pushed_while_it_falls() -> None:
    at = game("stones", "######\n#@O  #\n#::  #\n#::* #\n######")
    at.do("right")
    assert at.all("Boulder", "x", "y", "falling") == [(3, 2, True)]
    at = game("stones", "######\n#@V *#\n#:   #\n######")
    at.do("right")
    assert at.cells("Digger") == [(1, 1)]
    assert at.all("Boulder", "x", "y", "falling") == [(2, 2, True)]


def test_stones_all_is_lost_with_the_last_diamond_under_a_falling_one() -> None:
    at = game("stones", "####\n#V #\n#*@#\n#  #\n####")
    assert at.do("left") == [-1.0]
    assert at.done and not at.state.all("Diamond")


# ── patrol ───────────────────────────────────────────────────────────────────────────────────────────────


def test_patrol_a_guard_turns_at_a_wall_and_loses_a_step() -> None:
    at = game("patrol", "######\n#  > #\n#@E  #\n######")
    seen = []
    for _ in range(4):
        at.do("wait")
        seen += at.all("Guard", "x", "heading")
    assert seen == [(4, "right"), (4, "left"), (3, "left"), (2, "left")]


def test_patrol_who_changes_places_with_a_guard_meets_him_once() -> None:
    at = game("patrol", "######\n#@<E #\n######", charges=2)
    assert at.do("right") == [-0.2]
    assert (at.cells("Scout"), at.cells("Guard")) == ([(2, 1)], [(1, 1)])
    assert at.one("Scout").charges == 1


def test_patrol_a_guard_comes_to_the_scout_but_not_to_where_he_was() -> None:
    at = game("patrol", "######\n#@ <E#\n#    #\n######")
    assert at.do("wait wait") == [0.0, -0.2]
    at = game("patrol", "######\n#@<E #\n#    #\n######")
    assert at.do("down") == [0.0]
    assert at.cells("Guard") == [(1, 1)]


def test_patrol_a_guard_who_turns_where_the_scout_is_meets_him_once_a_step() -> None:
    at = game("patrol", "######\n#<@E #\n######", charges=3)
    assert at.do("left") == [-0.2]
    assert at.all("Guard", "x", "heading") == [(1, "right")]
    assert at.do("wait") == [-0.2], "he is still there when the step begins"
    assert at.cells("Guard") == [(2, 1)] and at.one("Scout").charges == 1


def test_patrol_a_battery_helps_at_once() -> None:
    at = game("patrol", "######\n#@+<E#\n######", charges=0)
    assert at.do("right") == [-0.2]
    assert at.one("Scout").charges == 1 and not at.state.all("Battery")


def test_patrol_too_few_charges_end_in_failure() -> None:
    at = game("patrol", "######\n#@ <E#\n# ^  #\n######", charges=1)
    assert at.do("right") == [-1.0]
    assert at.done and at.one("Scout").charges == 0
    at = game("patrol", "######\n#@ <E#\n# ^  #\n######", charges=2)
    assert at.do("right") == [-0.4]
    assert not at.done


def test_patrol_contact_comes_before_the_exit() -> None:
    at = game("patrol", "######\n#@E< #\n######", charges=0)
    assert at.do("right") == [-1.0]
    at = game("patrol", "######\n#@E< #\n######", charges=1)
    assert at.do("right") == [0.8]
    assert at.done


def test_patrol_guards_pass_through_each_other_and_may_be_alike() -> None:
    at = game("patrol", "######\n#><  #\n#@E  #\n######")
    at.do("wait")
    assert at.all("Guard", "x", "heading") == [(1, "left"), (2, "right")]
    two = read_grounds("######\n#    #\n#@E  #\n######")._replace(guards=(((2, 1), "right"),) * 2)
    at = Game(Patrol(two))
    at.do("wait")
    assert at.all("Guard", "x", "heading") == [(3, "right"), (3, "right")]


# ── twins ────────────────────────────────────────────────────────────────────────────────────────────────


def twins(at: Game) -> list[tuple[int, int]]:
    """Where the twin is, and the mirrored one."""
    return [(o.x, o.y) for o in sorted(at.state.all("Twin"), key=lambda o: bool(o.mirrored))]


def test_twins_are_mirrored_left_and_right_only() -> None:
    at = game("twins", "#########\n#A a#m M#\n#   #   #\n#########")
    assert at.do("right") == [-0.01]
    assert twins(at) == [(2, 1), (6, 1)]
    at.do("down")
    assert twins(at) == [(2, 2), (6, 2)]
    at.do("left")
    assert twins(at) == [(1, 2), (7, 2)]


def test_twins_are_blocked_by_walls_each_by_himself() -> None:
    at = game("twins", "#########\n#A##a M #\n#      m#\n#########")
    at.do("right")
    assert twins(at) == [(1, 1), (5, 1)]


def test_twins_cannot_come_to_one_cell() -> None:
    at = game("twins", "#######\n#a   m#\n# A M #\n#######")
    at.do("right")
    assert twins(at) == [(2, 2), (4, 2)]
    at = game("twins", "####\n#A #\n#M #\n#am#\n####")
    at.do("up")  # the one is stopped by the wall, and so the other by him
    assert twins(at) == [(1, 1), (1, 2)]


def test_twins_cannot_change_places() -> None:
    at = game("twins", "######\n#a  m#\n# AM #\n######")
    at.do("right")
    assert twins(at) == [(2, 2), (3, 2)]


def test_twins_may_follow_one_another() -> None:
    at = game("twins", "####\n#A #\n#M #\n# a#\n# m#\n####")
    at.do("down")
    assert twins(at) == [(1, 2), (1, 3)]


def test_twins_need_each_his_own_pad() -> None:
    at = game("twins", "#########\n#A  #  M#\n# m # a #\n#########")
    assert at.do("right down") == [-0.01, -0.01]
    assert not at.done
    at = game("twins", "#########\n#A  #  M#\n# a # m #\n#########")
    assert at.do("right down") == [-0.01, 1.0]
    assert at.done


def test_twins_a_pit_under_either_ends_in_failure() -> None:
    at = game("twins", "#########\n#Aa # oM#\n#   # m #\n#########")
    assert at.do("right") == [-1.0]
    assert at.done

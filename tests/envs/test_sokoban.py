"""The rules of Sokoban, on levels small enough to see."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldcoder import envs
from worldcoder.envs.sokoban import ALL_ACTIONS, PUSHES, Sokoban
from worldcoder.envs.sokoban_levels import parse_levels
from worldcoder.errors import LevelFormatError, WorldError
from worldcoder.world.values import Action, State

BOXOBAN = Path(__file__).parents[1] / "data/boxoban/unfiltered-test-000.txt"


def play(level: str, *names: str, max_steps: int = 120) -> tuple[list[tuple[float, bool, bool]], State]:
    """Reward, done and truncated of each action, and the last state; `push right` needs all nine actions."""
    (parsed,) = parse_levels(level)
    nine = any(" " in name for name in names)
    env = Sokoban(lambda seed: parsed, max_steps=max_steps, actions="all" if nine else "push")
    state = env.reset(0).state
    outcomes = []
    for name in names:
        step = env.step(Action(name))
        outcomes.append((step.reward, step.done, step.truncated))
        state = step.state
    return outcomes, state


def player(state: State) -> tuple[int, int]:
    return state.one("Player").x, state.one("Player").y


def boxes(state: State) -> set[tuple[int, int]]:
    return {(o.x, o.y) for o in state.all("Box")}


CORRIDOR = """
########
#@ $ .$#
#.     #
########
"""


def test_the_state_holds_every_object_and_no_floor() -> None:
    env = envs.make(f"sokoban:{BOXOBAN}#0")
    start = env.reset(0)
    assert start.goal == "win the game"
    text = BOXOBAN.read_text().split("\n\n")[0]
    for kind, character in {"Wall": "#", "Box": "$", "Target": ".", "Player": "@"}.items():
        assert len(start.state.all(kind)) == text.count(character)
    assert len(start.state) == sum(text.count(c) for c in "#$.@")
    assert all(o.name is None and set(o.attributes) == {"x", "y"} for o in start.state)


def test_a_push_towards_a_free_cell_moves_the_player() -> None:
    outcomes, state = play(CORRIDOR, "right")
    assert outcomes == [(-0.1, False, False)]
    assert player(state) == (2, 1) and boxes(state) == {(3, 1), (6, 1)}


def test_a_push_moves_a_box() -> None:
    _, state = play(CORRIDOR, "right", "right")
    assert player(state) == (3, 1) and boxes(state) == {(4, 1), (6, 1)}


def test_a_box_on_and_off_a_target_is_exactly_rewarded() -> None:
    outcomes, state = play("#########\n#@$.$ . #\n#########", "right", "right")
    assert [o[0] for o in outcomes] == [0.9, -0.1]  # the second push is blocked by the other box
    outcomes, state = play("########\n#@$.  .#\n#   $  #\n########", "right", "right")
    assert [o[0] for o in outcomes] == [0.9, -1.1]
    assert boxes(state) == {(4, 1), (4, 2)}


def test_from_one_target_to_the_next_is_no_reward() -> None:
    outcomes, _ = play("#######\n#@$.. #\n# $   #\n#######", "right", "right")
    assert [o[0] for o in outcomes] == [0.9, -0.1]


def test_all_boxes_on_targets_win() -> None:
    outcomes, _ = play("#####\n#@$.#\n#####", "right")
    assert outcomes == [(10.9, True, False)]


def test_walls_and_pairs_of_boxes_do_not_move() -> None:
    outcomes, state = play("########\n#@$$ ..#\n########", "left", "right", "up", "down")
    assert {o[0] for o in outcomes} == {-0.1}
    assert player(state) == (1, 1) and boxes(state) == {(2, 1), (3, 1)}


def test_moves_never_push() -> None:
    _, state = play(CORRIDOR, "move right", "move right", "no operation")
    assert player(state) == (2, 1) and boxes(state) == {(3, 1), (6, 1)}
    _, state = play(CORRIDOR, "push right", "push right")
    assert player(state) == (3, 1) and boxes(state) == {(4, 1), (6, 1)}


def test_a_box_that_starts_on_a_target_is_no_reward_of_the_first_step() -> None:
    outcomes, _ = play("########\n#@ * $.#\n########", "right", "left")
    assert [o[0] for o in outcomes] == [-0.1, -0.1]
    outcomes, _ = play("########\n#@*  $.#\n########", "right")
    assert outcomes == [(-1.1, False, False)]


def test_time_runs_out() -> None:
    outcomes, _ = play(CORRIDOR, *["left"] * 3, max_steps=3)
    assert [o[1:] for o in outcomes] == [(False, False), (False, False), (False, True)]
    outcomes, _ = play("#####\n#@$.#\n#####", "right", max_steps=1)
    assert outcomes == [(10.9, True, False)], "a win on the last step is a win"


def test_after_120_steps_unless_said_otherwise() -> None:
    env = envs.make(f"sokoban:{BOXOBAN}#0")
    env.reset(0)
    steps = [env.step(Action("left")) for _ in range(120)]
    assert [s.truncated for s in steps] == [False] * 119 + [True]


def test_calls_at_the_wrong_time() -> None:
    env = envs.make("sokoban", max_steps=1)
    with pytest.raises(WorldError, match=r"before reset"):
        env.step(Action("up"))
    env.reset(0)
    with pytest.raises(WorldError, match=r"no action jump\(high\); expected one of: up, down, left, right"):
        env.step(Action("jump", ("high",)))
    env.step(Action("up"))
    with pytest.raises(WorldError, match=r"after the end"):
        env.step(Action("up"))


def test_the_actions() -> None:
    state = envs.make("sokoban").reset(0).state
    assert envs.make("sokoban").actions(state) == PUSHES
    assert envs.make("sokoban", actions="all").actions(state) == ALL_ACTIONS
    assert [str(a) for a in PUSHES] == ["up", "down", "left", "right"]
    assert len(ALL_ACTIONS) == 9


# ── levels of a file ─────────────────────────────────────────────────────────────────────────────────────


def test_the_seed_is_the_level_of_a_file_going_round() -> None:
    env = envs.make(f"sokoban:{BOXOBAN}")
    assert env.reset(3).state == env.reset(13).state == envs.make(f"sokoban:{BOXOBAN}#3").reset(0).state
    assert env.reset(3).state != env.reset(4).state
    assert env.reset(-1).state == env.reset(9).state


@pytest.mark.parametrize("number", range(10))
def test_the_number_is_the_one_in_the_title(number: int) -> None:
    drawing = BOXOBAN.read_text().split(f"; {number}\n")[1].split("\n\n")[0]
    state = envs.make(f"sokoban:{BOXOBAN}#{number}").reset(99).state
    (level,) = parse_levels(drawing)
    assert player(state) == level.player and boxes(state) == level.boxes


def test_a_file_whose_name_has_a_number_sign(tmp_path: Path) -> None:
    (tmp_path / "c#1").write_text("#####\n#@$.#\n#####")
    assert player(envs.make(f"sokoban:{tmp_path / 'c#1'}").reset(0).state) == (1, 1)
    assert player(envs.make(f"sokoban:{tmp_path / 'c#1'}#0").reset(0).state) == (1, 1)


@pytest.mark.parametrize(
    ("suffix", "said"),
    [
        ("#10", "no level 10; it has 10, numbered from 0 to 9"),
        ("#x", "write "),
        ("#-1", "got '-1'"),
        ("#", "got ''"),
    ],
)
def test_a_level_that_does_not_exist(suffix: str, said: str) -> None:
    with pytest.raises(LevelFormatError) as caught:
        envs.make(f"sokoban:{BOXOBAN}{suffix}")
    assert said in str(caught.value) and str(BOXOBAN) in str(caught.value)


def test_options_of_generated_levels_do_not_go_with_a_file() -> None:
    with pytest.raises(WorldError, match="the file decides"):
        envs.make(f"sokoban:{BOXOBAN}", boxes=3)


# ── properties ───────────────────────────────────────────────────────────────────────────────────────────


@given(st.integers(0, 9), st.lists(st.sampled_from(ALL_ACTIONS), max_size=60))
def test_whatever_is_done_the_pieces_stay_pieces(number: int, actions: list[Action]) -> None:
    env = envs.make(f"sokoban:{BOXOBAN}#{number}", actions="all")
    start = env.reset(0).state
    for action in actions:
        step = env.step(action)
        state = step.state
        for kind in ("Wall", "Target"):
            assert state.all(kind) == start.all(kind)
        assert len(boxes(state)) == len(start.all("Box"))
        assert not boxes(state) & {(o.x, o.y) for o in state.all("Wall")}
        assert player(state) not in boxes(state)
        on = boxes(state) & {(o.x, o.y) for o in state.all("Target")}
        assert step.done == (len(on) == len(boxes(state)))
        if step.done:
            break


@given(st.lists(st.sampled_from(PUSHES), max_size=15), st.lists(st.sampled_from(PUSHES), max_size=15))
def test_a_copy_is_a_branch_of_its_own(before: list[Action], after: list[Action]) -> None:
    env = envs.make(f"sokoban:{BOXOBAN}#1")
    env.reset(0)
    for action in before:
        env.step(action)
    branch = copy.deepcopy(env)
    for action in after[::-1]:
        env.step(action)
    replay = envs.make(f"sokoban:{BOXOBAN}#1")
    replay.reset(0)
    for action in before:
        replay.step(action)
    for action in after:
        assert branch.step(action) == replay.step(action)

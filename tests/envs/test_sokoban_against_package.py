"""Step by step against the gym-sokoban package itself, wherever it is installed.

The package is loaded without its own imports, most of which are for drawing; its rules are used as they are.
"""

from __future__ import annotations

import importlib
import importlib.util
import random
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest

from worldcoder.envs.sokoban import ALL_ACTIONS, Sokoban
from worldcoder.envs.sokoban_generator import generate_level
from worldcoder.envs.sokoban_levels import Level, parse_levels

_SPEC = importlib.util.find_spec("gym_sokoban")
if _SPEC is None:
    pytest.skip("gym-sokoban is not installed", allow_module_level=True)
gymnasium = pytest.importorskip("gymnasium")
np = pytest.importorskip("numpy")

WALL, FLOOR, TARGET, BOX_ON_TARGET, BOX, PLAYER = range(6)


@pytest.fixture(scope="module")
def package() -> Iterator[types.SimpleNamespace]:
    """SokobanEnv and generate_room, imported next to gymnasium in place of gym."""
    before = dict(sys.modules)
    for name in ("gymnasium", "gymnasium.utils", "gymnasium.utils.seeding", "gymnasium.spaces.discrete"):
        importlib.import_module(name)
    for name in [m for m in sys.modules if m.partition(".")[0] == "gymnasium"]:
        sys.modules["gym" + name.removeprefix("gymnasium")] = sys.modules[name]
    (root,) = _SPEC.submodule_search_locations
    for name, path in (("gym_sokoban", root), ("gym_sokoban.envs", f"{root}/envs")):
        sys.modules[name] = types.ModuleType(
            name
        )  # in place of __init__, which registers and imports the rest
        sys.modules[name].__path__ = [path]
    drawing = types.ModuleType("gym_sokoban.envs.render_utils")
    drawing.room_to_rgb = drawing.room_to_tiny_world_rgb = lambda *args, **kwargs: None
    sys.modules[drawing.__name__] = drawing
    try:
        rooms = importlib.import_module("gym_sokoban.envs.room_utils")
        env = importlib.import_module("gym_sokoban.envs.sokoban_env")
        assert [a.name for a in ALL_ACTIONS] == [env.ACTION_LOOKUP[i] for i in range(9)]
        yield types.SimpleNamespace(SokobanEnv=env.SokobanEnv, generate_room=rooms.generate_room)
    finally:
        for name in set(sys.modules) - set(before):
            if name.startswith(("gym.", "gym_sokoban")) or name == "gym":
                del sys.modules[name]


def level_of(fixed: Any, state: Any) -> Level:
    """A room of the package as a level; rows are y, columns x."""
    height, width = state.shape

    def cells(array: Any, *values: int) -> frozenset[tuple[int, int]]:
        return frozenset((int(x), int(y)) for y, x in np.argwhere(np.isin(array, values)))

    (player,) = cells(state, PLAYER)
    return Level(
        width, height, player, cells(state, WALL), cells(state, BOX, BOX_ON_TARGET), cells(fixed, TARGET)
    )


def theirs(package: Any, level: Level, max_steps: int) -> Any:
    """The package's environment in a level of ours."""
    fixed = np.full((level.height, level.width), FLOOR)
    for x, y in level.walls:
        fixed[y, x] = WALL
    for x, y in level.targets:
        fixed[y, x] = TARGET
    state = fixed.copy()
    for x, y in level.boxes:
        state[y, x] = BOX_ON_TARGET if (x, y) in level.targets else BOX
    state[level.player[1], level.player[0]] = PLAYER
    env = package.SokobanEnv(
        dim_room=state.shape, max_steps=max_steps, num_boxes=len(level.boxes), reset=False
    )
    env.room_fixed, env.room_state = fixed, state
    env.player_position = np.array((level.player[1], level.player[0]))
    env.num_env_steps = env.boxes_on_target = 0
    return env


def compare(package: Any, level: Level, rng: random.Random, *, max_steps: int) -> bool:
    """Play both to the end of an episode with equal actions; whether it was won."""
    ours = Sokoban(lambda seed: level, max_steps=max_steps, actions="all")
    ours.reset(0)
    env = theirs(package, level, max_steps)
    quirk = bool(level.boxes & level.targets)  # rewarded by the package at the first step
    while True:
        # Pushes more often than the rest: otherwise hardly anything happens.
        index = rng.choices(range(9), weights=[1, 8, 8, 8, 8, 1, 1, 1, 1])[0]
        step = ours.step(ALL_ACTIONS[index])
        _, reward, over, info = env.step(index)
        now = level_of(env.room_fixed, env.room_state)
        assert (step.state.one("Player").x, step.state.one("Player").y) == now.player
        assert {(o.x, o.y) for o in step.state.all("Box")} == now.boxes
        if not quirk:
            assert step.reward == round(reward, 10)
        quirk = False
        assert (step.done or step.truncated) == over
        if over:
            assert step.done == info["all_boxes_on_target"]
            return step.done


@pytest.mark.parametrize("boxes", [1, 2, 3])
def test_on_generated_levels(package: Any, boxes: int) -> None:
    rng = random.Random(boxes)
    won = [compare(package, generate_level(6, 7, boxes, seed), rng, max_steps=120) for seed in range(60)]
    assert boxes > 1 or any(won), "some episodes end with a win"


def test_on_rooms_of_the_package(package: Any) -> None:
    rng = random.Random(0)
    for seed in range(12):
        random.seed(seed)
        np.random.seed(seed)
        fixed, state, _ = package.generate_room(dim=(7, 7), num_steps=23, num_boxes=2)
        for max_steps in (1, 40, 120):
            compare(package, level_of(fixed, state), rng, max_steps=max_steps)


DENSE = """
#########
#   $   #
# .$ *  #
#  $. . #
# $  +  #
#    $. #
#########
"""


def test_on_a_crowded_level_with_a_box_that_starts_on_a_target(package: Any) -> None:
    (level,) = parse_levels(DENSE)
    for seed in range(40):
        compare(package, level, random.Random(seed), max_steps=200)


def test_the_one_difference_is_the_first_step_of_such_a_level(package: Any) -> None:
    (level,) = parse_levels(DENSE)
    ours = Sokoban(lambda seed: level, actions="all")
    ours.reset(0)
    assert ours.step(ALL_ACTIONS[0]).reward == -0.1
    assert theirs(package, level, 120).step(0)[1] == pytest.approx(0.9)

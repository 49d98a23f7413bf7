"""Every registered environment and every example keeps the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldcoder import envs
from worldcoder.testing import check_environment

REPOSITORY = Path(__file__).parents[2]
EXAMPLES = sorted((REPOSITORY / "examples").glob("*.py"))
FACTORIES = [f"{path}:make_env" for path in EXAMPLES if "def make_env" in path.read_text(encoding="utf-8")]
LEVELS = REPOSITORY / "tests/data/boxoban/unfiltered-test-000.txt"

MORE = [
    f"sokoban:{LEVELS}",
    f"sokoban:{LEVELS}#3",
    "minigrid:Empty-5x5",
    "minigrid:DoorKey-5x5",
    "minigrid:Unlock",
    "minigrid:Fetch-6x6-N2",
    "minigrid:UnlockPickup",
    "minigrid:BlockedUnlockPickup",
    "minigrid:LavaGapS5",
    "minigrid:PutNear-6x6-N2",
    "minigrid:GoToDoor-5x5",
    "minigrid:RedBlueDoors-6x6",
    "minigrid:ObstructedMaze-1Dlhb",
    "minigrid:BabyAI-GoToObj-v0",
    "minigrid:BabyAI-BossLevel-v0",
]


def test_there_are_examples_to_check() -> None:
    assert len(FACTORIES) >= 2


@pytest.mark.parametrize("name", envs.names())
def test_a_registered_environment_keeps_the_contract(name: str) -> None:
    example = envs.describe(name).example
    if name == "minigrid":
        pytest.importorskip("minigrid")
    check_environment(lambda: envs.make(example))


@pytest.mark.parametrize("spec", MORE)
def test_its_other_forms_do_too(spec: str) -> None:
    if spec.startswith("minigrid"):
        pytest.importorskip("minigrid")
    check_environment(lambda: envs.make(spec), seeds=range(4), steps=100)


@pytest.mark.parametrize("factory", FACTORIES, ids=lambda spec: Path(spec).stem)
def test_an_example_keeps_the_contract(factory: str) -> None:
    pytest.importorskip("gymnasium")
    assert envs.describe(factory).description
    check_environment(lambda: envs.make(factory), seeds=range(5), steps=100)


@pytest.mark.parametrize("name", envs.names())
def test_what_worldcoder_envs_lists(name: str) -> None:
    entry = envs.describe(name)
    assert entry.name == name
    assert entry.description.endswith(".") and "\n" not in entry.description
    assert entry.usage.startswith(name) and entry.example.startswith(name)
    assert entry in envs.entries()


@pytest.mark.parametrize("name", envs.names())
def test_glyphs_are_one_character_for_each_kind(name: str) -> None:
    if name == "minigrid":
        pytest.importorskip("minigrid")
    env = envs.make(envs.describe(name).example)
    kinds = {o.kind for o in env.reset(0).state}
    assert kinds <= set(env.glyphs)
    assert all(len(glyph) == 1 for glyph in env.glyphs.values())

"""The embedded synthesizer does not depend on names or directions: the same world under others is learned the same.

Compared is every action of a run, under its old name, and with it how many there are until the goal is reached.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from renamed_worlds import in_order, shuffled

from worldcoder.experiment import Experiment, run
from worldcoder.programs import Runner
from worldcoder.runs.reader import RunReader

FACTORIES = Path(__file__).with_name("renamed_worlds.py")
SOKOBAN, KEYS, RAILWAY = "sokoban", "minigrid:DoorKey-5x5", "lab:railway"
ACTIONS = {SOKOBAN: 60, KEYS: 80, RAILWAY: 30}
"""How long the runs are: in the first two worlds, until the goal is reached and a little longer."""

Course = tuple[list[str], int | None]
"""The actions of a run, and how many it took until the goal was reached."""


@pytest.fixture(scope="module")
def course(runner: Runner, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Course]:
    """How a world is learned; `plainly` for the world as it is."""
    if_missing = pytest.importorskip

    @cache
    def plainly(world: str, seed: int) -> Course:
        return learn(world, world, seed, str, {})

    def learn(
        spec: str, world: str, seed: int, back: Callable[[str], str], options: dict[str, Any]
    ) -> Course:
        if world.startswith("minigrid"):
            if_missing("minigrid")
        folder = tmp_path_factory.mktemp("run") / "run"
        experiment = Experiment(spec, options=options, seed=seed, max_actions=ACTIONS[world])
        summary = run(experiment, folder, pictures=False, runner=runner)
        with RunReader(folder) as reader:
            return [back(str(t.transition.action)) for t in reader.transitions()], summary.actions_to_solve

    def either(world: str, seed: int, back: Callable[[str], str] = str, **options: Any) -> Course:
        if not options:
            return plainly(world, seed)
        factory = options.pop("factory")
        return learn(f"{FACTORIES}:{factory}", world, seed, back, {"world": world, **options})

    return either


@pytest.mark.parametrize("world", ACTIONS)
def test_other_names_in_the_same_order_change_nothing(world: str, course: Callable[..., Course]) -> None:
    """All names are others, the order of kinds and objects by name stays; "then" and "after" stay in goals."""
    renamed = course(world, 0, in_order().original, factory="make_renamed")
    assert renamed == course(world, 0)


@pytest.mark.parametrize(
    ("world", "seed"), [(SOKOBAN, 0), (SOKOBAN, 1), (SOKOBAN, 2), (KEYS, 0), (RAILWAY, 0)]
)
def test_other_names_in_another_order_change_nothing(
    world: str, seed: int, course: Callable[..., Course]
) -> None:
    """Here the order in which a state lists its objects changes as well."""
    renamed = course(world, seed, shuffled(0).original, factory="make_renamed", order=False)
    assert renamed == course(world, seed)


@pytest.mark.parametrize(("quarters", "mirrored"), [(1, False), (2, False), (3, False), (0, True), (1, True)])
def test_a_turned_world_is_learned_with_the_same_actions(
    quarters: int, mirrored: bool, course: Callable[..., Course]
) -> None:
    turned = course(SOKOBAN, 0, factory="make_turned", quarters=quarters, mirrored=mirrored)
    assert turned == course(SOKOBAN, 0)


def test_a_turned_world_with_facing_is_learned_with_the_same_actions(course: Callable[..., Course]) -> None:
    turned = course(KEYS, 0, factory="make_turned", quarters=1)
    assert turned == course(KEYS, 0)


@pytest.mark.parametrize("text", ["Player", "open the doors", "kept_in", "DoorKey", "main 3", "gas", "glass"])
def test_names_can_be_given_back(text: str) -> None:
    for names in (in_order(), shuffled(0)):
        assert names.original(names.text(text)) == text != names.text(text)


def test_names_in_order_stay_in_order() -> None:
    names = ["Box", "Boxer", "Player", "Target", "Wall", "main 3", "main 4", "siding 0"]
    assert sorted(map(in_order().text, names)) == [in_order().text(name) for name in names]

"""What holds for every world of the lab: its name, the contract, its levels, and that these can be solved."""

from __future__ import annotations

import copy
import importlib
import random
import re
import statistics
import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from worldcoder import envs
from worldcoder.cli import main
from worldcoder.envs import Environment, Step
from worldcoder.envs.lab import WORLDS
from worldcoder.envs.lab.base import LabWorld, _level_of
from worldcoder.envs.lab.grids import read_map
from worldcoder.errors import LevelFormatError, UnknownEnvironment, WorldError
from worldcoder.testing import check_environment
from worldcoder.world.values import Action, State

EVERY = pytest.mark.parametrize("name", WORLDS)

SEEDS = range(10)

MAPS = {
    "belts": "####\n#@3#\n#>S#\n####",
    "ice": "#####\n#@ F#\n#####",
    "patrol": "#####\n#@<E#\n#####",
    "rows": "#####\n#@$.#\n#####",
    "stones": "#####\n#@O*#\n#####",
    "teleport": "#######\n#O@$.O#\n#######",
    "twins": "#####\n#AmM#\n#a  #\n#####",
}
"""A small map of each world that has a grid."""


def states_of(name: str, seeds: Sequence[int], steps: int = 60) -> Iterator[tuple[Environment, State]]:
    """The states of episodes of random actions."""
    rng = random.Random(name)
    env = envs.make(f"lab:{name}")
    for seed in seeds:
        state = env.reset(seed).state
        yield env, state
        for _ in range(steps):
            step = env.step(rng.choice(env.actions(state)))
            state = step.state
            yield env, state
            if step.done or step.truncated:
                break


# ── the family ───────────────────────────────────────────────────────────────────────────────────────────


def test_there_are_ten() -> None:
    assert len(WORLDS) == 10 and list(WORLDS) == sorted(WORLDS)


def test_worldcoder_envs_lists_the_family_and_its_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["envs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("lab:NAME ") for line in lines) == 1
    for name in WORLDS:
        (line,) = [line for line in lines if line.startswith(f"lab:{name} ")]
        assert line.endswith(".")
    assert main(["envs", "lab:belts"]) == 0
    assert "--option wanted=...  int (default 1)" in capsys.readouterr().out


def test_an_unknown_name_gets_a_suggestion() -> None:
    for ask in (envs.make, envs.describe):
        with pytest.raises(UnknownEnvironment, match=r"no world 'kichen' \(did you mean 'kitchen'\?\)"):
            ask("lab:kichen")
    with pytest.raises(UnknownEnvironment, match=r"expected a world after the colon; there are: belts, ice"):
        envs.make("lab")


@EVERY
def test_options_are_those_of_the_world(name: str) -> None:
    env = envs.make(f"lab:{name}", max_steps="3")
    state = env.reset(0).state
    steps: list[Step] = []
    for _ in range(3):
        action = next(a for a in reversed(env.actions(state)) if a.name != "wait")
        steps.append(env.step(action))
        state = steps[-1].state
        if steps[-1].done:
            break
    assert steps[-1].done or [step.truncated for step in steps] == [False, False, True]
    with pytest.raises(WorldError, match=r"step\(\) after the end of the episode"):
        env.step(action)
    with pytest.raises(WorldError, match="no option 'size'"):
        envs.make(f"lab:{name}", size=3)
    with pytest.raises(WorldError, match="max_steps=0: expected at least 1"):
        envs.make(f"lab:{name}", max_steps=0)


@EVERY
def test_the_contract(name: str) -> None:
    checked = check_environment(lambda: envs.make(f"lab:{name}"), seeds=range(5), steps=80)
    assert checked.branched


@EVERY
def test_what_is_refused(name: str) -> None:
    env = envs.make(f"lab:{name}")
    with pytest.raises(WorldError, match=rf"lab:{name}: step\(\) before reset\(\)"):
        env.step(Action("up"))
    env.reset(0)
    with pytest.raises(
        WorldError, match=rf"lab:{name}: there is no action fly\(away\) here; expected one of: "
    ):
        env.step(Action("fly", ("away",)))


# ── states and levels ────────────────────────────────────────────────────────────────────────────────────


@EVERY
def test_states_are_as_if_built_from_their_objects(name: str) -> None:
    """They are put together from parts, for speed; nothing may be different for that."""
    for _, state in states_of(name, range(3), 30):
        again = State(list(state))
        assert state == again and str(state) == str(again) and hash(state) == hash(again)


@EVERY
def test_each_seed_has_its_own_level_and_keeps_it(name: str) -> None:
    env = envs.make(f"lab:{name}")
    levels = [env.reset(seed).state for seed in SEEDS]
    assert len(set(levels)) == len(levels)
    _level_of.cache_clear()
    assert [env.reset(seed).state for seed in SEEDS] == levels


@EVERY
def test_what_is_offered_in_a_situation_is_so_in_its_state(name: str) -> None:
    for env, state in states_of(name, range(5)):
        assert isinstance(env, LabWorld)
        if env._now is not None:
            assert list(env.actions(state)) == list(env.offered(env._now))


@EVERY
def test_worlds_are_small(name: str) -> None:
    for env, state in states_of(name, range(5)):
        assert len(state) <= 80 and 1 <= len(env.actions(state)) <= 40
        cells = [(o.x, o.y) for o in state if o.attributes.get("x") is not None]
        assert all(0 <= x < 10 and 0 <= y < 10 for x, y in cells)


@EVERY
def test_the_rules_speak_of_everything(name: str) -> None:
    """The docstring names every kind, every attribute and every action."""
    module = importlib.import_module(WORLDS[name].partition(":")[0])
    words = set(re.findall(r"\w+", module.__doc__ or ""))
    plural = {word.removesuffix("s") for word in words}
    for env, state in states_of(name, range(3)):
        kinds, attributes = {o.kind for o in state}, {a for o in state for a in o.attributes}
        actions = {a.name for a in env.actions(state)}
        assert kinds | attributes | actions <= words | plural | {"x", "y"}


@EVERY
def test_steps_are_fast(name: str) -> None:
    times: list[float] = []
    rng = random.Random(0)
    env = envs.make(f"lab:{name}")
    for seed in range(5):
        state = env.reset(seed).state
        done = False
        while not done and len(times) < 100 * (seed + 1):
            action = rng.choice(env.actions(state))
            begin = time.perf_counter()
            step = env.step(action)
            times.append(time.perf_counter() - begin)
            state, done = step.state, step.done or step.truncated
    assert statistics.median(times) < 0.001  # a tenth of that where nothing else runs


# ── maps ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", MAPS)
def test_a_map_is_the_level_of_every_seed(name: str) -> None:
    env = envs.make(f"lab:{name}", level=MAPS[name])
    assert env.reset(0) == env.reset(5)
    check_environment(lambda: envs.make(f"lab:{name}", level=MAPS[name]))


@pytest.mark.parametrize("name", MAPS)
def test_maps_that_cannot_be_read(name: str) -> None:
    with pytest.raises(LevelFormatError, match=r"line 2 of the map: there is no character '\?'"):
        envs.make(f"lab:{name}", level="####\n#? #\n####")
    with pytest.raises(LevelFormatError, match="expected a map, got no text"):
        envs.make(f"lab:{name}", level="\n")
    with pytest.raises(LevelFormatError, match=r"expected exactly one .* on the map, found 0"):
        envs.make(f"lab:{name}", level=re.sub("[@A]", " ", MAPS[name]))


def test_a_map_may_be_indented() -> None:
    text = """
        ##
        #.
    """
    assert read_map(text, {"#": ["Wall"], ".": ["Mark"], "@": ["Mover"]}) == {
        "Wall": ((0, 0), (1, 0), (0, 1)),
        "Mark": ((1, 1),),
        "Mover": (),
    }


# ── solving ──────────────────────────────────────────────────────────────────────────────────────────────

Filter = Callable[[Sequence[Action], str], Sequence[Action]]


USES = {"sliced": ["knife", "sink"], "clean": ["sink"], "hot": ["oven"], "cold": ["fridge"]}


def what_the_goal_is_about(actions: Sequence[Action], goal: str) -> Sequence[Action]:
    """In the kitchen: to open doors, and what is about the goal's food, its place and the tools for its words."""
    words = goal.split()
    useful = {"table", *words, *(tool for word in words for tool in USES.get(word, ()))}
    return [a for a in actions if a.name == "open" or all(str(arg).split()[0] in useful for arg in a.args)]


FILTERS: dict[str, Filter] = {"kitchen": what_the_goal_is_about}
IN_STAGES = {"belts", "shop", "stones"}
"""Worlds in which a search goes from one reward to the next, since all ways at once are too many."""


def solve(name: str, seed: int, limit: int = 20_000) -> list[Action] | None:
    """Actions that win the level of a seed, by breadth-first search over copies of the environment."""
    env = envs.make(f"lab:{name}", max_steps=1000)
    state, goal = env.reset(seed)
    choose = FILTERS.get(name, lambda actions, goal: actions)
    won: list[Action] = []
    looked = 0
    while True:
        queue: list[tuple[Environment, State, float, list[Action]]] = [(env, state, 0.0, [])]
        seen = {state}
        for env, state, total, way in queue:
            looked += 1
            reached = None
            for action in choose(env.actions(state), goal):
                branch = copy.deepcopy(env)
                step = branch.step(action)
                here = (branch, step.state, total + step.reward, [*way, action])
                if step.done and step.reward > 0:
                    return won + here[3]
                if name in IN_STAGES and not step.done and step.reward > 0 and here[2] > 0:
                    reached = here
                    break
                if not step.done and step.state not in seen:
                    seen.add(step.state)
                    queue.append(here)
            if reached:
                env, state, _, way = reached
                won += way
                break
            if looked >= limit:
                return None
        else:
            return None


@EVERY
def test_the_first_ten_seeds_can_be_solved(name: str) -> None:
    for seed in SEEDS:
        found = solve(name, seed)
        assert found, f"lab:{name}, seed {seed}: no way to a rewarded end"
        env = envs.make(f"lab:{name}")
        env.reset(seed)
        steps = [env.step(action) for action in found]
        assert [step.done for step in steps] == [False] * (len(found) - 1) + [True]
        assert steps[-1].reward > 0

"""The MiniGrid adapter against the package itself: what it reads, what it rewards, how it branches."""

from __future__ import annotations

import contextlib
import copy
import io
import random
import time
from typing import Any

import pytest

from worldcoder import envs
from worldcoder.errors import UnknownEnvironment, WorldError
from worldcoder.world.values import Action, State

gymnasium = pytest.importorskip("gymnasium")
minigrid = pytest.importorskip("minigrid")

WORLDS = [
    "MiniGrid-BlockedUnlockPickup-v0",
    "MiniGrid-DistShift1-v0",
    "MiniGrid-DoorKey-8x8-v0",
    "MiniGrid-Dynamic-Obstacles-5x5-v0",
    "MiniGrid-Empty-Random-5x5-v0",
    "MiniGrid-Fetch-6x6-N2-v0",
    "MiniGrid-GoToObject-6x6-N2-v0",
    "MiniGrid-LavaCrossingS9N1-v0",
    "MiniGrid-MemoryS7-v0",
    "MiniGrid-MultiRoom-N4-S5-v1",
    "MiniGrid-ObstructedMaze-2Dlhb-v1",
    "MiniGrid-Playground-v0",
    "MiniGrid-PutNear-6x6-N2-v0",
    "BabyAI-GoToImpUnlock-v0",
    "BabyAI-PutNextLocal-v0",
    "BabyAI-UnblockPickup-v0",
]


def read(env: Any) -> list[tuple[Any, ...]]:
    """The grid as the package encodes it, cell by cell, with what is carried and contained: the reference."""
    rows: list[tuple[Any, ...]] = []

    def add(thing: Any, x: int | None, y: int | None) -> None:
        state = (
            {0: "open", 1: "closed", 2: "locked"}[int(thing.encode()[2])] if thing.type == "door" else None
        )
        colour = thing.color if thing.type not in ("wall", "goal", "lava") else None
        rows.append((thing.type, x, y, colour, state, thing.contains and thing.contains.type))
        if thing.contains:
            add(thing.contains, None, None)

    for x in range(env.grid.width):
        for y in range(env.grid.height):
            thing = env.grid.get(x, y)
            if thing is not None:
                add(thing, x, y)
    carrying = env.carrying
    if carrying:
        add(carrying, None, None)
    x, y = env.agent_pos
    rows.append(
        ("agent", int(x), int(y), int(env.agent_dir), carrying and carrying.type, carrying and carrying.color)
    )
    return sorted(rows, key=repr)


def shown(state: State) -> list[tuple[Any, ...]]:
    """A state in the form of `read`."""
    rows: list[tuple[Any, ...]] = []
    for o in state:
        a = o.attributes
        if o.kind == "Agent":
            held = state.follow(o.carrying) if o.carrying is not None else None
            rows.append(("agent", o.x, o.y, o.dir, held and held.kind.lower(), held and held.color))
        else:
            inside = state.follow(o.contains).kind.lower() if a.get("contains") is not None else None
            rows.append((o.kind.lower(), o.x, o.y, a.get("color"), a.get("state"), inside))
    return sorted(rows, key=repr)


@pytest.mark.parametrize("world", WORLDS)
def test_the_state_is_what_the_package_holds(world: str) -> None:
    env = envs.make(f"minigrid:{world}")
    real = gymnasium.make(world, disable_env_checker=True).unwrapped
    rng = random.Random(world)
    for seed in range(4):
        start = env.reset(seed)
        with contextlib.redirect_stdout(io.StringIO()):
            real.reset(seed=seed)
        assert start.goal == (real.mission or "explore")
        assert shown(start.state) == read(real)
        # Picking up and toggling more often than the rest: otherwise hardly anything happens.
        actions = list(env.actions(start.state))
        weights = [2, 2, 5, 5, 2, 5, 0.2][: len(actions)]
        for _ in range(150):
            (action,) = rng.choices(actions, weights)
            step = env.step(action)
            _, reward, terminated, truncated, _ = real.step(real.actions[action.name])
            assert shown(step.state) == read(real)
            assert step.done == terminated and step.truncated == (truncated and not terminated)
            assert step.reward == (1.0 if reward > 0 else reward)
            if step.done or step.truncated:
                break


def plan(env: envs.Environment, seed: int, *, depth: int = 40) -> list[Action]:
    """The shortest way to a reward, by breadth-first search over copies of the world."""
    start = env.reset(seed).state
    frontier: list[tuple[envs.Environment, State, list[Action]]] = [(copy.deepcopy(env), start, [])]
    seen = {start}
    for _ in range(depth):
        after = []
        for branch, state, path in frontier:
            for action in branch.actions(state):
                copied = copy.deepcopy(branch)
                step = copied.step(action)
                if step.reward > 0:
                    return [*path, action]
                if not step.done and step.state not in seen:
                    seen.add(step.state)
                    after.append((copied, step.state, [*path, action]))
        frontier = after
    raise AssertionError("no plan")


def test_copies_are_branches_to_plan_with_and_success_is_one() -> None:
    env = envs.make("minigrid:DoorKey-5x5")
    path = plan(env, seed=0)
    assert {"pickup", "toggle", "forward"} <= {a.name for a in path}
    env.reset(0)
    steps = [env.step(action) for action in path]
    assert [s.reward for s in steps] == [0.0] * (len(path) - 1) + [1.0]
    assert steps[-1].done and not steps[-1].truncated
    with pytest.raises(WorldError, match="after the end"):
        env.step(path[0])

    original = envs.make("minigrid:DoorKey-5x5", original_reward="true", max_steps="100")
    original.reset(0)
    assert [original.step(action) for action in path][-1].reward == pytest.approx(1 - 0.9 * len(path) / 100)


def test_hidden_state_of_babyai_is_in_a_copy() -> None:
    env = envs.make("minigrid:BabyAI-PutNextLocal-v0")
    for seed in range(3):
        rng = random.Random(seed)
        state = env.reset(seed).state
        for _ in range(20):
            env.step(rng.choice(env.actions(state)))
        branch, actions = copy.deepcopy(env), [rng.choice(env.actions(state)) for _ in range(30)]
        assert [branch.step(a) for a in actions] == [env.step(a) for a in actions]


def test_what_is_carried_is_a_reference_to_an_object_without_place() -> None:
    env = envs.make("minigrid:DoorKey-5x5")
    path = plan(env, seed=0)
    state = env.reset(0).state
    assert state.one("Agent").carrying is None and state.one("Key").x is not None
    assert state.one("Door").state == "locked"
    for action in path:
        state = env.step(action).state
        if action.name == "pickup":
            held = state.follow(state.one("Agent").carrying)
            assert (held.kind, held.x, held.y) == ("Key", None, None)
        if action.name == "toggle":
            assert state.one("Door").state == "open"


def test_a_box_gives_its_content_when_it_is_opened() -> None:
    env = envs.make("minigrid:ObstructedMaze-1Dlh")
    state = env.reset(0).state
    (box,) = state.all("Box")
    key = state.follow(box.contains)
    assert (key.kind, key.x, key.y) == ("Key", None, None)
    path = _walk_to(env, box.x, box.y)
    env.reset(0)
    for action in [*path, Action("toggle")]:
        state = env.step(action).state
    assert not state.all("Box")
    assert (state.one("Key").x, state.one("Key").y) == (box.x, box.y)


def _walk_to(env: envs.Environment, x: int, y: int) -> list[Action]:
    """Actions that make the agent face a cell, found on copies."""
    state = env.reset(0).state
    frontier: list[tuple[envs.Environment, State, list[Action]]] = [(copy.deepcopy(env), state, [])]
    seen = {state}
    while frontier:
        branch, state, path = frontier.pop(0)
        agent = state.one("Agent")
        dx, dy = [(1, 0), (0, 1), (-1, 0), (0, -1)][agent.dir]
        if (agent.x + dx, agent.y + dy) == (x, y):
            return path
        for name in ("left", "right", "forward"):
            copied = copy.deepcopy(branch)
            step = copied.step(Action(name))
            if step.state not in seen:
                seen.add(step.state)
                frontier.append((copied, step.state, [*path, Action(name)]))
    raise AssertionError("no way there")


def test_the_agent_may_share_a_cell() -> None:
    env = envs.make("minigrid:LavaGapS5")
    state = env.reset(0).state
    (lava, *_) = state.all("Lava")
    path = [*_walk_to(env, lava.x, lava.y), Action("forward")]
    env.reset(0)
    steps = [env.step(action) for action in path]
    assert {o.kind for o in steps[-1].state.at(lava.x, lava.y)} == {"Agent", "Lava"}
    assert (steps[-1].reward, steps[-1].done) == (0.0, True)


def test_no_noise(capsys: pytest.CaptureFixture[str]) -> None:
    env = envs.make("minigrid:BabyAI-PutNextLocal-v0")
    for seed in range(30):
        env.reset(seed)
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err == ""


def test_max_steps() -> None:
    for world in ("Empty-5x5", "BabyAI-GoToObj-v0"):
        env = envs.make(f"minigrid:{world}", max_steps=3)
        env.reset(0)
        assert [env.step(Action("left")).truncated for _ in range(3)] == [False, False, True]


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("DoorKey-8x8", "MiniGrid-DoorKey-8x8-v0"),
        ("DoorKey-8x8-v0", "MiniGrid-DoorKey-8x8-v0"),
        ("MiniGrid-DoorKey-8x8", "MiniGrid-DoorKey-8x8-v0"),
        ("BabyAI-GoToObj", "BabyAI-GoToObj-v0"),
        ("GoToObj", "BabyAI-GoToObj-v0"),
        ("Unlock", "MiniGrid-Unlock-v0"),
        ("BabyAI-Unlock", "BabyAI-Unlock-v0"),
    ],
)
def test_short_names(name: str, full: str) -> None:
    short, long = envs.make(f"minigrid:{name}"), envs.make(f"minigrid:{full}")
    assert [short.reset(seed) for seed in range(3)] == [long.reset(seed) for seed in range(3)]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("minigrid:DorKey-8x8", "did you mean 'DoorKey-8x8'?"),
        ("minigrid:doorkey-8x8", "did you mean 'DoorKey-8x8'?"),
        ("minigrid:MiniGrid-DoorKy-8x8-v0", "did you mean 'MiniGrid-DoorKey-8x8"),
        ("minigrid:BabyAI-GoToObjx-v0", "did you mean 'BabyAI-GoToObj"),
        ("minigrid:qqqq", "such as DoorKey-8x8"),
        ("minigrid", "expected a world after the colon"),
    ],
)
def test_worlds_that_do_not_exist(spec: str, said: str) -> None:
    with pytest.raises(UnknownEnvironment) as caught:
        envs.make(spec)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_a_gymnasium_environment_that_is_no_minigrid() -> None:
    with pytest.raises(WorldError, match="is no MiniGrid world"):
        envs.make("minigrid:CartPole-v1")
    with pytest.raises(WorldError, match="max_steps=0"):
        envs.make("minigrid:Empty-5x5", max_steps=0)
    with pytest.raises(WorldError, match="expected a seed of 0 or more, got -1"):
        envs.make("minigrid:Empty-5x5").reset(-1)


def test_a_world_with_fewer_actions() -> None:
    env = envs.make("minigrid:Dynamic-Obstacles-5x5")
    assert [str(a) for a in env.actions(env.reset(0).state)] == ["left", "right", "forward"]


def test_a_step_is_quick() -> None:
    env = envs.make("minigrid:DoorKey-8x8", max_steps=10_000)
    actions = env.actions(env.reset(0).state)
    rng = random.Random(0)
    begin = time.process_time()
    for _ in range(1000):
        env.step(rng.choice(actions[:2]))
    assert time.process_time() - begin < 2.0, "two milliseconds a step is too much"

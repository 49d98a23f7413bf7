"""Gymnasium environments as worlds of objects."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

from worldcoder import envs
from worldcoder.envs.gymnasium import from_gymnasium
from worldcoder.errors import UnknownEnvironment, WorldError
from worldcoder.testing import check_environment
from worldcoder.world.values import Action, Obj

gymnasium = pytest.importorskip("gymnasium")

LAKE = f"{Path(__file__).parents[2] / 'examples/frozen_lake.py'}:make_env"


class Counter(gymnasium.Env):  # type: ignore[misc]
    """Counts to three; action 1 counts, 2 waits."""

    action_space = gymnasium.spaces.Discrete(2, start=1)
    observation_space = gymnasium.spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.count, self.wish = 0, f"count to {3 + (seed or 0) * 0}"
        return self.count, {"wish": self.wish}

    def step(self, action: int) -> tuple[int, int, bool, bool, dict[str, Any]]:
        assert action in (1, 2)
        self.count += action == 1
        return self.count, int(self.count == 3), self.count == 3, False, {}


class Moves(IntEnum):
    count = 1
    wait = 2


def thing(observation: Any, info: dict[str, Any]) -> list[Obj]:
    return [Obj("Counter", n=int(observation))]


def test_an_environment_of_ones_own_keeps_the_contract() -> None:
    assert check_environment(lambda: from_gymnasium(Counter(), thing)).ended


@pytest.mark.parametrize(
    ("actions", "names"), [(None, ["1", "2"]), (["add", "wait"], ["add", "wait"]), (Moves, ["count", "wait"])]
)
def test_names_of_actions(actions: Any, names: list[str]) -> None:
    env = from_gymnasium(Counter(), thing, actions=actions)
    start = env.reset(0)
    assert [str(a) for a in env.actions(start.state)] == names
    steps = [env.step(Action(name)) for name in [names[0], names[1], names[0], names[0]]]
    assert [s.state.one("Counter").n for s in steps] == [1, 1, 2, 3]
    assert [(s.reward, s.done) for s in steps] == [(0.0, False)] * 3 + [(1.0, True)]


def test_a_goal_from_the_first_observation() -> None:
    assert from_gymnasium(Counter(), thing, goal=lambda o, info: info["wish"]).reset(0).goal == "count to 3"
    assert from_gymnasium(Counter(), thing, goal="count").reset(0).goal == "count"


def test_time_limits_of_gymnasium_truncate() -> None:
    env = from_gymnasium(gymnasium.wrappers.TimeLimit(Counter(), 2), thing)
    env.reset(0)
    assert [env.step(Action("2")).truncated for _ in range(2)] == [False, True]
    with pytest.raises(WorldError, match="after the end"):
        env.step(Action("2"))


def test_a_space_that_is_not_discrete() -> None:
    with pytest.raises(WorldError, match="are Box, expected Discrete"):
        from_gymnasium("Pendulum-v1", thing)


def test_an_unknown_id() -> None:
    with pytest.raises(UnknownEnvironment, match="did you mean 'CartPole-v1'"):
        from_gymnasium("CartPol-v1", thing)
    with pytest.raises(WorldError, match="cannot build 'CartPole-v1': TypeError"):
        from_gymnasium("CartPole-v1", thing, nonsense=1)


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        (["one"], "expected 2 different names"),
        (["one", "one"], "expected 2 different names"),
        ("ab", "expected 2 different names"),
        (IntEnum("Few", {"one": 1}), "Few has no member with the value 2"),
    ],
)
def test_names_that_do_not_fit(actions: Any, said: str) -> None:
    with pytest.raises(WorldError, match=said):
        from_gymnasium(Counter(), thing, actions=actions)


def test_what_is_no_environment() -> None:
    with pytest.raises(WorldError, match=r"expected a gymnasium\.Env or an id, got int"):
        from_gymnasium(3, thing)
    with pytest.raises(WorldError, match="expected a function of observation and info"):
        from_gymnasium(Counter(), [])  # type: ignore[arg-type]
    with pytest.raises(WorldError, match="are for an id"):
        from_gymnasium(Counter(), thing, render_mode=None)
    with pytest.raises(WorldError, match="a seed of 0 or more"):
        from_gymnasium(Counter(), thing).reset(-1)


def test_objects_that_cannot_be_made() -> None:
    def broken(observation: Any, info: dict[str, Any]) -> list[Obj]:
        raise KeyError("position")

    with pytest.raises(WorldError, match="should return Obj values; got KeyError: 'position'"):
        from_gymnasium(Counter(), broken).reset(0)
    numpy = pytest.importorskip("numpy")
    with pytest.raises(WorldError, match=r"convert numpy numbers with int\(\)"):
        from_gymnasium(Counter(), lambda o, i: [Obj("Counter", n=numpy.int64(o))]).reset(0)


def test_the_frozen_lake_of_the_examples() -> None:
    env = envs.make(LAKE)
    state = env.reset(0).state
    assert {(o.x, o.y) for o in state.all("Hole")} == {(1, 1), (3, 1), (3, 2), (0, 3)}
    names = ["down", "down", "right", "right", "down", "right"]
    steps = [env.step(Action(name)) for name in names]
    assert [(s.reward, s.done) for s in steps[-2:]] == [(0.0, False), (1.0, True)]
    agent, goal = steps[-1].state.one("Agent"), steps[-1].state.one("Goal")
    assert (agent.x, agent.y) == (goal.x, goal.y) == (3, 3)
    env.reset(0)
    assert [env.step(Action(name)).done for name in ("right", "down")] == [False, True]

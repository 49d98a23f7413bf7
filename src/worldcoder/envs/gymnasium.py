"""Any Gymnasium environment with a Discrete action space, given a function from observation to objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

from worldcoder.envs.contract import Start, Step
from worldcoder.envs.episode import Episode
from worldcoder.envs.factories import one_line, suggestion
from worldcoder.envs.optional import require
from worldcoder.errors import UnknownEnvironment, WorldError
from worldcoder.world.values import Action, Obj, State

Objects = Callable[[Any, dict[str, Any]], Iterable[Obj]]
"""From an observation and its info to the objects of the state, all of them and nothing else."""


class FromGymnasium:
    """A Gymnasium environment as a world of objects; built by `from_gymnasium`."""

    def __init__(
        self,
        env: Any,
        objects: Objects,
        goal: str | Callable[[Any, dict[str, Any]], str],
        names: Sequence[str],
        glyphs: Mapping[str, str],
    ) -> None:
        self.glyphs = dict(glyphs)
        self._env = env
        self._objects = objects
        self._goal = goal
        self._first = int(env.action_space.start)
        self._name = env.spec.id if env.spec is not None else type(env.unwrapped).__name__
        self._episode = Episode(self._name, [Action(name) for name in names])

    def reset(self, seed: int) -> Start:
        """Begin an episode."""
        if seed < 0:
            raise WorldError(f"{self._name}: expected a seed of 0 or more, got {seed}")
        observation, info = self._env.reset(seed=seed)
        self._episode.begin()
        goal = self._goal if isinstance(self._goal, str) else self._goal(observation, info)
        return Start(self._state(observation, info), goal)

    def step(self, action: Action) -> Step:
        """Act."""
        index = self._episode.index(action)
        observation, reward, terminated, truncated, info = self._env.step(self._first + index)
        if terminated or truncated:
            self._episode.end()
        state = self._state(observation, info)
        return Step(state, float(reward), bool(terminated), bool(truncated and not terminated))

    def actions(self, state: State) -> Sequence[Action]:
        """Every action, in every state."""
        return self._episode.actions

    def _state(self, observation: Any, info: dict[str, Any]) -> State:
        try:
            return State(self._objects(observation, info))
        except Exception as error:
            raise WorldError(
                f"{self._name}: objects(observation, info) should return Obj values; got {one_line(error)}"
            ) from error


def from_gymnasium(
    env: Any,
    objects: Objects,
    *,
    goal: str | Callable[[Any, dict[str, Any]], str] = "get the reward",
    actions: Sequence[str] | type[Enum] | None = None,
    glyphs: Mapping[str, str] | None = None,
    **options: Any,
) -> FromGymnasium:
    """Make a world of a Gymnasium environment.

    env: a Gymnasium environment or its id. objects: from an observation and its info to the objects of the
    state; whatever decides what happens next has to be in them. goal: a sentence, or a function from the
    first observation and its info to one. actions: a name for each action, in order, or an Enum of them;
    "0", "1", ... if left out. glyphs: the character that draws each kind. options: for `gymnasium.make`.

        from_gymnasium("Taxi-v3", lambda observation, info: [...], goal="bring the passenger home")

    Raises UnknownEnvironment for an id that does not exist, WorldError where the environment cannot be built,
    its actions are not Discrete, or the names do not fit them.
    """
    gymnasium = require("gymnasium", extra="gymnasium")
    if isinstance(env, str):
        env = _build(gymnasium, env, options)
    elif options:
        raise WorldError(
            f"options ({', '.join(options)}) are for an id, got {type(env).__name__}; leave them out"
        )
    if not isinstance(env, gymnasium.Env):
        raise WorldError(f"expected a gymnasium.Env or an id, got {type(env).__name__}: {env!r}")
    if not callable(objects):
        raise WorldError(
            f"objects: expected a function of observation and info, got {type(objects).__name__}"
        )
    space = env.action_space
    if not isinstance(space, gymnasium.spaces.Discrete):
        raise WorldError(
            f"the actions of {env} are {type(space).__name__}, expected Discrete;"
            " put a gymnasium.ActionWrapper around it that offers a Discrete choice of them"
        )
    names = _names(actions, int(space.n), int(space.start))
    return FromGymnasium(env, objects, goal, names, glyphs or {})


def _build(gymnasium: Any, name: str, options: Mapping[str, Any]) -> Any:
    try:
        return gymnasium.make(name, **options)
    except gymnasium.error.UnregisteredEnv as error:
        guess = suggestion(name, gymnasium.registry)
        raise UnknownEnvironment(f"Gymnasium has no environment {name!r}{guess}; check the id") from error
    except Exception as error:
        raise WorldError(f"Gymnasium cannot build {name!r}: {one_line(error)}") from error


def _names(actions: Sequence[str] | type[Enum] | None, n: int, start: int) -> list[str]:
    if actions is None:
        return [str(start + i) for i in range(n)]
    if isinstance(actions, type) and issubclass(actions, Enum):
        by_value = {member.value: member.name for member in actions}
        missing = [start + i for i in range(n) if start + i not in by_value]
        if missing:
            raise WorldError(f"actions: {actions.__name__} has no member with the value {missing[0]}; add it")
        return [by_value[start + i] for i in range(n)]
    names = list(actions)
    if isinstance(actions, str) or len(names) != n or len(set(names)) != n:
        raise WorldError(f"actions: expected {n} different names, got {actions!r}")
    return names

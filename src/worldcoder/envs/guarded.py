"""An environment that is asked with care: whatever it does wrong becomes one WorldError at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from worldcoder.envs.contract import Environment, Start, Step
from worldcoder.envs.factories import one_line
from worldcoder.errors import WorldcoderError, WorldError
from worldcoder.world.values import Action, State

_START = "Start(state, goal)"
_STEP = "Step(state, reward, done, truncated)"


class GuardedWorld:
    """Asks an environment and checks each answer.

    Plain tuples of the right parts come out as Start and Step, rewards as float, flags as bool.

    Raises WorldError for anything else: what was got, what was expected, what to do.
    """

    def __init__(self, environment: Environment, name: str) -> None:
        self.environment = environment
        self.name = name

    @property
    def glyphs(self) -> dict[str, str] | None:
        """How the environment wants its kinds drawn, if it says."""
        glyphs = getattr(self.environment, "glyphs", None)
        return dict(glyphs) if glyphs else None

    def reset(self, seed: int) -> Start:
        """Begin an episode."""
        try:
            start = self.environment.reset(seed)
        except Exception as error:
            raise self._failed(f"reset({seed})", error) from error
        state, goal = self._parts(start, 2, "reset", _START)
        self._check_state(state, "reset", _START)
        if not isinstance(goal, str):
            raise self._wrong("reset", f"{goal!r:.60} as the goal", "a sentence (str)", f"return {_START}")
        return Start(state, goal)

    def step(self, action: Action) -> Step:
        """Act."""
        try:
            step = self.environment.step(action)
        except Exception as error:
            raise self._failed(f"step({action})", error) from error
        what = f"step({action})"
        state, reward, done, truncated = self._parts(step, 4, what, _STEP)
        self._check_state(state, what, _STEP)
        gained = _number(reward)
        if not math.isfinite(gained):
            raise self._wrong(what, f"{reward!r:.60} as the reward", "a finite number", f"return {_STEP}")
        flags = []
        for name, value in (("done", done), ("truncated", truncated)):
            flag = _flag(value)
            if flag is None:
                raise self._wrong(what, f"{value!r:.60} as {name}", "True or False", f"return {_STEP}")
            flags.append(flag)
        return Step(state, gained, *flags)

    def actions(self, state: State) -> Sequence[Action]:
        """What can be done in a state."""
        try:
            actions = self.environment.actions(state)
            found = tuple(actions)
        except Exception as error:
            raise self._failed("actions", error) from error
        if not found or not all(isinstance(a, Action) for a in found):
            raise self._wrong("actions", f"{actions!r:.80}", "one Action or more", "return a list of Action")
        return found

    def _parts(self, value: Any, number: int, method: str, expected: str) -> tuple[Any, ...]:
        """The parts of what a method returned, if these are so many."""
        if isinstance(value, tuple | list) and len(value) == number:
            return tuple(value)
        got = f"a {type(value).__name__}"
        if isinstance(value, tuple | list):
            got += f" of {len(value)}"
        raise self._wrong(method, "None" if value is None else got, expected, f"return {expected}")

    def _check_state(self, state: Any, method: str, expected: str) -> None:
        if not isinstance(state, State):
            got = f"{type(state).__name__} as the state"
            raise self._wrong(method, got, "a State", f"return {expected} with State([Obj(...), ...])")

    def _wrong(self, method: str, got: str, expected: str, fix: str) -> WorldError:
        return WorldError(f"{self.name}: {method} gave {got}, expected {expected}; {fix}")

    def _failed(self, what: str, error: Exception) -> WorldcoderError:
        if isinstance(error, WorldcoderError):
            return error
        return WorldError(f"{self.name}: {what} raised {one_line(error)}")


def guarded(environment: Environment) -> GuardedWorld:
    """The environment itself if it is guarded already, else guarded under the name of its class."""
    if isinstance(environment, GuardedWorld):
        return environment
    return GuardedWorld(environment, type(environment).__name__)


def _number(value: Any) -> float:
    """A number of any library as float; NaN for what is none."""
    try:
        return math.nan if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _flag(value: Any) -> bool | None:
    """A truth value of any library as bool; None for what is none."""
    if isinstance(value, bool):
        return value
    try:
        return next((flag for flag in (False, True) if value == flag), None)
    except Exception:  # of arrays, for one, it is not clear whether they are equal
        return None

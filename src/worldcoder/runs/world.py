"""An environment as a run uses it: whatever it does wrong becomes one WorldError."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from worldcoder.envs.contract import Environment, Start, Step
from worldcoder.envs.factories import one_line
from worldcoder.errors import WorldcoderError, WorldError
from worldcoder.world.values import Action, State


class GuardedWorld:
    """Asks an environment and checks each answer. Rewards come out as float, flags as bool."""

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
            state, goal = self.environment.reset(seed)
        except Exception as error:
            raise self._failed(f"reset({seed})", error) from error
        self._check_state(state, "reset")
        if not isinstance(goal, str):
            raise WorldError(f"{self.name}: reset gave the goal {goal!r}, expected a sentence (str)")
        return Start(state, goal)

    def step(self, action: Action) -> Step:
        """Act."""
        try:
            state, reward, done, truncated = self.environment.step(action)
        except Exception as error:
            raise self._failed(f"step({action})", error) from error
        self._check_state(state, "step")
        try:
            gained = float(reward)
        except (TypeError, ValueError):
            gained = math.nan
        if not math.isfinite(gained):
            raise WorldError(f"{self.name}: step gave the reward {reward!r}, expected a finite number")
        return Step(state, gained, bool(done), bool(truncated))

    def actions(self, state: State) -> Sequence[Action]:
        """What can be done in a state."""
        try:
            actions = tuple(self.environment.actions(state))
        except Exception as error:
            raise self._failed("actions", error) from error
        if not actions or not all(isinstance(a, Action) for a in actions):
            raise WorldError(f"{self.name}: actions gave {actions!r}, expected one Action or more")
        return actions

    def _failed(self, what: str, error: Exception) -> WorldcoderError:
        if isinstance(error, WorldcoderError):
            return error
        return WorldError(f"{self.name}: {what} raised {one_line(error)}")

    def _check_state(self, state: Any, method: str) -> None:
        if not isinstance(state, State):
            raise WorldError(f"{self.name}: {method} gave {type(state).__name__}, expected a State")

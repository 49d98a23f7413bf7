"""The world model: one transition program shared by all goals, and a reward program for each goal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from worldcoder.errors import ModelFormatError
from worldcoder.programs.functions import RewardFunction, TransitionFunction
from worldcoder.programs.program import Program
from worldcoder.programs.simulator import Actions, Prediction, Simulator
from worldcoder.world.values import Action, Goal, State

ANY_GOAL = "*"
"""A reward program under this goal serves every goal that has none of its own."""


@dataclass(frozen=True)
class WorldModel:
    """What was learned of a world.

    transition: T(s, a) → s′. rewards: for each goal, R(s, a, s′) → (reward, done).
    """

    transition: Program
    rewards: Mapping[Goal, Program]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rewards", MappingProxyType(dict(self.rewards)))

    def __reduce__(self) -> tuple[Any, ...]:
        return WorldModel, (self.transition, dict(self.rewards))

    def __hash__(self) -> int:
        return hash((self.transition, tuple(sorted(self.rewards))))

    def reward(self, goal: Goal | None) -> Program | None:
        """The reward program for a goal; None asks for the only one there is.

        None is returned where the model has no reward program at all. Raises ModelFormatError when it has
        some, but none for this goal.
        """
        if not self.rewards:
            return None
        if goal is not None and goal in self.rewards:
            return self.rewards[goal]
        if ANY_GOAL in self.rewards:
            return self.rewards[ANY_GOAL]
        if goal is None and len(self.rewards) == 1:
            return next(iter(self.rewards.values()))
        known = ", ".join(repr(g) for g in self.rewards)
        if goal is None:
            raise ModelFormatError(f"the model has several goals, name one of: {known}")
        raise ModelFormatError(f"the model has no reward program for the goal {goal!r}; it has: {known}")

    def simulator(self, state: State, goal: Goal | None, actions: Actions) -> Simulator:
        """The model as something to search and to step, starting at `state`.

        Raises ProgramError when a program does not load, ModelFormatError for a goal it does not know.
        """
        reward = self.reward(goal)
        return Simulator(
            TransitionFunction(self.transition.source),
            None if reward is None else RewardFunction(reward.source),
            state,
            actions,
        )

    def predict(self, state: State, action: Action, goal: Goal | None = None) -> Prediction:
        """What the model says `action` leads to in `state`; an error inside a program is in the prediction.

        For many predictions make one `simulator` and ask that.
        """
        return self.simulator(state, goal, ()).predict(state, action)

    def save(self, folder: str | Path, metadata: Mapping[str, Any] | None = None) -> Path:
        """Write the model as a folder of ordinary files; see `worldcoder.programs.saving`."""
        from worldcoder.programs.saving import save_model

        return save_model(self, folder, metadata)

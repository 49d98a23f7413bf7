"""The world model: one transition program shared by all goals, and a reward program for each goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from worldcoder.errors import ModelFormatError
from worldcoder.planning.parts import Progress
from worldcoder.programs.prediction import Actions, Prediction
from worldcoder.programs.program import Program
from worldcoder.programs.running import ANY_GOAL, Runner, default_runner
from worldcoder.programs.simulation import Simulation
from worldcoder.world.values import Action, Goal, State

if TYPE_CHECKING:
    from worldcoder.programs.knowledge import Episode


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

    def simulation(
        self,
        state: State,
        goal: Goal | None,
        actions: Actions,
        *,
        runner: Runner | None = None,
        progress: Progress = 0,
    ) -> Simulation:
        """The model at work from `state` on: to plan with, to follow, to ask for single steps.

        progress: which parts of the goal are done, where it is one of several (`planning/parts.py`). runner: who runs
        the programs; a common one where left out. Raises ModelFormatError for a goal the model does not know,
        SandboxError where programs cannot be run safely. For programs that do not load see `Runner.load`.
        """
        return (runner or default_runner()).simulation(
            self.transition, self.reward(goal), state, actions, progress=progress
        )

    def predict(
        self, state: State, action: Action, goal: Goal | None = None, *, runner: Runner | None = None
    ) -> Prediction:
        """What the model says `action` leads to in `state`; an error inside a program is in the prediction.

        For many predictions make one `simulation` and ask that for all at once.
        """
        return self.simulation(state, goal, (), runner=runner).predict(state, action)

    def save(
        self,
        folder: str | Path,
        metadata: Mapping[str, Any] | None = None,
        *,
        episodes: Sequence[Episode] = (),
    ) -> Path:
        """Write the model as a folder of ordinary files; see `worldcoder.programs.saving`."""
        from worldcoder.programs.saving import save_model

        return save_model(self, folder, metadata, episodes=episodes)

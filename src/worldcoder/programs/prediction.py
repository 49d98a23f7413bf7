"""What a program says, and what can be wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from worldcoder.errors import Failing, ValueFormError
from worldcoder.world.values import Action, Goal, State

Actions = Sequence[Action] | Callable[[State], Sequence[Action]]
"""The actions there are: the same in every state, or a function of the state (slower: states are built)."""

FAILING: tuple[str, ...] = get_args(Failing)


@dataclass(frozen=True)
class Prediction:
    """What a model says an action leads to.

    state: None when the program failed; `error` then says how, and `failing` in one word. Where `failing` is None
    as well, the program was not run any more, as it had failed too often in other steps.
    """

    state: State | None
    reward: float
    done: bool
    error: str | None = None
    failing: Failing | None = None


@dataclass(frozen=True)
class Fault:
    """A program failed, and where: `action` in `state` under `goal`, None where that could not be found out."""

    failing: Failing
    error: str
    goal: Goal | None = None
    state: State | None = None
    action: Action | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values; undone by `from_json`."""
        return {
            "failing": self.failing,
            "error": self.error,
            "goal": self.goal,
            "state": None if self.state is None else self.state.to_json(),
            "action": None if self.action is None else self.action.to_json(),
        }

    @classmethod
    def from_json(cls, values: Any) -> Fault:
        """The fault that `to_json` wrote; raises ValueFormError on anything else."""
        match values:
            case {
                "failing": str(failing),
                "error": str(error),
                "goal": goal,
                "state": state,
                "action": action,
            }:
                if failing in FAILING:
                    return cls(
                        failing,  # type: ignore[arg-type]
                        error,
                        goal,
                        None if state is None else State.from_json(state),
                        None if action is None else Action.from_json(action),
                    )
        raise ValueFormError(f"expected what Fault.to_json writes, got {values!r:.80}")

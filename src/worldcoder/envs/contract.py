"""What an environment is: three methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from worldcoder.world.values import Action, Goal, State


class Start(NamedTuple):
    """How an episode begins."""

    state: State
    goal: Goal


class Step(NamedTuple):
    """What an action led to.

    done: the world ended the episode (success, failure). truncated: only time ran out; a model need not
    predict it.
    """

    state: State
    reward: float
    done: bool
    truncated: bool


@runtime_checkable
class Environment(Protocol):
    """A deterministic, fully observed world whose states are sets of objects.

    `worldcoder.testing.check_environment(factory)` checks an implementation against this contract.
    An environment may also have `glyphs`, a mapping from a kind to the character it is drawn with.
    """

    def reset(self, seed: int) -> Start:
        """Begin an episode. The same seed gives the same start state and goal."""
        ...

    def step(self, action: Action) -> Step:
        """Act. Raises WorldError before `reset`, after the end, or for an action it does not have."""
        ...

    def actions(self, state: State) -> Sequence[Action]:
        """The actions that can be chosen in a state, in a fixed order; a function of the state alone."""
        ...

"""Condition φ1: what a program has to reproduce, and where it does not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from worldcoder.errors import Failing
from worldcoder.world.values import Action, Goal, State, Transition

TOLERANCE = 1e-9
"""Rewards that differ by no more than this are the same."""

What = Literal["state", "reward", "done"] | Failing


@dataclass(frozen=True)
class Mismatch:
    """A recorded transition that a program does not reproduce.

    index: of the transition. what: which part differs first, or how the program failed (`error` then says
    more). predicted, observed: two states, two rewards or two bools; None where a program failed; where it is
    "impure", what it said first and later. seen: False where the program was not run any more, as it had failed
    too often elsewhere; then `what` is how.
    """

    index: int
    what: What
    predicted: State | float | bool | None
    observed: State | float | bool | None
    error: str | None = None
    seen: bool = True


@dataclass(frozen=True, slots=True)
class Case:
    """Something that was observed, once or several times. input: the number of the situation it began in."""

    input: int
    transition: Transition


class Check:
    """Recorded transitions, to hold programs against: `Runner.check` does that.

    A situation (state, action, goal) that was recorded before is not run again: a program is a function of
    its arguments (`Runner.replay` tests that).

    transitions: all of them, in the order they were added; a mismatch's index points here.
    cases: those that say something new, and case_of the number of the case that each transition is.
    inputs: the situations, without what happened in them. goals: in the order they came up.
    """

    def __init__(self, transitions: Iterable[Transition] = ()) -> None:
        self.inputs: list[tuple[State, Action, int]] = []
        self.cases: list[Case] = []
        self.case_of: list[int] = []
        self.goals: dict[Goal, int] = {}
        self._transitions: list[Transition] = []
        self._input_of: dict[tuple[State, Action, int], int] = {}
        self._known: dict[tuple[int, State, float, bool], int] = {}
        for transition in transitions:
            self.add(transition)

    def __len__(self) -> int:
        return len(self._transitions)

    @property
    def transitions(self) -> Sequence[Transition]:
        return self._transitions

    def add(self, transition: Transition) -> None:
        """One more transition."""
        goal = self.goals.setdefault(transition.goal, len(self.goals))
        begun = transition.state, transition.action, goal
        number = self._input_of.setdefault(begun, len(self.inputs))
        if number == len(self.inputs):
            self.inputs.append(begun)
        said = number, transition.next_state, transition.reward, transition.done
        case = self._known.setdefault(said, len(self.cases))
        if case == len(self.cases):
            self.cases.append(Case(number, transition))
        self.case_of.append(case)
        self._transitions.append(transition)

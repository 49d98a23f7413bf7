"""What a proposer of programs is.

A proposer sees every start and every transition, and is asked for a world model. The embedded rules are one; a
language model is another. The agent knows no more of them than this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from worldcoder.programs import Program
from worldcoder.world.values import Action, Goal, State, Transition


@dataclass(frozen=True)
class RewardProposal:
    """A reward program, and whether it rests on a reward that was seen.

    learned: a positive reward that ended an episode of this goal is among the data; otherwise the program
    invents one (optimism, φ2 of the paper).
    meaning: what is invented, in words. cost: how unlikely; the cheapest is tried first.
    """

    program: Program
    learned: bool
    meaning: str = ""
    cost: float = 0.0


class Proposer(Protocol):
    """Learns from transitions and proposes programs."""

    name: str

    @property
    def top_interest(self) -> float:
        """The most that `interest` gives."""
        ...

    def begin(self, state: State, goal: Goal, actions: Sequence[Action]) -> None:
        """An episode starts here, under this goal, with these actions to choose from."""
        ...

    def observe(self, transition: Transition) -> None:
        """One more transition."""
        ...

    def fit(self) -> bool:
        """Bring the hypotheses up to the data; whether the best transition program may have changed."""
        ...

    def transition_program(self) -> Program:
        """The best transition program now."""
        ...

    def optimistic_program(self) -> Program | None:
        """The best transition program where nothing stops what was not seen to be stopped; None: the same.

        It reproduces the data as well, and is planned with only where the best one has no plan: optimism in
        the dynamics.
        """
        ...

    def reward_programs(self, goal: Goal, start: State) -> Iterator[RewardProposal]:
        """Reward programs for a goal, the likeliest first; those that the data refute are left out."""
        ...

    def news_program(self, goal: Goal, start: State) -> Program | None:
        """A reward program for steps of whose reward nothing seen so far tells; None: there are none.

        What ends an episode by what is known ends it here too, and is worth nothing.
        """
        ...

    def any_of(self, proposals: Sequence[RewardProposal]) -> Program | None:
        """One reward program that rewards whatever one of these would; None where there cannot be one."""
        ...

    def evidence(self) -> Program:
        """The best transition program, with whatever it says of its evidence brought up to date."""
        ...

    def interest(self, state: State, action: Action) -> float:
        """How much trying the action in the state would teach: 0 for nothing, `top_interest` at most."""
        ...

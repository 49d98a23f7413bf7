"""What a proposer of programs is.

A proposer sees every start and every transition, and is asked for a world model. What it proposes is held
against the data by whoever asked, in locked workers; it hears what was wrong as counterexamples. The embedded
rules are one proposer; a language model is another. The agent knows no more of them than this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from worldcoder.programs import Fault, Mismatch, Program
from worldcoder.programs.check import What
from worldcoder.world.values import Action, Goal, State, Transition

WRONG = ("state", "reward", "done", "error")
"""What is wrong with a program that is at least a well-behaved one: it says the wrong thing, or raises."""


@dataclass(frozen=True)
class Counterexample:
    """One step that shows what is wrong with a program.

    what: the part of a prediction that is wrong, or how the program failed (`error` then says more).
    state, action, goal: of the step; None where that could not be found out.
    predicted, observed: what was said and what is right; for what is "impure", what was said first and later.
    transition: what really happened in this step; None where the step was only imagined, in a search.
    """

    what: What
    state: State | None
    action: Action | None
    goal: Goal | None
    predicted: State | float | bool | None = None
    observed: State | float | bool | None = None
    error: str | None = None
    transition: Transition | None = None

    @property
    def bad(self) -> bool:
        """Whether the program does what no program may: it loops, floods, crashes, keeps something, ..."""
        return self.what not in WRONG

    @classmethod
    def recorded(cls, mismatch: Mismatch, transition: Transition) -> Counterexample:
        """A transition that a program does not reproduce."""
        m, t = mismatch, transition
        return cls(m.what, t.state, t.action, t.goal, m.predicted, m.observed, m.error, t)

    @classmethod
    def imagined(cls, fault: Fault) -> Counterexample:
        """A step of a search in which a program failed."""
        return cls(fault.failing, fault.state, fault.action, fault.goal, error=fault.error)


@dataclass(frozen=True)
class RewardProposal:
    """A reward program, and whether it rests on a reward that was seen.

    learned: a positive reward that ended an episode of this goal is among the data; otherwise the program
    invents one (optimism, φ2 of the paper).
    meaning: what is invented, in words. cost: how unlikely; the cheapest is tried first. needs: kinds of which
    something has to be there, and of which nothing comes into being.
    """

    program: Program
    learned: bool
    meaning: str = ""
    cost: float = 0.0
    needs: tuple[str, ...] = ()

    def is_lost(self, state: State) -> bool:
        """Whether it cannot be reached from a state any more, since what it needs is gone."""
        return any(not state.all(kind) for kind in self.needs)


BOLDEST = 3
"""The most that is asked for in `Proposer.optimistic_program`."""


class Proposer(Protocol):
    """Learns from transitions and proposes programs."""

    name: str

    @property
    def noise(self) -> Set[int]:
        """The transitions, by number, that are taken for noise: no transition program has to reproduce them."""
        ...

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

    def refute(self, program: Program, counterexamples: Sequence[Counterexample]) -> None:
        """A program that was proposed is wrong, and these show it: those not told before, in their order.

        Most of them are transitions that were observed as well. A program with one that is `bad` is dangerous
        to run and should not be proposed again.
        """
        ...

    def fit(self) -> bool:
        """Bring the hypotheses up to the data; whether the best transition program may have changed."""
        ...

    def transition_program(self) -> Program:
        """The best transition program now."""
        ...

    def optimistic_program(
        self, boldness: int = 0, without: Sequence[tuple[State, Action]] = ()
    ) -> Program | None:
        """The best transition program where nothing stops what was not seen to be stopped; None: the same.

        It reproduces the data as well, and is planned with only where the best one has no plan: optimism in
        the dynamics. boldness: how much more is hoped for, up to `BOLDEST`: of what was never tried as well, that
        it leads on.
        """
        ...

    def cautious_program(self, steps: Sequence[tuple[State, Action]]) -> Program | None:
        """The best transition program where nothing comes of what only failed so far, wherever it was tried.

        None where none of these steps is of that sort. It need not reproduce the data, and is for plans alone.
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

    def disputes(self, goal: Goal, start: State) -> tuple[Program, Program] | None:
        """A transition and a reward program: the best one, and what rewards steps on which hypotheses disagree.

        They need not reproduce the data, and are for plans alone. None: nothing is disputed, or nobody can tell.
        """
        ...

    def any_of(self, proposals: Sequence[RewardProposal]) -> Program | None:
        """One reward program that rewards whatever one of these would; None where there cannot be one."""
        ...

    def evidence(self, program: Program) -> Program:
        """A program that was proposed, with whatever it says of its evidence brought up to date."""
        ...

    def interest(
        self, state: State, action: Action, above: float = 0.0, *, disputed: bool | None = None
    ) -> float:
        """How much trying the action in the state would teach: 0 for nothing, `top_interest` at most.

        above: where it is no more than that, any number that is no more will do; it may be found sooner.
        disputed: what the programs of `disputes` say of the step, if they were asked.
        """
        ...

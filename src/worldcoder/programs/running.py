"""Running programs: the one way there is, in locked workers.

A runner holds programs against recorded transitions, and makes simulations of world models. A program that
loops, eats memory, crashes its interpreter or answers garbage is a result like any other, with the transition
that shows it. A sandbox that is itself broken raises SandboxError.
"""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from worldcoder.errors import ProgramError, ValueFormError
from worldcoder.planning.parts import Order, Progress, worth
from worldcoder.programs.check import TOLERANCE, Check, Mismatch
from worldcoder.programs.evaluation import Evaluation
from worldcoder.programs.prediction import Actions
from worldcoder.programs.program import Program
from worldcoder.programs.scores import Scores
from worldcoder.programs.session import Failed, Verdict, failed_by, state_after
from worldcoder.programs.simulation import Simulation
from worldcoder.programs.workers import Workers
from worldcoder.sandbox import Layer, LayerReport, Limits, WorkerFailed
from worldcoder.world.values import Action, Goal, State, Transition

ANY_GOAL = "*"
"""A reward program under this goal serves every goal that has none of its own."""
LIMITS = Limits()
_CHUNK = 1_000
"""Situations in one request."""
Candidate = tuple[Program | None, Mapping[Goal, Program]]
"""Programs to be held against recorded transitions: see `Runner.check`."""


class Runner:
    """Runs programs, in locked workers that are kept for the next call of the same program.

    limits: what each call and each worker may use. unsafe: run without a lock where there is none. workers: how
    many programs are evaluated at once by `check_all`; one for each core where left out.

    Raises SandboxError where programs cannot be locked up and `unsafe` is not set. Several threads may use one
    runner. Close it, or use it as a context manager; at exit it closes itself.
    """

    def __init__(
        self,
        *,
        limits: Limits = LIMITS,
        unsafe: bool = False,
        workers: int | None = None,
        off: Collection[Layer] = (),
    ) -> None:
        self._workers = Workers(limits, unsafe=unsafe, off=off)
        self._at_once = workers or os.cpu_count() or 1
        self._scores: weakref.WeakKeyDictionary[Check, Scores] = weakref.WeakKeyDictionary()
        self._unloadable: dict[str, Failed | None] = {}

    @property
    def limits(self) -> Limits:
        """What each call and each worker may use."""
        return self._workers.limits

    @property
    def layers(self) -> tuple[LayerReport, ...]:
        """What locks the workers."""
        return self._workers.layers

    def close(self) -> None:
        """End all workers. Nothing happens if that was done before."""
        self._workers.close()

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # ── loading ──────────────────────────────────────────────────────────────────────────────────────────

    def load(self, *programs: Program | None) -> None:
        """See that programs load. Raises ProgramError for the first that does not."""
        for program in programs:
            if program is not None:
                failed = self._loads(program)
                if failed is not None:
                    raise ProgramError(failed.error, failed.failing)

    def _loads(self, program: Program) -> Failed | None:
        """How a program fails to load; None if it loads."""
        if program.id not in self._unloadable:
            try:
                failed = self._workers.ask(
                    "load",
                    {program.id: program},
                    read=lambda _, reply: reply.problem,
                    key=f"load {program.id}",
                    program=program.id,
                    fresh=True,
                )
            except WorkerFailed as error:
                failed = failed_by(error)
            self._unloadable[program.id] = failed
        return self._unloadable[program.id]

    # ── condition φ1 ─────────────────────────────────────────────────────────────────────────────────────

    def check(
        self,
        check: Check,
        transition: Program | None,
        rewards: Mapping[Goal, Program] | None = None,
        *,
        stop_after: int | None = None,
    ) -> list[Mismatch]:
        """The transitions that are not reproduced, in order, one mismatch each.

        transition: None takes the recorded next states for granted, and only rewards are compared.
        rewards: by goal, "*" for any; goals without a program are not compared. Of a goal of several parts a step is
        worth what it is after those before it: transitions that follow one another are one episode.
        stop_after: stop at so many mismatches.

        What really happened stays here: a worker is told the situations and answers what its program says.
        """
        goals = self._goals(check, rewards or {})
        evaluation = self._evaluation(check, transition, goals)
        in_parts = {n: program.order for n, program in goals.items() if program.order}
        found = self._by_case(check, evaluation, None if in_parts else stop_after, leaving=in_parts)
        wrong: list[Mismatch] = []
        progress, before = 0, None
        for index, (case, t) in enumerate(zip(check.case_of, check.transitions, strict=True)):
            mismatch = found.get(case)
            order = in_parts.get(check.goals[t.goal])
            if order is not None:
                if before is None or before.done or (before.goal, before.next_state) != (t.goal, t.state):
                    progress = 0
                said = evaluation.said(evaluation.number(case))[1]
                if mismatch is None and said is not None:
                    progress, mismatch = _in_parts(order, progress, said, t)
            before = t
            if mismatch is not None:
                wrong.append(replace(mismatch, index=index))
                if len(wrong) == stop_after:
                    break
        return wrong

    def check_all(self, check: Check, candidates: Sequence[Candidate]) -> list[list[Mismatch]]:
        """The same for several candidates, some of them at once."""
        with ThreadPoolExecutor(self._at_once) as pool:
            return list(pool.map(lambda c: self.check(check, *c), candidates))

    def replay(
        self, check: Check, transition: Program | None, rewards: Mapping[Goal, Program] | None = None
    ) -> Mismatch | None:
        """Run programs again, in a new worker and in the reverse order, and compare with what they said first.

        Returns the first transition of which they say something else now, as "impure", or None. It catches
        programs that keep something between calls or draw random numbers, and workers that lie.
        """
        goals = self._goals(check, rewards or {})
        first = self._evaluation(check, transition, goals)
        self._by_case(check, first, None)
        again = self._evaluation(check, transition, goals, fresh=True)
        again.run({again.number(case): None for case in range(len(check.cases))})
        for index, case in enumerate(check.case_of):
            i = first.number(case)
            for one, other in zip(first.said(i), again.said(i), strict=True):
                if one != other:
                    found = self._impure(check, index, one, other)
                    if found is not None:
                        return found
        return None

    def _impure(self, check: Check, index: int, one: Any, other: Any) -> Mismatch | None:
        """The mismatch for what was said first and later; None where it is the same, put in another way."""
        rule = (
            "the same call gave another result later: a program keeps nothing between calls, draws no numbers"
        )
        if isinstance(one, Failed) or isinstance(other, Failed):
            was, now = (s.error if isinstance(s, Failed) else "no error" for s in (one, other))
            return Mismatch(index, "impure", None, None, f"{rule} (first: {was}; then: {now})")
        if not isinstance(one, State) and isinstance(one[0], float):
            part = one[0] == other[0]
            return Mismatch(index, "impure", one[part], other[part], rule)
        before = check.transitions[index].state
        try:
            first, later = (state_after(self._workers.book, before, s) for s in (one, other))
        except ValueFormError as error:
            return Mismatch(index, "garbage", None, None, f"what it answered is no state: {error}")
        return None if first == later else Mismatch(index, "impure", first, later, rule)

    def _by_case(
        self, check: Check, evaluation: Evaluation, stop_after: int | None, leaving: Collection[int] = ()
    ) -> dict[int, Mismatch]:
        """The mismatches by the number of the case. leaving: goals whose rewards are not compared, by number."""
        found: dict[int, Mismatch] = {}
        for start in range(0, len(check.cases), _CHUNK):
            numbers = range(start, min(start + _CHUNK, len(check.cases)))
            evaluation.run({evaluation.number(n): None for n in numbers})
            for number in numbers:
                goal = check.inputs[check.cases[number].input][2]
                wrong = evaluation.mismatch(number, judged=goal not in leaving)
                if wrong is not None:
                    found[number] = wrong
            if stop_after is not None and len(found) >= stop_after:
                break
        return found

    def _evaluation(
        self, check: Check, transition: Program | None, rewards: Mapping[int, Program], *, fresh: bool = False
    ) -> Evaluation:
        return Evaluation(self._workers, self._scores_of(check), check, transition, rewards, fresh=fresh)

    def _goals(self, check: Check, rewards: Mapping[Goal, Program]) -> dict[int, Program]:
        """The reward programs by the number of the goal."""
        found = {n: rewards.get(goal) or rewards.get(ANY_GOAL) for goal, n in check.goals.items()}
        return {n: program for n, program in found.items() if program is not None}

    def _scores_of(self, check: Check) -> Scores:
        book = self._workers.book
        scores = self._scores.get(check)
        if scores is None or scores.book is not book:
            scores = self._scores[check] = Scores(check, book)
        return scores

    # ── simulations ──────────────────────────────────────────────────────────────────────────────────────

    def simulation(
        self,
        transition: Program,
        reward: Program | None,
        state: State,
        actions: Actions,
        *,
        without: Collection[tuple[State, Action]] = (),
        progress: Progress = 0,
    ) -> Simulation:
        """A world model at work, from `state` on: to plan with, to follow, to ask for single steps.

        actions: those there are, or a function of the state. without: steps that no search may take. progress:
        which parts of the goal are done already, where it is one of several.
        """
        return Simulation(self._workers, transition, reward, state, actions, without, progress)

    def advance(self, reward: Program, progress: Progress, transition: Transition) -> Progress:
        """Which parts of a goal are done after a step that really happened.

        reward: of a goal of several parts. progress: those done before it. A program that fails achieves nothing.
        """
        check = Check([transition])
        evaluation = self._evaluation(check, None, {0: reward})
        evaluation.run([0])
        said = evaluation.said(0)[1]
        if said is None or isinstance(said, Failed):
            return progress
        return worth(reward.order, progress, *said)[0]


def _in_parts(
    order: Order, progress: Progress, said: Verdict, transition: Transition
) -> tuple[Progress, Mismatch | None]:
    """What is done after a step by what a reward program says of it, and how that differs from what it was worth."""
    if isinstance(said, Failed):
        return progress, Mismatch(0, said.failing, None, None, said.error, said.seen)
    progress, reward, done = worth(order, progress, *said)
    if abs(reward - transition.reward) > TOLERANCE:
        return progress, Mismatch(0, "reward", reward, transition.reward)
    if done != transition.done:
        return progress, Mismatch(0, "done", done, transition.done)
    return progress, None


_default: tuple[int, Runner] | None = None


def default_runner() -> Runner:
    """The runner that is used where none is given: made when it is first needed, closed at exit.

    Raises SandboxError where programs cannot be locked up on this machine.
    """
    global _default
    if _default is None or _default[0] != os.getpid():
        runner = Runner()
        atexit.register(runner.close)
        _default = os.getpid(), runner
    return _default[1]

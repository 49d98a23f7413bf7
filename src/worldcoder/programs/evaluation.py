"""Programs on the situations of a check, whatever they do there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from worldcoder.programs.check import Check, Mismatch
from worldcoder.programs.program import Program
from worldcoder.programs.scores import Judged, Said, Scores
from worldcoder.programs.session import Failed, Outcome, Reply, Session, Verdict, failed_by
from worldcoder.programs.workers import Workers
from worldcoder.sandbox import WorkerFailed

CHANCES = 2
"""How often a program may take its worker down before what is left counts as failed unseen."""


class Evaluation:
    """Two kinds of programs on the situations of a check. Fills what is not known yet.

    Numbers are those of situations; without a transition program, what is judged are cases (what followed
    belongs to them), and numbers are theirs.

    outcomes: what the transition program said, None without one. verdicts: what the reward programs said, by
    the number of the goal. fresh: know nothing yet, and run in new workers, backwards.
    """

    def __init__(
        self,
        workers: Workers,
        scores: Scores,
        check: Check,
        transition: Program | None,
        rewards: Mapping[int, Program],
        *,
        fresh: bool = False,
    ) -> None:
        key = None if transition is None else transition.id
        self._workers = workers
        self._check = check
        self._transition = transition
        self._rewards = rewards
        self._fresh = fresh
        self._broken: set[str] = set()  # reward programs that do not load
        self._key = key or "rewards " + " ".join(sorted({p.id for p in rewards.values()}))
        self._outcomes: dict[int, Outcome] = {} if fresh or key is None else scores.outcomes(key)
        self.outcomes = None if key is None else self._outcomes
        self.verdicts: dict[int, dict[int, Verdict]] = {
            goal: {} if fresh else scores.verdicts((key, program.id)) for goal, program in rewards.items()
        }
        self._states: Said = self.outcomes, {} if fresh else scores.wrong_states(key)
        self._judged: dict[int, Judged] = {
            goal: (self.verdicts[goal], {} if fresh else scores.wrong_verdicts((key, program.id)))
            for goal, program in rewards.items()
        }
        self._scores = scores

    def said(self, i: int) -> tuple[Outcome | None, Verdict | None]:
        """Outcome and verdict of a situation."""
        goal = self._goal(i)
        return self._outcomes.get(i), self.verdicts[goal].get(i) if goal in self.verdicts else None

    def mismatch(self, case: int, *, judged: bool = True) -> Mismatch | None:
        """How a case that was run is not reproduced; None where it is. judged: whether its reward is looked at."""
        goal = self._check.inputs[self._check.cases[case].input][2]
        return self._scores.mismatch(case, self._states, self._judged.get(goal) if judged else None)

    def number(self, case: int) -> int:
        """The number under which a case is judged."""
        return case if self._transition is None else self._check.cases[case].input

    def _goal(self, number: int) -> int:
        begun = self._check.cases[number].input if self._transition is None else number
        return self._check.inputs[begun][2]

    def run(self, numbers: Collection[int] | range) -> None:
        """Make sure that all is known of these situations."""
        missing = [i for i in numbers if not self._known(i)]
        chances = CHANCES
        while missing:
            try:
                broken = len(self._broken)
                self._ask(missing)
                left = [i for i in missing if not self._known(i)]
                if len(left) == len(missing) and len(self._broken) == broken:
                    unanswered = Failed("garbage", "the worker left it out of its answer")
                    self._give_up(left, unanswered)
                missing = left if len(self._broken) > broken or len(left) < len(missing) else []
            except WorkerFailed as failed:
                chances -= 1
                missing = self._after_failure(missing, failed, chances)

    def _known(self, i: int) -> bool:
        goal = self._goal(i)
        if self._transition is not None and i not in self._outcomes:
            return False
        if goal not in self.verdicts or isinstance(self._outcomes.get(i), Failed):
            return True
        return i in self.verdicts[goal]

    def _ask(
        self,
        numbers: Sequence[int],
        *,
        rewards: bool = True,
        fresh: bool = False,
        seconds: float | None = None,
    ) -> None:
        """One request; notes what is said. Raises WorkerFailed."""
        wanted = {self._goal(i) for i in numbers}
        used = {g: p for g, p in self._rewards.items() if g in wanted and p.id not in self._broken}
        if not rewards:
            used = {}
        programs = {p.id: p for p in used.values()}
        after: list[Any] = []
        if self._transition is not None:
            programs[self._transition.id] = self._transition
        else:
            for number in numbers:
                case = self._check.cases[number]
                after.append((number, case.input, {"rows": case.transition.next_state.to_json()}))

        def read(session: Session, reply: Reply) -> None:
            self._note(session, reply.result, set(numbers))
            if reply.unloadable is not None:
                self._unloadable(numbers, *reply.unloadable)
            elif reply.failed is not None:
                left = [i for i in numbers if not self._known(i)]
                self._give_up([i for i in left if i == reply.position], reply.failed)
                self._give_up([i for i in left if i != reply.position], replace(reply.failed, seen=False))

        self._workers.ask(
            "check",
            programs,
            read=read,
            key=self._key,
            check=self._check,
            fresh=fresh or self._fresh,
            inputs=list(numbers),
            transition=None if self._transition is None else self._transition.id,
            rewards={str(g): p.id for g, p in used.items()},
            after=after,
            backwards=self._fresh,
            seconds=seconds,
        )

    def _note(self, session: Session, result: Sequence[Any], asked: Collection[int]) -> None:
        for at in range(0, len(result) - 2, 3):
            i, outcome, verdict = result[at : at + 3]
            if type(i) is not int or i not in asked:
                raise session.garbage("it answered what it was not asked")
            if self._transition is not None:
                self._outcomes.setdefault(i, session.outcome(outcome))  # what was said first stays
            gained = session.verdict(verdict)
            goal = self._goal(i)
            if gained is not None and goal in self.verdicts:
                self.verdicts[goal].setdefault(i, gained)

    def _give_up(self, numbers: Sequence[int], failed: Failed) -> None:
        """What is not known of these situations failed, or so it is taken."""
        for i in numbers:
            goal = self._goal(i)
            if self._transition is not None and i not in self._outcomes:
                self._outcomes[i] = failed
            elif goal in self.verdicts:
                self.verdicts[goal].setdefault(i, failed)

    def _unloadable(self, numbers: Sequence[int], program: str, failed: Failed) -> None:
        """A program did not load: all that it would have said failed."""
        if self._transition is not None and program == self._transition.id:
            for i in numbers:
                self._outcomes[i] = failed
            return
        self._broken.add(program)
        for goal, reward in self._rewards.items():
            if reward.id == program:
                for i in numbers:
                    if self._goal(i) == goal:
                        self.verdicts[goal][i] = failed

    def _after_failure(self, missing: Sequence[int], failed: WorkerFailed, chances: int) -> list[int]:
        """The worker is dead. Find out in which situation a program does that; returns what is left to run.

        A failure counts where it comes again in a new worker, alone: first of all programs, then of the
        transition program only. Where it does not come again, a program keeps something between calls, or it
        was an accident: everything is run again, while there are chances.
        """
        guilty = failed.position if failed.position in set(missing) else None
        if guilty is not None and not self._fails_alone(guilty):
            guilty = None
        if guilty is None and chances > 0:
            return list(missing)
        if guilty is None:
            detail = f"{failed.detail}, though not when run alone: it may keep something between calls"
            guilty = failed.position if failed.position in set(missing) else missing[0]
            self._give_up([guilty], Failed(failed_by(failed).failing, detail))
        left = [i for i in missing if not self._known(i)]
        if chances <= 0 and left:
            unseen = f"it was not run: the program failed {CHANCES} times before ({failed.detail})"
            self._give_up(left, Failed(failed_by(failed).failing, unseen, seen=False))
            return []
        return left

    def _fails_alone(self, i: int) -> bool:
        """Whether a program takes a new worker down in one situation alone; notes what it does there."""
        if self._transition is not None:
            how = self._failure_alone(i, rewards=False)
            if how is not None:
                self._outcomes[i] = how
                return True
        how = self._failure_alone(i, rewards=True) if self.verdicts else None
        if how is not None:  # what the transition program says is known by now
            self._give_up([i], how)
        return how is not None

    def _failure_alone(self, i: int, *, rewards: bool) -> Failed | None:
        try:
            self._ask([i], rewards=rewards, fresh=True, seconds=self._workers.limits.call_seconds + 1)
        except WorkerFailed as failed:
            return failed_by(failed)
        return None

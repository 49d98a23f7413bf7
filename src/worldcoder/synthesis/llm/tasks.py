"""The two things a language model is asked to write: the transition program, and the reward program of a goal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from worldcoder.planning import Budget, Plan
from worldcoder.programs import Check, Mismatch, Program, Runner
from worldcoder.synthesis.llm.experience import Experience
from worldcoder.synthesis.llm.prompting import Messages, Prompter, Wrong
from worldcoder.synthesis.llm.reading import Outcome, read_reply
from worldcoder.synthesis.llm.search import Candidate
from worldcoder.synthesis.llm.words import nearest
from worldcoder.synthesis.proposer import Counterexample
from worldcoder.world.values import Goal, State

Faults = Mapping[str, Sequence[Counterexample]]
"""How programs failed where no step of the data shows it, by program."""

Programs = tuple[Program | None, Mapping[Goal, Program]]

SIMILAR = 3
"""Reward programs of other goals that are shown."""


class TransitionTask:
    """Write a transition program that reproduces the data."""

    def __init__(
        self, seen: Experience, runner: Runner, prompter: Prompter, faults: Faults, origin: str
    ) -> None:
        self._seen = seen
        self._runner = runner
        self._prompter = prompter
        self._faults = faults
        self._origin = origin

    def ask(self, candidate: Candidate | None, remark: str, times: int) -> Messages:
        if candidate is None:
            return self._prompter.transition(self._seen, remark, times)
        return self._prompter.repair(self._seen, candidate.program, candidate.wrong, remark, times)

    def read(self, text: str, finish: str, candidate: Candidate | None) -> tuple[Candidate | None, str]:
        old = None if candidate is None else candidate.program
        reading = read_reply(text, "transition", finish=finish, old=None if old is None else old.source)
        if not reading.outcome.usable or reading.source is None:
            return None, reading.note
        parent = None if old is None else old.id
        program = Program(reading.source, "transition", origin=self._origin, parent=parent)
        return Candidate(program), reading.note

    def judge(self, candidates: Sequence[Candidate]) -> None:
        check = self._seen.check
        missed = _check(self._runner, check, [(c.program, {}) for c in candidates])
        for candidate, all_wrong in zip(candidates, missed, strict=True):
            wrong = [m for m in all_wrong if m.index not in self._seen.noise]
            candidate.wrong = Wrong(wrong, self._faults.get(candidate.program.id, ()))
            candidate.value = 1 - len(wrong) / max(len(check), 1)
            candidate.solved = not wrong and not candidate.bad


class RewardTask:
    """Write a reward program for a goal that agrees with the data, and to which something leads (φ2).

    The value of a program is h of WorldCoder (arXiv 2402.12275): the number of data reproduced, and where φ1
    holds that of the starts with a plan, divided by the number of data and starts. Starts count until a
    rewarded end was seen.

    transitions: the present transition program first, if it reproduces all data, and others that do. others:
    the reward programs of other goals.
    """

    def __init__(
        self,
        goal: Goal,
        seen: Experience,
        runner: Runner,
        prompter: Prompter,
        faults: Faults,
        origin: str,
        *,
        transitions: Callable[[], Sequence[Program]],
        others: Callable[[], Mapping[Goal, Program]],
        plan_nodes: int,
    ) -> None:
        self.goal = goal
        self._seen = seen
        self._runner = runner
        self._prompter = prompter
        self._faults = faults
        self._origin = origin
        self._transitions = transitions
        self._others = others
        self._plan_nodes = plan_nodes
        self._plans: dict[tuple[str, str, State, int], Plan] = {}

    @property
    def similar(self) -> list[tuple[Goal, Program]]:
        """Reward programs of other goals, that of the most similar one first."""
        others = {goal: program for goal, program in self._others().items() if goal != self.goal}
        goals = list(others)
        return [(goals[i], others[goals[i]]) for i in nearest(self.goal, goals)[:SIMILAR]]

    def ask(self, candidate: Candidate | None, remark: str, times: int) -> Messages:
        if candidate is None:
            return self._prompter.reward(self._seen, self.goal, self.similar, remark, times)
        used, plan, start = candidate.used, candidate.plan, candidate.start
        if candidate.wrong.missed or candidate.bad or used is None or plan is None or start is None:
            return self._prompter.repair(self._seen, candidate.program, candidate.wrong, remark, times)
        programs = used, candidate.program
        return self._prompter.plan(self._seen, self.goal, programs, plan, start, remark, times)

    def read(self, text: str, finish: str, candidate: Candidate | None) -> tuple[Candidate | None, str]:
        old = None if candidate is None else candidate.program
        reading = read_reply(text, "reward", finish=finish, old=None if old is None else old.source)
        transition, remark = self._new_transition(text, finish, candidate)
        if reading.outcome.usable and reading.source is not None:
            parent = None if old is None else old.id
            program = Program(reading.source, "reward", self.goal, origin=self._origin, parent=parent)
            return Candidate(program, transition=transition), remark or reading.note
        if old is not None and transition is not None:
            return Candidate(old, transition=transition), ""
        return None, remark or reading.note

    def judge(self, candidates: Sequence[Candidate]) -> None:
        found = self._runner.check_all(self._seen.check, [(None, {self.goal: c.program}) for c in candidates])
        count, starts = len(self._seen.of_goal(self.goal)), self._seen.starts.get(self.goal, [])
        for candidate, missed in zip(candidates, found, strict=True):
            candidate.wrong = Wrong(missed, self._faults.get(candidate.program.id, ()))
            candidate.plan = candidate.start = candidate.used = None
            right = count - len(missed)
            fits = not missed and not candidate.bad
            if self.goal in self._seen.succeeded:
                candidate.value = right / max(count, 1)
                candidate.solved = fits
                continue
            ways = self._ways(candidate, starts) if fits and self._transitions() else 0
            candidate.value = (right + ways) / max(count + len(starts), 1)
            # without a transition program that fits nothing can be said of plans
            candidate.solved = fits and (ways == len(starts) or not self._transitions())

    def plan(self, transition: Program, reward: Program, start: State) -> Plan:
        """A search for a way by these programs; the same one is made once."""
        actions = tuple(self._seen.actions)
        key = transition.id, reward.id, start, len(actions)
        if key not in self._plans:
            simulation = self._runner.simulation(transition, reward, start, actions)
            self._plans[key] = simulation.plan(budget=Budget(nodes=self._plan_nodes))
        return self._plans[key]

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────

    def _new_transition(
        self, text: str, finish: str, candidate: Candidate | None
    ) -> tuple[Program | None, str]:
        """The transition program of an answer that was asked for a way, if it fits; else what is wrong with it."""
        if candidate is None or candidate.plan is None or candidate.used is None:
            return None, ""
        reading = read_reply(text, "transition", finish=finish, old=candidate.used.source)
        if reading.outcome is not Outcome.CODE or reading.source is None:
            return None, ""
        program = Program(reading.source, "transition", origin=self._origin, parent=candidate.used.id)
        missed = len(self._runner.check(self._seen.check, program))
        if missed:
            return (
                None,
                f"the transition program in it is wrong about {missed} of the {len(self._seen.check)} steps",
            )
        return program, ""

    def _ways(self, candidate: Candidate, starts: Sequence[State]) -> int:
        """From how many starts there is a plan, with the transition program that leads farthest of those that fit."""
        best = -1
        own = candidate.transition
        fits = own is not None and not self._runner.check(self._seen.check, own, stop_after=1)
        for transition in [own] if own is not None and fits else self._transitions():
            plans = [(self.plan(transition, candidate.program, start), start) for start in starts]
            ways = sum(plan.found for plan, _ in plans)
            if ways > best:
                best, candidate.used = ways, transition
                without = next(((plan, start) for plan, start in plans if not plan.found), (None, None))
                candidate.plan, candidate.start = without
            if ways == len(starts):
                break
        return max(best, 0)


def _check(runner: Runner, check: Check, programs: Sequence[Programs]) -> list[list[Mismatch]]:
    """What each does not reproduce; several are run at once."""
    if len(programs) == 1:
        return [runner.check(check, *programs[0])]
    return runner.check_all(check, programs)

"""One synthesis problem: programs are asked for, run, and refined, until one is right or the budget is used up.

Which program is refined next is a bandit's choice (REx in general, see `worldcoder.synthesis.bandit`). The empty
program is its first arm; to refine that one is to write a first program.

Requests are made in rounds of several. What a round brings is taken in by the order in which it was asked for, not
in which it arrived: the same data, replies and random numbers lead to the same programs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from worldcoder.errors import BudgetReached, Limited, LLMError
from worldcoder.llm.errors import NotRecorded, spent_on
from worldcoder.llm.values import Message, Reply, Request
from worldcoder.planning import Plan
from worldcoder.programs import Program
from worldcoder.synthesis.bandit import Bandit, rex
from worldcoder.synthesis.llm.prompting import Wrong
from worldcoder.world.values import State

BLANK = ""
"""The arm that is the empty program."""
KEPT = 24
"""Programs, the better ones, that are judged anew when there are more data, and kept for the next problem."""
IMPROVED = 6
"""Programs, the better ones, that are tried to be improved without asking."""
PATIENCE = 10
"""Texts that are asked for where all that a program lacks is a way to what it rewards (φ2), before the world is looked
at again: what nobody has tried yet is seen more cheaply than guessed."""
MORE = 1.5
"""How many times the data there have to be, before a problem that was given up is taken up again."""


class Asker(Protocol):
    """A language model that can be asked: `worldcoder.llm.LanguageModel` is one."""

    @property
    def name(self) -> str:
        """The model, as requests name it."""
        ...

    def ask_all(self, requests: Iterable[Request]) -> Iterator[tuple[int, Reply | LLMError]]:
        """Ask several at once: pairs of number and answer, or error, as they come."""
        ...


@dataclass(frozen=True)
class Writing:
    """How a language model is asked, and how long for one synthesis problem.

    max_calls: texts that are asked for until a problem is given up (the paper's 50). in_flight: at once.
    prompt_tokens: of a prompt, estimated from above. reply_tokens: the most that one answer may have.
    temperature: None leaves it to the server. options: further fields of a request.
    bandit: what chooses which program is refined. plan_nodes: of a search for a plan (φ2).
    stages: smaller limits, in turn, that rounds end at as they would if there were no larger one.
    """

    max_calls: int = 50
    in_flight: int = 2
    prompt_tokens: int = 8_000
    reply_tokens: int = 4_096
    temperature: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    bandit: Callable[[random.Random], Bandit] | None = None
    plan_nodes: int = 20_000
    stages: tuple[int, ...] = ()


@dataclass
class Candidate:
    """A program, or two that belong together, with what is wrong with it on the present data.

    value: the paper's h. solved: nothing is left to mend. remark: what was wrong with the last answer to a
    request to refine it, for the next one. transition: of a reward program, the transition program that came
    with it, if one did. used: the one with which a plan was looked for. plan, start: the search that found no
    way, and where it began.
    """

    program: Program
    wrong: Wrong = Wrong()  # noqa: RUF009 - frozen
    value: float = 0.0
    solved: bool = False
    remark: str = ""
    transition: Program | None = None
    used: Program | None = None
    plan: Plan | None = None
    start: State | None = None

    @property
    def key(self) -> str:
        """Its arm's name."""
        return self.program.id if self.transition is None else f"{self.program.id}+{self.transition.id}"

    @property
    def bad(self) -> bool:
        """Whether it did what no program may."""
        return any(fault.bad for fault in self.wrong.faults)

    @property
    def rank(self) -> tuple[bool, int, float]:
        """The lower, the better: harmless first, then by what it does not reproduce, then by the rest of its value."""
        return self.bad, len(self.wrong.missed), -self.value


class Task(Protocol):
    """What a search is about: how to ask, to read and to judge."""

    def ask(self, candidate: Candidate | None, remark: str, times: int) -> tuple[Message, ...]:
        """The prompt that asks to refine a program; None: to write a first one. times: how often that was done."""
        ...

    def read(self, text: str, finish: str, candidate: Candidate | None) -> tuple[Candidate | None, str]:
        """The program in an answer, if there is one, and what was wrong with the answer."""
        ...

    def judge(self, candidates: Sequence[Candidate]) -> None:
        """Set `wrong`, `value` and `solved` by the present data."""
        ...


class Search:
    """One problem after another of one task; programs and their counts stay from one to the next.

    best: the program that reproduces most; another one takes its place only if it reproduces more. out: the
    limit of the whole run that was reached, if one was. calls: texts asked for, in all problems together.
    improve: what may make something better of a program without asking anybody.
    """

    def __init__(self, task: Task, asker: Asker, writing: Writing, rng: random.Random) -> None:
        self._task = task
        self._asker = asker
        self._writing = writing
        self._rng = rng
        self._remark = ""
        self._known: set[str] = set()
        self._was_solved = False
        self._given_up_at = 0
        self._for_a_way = 0  # texts that were asked for since only a way lacks, and
        self._waits_since: tuple[int, str | None] | None = (
            None  # with how many data, and with which transitions
        )
        self.candidates: dict[str, Candidate] = {}
        self.best: Candidate | None = None
        self.out: Limited | None = None
        self.calls = 0
        self.spent_on_problem = 0
        self.improve: Callable[[Candidate], Program | None] | None = None
        self._improved: set[tuple[str, int]] = set()
        self.bandit = self._new_bandit()

    @property
    def solved(self) -> bool:
        """Whether nothing is left to mend."""
        return self.best is not None and self.best.solved

    @property
    def exhausted(self) -> bool:
        """Whether the budget of this problem, or that of the run, is used up and it is not solved."""
        return not self.solved and (self.out is not None or self.spent_on_problem >= self._writing.max_calls)

    def offer(self, program: Program, transition: Program | None = None) -> Candidate:
        """A program from elsewhere: one more root."""
        candidate = Candidate(program, transition=transition)
        known = self.candidates.get(candidate.key)
        if known is not None:
            return known
        self._task.judge([candidate])
        self._take(candidate)
        self.bandit.add(candidate.key, candidate.value)
        return candidate

    def refresh(self) -> None:
        """Judge anew what is there: the best program, and the better others where it is not right (any more)."""
        if self.best is None:
            return
        self._task.judge([self.best])
        if self.best.solved:
            return
        others = sorted((c for c in self.candidates.values() if c is not self.best), key=lambda c: c.rank)[
            :KEPT
        ]
        self._task.judge(others)
        self.bandit.rescore({c.key: c.value for c in self.candidates.values() if c.key in self.bandit.arms})
        for candidate in others:
            self._compare(candidate)

    def prefer(self, candidate: Candidate) -> None:
        """Of programs that reproduce as much, this one is the best."""
        if self.best is None or candidate.rank[:2] <= self.best.rank[:2]:
            self.best = candidate

    def mend(self, data: int, *, first: int | None = None) -> None:
        """Bring the programs up to the data, of which there are so many; ask only if none is right.

        A problem that was solved before is a new one when more data come. One that was given up is taken up
        again when there are half as many data more. So is one in which only a way lacks and `PATIENCE` is at its end,
        or when it is another transition program that leads nowhere.
        first: how many requests there are in the first round.
        Raises LLMError where there is no point in asking on.
        """
        self.refresh()
        if not self.solved and (self._was_solved or 0 < self._given_up_at <= data / MORE):
            self._new_problem()
        self._was_solved = self.solved
        while not self.solved:
            if self._improve(data):
                continue
            if self.exhausted or self._waits(data):
                break
            writing, spent = self._writing, self.spent_on_problem
            size = writing.in_flight if first is None or spent else first
            limit = next(limit for limit in (*writing.stages, writing.max_calls) if limit > spent)
            self._round(min(size, limit - spent))
        self._was_solved = self.solved
        if self.exhausted and not self._given_up_at:
            self._given_up_at = data

    def once(self, messages: tuple[Message, ...]) -> Reply | None:
        """One text that is asked for besides, and not needed; None where there is none to be had.

        It has to do with no problem, so that no problem's budget has to do with it. Where the run's budget does not
        allow it, it is done without; so it is where a record has no reply to it, as it was done without then.
        Raises LLMError where there is no point in asking on.
        """
        if self.out is not None:
            return None
        try:
            ((_, outcome),) = self._asker.ask_all([self._asking(messages, 1)])
        except NotRecorded:
            return None
        if not isinstance(outcome, LLMError):
            self.calls += max(1, outcome.spent.calls)
            return outcome
        if outcome.lasting and not isinstance(outcome, (BudgetReached, NotRecorded)):
            raise outcome
        return None

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────

    def _improve(self, data: int) -> bool:
        """Try, once for each program and amount of data, whether the better ones can be improved; whether one was.

        Not the best one alone: what another one is right about may be just what the best one lacks.
        """
        best = self.best
        if self.improve is None:
            return False
        for candidate in sorted(self.candidates.values(), key=lambda c: c.rank)[:IMPROVED]:
            if (candidate.key, data) in self._improved:
                continue
            self._improved.add((candidate.key, data))
            better = self.improve(candidate)
            if better is not None:
                self.offer(better)
            if self.best is not best:
                return True
        return False

    def _waits(self, data: int) -> bool:
        """Whether the world is to be looked at before more is asked for."""
        if not self._lacks_a_way or self.best is None:
            self._for_a_way, self._waits_since = 0, None
        elif self._for_a_way >= PATIENCE:
            used = None if self.best.used is None else self.best.used.id
            since, leading_nowhere = self._waits_since or (data, used)
            self._waits_since = since, leading_nowhere
            if data < MORE * since and used == leading_nowhere:
                return True
            self._for_a_way, self._waits_since = 0, None
        return False

    @property
    def _lacks_a_way(self) -> bool:
        """Whether the best program agrees with the data, and is not solved all the same."""
        best = self.best
        return best is not None and not (best.solved or best.bad or best.wrong.missed)

    def _new_bandit(self) -> Bandit:
        make = self._writing.bandit or rex
        bandit = make(self._rng)
        bandit.add(BLANK, 0.0)
        return bandit

    def _new_problem(self) -> None:
        """A budget and counts of its own; the better ones of the programs are its roots."""
        self.spent_on_problem = self._given_up_at = 0
        self.bandit = self._new_bandit()
        kept = sorted(self.candidates.values(), key=lambda c: c.rank)[:KEPT]
        self.candidates = {c.key: c for c in self.candidates.values() if c in kept or c is self.best}
        self._known = set(self.candidates)  # what was dropped may be right by now
        for candidate in self.candidates.values():
            self.bandit.add(candidate.key, candidate.value)

    def _round(self, size: int) -> None:
        """Several requests at once; the same arm asked twice is one request for two answers."""
        wanted = Counter(self.bandit.ask() for _ in range(size))
        requests = [self._request(name, n) for name, n in wanted.items()]
        try:
            outcomes = dict(self._asker.ask_all(requests))
        except BaseException:
            for name, n in wanted.items():
                self._withdraw(name, n)
            raise
        lasting: LLMError | None = None
        answers: list[tuple[str, Candidate | None]] = []
        for number, (name, n) in enumerate(wanted.items()):
            outcome = outcomes[number]
            if isinstance(outcome, LLMError):
                self._withdraw(name, n)
                if outcome.lasting:
                    lasting = lasting or outcome
                else:
                    self._count(max(n, spent_on(outcome).calls))
                    self._say(name, f"there was none that could be read ({outcome})")
                continue
            self._count(max(n, outcome.spent.calls))
            self._withdraw(name, n - len(outcome.texts))
            for text, finish in list(zip(outcome.texts, outcome.finishes, strict=True))[:n]:
                answers.append((name, self._read(name, text, finish)))
        self._take_in(answers)
        if isinstance(lasting, BudgetReached):
            self.out = lasting.which
        elif lasting is not None:
            raise lasting

    def _request(self, name: str, n: int) -> Request:
        candidate = self.candidates.get(name)
        remark = self._remark if candidate is None else candidate.remark
        return self._asking(self._task.ask(candidate, remark, self.bandit.arms[name].refined), n)

    def _asking(self, messages: tuple[Message, ...], n: int) -> Request:
        writing = self._writing
        return Request(
            self._asker.name,
            messages,
            n=n,
            temperature=writing.temperature,
            max_tokens=writing.reply_tokens,
            options=writing.options,
        )

    def _count(self, n: int) -> None:
        self.calls += n
        self.spent_on_problem += n
        if self._lacks_a_way:
            self._for_a_way += n

    def _withdraw(self, name: str, n: int) -> None:
        for _ in range(n):
            self.bandit.withdraw(name)

    def _say(self, name: str, remark: str) -> None:
        candidate = self.candidates.get(name)
        if candidate is None:
            self._remark = remark
        else:
            candidate.remark = remark

    def _read(self, name: str, text: str, finish: str) -> Candidate | None:
        found, remark = self._task.read(text, finish, self.candidates.get(name))
        if found is not None and found.key in self._known:
            found, remark = None, "you wrote a program that was tried before and is wrong somewhere else"
        self._say(name, remark)
        return found

    def _take_in(self, answers: Sequence[tuple[str, Candidate | None]]) -> None:
        """Judge all new programs at once, then tell the bandit, in the order in which they were asked for."""
        new: dict[str, Candidate] = {}
        for _, candidate in answers:
            if candidate is not None:
                new.setdefault(candidate.key, candidate)
        self._task.judge(list(new.values()))
        for name, candidate in answers:
            if candidate is None or new.get(candidate.key) is not candidate:
                self.bandit.tell(name)  # nothing, or the same as another answer
                continue
            self._take(candidate)
            self.bandit.tell(name, [(candidate.key, candidate.value)])

    def _take(self, candidate: Candidate) -> None:
        self.candidates[candidate.key] = candidate
        self._known.add(candidate.key)
        self._compare(candidate)

    def _compare(self, candidate: Candidate) -> None:
        """Whether a program is better than the best: it reproduces more, or as much and is worth more."""
        if self.best is None or candidate.rank < self.best.rank:
            self.best = candidate

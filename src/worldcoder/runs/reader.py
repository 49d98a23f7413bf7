"""Reading the log of a run, while it goes on or afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from worldcoder.errors import LLMError, RunError
from worldcoder.llm.errors import error_from_json
from worldcoder.llm.values import Reply, Request
from worldcoder.planning import Plan, Status
from worldcoder.programs import Fault, Program
from worldcoder.programs.program import Kind
from worldcoder.runs.directory import RunDirectory
from worldcoder.runs.events import Summary
from worldcoder.runs.schema import LOG, READABLE, connect, reporting
from worldcoder.world.values import Action, Goal, State, Transition


@dataclass(frozen=True)
class RecordedEpisode:
    """One episode. index: from 1. after: actions taken before it. start: its first state."""

    index: int
    seed: int
    goal: Goal
    start: State
    after: int


@dataclass(frozen=True)
class RecordedTransition:
    """One action taken in the world.

    index: which action of the run, from 1. truncated: time ran out here.
    seconds: running totals when it was recorded: total, acting, synthesis, planning.
    """

    index: int
    episode: int
    transition: Transition
    truncated: bool
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class RecordedDecision:
    """What the agent chose and why, and what it knew then.

    action: None where it began again. after: actions taken before. phi1, phi2: of the model at that moment.
    guess: the invented reward that is being tried, in words.
    """

    index: int
    episode: int
    after: int
    action: Action | None
    why: str
    note: str
    phi1: float
    phi2: str | None
    guess: str | None


@dataclass(frozen=True)
class RecordedProgram:
    """A program that became part of the model.

    program: its parent is the program it replaced. score: φ1 of the model it came with.
    after: actions taken when it was adopted.
    """

    index: int
    program: Program
    score: float
    after: int


@dataclass(frozen=True)
class RecordedPlan:
    """One search. after: actions taken before it."""

    index: int
    after: int
    plan: Plan


@dataclass(frozen=True)
class RecordedNote:
    """Something worth telling. what: `refuted` (a guess), `solved`, `failed` (a program). text: in words."""

    index: int
    after: int
    what: str
    text: str


@dataclass(frozen=True)
class RecordedReply:
    """What a language model was asked, and its reply or the error.

    occurrence: how often the same was asked before. Of several with one request and occurrence the last counts.
    """

    index: int
    request: Request
    occurrence: int
    outcome: Reply | LLMError


class RunReader:
    """The log of a run's directory; close it, or use it in a `with` statement.

    Each method reads what is there when it is called, in the order in which it happened.
    Raises RunError for a directory that holds no log, or one that cannot be read.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.path = self.directory / LOG
        if not self.path.is_file():
            raise RunError(f"{self.directory} is no run's directory: there is no {LOG} in it")
        with reporting(self.path, "read"):
            self._connection = connect(self.path, write=False)
        self._states: dict[int, State] = {}
        try:
            self.format = self.meta("format")
            if self.format not in READABLE:
                formats = " and ".join(map(str, READABLE))
                raise RunError(f"{self.path} has format {self.format!r}, this version reads {formats}")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def __enter__(self) -> RunReader:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def meta(self, key: str) -> Any:
        """What was noted once under a key; None where nothing was."""
        with reporting(self.path, "read"):
            row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    @property
    def config(self) -> dict[str, Any]:
        """The experiment, as `Experiment.to_json` wrote it: environment, options, seed, ..."""
        return cast(dict[str, Any], self.meta("config") or {})

    @property
    def stopped(self) -> str | None:
        """Why the run ended in order; None while it goes on, or after it was killed."""
        return cast("str | None", self.meta("stopped"))

    def episodes(self) -> Iterator[RecordedEpisode]:
        """Every episode that was begun."""
        for index, seed, goal, state, after in self._rows(
            "SELECT id, seed, goal, state, after FROM episodes ORDER BY id"
        ):
            yield RecordedEpisode(index, seed, goal, self.state(state), after)

    def transitions(self) -> Iterator[RecordedTransition]:
        """Every action taken in the world."""
        query = (
            "SELECT t.id, t.episode, t.state, e.goal, t.action, t.next_state, t.reward, t.done, t.truncated,"
            " t.seconds FROM transitions t JOIN episodes e ON e.id = t.episode ORDER BY t.id"
        )
        for index, episode, before, goal, action, after, *outcome, seconds in self._rows(query):
            reward, done, truncated = outcome
            chosen = Action.from_json(json.loads(action))
            step = Transition(self.state(before), goal, chosen, self.state(after), reward, bool(done))
            yield RecordedTransition(index, episode, step, bool(truncated), json.loads(seconds))

    def decisions(self) -> Iterator[RecordedDecision]:
        """Every choice, those to begin again included."""
        for index, episode, after, action, *rest in self._rows(
            "SELECT id, episode, after, action, why, note, phi1, phi2, guess FROM decisions ORDER BY id"
        ):
            chosen = None if action is None else Action.from_json(json.loads(action))
            yield RecordedDecision(index, episode, after, chosen, *rest)

    def programs(self) -> Iterator[RecordedProgram]:
        """Every program that became part of the model."""
        for index, kind, goal, parent, origin, comment, source, score, after in self._rows(
            "SELECT id, kind, goal, parent, origin, comment, source, score, after FROM programs ORDER BY id"
        ):
            program = Program(source, cast(Kind, kind), goal, origin, parent, comment)
            yield RecordedProgram(index, program, score, after)

    def plans(self) -> Iterator[RecordedPlan]:
        """Every search, whatever came of it."""
        last = "NULL" if self.format == 1 else "fault"
        for index, after, status, method, nodes, seconds, actions, rewards, fault in self._rows(
            f"SELECT id, after, status, method, nodes, seconds, actions, rewards, {last} FROM plans ORDER BY id"
        ):
            chosen = tuple(Action.from_json(row) for row in json.loads(actions))
            failed = None if fault is None else Fault.from_json(json.loads(fault))
            plan = Plan(Status(status), chosen, tuple(json.loads(rewards)), nodes, seconds, method, failed)
            yield RecordedPlan(index, after, plan)

    def notes(self) -> Iterator[RecordedNote]:
        """What was worth telling."""
        for row in self._rows("SELECT id, after, what, text FROM notes ORDER BY id"):
            yield RecordedNote(*row)

    def replies(self) -> Iterator[RecordedReply]:
        """What the language model was asked and replied, in the order in which the replies came."""
        for index, _, occurrence, request, reply, error in self.reply_rows():
            asked = Request.from_json(json.loads(request))
            text = reply if reply is not None else error
            outcome = (
                Reply.from_json(json.loads(text)) if reply is not None else error_from_json(json.loads(text))
            )
            yield RecordedReply(index, asked, occurrence, outcome)

    def reply_rows(self) -> list[Any]:
        """The same as it is stored; nothing in runs recorded before there were language models."""
        if not self._rows("SELECT name FROM sqlite_master WHERE name = 'replies'"):
            return []
        return self._rows("SELECT id, key, occurrence, request, reply, error FROM replies ORDER BY id")

    def state(self, number: int) -> State:
        """A state by its number in the log."""
        known = self._states.get(number)
        if known is None:
            with reporting(self.path, "read"):
                row = self._connection.execute("SELECT json FROM states WHERE id = ?", (number,)).fetchone()
            if row is None:
                raise RunError(f"{self.path} is damaged: state {number} is missing; start a new run")
            known = self._states[number] = State.from_json(json.loads(row[0]))
        return known

    def _rows(self, query: str) -> list[Any]:
        with reporting(self.path, "read"):
            return self._connection.execute(query).fetchall()


def is_run(directory: str | Path) -> bool:
    """Whether a directory holds the log of a run."""
    return (Path(directory) / LOG).is_file()


def recorded_summary(folder: RunDirectory) -> Summary:
    """The summary of a finished run. Raises RunError for one that cannot be read."""
    values = folder.read_summary()
    try:
        return Summary(**values, directory=folder.path)
    except TypeError as error:
        raise RunError(f"{folder.summary} is of another version: {error}") from None

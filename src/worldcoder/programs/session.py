"""One worker as its parent sees it: what it was told, and what its answers mean.

A worker is not believed: every number is looked up in a table, every object and state is built anew and has to
be well-formed. What is not is `Failure.GARBAGE`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from worldcoder.errors import Failing, ValueFormError
from worldcoder.programs.book import Book, Mark
from worldcoder.programs.check import Check
from worldcoder.programs.prediction import FAILING, Prediction
from worldcoder.programs.program import Program
from worldcoder.programs.wire import Change, change
from worldcoder.sandbox import Failure, Worker, WorkerFailed
from worldcoder.world.values import Action, Obj, State

_LONGEST = 1000  # characters of an error's text


@dataclass(frozen=True, slots=True)
class Failed:
    """How a program failed in one call. seen: False where it was not even called, after it had failed too often."""

    failing: Failing
    error: str
    seen: bool = True


def failed_by(error: WorkerFailed) -> Failed:
    """What a worker did wrong, as the failure of its program."""
    return Failed(_FAILING[error.failure], error.detail[:_LONGEST])


_FAILING: dict[Failure, Failing] = {
    Failure.TIMEOUT: "timeout",
    Failure.MEMORY: "memory",
    Failure.CRASH: "crash",
    Failure.FLOOD: "flood",
    Failure.GARBAGE: "garbage",
    Failure.KILLED: "crash",
}

Outcome = Change | State | Failed
"""What a transition program said: what changes, or the whole state, or how it failed."""

Verdict = tuple[float, bool] | Failed
"""What a reward program said."""


@dataclass(frozen=True)
class Reply:
    """The answer to one request.

    result: as the request has it. failed: the request as a whole was given up. unloadable: a program that does
    not load, by its id. located: the call that was looked for. position: where it was given up.
    """

    result: list[Any]
    failed: Failed | None
    unloadable: tuple[str, Failed] | None
    located: tuple[State, Action] | None
    position: int

    @property
    def problem(self) -> Failed | None:
        """What was wrong with the request as a whole."""
        return self.failed or (None if self.unloadable is None else self.unloadable[1])


class Session:
    """A worker, with what it knows and what it said.

    key: what it is for; two sessions of one key can stand in for each other.
    seconds: how long its worker has worked, at most.
    """

    def __init__(self, key: str, worker: Worker, book: Book, mark: Mark) -> None:
        self.key = key
        self.seconds = 0.0
        self._worker = worker
        self._book = book
        self._mark = mark
        self._programs: set[str] = set()
        self._born: list[int] = []
        self._tables: dict[str, list[Any]] = {name: [] for name in _READERS}

    @property
    def alive(self) -> bool:
        return self._worker.alive

    def close(self) -> None:
        self._worker.close()

    def ask(
        self,
        do: str,
        programs: Mapping[str, Program],
        *,
        checks: Mapping[int, Check] | None = None,
        answer: Callable[[State], Sequence[Action]] | None = None,
        seconds: float | None = None,
        **request: Any,
    ) -> Reply:
        """One request and its answer. Raises WorkerFailed.

        programs: those that the request names, by id. checks: those it needs. answer: tells the actions of a
        state. seconds: how long the worker has.
        """
        book = self._book
        with book:
            learn = book.news(self._mark, dict(checks or {}), [])
        new = {i: (p.kind, p.source) for i, p in programs.items() if i not in self._programs}
        self._programs.update(new)

        def tell_actions(question: Any) -> Any:
            try:
                self._read_tables(question["tables"])
                state = self._state_from_nothing(question["state"])
            except _MALFORMED as error:
                raise self.garbage(error) from None
            there_are = () if answer is None else answer(state)
            with book:
                numbers = [book.action(a) for a in there_are]
                known, self._mark.actions = self._mark.actions, len(book.actions)
                return {"learn": [a.to_json() for a in book.actions[known:]], "actions": numbers}

        message = {"do": do, "learn": learn, "programs": new, **request}
        began = time.monotonic()
        said = self._worker.request(message, seconds=seconds, answer=tell_actions)
        self.seconds += time.monotonic() - began
        try:
            return self._read(said)
        except _MALFORMED as error:
            raise self.garbage(error) from None

    def garbage(self, error: Exception | str) -> WorkerFailed:
        self.close()
        text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        return WorkerFailed(Failure.GARBAGE, f"it answered what is no answer: {text}"[:300])

    def _read(self, said: Any) -> Reply:
        self._read_tables(said["tables"])
        if not isinstance(said["result"], list):
            raise ValueFormError("the result is no list")
        failed, unloadable, located = said["failed"], said["unloadable"], said["located"]
        return Reply(
            said["result"],
            None if failed is None else _failed(failed),
            None if unloadable is None else (str(unloadable[0]), _failed(unloadable[1:])),
            None if located is None else self._located(*located),
            _integer(said["position"]),
        )

    def failure(self, row: Any) -> tuple[State, Action, Failed]:
        """Where a call failed, and how; raises WorkerFailed."""
        try:
            outcome, action, *how = row
            return *self._located(outcome, action), _failed(how)
        except _MALFORMED as error:
            raise self.garbage(error) from None

    def _located(self, outcome: Any, action: Any) -> tuple[State, Action]:
        return self._state_from_nothing(outcome), Action.from_json(action)

    # ── tables ───────────────────────────────────────────────────────────────────────────────────────────

    def _read_tables(self, new: Any) -> None:
        with self._book:
            self._born += [self._book.objects.number(Obj.from_json(row)) for row in new["born"]]
            for name, read in _READERS.items():
                self._tables[name] += [read(self, row) for row in new[name]]

    def _change(self, row: Any) -> Change:
        removed, added = row
        return change(map(self._number, removed), map(self._number, added))

    def _number(self, number: Any) -> int:
        told = _integer(number)
        if told < 0:
            return self._born[-1 - told]
        if not self._book.objects.was_sent(told, self._mark.objects):
            raise ValueFormError("an object that it was not told of")
        return told

    def outcome(self, code: Any) -> Outcome:
        """What an outcome stands for; raises WorkerFailed."""
        try:
            number, table = divmod(_natural(code), 3)
            return self._tables[("changes", "states", "errors")[table]][number]  # type: ignore[no-any-return]
        except _MALFORMED as error:
            raise self.garbage(error) from None

    def verdict(self, code: Any) -> Verdict | None:
        """What a verdict stands for, None for none; raises WorkerFailed."""
        if code == -1:
            return None
        try:
            number, table = divmod(_natural(code), 3)
            return self._tables[("verdicts", "", "errors")[table]][number]  # type: ignore[no-any-return]
        except _MALFORMED as error:
            raise self.garbage(error) from None

    def prediction(self, before: State, outcome: Any, verdict: Any) -> Prediction:
        """What a step from a state leads to; raises WorkerFailed."""
        after, gained = self.outcome(outcome), self.verdict(verdict)
        if isinstance(after, Failed):
            return Prediction(None, 0.0, False, after.error, after.failing)
        if isinstance(gained, Failed):
            return Prediction(None, 0.0, False, gained.error, gained.failing)
        reward, done = (0.0, False) if gained is None else gained
        return Prediction(self.state_after(before, after), reward, done)

    def state_after(self, before: State, after: Outcome) -> State:
        """The state that an outcome leads to; raises WorkerFailed."""
        try:
            with self._book:
                return state_after(self._book, before, after)
        except ValueFormError as error:
            raise self.garbage(error) from None

    def _state_from_nothing(self, code: Any) -> State:
        return self.state_after(State(), self.outcome(code))


def state_after(book: Book, before: State, after: Outcome) -> State:
    """The state that an outcome leads to; raises ValueFormError where there is none."""
    if isinstance(after, State):
        return after
    if isinstance(after, Failed):
        raise ValueFormError("no state: the program failed")
    return book.objects.changed(before, after)


_MALFORMED = (ValueFormError, LookupError, TypeError, ValueError, AttributeError, RecursionError)
"""What reading an answer of the wrong form can end in."""


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise ValueFormError(f"expected a whole number, got {value!r:.80}")
    return value


def _natural(value: Any) -> int:
    if _integer(value) < 0:
        raise ValueFormError(f"expected a number from 0 on, got {value}")
    return int(value)


def _failed(row: Any) -> Failed:
    failing, error = row
    if failing not in FAILING or not isinstance(error, str):
        raise ValueFormError(f"expected how a program failed, got {row!r:.80}")
    return Failed(failing, error[:_LONGEST])


def _gain(row: Any) -> tuple[float, bool]:
    reward, done = row
    if type(reward) is not float or not isfinite(reward) or type(done) is not bool:
        raise ValueFormError(f"expected reward and done, got {row!r:.80}")
    return reward, done


_READERS: dict[str, Callable[[Session, Any], Any]] = {
    "changes": Session._change,
    "states": lambda session, row: State.from_json(row),
    "errors": lambda session, row: _failed(row),
    "verdicts": lambda session, row: _gain(row),
}

"""What programs said of the situations of one check, and how that compares with what happened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from worldcoder.errors import ValueFormError
from worldcoder.programs.book import Book
from worldcoder.programs.check import TOLERANCE, Case, Check, Mismatch
from worldcoder.programs.session import Failed, Outcome, Verdict, state_after
from worldcoder.programs.wire import Change
from worldcoder.world.values import Transition

K = TypeVar("K")
V = TypeVar("V")

_KEPT = 64
"""Programs whose answers are kept; an answer never changes, as programs are functions."""

Pair = tuple[str | None, str]
"""A transition program (None: what happened is taken for granted) and a reward program, by id."""

Said = tuple[Mapping[int, Outcome] | None, dict[int, Mismatch | None]]
"""What a transition program said, by situation, and what is wrong with it, by case."""

Judged = tuple[Mapping[int, Verdict], dict[int, Mismatch | None]]
"""What a reward program said, by situation, or by case without a transition program; what is wrong with it, by case."""


class Scores:
    """One check, with the answers of the latest programs, by the numbers of a book."""

    def __init__(self, check: Check, book: Book) -> None:
        self._check = check
        self.book = book
        self._observed: dict[int, Change] = {}  # by case
        self._outcomes: dict[str | None, dict[int, Outcome]] = {}
        self._verdicts: dict[Pair, dict[int, Verdict]] = {}
        self._wrong_states: dict[str | None, dict[int, Mismatch | None]] = {}
        self._wrong_verdicts: dict[Pair, dict[int, Mismatch | None]] = {}

    def outcomes(self, transition: str | None) -> dict[int, Outcome]:
        """What a transition program said so far."""
        return _kept(self._outcomes, transition)

    def verdicts(self, pair: Pair) -> dict[int, Verdict]:
        """What a reward program said so far of the steps of a transition program."""
        return _kept(self._verdicts, pair)

    def wrong_states(self, transition: str | None) -> dict[int, Mismatch | None]:
        """What is wrong with the next states that a transition program said, by case; filled by `mismatch`."""
        return _kept(self._wrong_states, transition)

    def wrong_verdicts(self, pair: Pair) -> dict[int, Mismatch | None]:
        """The same of what a reward program said."""
        return _kept(self._wrong_verdicts, pair)

    def mismatch(self, number: int, said: Said, judged: Judged | None) -> Mismatch | None:
        """How a case (its index is the case's number) is not reproduced; None where it is.

        said: of a transition program; its outcomes are None where none was asked. judged: of a reward program; None
        where no program was asked. What is found is noted in both, and an answer never changes.
        """
        outcomes, wrong_states = said
        if number in wrong_states:
            wrong = wrong_states[number]
        else:
            wrong = wrong_states[number] = None if outcomes is None else self._wrong_state(number, outcomes)
        if wrong is not None or judged is None:
            return wrong
        verdicts, wrong_verdicts = judged
        if number not in wrong_verdicts:
            case = self._check.cases[number]
            verdict = verdicts[number if outcomes is None else case.input]
            wrong_verdicts[number] = _wrong_verdict(number, verdict, case.transition)
        return wrong_verdicts[number]

    def _wrong_state(self, number: int, outcomes: Mapping[int, Outcome]) -> Mismatch | None:
        case = self._check.cases[number]
        recorded, said = case.transition, outcomes[case.input]
        if isinstance(said, Failed):
            return Mismatch(number, said.failing, None, None, said.error, said.seen)
        if said != self._change(number, case):
            try:
                state = state_after(self.book, recorded.state, said)
            except ValueFormError as error:
                return Mismatch(number, "garbage", None, None, f"what it answered is no state: {error}")
            if state != recorded.next_state:
                return Mismatch(number, "state", state, recorded.next_state)
        return None

    def _change(self, number: int, case: Case) -> Change | None:
        """What happened, as a change; None where that cannot be said, as no worker ever said it."""
        change = self._observed.get(number)
        if change is None:
            with self.book:
                change = self.book.objects.change_between(case.transition.state, case.transition.next_state)
            if change is not None:
                self._observed[number] = change
        return change


def _wrong_verdict(number: int, verdict: Verdict, recorded: Transition) -> Mismatch | None:
    if isinstance(verdict, Failed):
        return Mismatch(number, verdict.failing, None, None, verdict.error, verdict.seen)
    gained, done = verdict
    if gained != recorded.reward and abs(gained - recorded.reward) > TOLERANCE:
        return Mismatch(number, "reward", gained, recorded.reward)
    if done != recorded.done:
        return Mismatch(number, "done", done, recorded.done)
    return None


def _kept(table: dict[K, dict[int, V]], key: K) -> dict[int, V]:
    """The entry of a table, which becomes the latest one; the oldest are dropped."""
    entry = table.pop(key, None)
    if entry is None:
        entry = {}
        while len(table) >= _KEPT:
            del table[next(iter(table))]
    table[key] = entry
    return entry

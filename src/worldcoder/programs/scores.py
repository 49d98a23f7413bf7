"""What programs said of the situations of one check, and how that compares with what happened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from worldcoder.errors import ValueFormError
from worldcoder.programs.book import Book
from worldcoder.programs.check import TOLERANCE, Case, Check, Mismatch
from worldcoder.programs.session import Failed, Outcome, Verdict, state_after
from worldcoder.programs.wire import Change

K = TypeVar("K")
V = TypeVar("V")

_KEPT = 64
"""Programs whose answers are kept; an answer never changes, as programs are functions."""

Pair = tuple[str | None, str]
"""A transition program (None: what happened is taken for granted) and a reward program, by id."""


class Scores:
    """One check, with the answers of the latest programs, by the numbers of a book."""

    def __init__(self, check: Check, book: Book) -> None:
        self._check = check
        self.book = book
        self._observed: dict[int, Change] = {}  # by case
        self._outcomes: dict[str | None, dict[int, Outcome]] = {}
        self._verdicts: dict[Pair, dict[int, Verdict]] = {}

    def outcomes(self, transition: str | None) -> dict[int, Outcome]:
        """What a transition program said so far."""
        return _kept(self._outcomes, transition)

    def verdicts(self, pair: Pair) -> dict[int, Verdict]:
        """What a reward program said so far of the steps of a transition program."""
        return _kept(self._verdicts, pair)

    def mismatch(
        self, number: int, outcomes: Mapping[int, Outcome] | None, verdicts: Mapping[int, Verdict] | None
    ) -> Mismatch | None:
        """How a case (its index is the case's number) is not reproduced; None where it is.

        outcomes, verdicts: what programs said; None where no program was asked. By situation, or by case where
        there was no transition program.
        """
        case = self._check.cases[number]
        recorded = case.transition
        if outcomes is not None:
            said = outcomes[case.input]
            if isinstance(said, Failed):
                return Mismatch(number, said.failing, None, None, said.error, said.seen)
            if said != self._change(number, case):
                try:
                    state = state_after(self.book, recorded.state, said)
                except ValueFormError as error:
                    return Mismatch(number, "garbage", None, None, f"what it answered is no state: {error}")
                if state != recorded.next_state:
                    return Mismatch(number, "state", state, recorded.next_state)
        if verdicts is not None:
            verdict = verdicts[number if outcomes is None else case.input]
            if isinstance(verdict, Failed):
                return Mismatch(number, verdict.failing, None, None, verdict.error, verdict.seen)
            gained, done = verdict
            if gained != recorded.reward and abs(gained - recorded.reward) > TOLERANCE:
                return Mismatch(number, "reward", gained, recorded.reward)
            if done != recorded.done:
                return Mismatch(number, "done", done, recorded.done)
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


def _kept(table: dict[K, dict[int, V]], key: K) -> dict[int, V]:
    """The entry of a table, which becomes the latest one; the oldest are dropped."""
    entry = table.pop(key, None)
    if entry is None:
        entry = {}
        while len(table) >= _KEPT:
            del table[next(iter(table))]
    table[key] = entry
    return entry

"""A client that keeps every answer, and one that has nothing else.

A request is known by its content and by its occurrence: the first time it is asked, the second time, and so on.
An answer is kept before it is handed out, so that it is not paid for twice, whatever happens then. Failures are
kept as well, because what was done next depended on them.

What is resumed asks again where it failed for a reason that may be gone (`LLMError.lasting`: no connection, no
budget); a replay fails there as it did then.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from worldcoder.errors import LLMError
from worldcoder.llm.budget import Budget
from worldcoder.llm.client import Client
from worldcoder.llm.errors import NotRecorded, spent_on
from worldcoder.llm.store import Entry, Outcome, Store
from worldcoder.llm.values import Reply, Request, Spent

_SHOWN_LINES = 24
_SHOWN_WIDTH = 160


@dataclass(frozen=True)
class Place:
    """A request, and how many times the same was asked before."""

    request: Request
    occurrence: int


class Remembering(Protocol):
    """A client that may know an answer without asking.

    `complete` is `ask` at the next `place`, unless there is something to `recall`.
    """

    name: str

    def place(self, request: Request) -> Place:
        """Where the request stands in the record; the next call with the same request is the next occurrence."""
        ...

    def recall(self, place: Place, *, budget: Budget | None = None) -> Entry | None:
        """What is known without asking. It counts in the budget as it did then, but no limit holds it up."""
        ...

    async def ask(self, place: Place, *, budget: Budget | None = None) -> Reply:
        """The answer to what is not known; raises LLMError."""
        ...

    async def close(self) -> None:
        """Let go of whatever is open."""
        ...


class _Memory:
    def __init__(self, name: str, store: Store) -> None:
        self.name = name
        self._store = store
        self._asked: Counter[str] = Counter()

    def place(self, request: Request) -> Place:
        occurrence = self._asked[request.key]
        self._asked[request.key] += 1
        return Place(request, occurrence)

    def recall(self, place: Place, *, budget: Budget | None = None) -> Entry | None:
        """What is recorded of a place."""
        entry = self._store.find(place.request.key, place.occurrence)
        if entry is None or not self._holds(entry.outcome):
            return None
        if budget is not None:
            budget.count(_spent(entry.outcome))
        return entry

    async def ask(self, place: Place, *, budget: Budget | None = None) -> Reply:
        """The answer to what is not recorded."""
        raise NotImplementedError

    async def complete(self, request: Request, *, budget: Budget | None = None) -> Reply:
        """The answer, from the record where it is there; raises LLMError."""
        place = self.place(request)
        entry = self.recall(place, budget=budget)
        if entry is None:
            return await self.ask(place, budget=budget)
        if isinstance(entry.outcome, LLMError):
            raise entry.outcome
        return entry.outcome

    def _holds(self, outcome: Outcome) -> bool:
        """Whether what is recorded is still so."""
        return True


class Recorded(_Memory):
    """Answers from the record as far as it goes, and goes on with the client, recording."""

    def __init__(self, client: Client, store: Store) -> None:
        super().__init__(client.name, store)
        self._client = client

    async def ask(self, place: Place, *, budget: Budget | None = None) -> Reply:
        request, occurrence = place.request, place.occurrence
        try:
            reply = await self._client.complete(request, budget=budget)
        except LLMError as error:
            self._store.add(request, occurrence, error)
            raise
        self._store.add(request, occurrence, reply)
        return reply

    async def close(self) -> None:
        await self._client.close()

    def _holds(self, outcome: Outcome) -> bool:
        return not (isinstance(outcome, LLMError) and outcome.lasting)


class Replaying(_Memory):
    """Answers from the record alone: without a key, without a network.

    name: the model that was asked, if anybody wants to know.
    """

    def __init__(self, store: Store, *, name: str = "") -> None:
        super().__init__(name, store)

    async def ask(self, place: Place, *, budget: Budget | None = None) -> Reply:
        raise NotRecorded(self._missing(place))

    async def close(self) -> None:
        """There is nothing to close."""

    def _missing(self, place: Place) -> str:
        if place.occurrence and self._store.find(place.request.key, 0) is not None:
            times = place.occurrence + 1
            return f"the record has {place.occurrence} replies to this request, which is now asked a {times}. time"
        near = self._store.nearest(place.request)
        if near is None:
            return "there is no reply to this request in the record, which is empty"
        what = "there is no reply to this request in the record; it differs from the nearest one:"
        return f"{what}\n{difference(near, place.request)}"


def difference(recorded: Request, asked: Request) -> str:
    """A unified diff of two requests, shortened."""
    lines: Iterator[str] = difflib.unified_diff(
        recorded.as_text().splitlines(), asked.as_text().splitlines(), "recorded", "asked", n=1, lineterm=""
    )
    shown = [
        line if len(line) <= _SHOWN_WIDTH else f"{line[:_SHOWN_WIDTH]}…"
        for line in islice(lines, _SHOWN_LINES)
    ]
    more = sum(1 for _ in lines)
    return "\n".join([*shown, f"(and {more} more lines)"] if more else shown)


def _spent(outcome: Outcome) -> Spent:
    return spent_on(outcome) if isinstance(outcome, LLMError) else outcome.spent

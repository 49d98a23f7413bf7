"""A language model as the rest of the program sees it: questions in, answers out, without any `await`.

    with LanguageModel(Recorded(open_client("openai/gpt-5-mini"), store), budget=budget) as model:
        reply = model.ask(request)
        for number, outcome in model.ask_all(requests):
            ...
        with model.flight() as flight:
            flight.add(first)
            flight.add(second)
            while flight:
                ticket, outcome = flight.take()
                ...

The requests themselves run in the event loop of another thread. Answers are handed out in the order in which
they came, and in a replay in the order in which they came then: whatever is decided by the order is decided the
same way again.
"""

from __future__ import annotations

import asyncio
import heapq
import queue
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from worldcoder.errors import LLMError
from worldcoder.llm.background import Background
from worldcoder.llm.budget import Budget
from worldcoder.llm.client import Client
from worldcoder.llm.errors import spent_on
from worldcoder.llm.record import Recorded, Remembering, Replaying
from worldcoder.llm.store import MemoryStore, Outcome
from worldcoder.llm.values import NOTHING, Reply, Request, Spent

_LOOK_UP_SECONDS = 0.5
"""How long a wait may last before Ctrl-C is looked for; only Windows needs it."""


class LanguageModel:
    """One model, with what may be spent on it.

    client: what answers; anything but `Recorded` and `Replaying` is recorded in memory.
    spent: on the answers that were handed out. Unlike what the budget says, it does not depend on what is in
    flight, so that it is the same in a replay.
    """

    def __init__(self, client: Client | Remembering, *, budget: Budget | None = None) -> None:
        known = isinstance(client, Recorded | Replaying)
        self._client: Remembering = client if known else Recorded(client, MemoryStore())  # type: ignore[arg-type, assignment]
        self._background = Background()
        self.budget = budget or Budget()
        self.spent = NOTHING

    @property
    def name(self) -> str:
        """The model, as requests name it."""
        return self._client.name

    def ask(self, request: Request, *, budget: Budget | None = None) -> Reply:
        """The answer; raises LLMError. budget: instead of the model's, usually a part of it."""
        with self.flight(budget=budget) as flight:
            flight.add(request)
            _, outcome = flight.take()
        if isinstance(outcome, LLMError):
            raise outcome
        return outcome

    def ask_all(
        self, requests: Iterable[Request], *, budget: Budget | None = None
    ) -> Iterator[tuple[int, Outcome]]:
        """Ask several at once: pairs of number and answer, or error, as they come.

        What is still in flight when the iterator is closed is given up.
        """
        with self.flight(budget=budget) as flight:
            for request in requests:
                flight.add(request)
            while flight:
                yield flight.take()

    @contextmanager
    def flight(self, *, budget: Budget | None = None) -> Iterator[Flight]:
        """Requests that are added and taken one at a time; what is in flight at the end is given up."""
        flight = Flight(self, self._client, self._background, budget or self.budget)
        try:
            yield flight
        finally:
            flight.close()

    def close(self) -> None:
        """Give up what is in flight and close all connections."""
        self._background.close(self._client.close())

    def __enter__(self) -> LanguageModel:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Flight:
    """Requests that are under way at the same time; see `LanguageModel.flight`."""

    def __init__(
        self, model: LanguageModel, client: Remembering, background: Background, budget: Budget
    ) -> None:
        self._model = model
        self._client = client
        self._background = background
        self._budget = budget
        self._next = 0
        self._known: list[tuple[int, int, Outcome]] = []  # a heap, by when they came
        self._asked: set[int] = set()
        self._arrived: queue.SimpleQueue[tuple[int, asyncio.Task[Reply]]] = queue.SimpleQueue()

    def __len__(self) -> int:
        """How many are not taken yet."""
        return len(self._known) + len(self._asked)

    def add(self, request: Request) -> int:
        """Send a request on its way; returns its number in this flight."""
        ticket, self._next = self._next, self._next + 1
        place = self._client.place(request)
        entry = self._client.recall(place, budget=self._budget)
        if entry is not None:
            heapq.heappush(self._known, (entry.number, ticket, entry.outcome))
        else:
            self._asked.add(ticket)
            self._background.start(
                self,
                lambda: self._client.ask(place, budget=self._budget),
                lambda task: self._arrived.put((ticket, task)),
            )
        return ticket

    def take(self) -> tuple[int, Outcome]:
        """Wait for the next answer: the number of its request, and the answer or the error.

        Raises LookupError where nothing is in flight.
        """
        if self._known:  # what is recorded came before anything that is still to come
            _, ticket, outcome = heapq.heappop(self._known)
        elif self._asked:
            ticket, task = self._wait()
            self._asked.discard(ticket)
            outcome = _outcome(task)
        else:
            raise LookupError("nothing is in flight")
        self._model.spent += _spent(outcome)
        return ticket, outcome

    def close(self) -> None:
        """Give up what is in flight, and wait until it has ended."""
        if self._asked:
            self._asked.clear()
            self._background.cancel(self)
        self._known.clear()

    def _wait(self) -> tuple[int, asyncio.Task[Reply]]:
        while True:
            try:
                return self._arrived.get(timeout=_LOOK_UP_SECONDS)
            except queue.Empty:
                continue


def _outcome(task: asyncio.Task[Any]) -> Outcome:
    """The answer or the error of a task that has ended; anything that is no LLMError is raised."""
    if task.cancelled():
        raise RuntimeError("the language model was closed while it was asked")
    error = task.exception()
    if error is None:
        reply: Reply = task.result()
        return reply
    if isinstance(error, LLMError):
        return error
    raise error


def _spent(outcome: Outcome) -> Spent:
    return spent_on(outcome) if isinstance(outcome, LLMError) else outcome.spent

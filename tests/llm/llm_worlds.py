"""What the tests of clients share: short patience, a server without sockets, a price that is easy to reckon with."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from scripted_server import Script, ScriptedServer

from worldcoder.llm import (
    Budget,
    Cost,
    Limits,
    LLMError,
    Message,
    Patience,
    Price,
    Reply,
    Request,
    ServerClient,
    Usage,
    open_client,
)
from worldcoder.llm.server import Answer, Attempt, Feature

KEY = "sk-Very-Secret-0123456789"
ENVIRONMENT = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, "LLM_API_KEY": KEY}

SHORT = Patience(attempt_seconds=20, total_seconds=60, tries=3, first_pause=0.01, longest_pause=0.02)
"""For servers that fail quickly."""


def hasty(seconds: float) -> Patience:
    """For servers that let one wait."""
    return replace(SHORT, attempt_seconds=seconds)


def ask(prompt: str = "hello", *, model: str = "openai/test", **settings: Any) -> Request:
    """A request of one message."""
    return Request(model, (Message("user", prompt),), **{"max_tokens": 50, **settings})


def opened(server: ScriptedServer, model: str = "openai/test", **settings: Any) -> ServerClient:
    """A client of a scripted server."""
    url = server.root if model.startswith("anthropic/") else server.url
    given = {
        "patience": SHORT,
        "rng": random.Random(0),
        "environment": ENVIRONMENT,
        "base_url": url,
        **settings,
    }
    return open_client(model, **given)


@dataclass
class Seen:
    """What came of a request."""

    server: ScriptedServer
    client: ServerClient
    outcome: Reply | LLMError

    @property
    def reply(self) -> Reply:
        assert isinstance(self.outcome, Reply), repr(self.outcome)
        return self.outcome

    @property
    def error(self) -> LLMError:
        assert isinstance(self.outcome, LLMError), repr(self.outcome)
        return self.outcome


def seen(script: Script, *requests: Request, budget: Budget | Limits | None = None, **settings: Any) -> Seen:
    """What comes of requests, one after the other, to a server that does what a script says: of the last one.

    The time of limits begins when the client is open.
    """
    with ScriptedServer(script) as server:

        async def run(client: ServerClient) -> Reply | LLMError:
            paid = Budget(budget) if isinstance(budget, Limits) else budget
            outcome: Reply | LLMError | None = None
            for request in requests:
                try:
                    outcome = await client.complete(request, budget=paid)
                except LLMError as error:
                    outcome = error
            assert outcome is not None
            return outcome

        client = opened(server, requests[0].model, **settings)
        return Seen(server, client, asyncio.run(closing(client, run)))


async def closing(client: Any, run: Callable[[Any], Awaitable[Any]]) -> Any:
    """Run something with a client, and close that."""
    try:
        return await run(client)
    finally:
        await client.close()


class LinearPrice(Price):
    """A millicent a token."""

    def of(self, usage: Usage) -> Cost:
        return Cost((usage.tokens_in + usage.tokens_out) * 1e-5)


LINEAR = LinearPrice("linear")

Behave = Callable[[Attempt], Awaitable[Answer]]


class SimulatedServer:
    """A server without sockets: `behave` answers an attempt, or raises Failure."""

    def __init__(self, behave: Behave, lacks: frozenset[Feature] = frozenset()) -> None:
        self.name = "simulated"
        self.place = "the simulated server"
        self.lacks = lacks
        self._behave = behave

    async def ask(self, attempt: Attempt) -> Answer:
        return await self._behave(attempt)

    async def close(self) -> None:
        """There is nothing to close."""

"""Budgets are never exceeded, whatever is in flight, and say what was reached."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llm_worlds import LINEAR, SimulatedServer, ask, seen
from scripted_server import busy, hang, say

from worldcoder.llm import (
    Budget,
    BudgetReached,
    Cost,
    Limits,
    LLMError,
    Patience,
    Reply,
    ServerClient,
    Spent,
    Unavailable,
    UnknownModel,
    Usage,
    most,
)
from worldcoder.llm.errors import spent_on
from worldcoder.llm.server import Answer, Attempt, Failure, Text
from worldcoder.llm.tokens import count_prompt

HASTY = Patience(tries=3, first_pause=0.0, longest_pause=0.0)


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


# ── reserving and settling ───────────────────────────────────────────────────────────────────────────────


def test_what_is_reserved_counts_until_it_is_settled() -> None:
    budget = Budget(Limits(max_calls=3, max_tokens=100, max_usd=1.0))
    first = budget.try_reserve(Spent(1, 60, Cost(0.6)))
    assert first is not None
    left = budget.remaining()
    assert (left.calls, left.tokens, left.usd, left.seconds) == (2, 40, 0.4, None)
    assert budget.try_reserve(Spent(1, 60, Cost(0.1))) is None, "there may be room later"
    first.settle(Spent(1, 20, Cost(0.2)))
    assert budget.try_reserve(Spent(1, 60, Cost(0.1))) is not None
    assert budget.spent == Spent(1, 20, Cost(0.2))
    with pytest.raises(ValueError, match="once"):
        first.settle(Spent())


@pytest.mark.parametrize(
    ("limits", "which", "said"),
    [
        (Limits(max_calls=2), "calls", "limit is 2 calls; used: 2, the next request may take 1"),
        (
            Limits(max_tokens=2500),
            "tokens",
            "limit is 2,500 tokens; used: 2,000, the next request may take 1,000",
        ),
        (Limits(max_usd=0.25), "usd", r"limit is \$0.25; used: \$0.2, the next request may take \$0.1"),
    ],
)
def test_reaching_a_limit_says_which(limits: Limits, which: str, said: str) -> None:
    budget = Budget(limits, spent=Spent(2, 2000, Cost(0.2)))
    with pytest.raises(BudgetReached, match=said) as reached:
        budget.try_reserve(Spent(1, 1000, Cost(0.1)))
    assert reached.value.which == which


def test_the_time_is_up() -> None:
    clock = Clock()
    budget = Budget(Limits(max_seconds=10), seconds=4, clock=clock)
    assert budget.seconds_left() == 6
    clock.now += 5.5
    assert budget.try_reserve(Spent(1)) is not None
    clock.now += 0.5
    with pytest.raises(BudgetReached) as reached:
        budget.try_reserve(Spent(1))
    assert reached.value.which == "seconds"
    assert budget.remaining().seconds == 0


def test_a_part_of_a_budget_is_spent_in_the_whole() -> None:
    whole = Budget(Limits(max_calls=3))
    part = Budget(Limits(max_calls=2), within=whole)
    for _ in range(2):
        reservation = part.try_reserve(Spent(1))
        assert reservation is not None
        reservation.settle(Spent(1))
    with pytest.raises(BudgetReached, match="limit is 2 calls"):
        part.try_reserve(Spent(1))
    other = Budget(Limits(max_calls=2), within=whole)
    assert other.remaining().calls == 1
    other.count(Spent(1))
    assert whole.spent.calls == 3
    with pytest.raises(BudgetReached, match="limit is 3 calls"):
        other.try_reserve(Spent(1))


def test_what_is_counted_is_counted_whatever_the_limits_say() -> None:
    budget = Budget(Limits(max_calls=1))
    budget.count(Spent(5))
    assert budget.spent.calls == 5
    assert budget.remaining().calls == 0


def test_waiting_for_room_ends_when_something_is_settled() -> None:
    async def run() -> list[str]:
        budget = Budget(Limits(max_tokens=10))
        first = await budget.reserve(Spent(1, 8))
        order: list[str] = []

        async def second() -> None:
            (await budget.reserve(Spent(1, 8))).settle(Spent(1, 3))
            order.append("second")

        waiting = asyncio.create_task(second())
        await asyncio.sleep(0.01)
        order.append("first")
        first.settle(Spent(1, 2))
        await waiting
        return order

    assert asyncio.run(run()) == ["first", "second"]


def test_waiting_for_room_ends_when_there_can_be_none() -> None:
    async def run() -> None:
        budget = Budget(Limits(max_tokens=10))
        first = await budget.reserve(Spent(1, 8))
        waiting = asyncio.create_task(budget.reserve(Spent(1, 8)))
        await asyncio.sleep(0.01)
        first.settle(Spent(1, 8))
        with pytest.raises(BudgetReached):
            await waiting

    asyncio.run(run())


def test_waiting_for_room_ends_when_the_time_is_up() -> None:
    async def run() -> None:
        budget = Budget(Limits(max_tokens=10, max_seconds=0.05))
        await budget.reserve(Spent(1, 8))
        with pytest.raises(BudgetReached, match="time"):
            await budget.reserve(Spent(1, 8))

    asyncio.run(run())


# ── a client under a budget ──────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Turn:
    """What the simulated server does with one attempt. part: how much of what is reserved it really takes."""

    does: str
    steps: int
    part: float


TURNS = st.builds(
    Turn,
    st.sampled_from(["answer", "answer", "no usage", "busy", "broken", "rejected", "one text", "never ends"]),
    st.integers(0, 3),
    st.floats(0, 1),
)
LIMITS = st.builds(
    Limits,
    max_calls=st.none() | st.integers(0, 12),
    max_tokens=st.none() | st.integers(0, 2000),
    max_usd=st.none() | st.floats(0, 0.02),
)
WANTED = st.integers(1, 3)


@settings(max_examples=100, deadline=None)
@given(
    LIMITS,
    LIMITS,
    st.lists(TURNS, max_size=30),
    st.lists(st.integers(1, 3), min_size=1, max_size=8),
    st.integers(1, 5),
)
def test_no_limit_is_exceeded_with_requests_in_flight(
    limits: Limits, wider: Limits, turns: list[Turn], requests: list[int], in_flight: int
) -> None:
    """The server keeps its own account of what it charges; it charges no more than it was asked for."""
    whole = Budget(wider)
    budget = Budget(limits, within=whole)
    charged = Spent()
    at_once, most_at_once = 0, 0
    script = iter(turns)

    def within_limits() -> None:
        for one in (limits, wider):
            for account in (charged, budget.spent):
                assert one.max_calls is None or account.calls <= one.max_calls
                assert one.max_tokens is None or account.tokens <= one.max_tokens
                assert one.max_usd is None or (account.cost.usd or 0) <= one.max_usd + 1e-9

    async def behave(attempt: Attempt) -> Answer:
        nonlocal charged, at_once, most_at_once
        at_once += 1
        most_at_once = max(most_at_once, at_once)
        try:
            turn = next(script, Turn("answer", 0, 0.5))
            if turn.does in ("busy", "rejected"):
                await asyncio.sleep(0)
                raise Failure("busy" if turn.does == "busy" else "rejected", Unavailable("not now"))
            n = 1 if turn.does == "one text" else attempt.n
            into = max(1, int(count_prompt(attempt.request) * turn.part))
            out = int(n * attempt.request.max_tokens * turn.part)
            charged += Spent(n, into + out, LINEAR.of(Usage(into, out)))
            within_limits()
            for _ in range(turn.steps):
                await asyncio.sleep(0)
            if turn.does == "broken":
                raise Failure("broken", Unavailable("broke off"), paid=True)
            finish: Any = None if turn.does == "never ends" else "length"
            texts = {i: Text("x", finish) for i in range(n)}
            return Answer(texts, None if turn.does == "no usage" else Usage(into, out))
        finally:
            at_once -= 1

    async def run() -> list[Reply | BaseException]:
        client = ServerClient(
            SimulatedServer(behave), price=LINEAR, patience=HASTY, in_flight=in_flight, rng=random.Random(0)
        )
        asking = [
            client.complete(ask(f"{i}", model="simulated", n=n), budget=budget)
            for i, n in enumerate(requests)
        ]
        return await asyncio.gather(*asking, return_exceptions=True)

    outcomes = asyncio.run(asyncio.wait_for(run(), 10))
    within_limits()
    assert most_at_once <= in_flight
    assert budget.spent == whole.spent
    replied = sum((o.spent.tokens for o in outcomes if isinstance(o, Reply)), 0)
    in_vain = sum(getattr(o.spent, "tokens", 0) for o in outcomes if isinstance(o, LLMError))
    assert replied + in_vain == budget.spent.tokens, "everything spent is told with one outcome"
    for outcome in outcomes:
        assert isinstance(outcome, Reply | LLMError), outcome
        if isinstance(outcome, BudgetReached):
            assert (
                getattr(limits, f"max_{outcome.which}") is not None
                or getattr(wider, f"max_{outcome.which}") is not None
            )


def test_tokens_that_were_underestimated_are_foreseen_the_next_time() -> None:
    async def behave(attempt: Attempt) -> Answer:
        return Answer({0: Text("x", "stop")}, Usage(1000, 1))

    async def run() -> None:
        client = ServerClient(SimulatedServer(behave), price=LINEAR)
        request = ask("short", model="simulated")
        before = client.need(request).tokens
        await client.complete(request)
        assert before < 1000 < client.need(request).tokens

    asyncio.run(run())


def test_what_a_request_needs_at_most_is_known_before() -> None:
    async def behave(attempt: Attempt) -> Answer:
        raise AssertionError

    client = ServerClient(SimulatedServer(behave), price=LINEAR)
    one, three = (client.need(ask("hello", model="simulated", n=n)) for n in (1, 3))
    assert (one.calls, three.calls) == (1, 3)
    assert three.tokens == one.tokens + 2 * 50
    assert most(ask("hello", model="simulated"), LINEAR).tokens == one.tokens - 1, "the client rounds up"
    assert one.cost.usd == pytest.approx(one.tokens * 1e-5)
    alone = ServerClient(SimulatedServer(behave, frozenset({"n"})), price=LINEAR)
    assert alone.need(ask("hello", model="simulated", n=3)).tokens == 3 * one.tokens, (
        "the prompt is paid three times"
    )


def test_an_unknown_price_and_a_limit_of_costs_are_refused_before_anything_is_sent() -> None:
    """Also where an earlier reply, whose price was not known, is counted."""
    result = seen([say("x")], ask(), budget=Budget(Limits(max_usd=1.0)))
    assert isinstance(result.error, UnknownModel)
    assert "the price of openai/test is not known" in str(result.error)
    assert not result.server.asked
    part = Budget(Limits(max_calls=5), within=Budget(Limits(max_usd=1.0)))
    assert isinstance(seen([say("x")], ask(), budget=part).error, UnknownModel)
    budget = Budget(Limits(max_usd=1.0), spent=Spent(1, 10, Cost(None)))
    with pytest.raises(UnknownModel):
        budget.try_reserve(Spent(1, 10, Cost(0.1)))


def test_the_clock_runs_out_in_a_call() -> None:
    result = seen([hang()], ask(), budget=Limits(max_seconds=0.3))
    assert isinstance(result.error, BudgetReached)
    assert result.error.which == "seconds"
    assert len(result.server.asked) == 1
    spent = spent_on(result.error)
    assert (spent.calls, spent.exact) == (1, False), "the server may have worked on it"


def test_the_clock_runs_out_between_calls() -> None:
    result = seen([busy(retry_after="3"), say("x")], ask(), budget=Limits(max_seconds=1.5))
    assert isinstance(result.error, BudgetReached)
    assert len(result.server.asked) == 1


def test_what_was_paid_for_is_handed_out_although_there_is_no_more_budget() -> None:
    result = seen([say("one", ignores_n=True)], ask(n=3), budget=Budget(Limits(max_calls=3)))
    assert result.reply.texts == ("one",) * 3
    tight = Budget(Limits(max_tokens=400))
    result = seen(
        [say("one", ignores_n=True, usage={"prompt_tokens": 200, "completion_tokens": 50})],
        ask(n=3),
        budget=tight,
    )
    assert result.reply.texts == ("one",)
    assert tight.spent.tokens == 250

"""Asks one model on one server, and does not give up at the first failure.

Each attempt is paid for out of a budget: the most it can cost is reserved before, and what it did cost counts
after, or all that was reserved where the server may have worked and nobody knows how much (an answer that broke
off, or took too long). An attempt that the server turned away costs nothing.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from typing import Protocol

from worldcoder.errors import BudgetReached, LLMError, ValueFormError
from worldcoder.llm.budget import Budget, time_is_up
from worldcoder.llm.concessions import Concessions, Knowledge, missed
from worldcoder.llm.errors import BadReply, Unavailable
from worldcoder.llm.patience import Patience
from worldcoder.llm.prices import NO_PRICE, Price
from worldcoder.llm.server import Answer, Attempt, Failure, Feature, Server, Text
from worldcoder.llm.tokens import count_prompt, count_tokens
from worldcoder.llm.values import NOTHING, Reply, Request, Spent, Usage


class Client(Protocol):
    """Answers requests to one model."""

    name: str
    """The model, as requests name it."""

    async def complete(self, request: Request, *, budget: Budget | None = None) -> Reply:
        """The answer; raises LLMError. budget: out of which it is paid; None: without limits."""
        ...

    async def close(self) -> None:
        """Let go of whatever is open."""
        ...


def most(request: Request, price: Price, *, n: int | None = None, prompt: int | None = None) -> Spent:
    """The most that a request can cost if it is answered at the first attempt.

    n: how many of its texts, for all. prompt: the tokens that a server counts for it, instead of an estimate.
    """
    n = request.n if n is None else n
    usage = Usage(count_prompt(request) if prompt is None else prompt, n * request.max_tokens)
    return Spent(n, usage.tokens_in + usage.tokens_out, price.of(usage), exact=False)


@dataclass
class _Job:
    """One request on its way.

    until: when it is given up, by the clock of the event loop. usage: None once an answer came without.
    """

    request: Request
    budget: Budget
    until: float
    texts: dict[int, Text] = field(default_factory=dict)
    usage: Usage | None = field(default_factory=lambda: Usage(0, 0))
    spent: Spent = NOTHING
    model: str = ""
    without: frozenset[Feature] = frozenset()

    def missing(self) -> list[int]:
        return [i for i in range(self.request.n) if i not in self.texts]

    def take(self, answer: Answer, numbers: list[int]) -> None:
        """The complete texts of an answer, under these numbers."""
        self.texts.update(zip(numbers, answer.complete(), strict=False))
        self.model = answer.model or self.model
        self.usage = None if self.usage is None or answer.usage is None else self.usage + answer.usage

    def reply(self, seconds: float) -> Reply:
        texts = [text for _, text in sorted(self.texts.items())]
        return Reply(
            tuple(t.text for t in texts),
            tuple(t.finish or "other" for t in texts),
            usage=self.usage,
            model=self.model,
            seconds=round(seconds, 3),
            spent=self.spent,
            without=tuple(sorted(missed(self.request, self.without))),
        )


class ServerClient:
    """One model on one server.

    price: what its tokens cost. in_flight: attempts that may be under way at once. rng: for the pauses.
    """

    def __init__(
        self,
        server: Server,
        *,
        price: Price = NO_PRICE,
        patience: Patience = Patience(),  # noqa: B008 - frozen
        in_flight: int = 4,
        rng: random.Random | None = None,
    ) -> None:
        self.name = server.name
        self.price = price
        self._server = server
        self._patience = patience
        self._rng = rng or random.Random()
        self._slots = asyncio.Semaphore(in_flight)
        self._known = Knowledge(server.lacks)
        self._reached = False
        self._not_before = 0.0  # by the clock of the event loop; what one request is told holds for all
        self._underestimated = 1.0

    async def complete(self, request: Request, *, budget: Budget | None = None) -> Reply:
        """The answer. It has fewer texts than were asked for where asking for the rest failed."""
        if request.model != self.name:
            raise ValueFormError(f"a request for {request.model} was given to the client of {self.name}")
        budget = budget or Budget()
        budget.check(price_known=self.price.known, model=self.name)
        loop = asyncio.get_running_loop()
        began = loop.time()
        seconds, left = self._patience.total_seconds, budget.seconds_left()
        job = _Job(request, budget, began + (seconds if left is None else min(seconds, left)))
        error: LLMError
        try:
            async with asyncio.timeout_at(job.until):
                await self._fill(job)
            return job.reply(loop.time() - began)
        except TimeoutError:
            if left is not None and left <= seconds:
                error = time_is_up()
            else:
                error = Unavailable(
                    f"{self._server.place} did not answer within {seconds:g} s, with all retries"
                )
        except LLMError as failed:
            error = failed
        if job.texts:  # they are paid for
            return job.reply(loop.time() - began)
        if job.spent != NOTHING:
            error.spent = job.spent
        raise error

    def need(self, request: Request) -> Spent:
        """The most that a request can cost if every attempt succeeds."""
        if "n" not in self._known.lacks:
            return self._need(request, request.n)
        return sum((self._need(request, 1) for _ in range(request.n)), NOTHING)

    async def close(self) -> None:
        await self._server.close()

    async def _fill(self, job: _Job) -> None:
        """Ask until there are as many texts as are wanted."""
        while missing := job.missing():
            if len(missing) > 1 and "n" not in self._known.lacks:
                await self._persist(job, missing)
                continue
            asking = (self._persist(job, [number]) for number in missing)
            for result in await asyncio.gather(*asking, return_exceptions=True):
                if isinstance(result, BaseException):
                    raise result

    async def _persist(self, job: _Job, numbers: list[int]) -> None:
        """Get at least one of these texts, all of them if the server gives several at once."""
        concessions = Concessions(self._known.lacks, job.request, len(numbers))
        first: Failure | None = None
        failures = 0
        while True:
            without = concessions.without
            n = 1 if "n" in without else len(numbers)
            seed = None if job.request.seed is None else job.request.seed + numbers[0]
            try:
                answer = await self._attempt(job, Attempt(job.request, n, seed, without))
            except Failure as failed:
                failure = failed
            except BudgetReached as reached:
                if first is None or reached.which != "calls":
                    raise
                raise BadReply(f"{first.error}; no calls are left to try again") from None
            else:
                job.take(answer, numbers)
                job.without |= without
                self._known.accepted(concessions)
                if len(answer.texts) < n:
                    self._known.ignores_n()
                return
            first = first or failure
            if failure.answer is not None and failure.answer.complete():
                job.take(failure.answer, numbers)
                job.usage = None
                numbers = [number for number in numbers if number not in job.texts]
                if not numbers:
                    return
            if failure.why == "rejected" or (failure.status == 500 and (failure.blamed or failures)):
                if concessions.concede(failure):
                    continue
                if failure.why == "rejected":
                    raise first.error
            failures += 1
            await self._pause(job, failure, failures)

    async def _pause(self, job: _Job, failure: Failure, failures: int) -> None:
        """Wait before the next attempt; raises the error where there is to be none."""
        if self._patience.enough(failure, failures, reached=self._reached):
            if failures == 1:
                raise failure.error
            raise type(failure.error)(f"{failure.error}; tried {failures} times")
        pause = self._patience.pause(failures, failure.retry_after, self._rng)
        now = asyncio.get_running_loop().time()
        if now + pause > job.until:  # waiting would be in vain
            if (job.budget.seconds_left() or pause) < pause:
                raise time_is_up()
            raise type(failure.error)(f"{failure.error}; the next try, in {pause:.0f} s, would be too late")
        if failure.retry_after is not None:
            self._not_before = max(self._not_before, now + pause)
        else:
            await asyncio.sleep(pause)

    async def _attempt(self, job: _Job, attempt: Attempt) -> Answer:
        """One attempt, paid for. Raises Failure."""
        loop = asyncio.get_running_loop()
        seconds = self._patience.attempt_seconds
        while (pause := self._not_before - loop.time()) > 0:
            await asyncio.sleep(pause)
        async with self._slots:
            need = self._need(attempt.request, attempt.n)
            reservation = await job.budget.reserve(need)
            spent = need
            try:
                async with asyncio.timeout(seconds):
                    answer = await self._server.ask(attempt)
                self._reached = True
                self._check(answer)
                spent = self._spent(attempt, answer)
                return answer
            except TimeoutError:
                error = Unavailable(f"{self._server.place} did not answer within {seconds:g} s")
                raise Failure("slow", error, paid=True) from None
            except Failure as failure:
                self._reached = self._reached or failure.why != "unreachable"
                if not failure.paid:
                    spent = NOTHING
                raise
            finally:
                reservation.settle(spent)
                job.spent += spent

    def _check(self, answer: Answer) -> None:
        """Raise Failure for an answer in which no text has come to its end."""
        if answer.complete():
            return
        if any(text.text or text.unseen for text in answer.texts.values()):
            error: LLMError = Unavailable(f"{self._server.place} stops in the middle of an answer")
            raise Failure("broken", error, paid=True)
        error = BadReply(f"{self._server.place} sends an answer in which there is no text")
        raise Failure("unreadable", error, paid=True)

    def _need(self, request: Request, n: int) -> Spent:
        """The most for n texts that are asked for together."""
        return most(request, self.price, n=n, prompt=int(count_prompt(request) * self._underestimated + 1))

    def _spent(self, attempt: Attempt, answer: Answer) -> Spent:
        """What an answer cost, as the server reports it, else estimated."""
        request, usage = attempt.request, answer.usage
        counted = count_prompt(request)
        if usage is not None:
            self._underestimated = max(self._underestimated, usage.tokens_in / counted)
        else:
            out = (self._written(text, request.max_tokens) for text in answer.texts.values())
            usage = Usage(counted, sum(out))
        exact = answer.usage is not None
        calls = max(1, len(answer.texts))
        return Spent(calls, usage.tokens_in + usage.tokens_out, self.price.of(usage), exact=exact)

    @staticmethod
    def _written(text: Text, most: int) -> int:
        """An upper estimate of the tokens that a text took."""
        return most if text.finish == "length" else min(most, count_tokens(text.text) + text.unseen)

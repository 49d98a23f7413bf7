"""What may be spent on a model, and what was.

Before a request goes out, the most that it can cost is reserved; when it is answered, what it did cost takes the
place of that. What is spent and what is reserved are together never above a limit, so that no limit is exceeded
however many requests are in flight. (A server that counts more tokens than `tokens.count_prompt` foresees, or
that gives more than `max_tokens`, can still go over it, by that much, once.)
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import fsum

from worldcoder.errors import BudgetReached, Limited
from worldcoder.llm.errors import UnknownModel
from worldcoder.llm.values import NOTHING, Cost, Spent

_ROUNDING = 1e-12  # dollars; sums of floats differ in their last digits


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What may be spent at most; None: no limit.

    max_calls: texts that are asked for. max_tokens: in and out. max_seconds: from when the budget was made.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_usd: float | None = None
    max_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Remaining:
    """What is left, without what is reserved; None: no limit, or (of usd) not known."""

    calls: int | None
    tokens: int | None
    usd: float | None
    seconds: float | None


class Reservation:
    """A part of a budget that is kept for one request, until `settle` is called, once."""

    def __init__(self, budget: Budget, need: Spent) -> None:
        self.need = need
        self._budget = budget

    def settle(self, spent: Spent) -> None:
        """The request is done, and this is what it cost."""
        self._budget._settle(self, spent)


class Budget:
    """Limits, and how much of them is used.

    within: a wider budget, of which this one is a part: what is spent here is spent there.
    spent, seconds: used up before, where a run is resumed. clock: seconds, from any start.

    May be used from any thread. Waiting (`reserve`) is for one event loop at a time.
    """

    def __init__(
        self,
        limits: Limits = Limits(),
        *,
        within: Budget | None = None,
        spent: Spent = NOTHING,
        seconds: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limits = limits
        self._within = within
        self._spent = spent
        self._clock = clock
        self._began = clock() - seconds
        self._reserved: dict[Reservation, None] = {}
        self._lock: threading.RLock = threading.RLock() if within is None else within._lock
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = (
            [] if within is None else within._waiting
        )

    @property
    def spent(self) -> Spent:
        """What is spent; what is only reserved does not count."""
        return self._spent

    def seconds_left(self) -> float | None:
        """Until the time is up, here or in a wider budget; None: there is no limit."""
        own = None
        if self.limits.max_seconds is not None:
            own = self.limits.max_seconds - (self._clock() - self._began)
        wider = None if self._within is None else self._within.seconds_left()
        left = [s for s in (own, wider) if s is not None]
        return min(left) if left else None

    def remaining(self) -> Remaining:
        """What is left now, wider budgets considered. It moves while requests are in flight: it is for people."""
        with self._lock:
            calls, tokens, usd = (self._left(name) for name in ("calls", "tokens", "usd"))
            seconds = self.seconds_left()
        return Remaining(
            None if calls is None else int(calls),
            None if tokens is None else int(tokens),
            usd,
            None if seconds is None else max(0.0, seconds),
        )

    def check(self, *, price_known: bool, model: str) -> None:
        """Raise UnknownModel where costs are limited and the price of a model is not known."""
        if not price_known and self._limits_usd():
            raise UnknownModel(
                f"the price of {model} is not known, so that a limit of costs cannot be kept; "
                "limit calls or tokens instead of dollars"
            )

    def count(self, spent: Spent) -> None:
        """Count what was spent already (a recorded reply), whatever the limits say."""
        with self._lock:
            self._spent += spent
            if self._within is not None:
                self._within.count(spent)

    def try_reserve(self, need: Spent) -> Reservation | None:
        """Keep a part of the budget for a request; `need` is the most that it can take.

        None: there is no room now, but there may be when what is in flight is settled.
        Raises BudgetReached where there can be none. A need that is not known in dollars fits under any limit
        of dollars but is refused by `check`.
        """
        with self._lock:
            self._check_time()
            wait = False
            budget: Budget | None = self
            while budget is not None:
                wait = not budget._has_room(need) or wait
                budget = budget._within
            if wait:
                return None
            reservation = Reservation(self, need)
            self._each(lambda b: b._reserved.__setitem__(reservation, None))
            return reservation

    async def reserve(self, need: Spent) -> Reservation:
        """As `try_reserve`, but waits for room while there is something in flight that may make some."""
        while True:
            settled = asyncio.Event()
            entry = asyncio.get_running_loop(), settled
            with self._lock:
                reservation = self.try_reserve(need)
                if reservation is not None:
                    return reservation
                self._waiting.append(entry)
            try:
                async with asyncio.timeout(self.seconds_left()):
                    await settled.wait()
            except TimeoutError:
                self._check_time()
            finally:
                with self._lock:
                    if entry in self._waiting:
                        self._waiting.remove(entry)

    def _settle(self, reservation: Reservation, spent: Spent) -> None:
        with self._lock:
            if reservation not in self._reserved:
                raise ValueError("a reservation is settled once")
            self._each(lambda b: b._reserved.pop(reservation))
            self.count(spent)
            waiting, self._waiting[:] = list(self._waiting), []
        for loop, settled in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(settled.set)

    def _each(self, do: Callable[[Budget], object]) -> None:
        """Here and in every wider budget."""
        budget: Budget | None = self
        while budget is not None:
            do(budget)
            budget = budget._within

    def _limits_usd(self) -> bool:
        wider = self._within is not None and self._within._limits_usd()
        return self.limits.max_usd is not None or wider

    def _check_time(self) -> None:
        left = self.seconds_left()
        if left is not None and left <= 0:
            raise time_is_up()

    def _has_room(self, need: Spent) -> bool:
        """Whether there is room in this budget; raises BudgetReached where there can be none."""
        for which, limit in self._limited():
            spent, wanted = _amount(self._spent, which), _amount(need, which)
            if spent is None or wanted is None:  # a price is not known, see `check`
                raise UnknownModel("a price is not known, so that a limit of costs cannot be kept")
            if spent + wanted > limit + _ROUNDING:
                raise BudgetReached(_message(which, limit, spent, wanted), which)
            if spent + self._in_flight(which) + wanted > limit + _ROUNDING:
                return False
        return True

    def _limited(self) -> list[tuple[Limited, float]]:
        limits = {
            "calls": self.limits.max_calls,
            "tokens": self.limits.max_tokens,
            "usd": self.limits.max_usd,
        }
        return [(which, limit) for which, limit in limits.items() if limit is not None]  # type: ignore[misc]

    def _in_flight(self, which: Limited) -> float:
        return fsum(_amount(r.need, which) or 0.0 for r in self._reserved)

    def _left(self, which: str) -> float | None:
        wider = None if self._within is None else self._within._left(which)
        own = None
        for name, limit in self._limited():
            spent = _amount(self._spent, name)
            if name == which and spent is not None:
                own = max(0.0, limit - spent - self._in_flight(name))
        left = [x for x in (own, wider) if x is not None]
        return min(left) if left else None


def time_is_up() -> BudgetReached:
    """What is raised when the seconds are over."""
    return BudgetReached("the time for asking the language model is up", "seconds")


def _amount(spent: Spent, which: Limited) -> float | None:
    return spent.cost.usd if which == "usd" else float(spent.calls if which == "calls" else spent.tokens)


def _message(which: Limited, limit: float, spent: float, wanted: float) -> str:
    if which == "usd":
        limited, used, more = f"${limit:g}", str(Cost(spent)), str(Cost(wanted))
    else:
        limited, used, more = f"{limit:,.0f} {which}", f"{spent:,.0f}", f"{wanted:,.0f}"
    return f"the language model's limit is {limited}; used: {used}, the next request may take {more}"

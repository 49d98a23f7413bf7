"""How long a server is waited for, how often it is tried again, and what is left out of a request meanwhile."""

from __future__ import annotations

import random
from dataclasses import dataclass

from worldcoder.llm.server import Failure, Feature
from worldcoder.llm.values import Request


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """How long and how often.

    attempt_seconds: for one attempt; total_seconds: for a request with all its attempts and pauses.
    tries: attempts that may fail. unreadable_tries: the same, for answers that cannot be read; more of them
    would be paid for in vain. unreachable_tries: the same, for a server that was never reached.
    first_pause, longest_pause: seconds; each pause is twice the one before, less a random part.
    """

    attempt_seconds: float = 600.0
    total_seconds: float = 1800.0
    tries: int = 7
    unreadable_tries: int = 3
    unreachable_tries: int = 3
    first_pause: float = 1.0
    longest_pause: float = 60.0

    def pause(self, failures: int, retry_after: float | None, rng: random.Random) -> float:
        """How long to wait after so many failures; at least as long as the server asks."""
        longest = min(self.longest_pause, self.first_pause * 2.0 ** min(failures - 1, 32))
        jittered = longest * rng.uniform(0.5, 1.0)
        return jittered if retry_after is None else retry_after + rng.uniform(0.0, min(jittered, 1.0))

    def enough(self, failure: Failure, failures: int, *, reached: bool) -> bool:
        """Whether to give up after so many failures. reached: the server has answered at some time."""
        if failure.why == "final":
            return True
        tries = self.tries
        if failure.why == "unreadable":
            tries = self.unreadable_tries
        elif failure.why == "unreachable" and not reached:
            tries = self.unreachable_tries
        return failures >= tries


_LIMITS: frozenset[Feature] = frozenset({"max_tokens", "max_completion_tokens"})
"""Two names for one thing, of which a server knows at least one."""

_SUSPECTS: tuple[Feature, ...] = ("schema", "n", "seed")
"""What servers refuse most often without saying so."""

_WISHES: tuple[Feature, ...] = ("schema", "seed", "stop", "temperature")


class Concessions:
    """What is left out of one request, step by step, until the server takes it.

    Some servers say what they do not accept; some answer an error of their own (HTTP 500). Where nothing is
    named, the suspects are left out one at a time, then together.

    known: what is known of the server before.
    """

    def __init__(self, known: frozenset[Feature], request: Request, n: int) -> None:
        self._named = known
        self._guess: frozenset[Feature] = frozenset()
        self._swapped = False
        there = {"schema": request.schema is not None, "n": n > 1, "seed": request.seed is not None}
        suspects = [frozenset({f}) for f in _SUSPECTS if there[f] and f not in known]
        self._guesses = [*suspects, frozenset().union(*suspects)] if len(suspects) > 1 else suspects

    @property
    def without(self) -> frozenset[Feature]:
        """What is left out now."""
        return self._named | self._guess

    def concede(self, failure: Failure) -> bool:
        """Leave out something more, or something else; whether there was anything."""
        blamed = failure.blamed - self.without
        if blamed & _LIMITS:
            if self._swapped:
                return False
            self._swapped = True
            self._named = (self._named - _LIMITS) | (blamed & _LIMITS)
        if blamed:
            self._named |= blamed
            return True
        if not self._guesses:
            return False
        self._guess = self._guesses.pop(0)
        return True


def learned(known: frozenset[Feature], without: frozenset[Feature]) -> frozenset[Feature]:
    """What is known of a server after it took a request without these."""
    return (known - _LIMITS) | without


def missed(request: Request, without: frozenset[Feature]) -> frozenset[Feature]:
    """Which wishes of a request a server did not hear."""
    there = {
        "schema": request.schema is not None,
        "seed": request.seed is not None,
        "stop": bool(request.stop),
        "temperature": request.temperature is not None,
    }
    return frozenset(f for f in _WISHES if there[f] and f in without)

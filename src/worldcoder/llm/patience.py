"""How long a server is waited for, and how often it is tried again."""

from __future__ import annotations

import random
from dataclasses import dataclass

from worldcoder.llm.server import Failure


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

"""What a server does not accept: how that is found out, request by request, and remembered."""

from __future__ import annotations

from collections import Counter

from worldcoder.llm.server import Failure, Feature
from worldcoder.llm.values import Request

_LIMITS: frozenset[Feature] = frozenset({"max_tokens", "max_completion_tokens"})
"""Two names for one thing, of which a server knows at least one."""

_SUSPECTS: tuple[Feature, ...] = ("schema", "n", "seed")
"""What servers refuse most often without saying so."""

_WISHES: tuple[Feature, ...] = ("schema", "seed", "stop", "temperature")

_SURE = 2
"""How often in a row it has to help to leave something out after an error of the server's own, which may pass."""


class Concessions:
    """What is left out of one request, step by step, until the server takes it.

    Some servers say what they do not accept; some answer an error of their own (HTTP 500). Where nothing is
    named, the suspects are left out one at a time, then together.

    known: what is known of the server before. unsure: what may have been left out in vain.
    """

    def __init__(self, known: frozenset[Feature], request: Request, n: int) -> None:
        self.unsure: frozenset[Feature] = frozenset()
        self._named = known
        self._guess: frozenset[Feature] = frozenset()
        self._swapped = False
        several: frozenset[Feature] = frozenset({"n"} if n > 1 else ())
        self._wanted = _wanted(request) | several
        suspects = [frozenset({f}) for f in _SUSPECTS if f in self._wanted and f not in known]
        self._guesses = [*suspects, frozenset().union(*suspects)] if len(suspects) > 1 else suspects

    @property
    def without(self) -> frozenset[Feature]:
        """What is left out now."""
        return self._named | self._guess

    @property
    def offered(self) -> frozenset[Feature]:
        """What is wished and not left out."""
        return self._wanted - self.without

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
        self.unsure = self._guess if failure.status == 500 else frozenset()
        return True


class Knowledge:
    """What is known of a server: `lacks` is what it does not accept."""

    def __init__(self, lacks: frozenset[Feature]) -> None:
        self.lacks = lacks
        self._helped: Counter[Feature] = Counter()

    def accepted(self, concessions: Concessions) -> None:
        """The server took a request after these concessions."""
        for feature in concessions.offered:
            self._helped[feature] = 0
        self._helped.update(concessions.unsure)
        unsure = {f for f in concessions.unsure if self._helped[f] < _SURE}
        self.lacks = (self.lacks - _LIMITS) | (concessions.without - unsure)

    def ignores_n(self) -> None:
        """It gave fewer texts than it was asked for."""
        self.lacks |= {"n"}


def missed(request: Request, without: frozenset[Feature]) -> frozenset[Feature]:
    """Which wishes of a request a server did not hear."""
    return _wanted(request) & without


def _wanted(request: Request) -> frozenset[Feature]:
    there = {
        "schema": request.schema is not None,
        "seed": request.seed is not None,
        "stop": bool(request.stop),
        "temperature": request.temperature is not None,
    }
    return frozenset(wish for wish in _WISHES if there[wish])

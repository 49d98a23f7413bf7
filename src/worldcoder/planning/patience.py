"""How much a search may cost that was in vain the last times."""

from __future__ import annotations

from worldcoder.planning.model import Status

NODES_PER_ACTION = 500
"""Nodes that are spent in vain for one purpose, on average, for each real action."""

_SOONER = 8
"""The first time it waits so many times less."""

LEAST = 20
"""A search whose turn it is not has so many times fewer nodes: what is near is found at once all the same."""


class Patience:
    """Lets searches wait for their turn where their budgets ran out.

    Nothing is known after a budget ran out, and one action later the same search mostly ends the same. So a search
    waits twice as many actions each time, the longer the more nodes it costs; until then it is a small one. A
    search that comes to an end, whichever, is made anew at once. now: how many actions there were.
    """

    def __init__(self) -> None:
        self.now = 0
        self._waits: dict[str, int] = {}  # by purpose: actions from one search to the next
        self._next: dict[str, int] = {}
        self._most: dict[str, int] = {}
        self._in_vain: dict[str, int] = {}

    def nodes(self, purpose: str, nodes: int, first: int | None = None) -> int:
        """The nodes for a search that would have so many. first: for the first one; each in vain doubles them."""
        small = self.now < self._next.get(purpose, 0)
        if not small and first is not None:
            nodes = min(nodes, first << self._in_vain.get(purpose, 0))
        self._most[purpose] = 0 if small else max(1, nodes // NODES_PER_ACTION)
        return max(1, nodes // LEAST) if small else nodes

    def note(self, purpose: str, status: Status) -> None:
        """How the search ended that `nodes` was asked for last."""
        if status is not Status.BUDGET:
            for known in (self._waits, self._next, self._in_vain):
                known.pop(purpose, None)
        elif self._most[purpose]:
            self._in_vain[purpose] = self._in_vain.get(purpose, 0) + 1
            most = self._most[purpose]
            wait = min(2 * self._waits.get(purpose, 0) or -(-most // _SOONER), most)
            self._waits[purpose], self._next[purpose] = wait, self.now + wait + 1

    def renew(self) -> None:
        """Somewhere else now: every search has its turn."""
        self._next.clear()

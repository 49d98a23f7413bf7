"""Where the time of a run goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from worldcoder.agent import Timer

PARTS = ("acting", "synthesis", "planning")
WAITING = "waiting"
"""For a language model: a part of synthesis or planning, in whose course it is asked."""


class Clock:
    """Stopwatches by name, and the total; `clock("planning")` is one to use in a `with` statement.

    Names that are no part of a run's account are let pass: what they time lies within another.
    waits: whether a language model may be waited for.
    """

    def __init__(self, listen: Callable[[str], None] = lambda name: None, *, waits: bool = False) -> None:
        self._listen = listen
        self._parts = dict.fromkeys((*PARTS, WAITING) if waits else PARTS, 0.0)
        self._before = 0.0
        self._began = time.perf_counter()

    def __call__(self, name: str) -> Timer:
        self._listen(name)
        return _Span(self._parts, name) if name in self._parts else Timer()

    def restore(self, seconds: Mapping[str, float]) -> None:
        """Go on from totals that were noted earlier."""
        self._parts.update({name: float(seconds.get(name, 0.0)) for name in self._parts})
        self._before = float(seconds.get("total", 0.0))
        self._began = time.perf_counter()

    @property
    def total(self) -> float:
        """Seconds since the run began, those before it was resumed included."""
        return self._before + time.perf_counter() - self._began

    def seconds(self) -> dict[str, float]:
        """The totals, to the millisecond."""
        return {"total": round(self.total, 3), **{name: round(s, 3) for name, s in self._parts.items()}}


class _Span(Timer):
    def __init__(self, parts: dict[str, float], name: str) -> None:
        super().__init__()
        self._parts = parts
        self._name = name

    def __enter__(self) -> Timer:
        self._began = time.perf_counter()
        return self

    def __exit__(self, *exc: object) -> None:
        self._parts[self._name] += time.perf_counter() - self._began

"""Ending a run in order: by Ctrl-C, by a request to terminate, or when its seconds are over.

A request takes effect at once where that is safe (within `Interrupter.allowed`), else at the next such place.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED, TERMINATED, SECONDS = "interrupted", "terminated", "seconds"


class Interruption(BaseException):
    """The run is to end now. reason: one of the words above. No Exception, so that no program catches it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Interrupter:
    """Listens to signals while it is entered; only the main thread can, others go without."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._asked = 0
        self._allowed = False
        self._time_is_up = False
        self._timer: threading.Timer | None = None
        self._before: dict[int, object] = {}

    def __enter__(self) -> Interrupter:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *exc: object) -> None:
        self.no_limit()
        for number, handler in self._before.items():
            # None: somebody set it from outside Python
            signal.signal(number, signal.SIG_DFL if handler is None else handler)  # type: ignore[arg-type]
        self._before.clear()

    def limit(self, seconds: float) -> None:
        """End the run in so many seconds."""
        self._timer = threading.Timer(max(0.0, seconds), self._expire)
        self._timer.daemon = True
        self._timer.start()

    def no_limit(self) -> None:
        """Seconds do not count any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()  # so that its signal does not come later
            self._timer = None

    @contextmanager
    def ending(self) -> Iterator[None]:
        """As `allowed`, for what is still to be done after a request: only a new one cuts it off."""
        self._allowed = True
        try:
            yield
        finally:
            self._allowed = False

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """What is inside may be cut off at any point; raises Interruption."""
        self._allowed = True
        try:
            if self.reason is not None:
                raise Interruption(self.reason)
            yield
        finally:
            self._allowed = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Inside `allowed`, what is done as a whole; a request takes effect after it."""
        before, self._allowed = self._allowed, False
        try:
            yield
        finally:
            self._allowed = before
        if before and self.reason is not None:
            self._allowed = False
            raise Interruption(self.reason)

    def _expire(self) -> None:
        self._time_is_up = True
        if not self._before:
            self.reason = self.reason or SECONDS
        elif hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        else:
            signal.raise_signal(signal.SIGINT)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._time_is_up:
            self._time_is_up = False
            self.reason = self.reason or SECONDS
        else:
            self._asked += 1
            if self._asked > 1:  # asked twice: do not end in order
                signal.signal(number, signal.SIG_DFL)
                signal.raise_signal(number)
            self.reason = INTERRUPTED if number == signal.SIGINT else TERMINATED
        if self._allowed:
            self._allowed = False
            raise Interruption(self.reason)


class Ended(Interruption):
    """The run is at its end without anybody's asking: a limit is reached. No part of it is cut off."""

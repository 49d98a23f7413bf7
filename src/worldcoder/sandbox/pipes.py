"""The parent's ends of a worker's pipes. The parent never waits longer than it wants to."""

from __future__ import annotations

import os
import select
from time import monotonic

CHUNK = 1 << 16


class Pipes:
    """Replies are read from one pipe, requests are written to another."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)
        self._readable = select.poll()
        self._readable.register(reading, select.POLLIN)
        self._writable = select.poll()
        self._writable.register(writing, select.POLLOUT)

    def read(self, seconds: float | None) -> bytes | None:
        """What is there within so many seconds; nothing but `b""` at the end, None if nothing came."""
        if not self._readable.poll(None if seconds is None else max(0.0, seconds) * 1000):
            return None
        try:
            return os.read(self._reading, CHUNK)
        except BlockingIOError:
            return None

    def write(self, data: bytes, seconds: float | None) -> bool:
        """Write everything; False if that took longer. Raises BrokenPipeError where nobody reads."""
        until = None if seconds is None else monotonic() + seconds
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._writing, view) :]
            except BlockingIOError:
                left = None if until is None else until - monotonic()
                if left is not None and left <= 0.0:
                    return False
                self._writable.poll(None if left is None else left * 1000)
        return True

    def ended(self) -> bool:
        """Whether the worker has closed its end and left nothing to read."""
        found = self._readable.poll(0)
        return bool(found) and not found[0][1] & select.POLLIN

    def close(self) -> None:
        """Close both ends."""
        os.close(self._reading)
        os.close(self._writing)

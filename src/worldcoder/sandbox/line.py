"""What a service is, and the line on which it speaks to its parent."""

from __future__ import annotations

from time import monotonic
from typing import Any, Protocol

from worldcoder.sandbox.frames import pack, read_value, write_all

BEAT_SECONDS = 0.5
"""How long a worker that is busy keeps silent, unless even that is too long."""


class Service(Protocol):
    """What runs in workers. The class is made once, without arguments, in the process that forks them.

    Import everything at the top of the module: later nothing more can be loaded.
    """

    def prepare(self, data: Any) -> None:
        """Take data that every later worker shall have. Only trusted data, and never a program."""

    def handle(self, request: Any, line: Line) -> Any:
        """Answer one request, in a worker that is locked. What it raises ends the worker."""


class Line:
    """The worker's end of the line to its parent."""

    def __init__(self, reading: int, writing: int, silence: float) -> None:
        self._every = min(BEAT_SECONDS, silence / 4)
        self._reading = reading
        self._writing = writing
        self._request = ""
        self._beat = b""
        self._busy = False
        self._spoke = 0.0

    def send(self, part: Any) -> None:
        """Send a part of the reply. Raises TypeError or ValueError where it is not JSON."""
        self.write("part", part)

    def ask(self, question: Any) -> Any:
        """Ask the parent and wait for its answer."""
        self.write("ask", question)
        request, answer = read_value(self._reading)
        if request != self._request:
            raise RuntimeError("the parent answered another request")
        return answer

    # ── for the loop that serves ─────────────────────────────────────────────────────────────────────────

    def receive(self) -> Any:
        """The next request; raises EOFError when there will be none."""
        name, message = read_value(self._reading)
        self._beat = pack([name, "beat"])
        self._spoke = monotonic()
        self._request = name  # last, because the tick may come at any time
        return message

    def write(self, word: str, *values: Any) -> None:
        """Send one frame."""
        data = pack([self._request, word, *values])
        self._busy = True
        try:
            write_all(self._writing, data)
        finally:
            self._busy = False
        self._spoke = monotonic()

    def done(self, value: Any) -> None:
        """Send what the request came to; nothing may be said after that."""
        data = pack([self._request, "done", value])
        self._busy = True
        self._request = ""
        write_all(self._writing, data)
        self._busy = False

    def beat(self) -> None:
        """Give a sign of life, if that is due. Called by the tick, in the middle of anything."""
        now = monotonic()
        if self._request and not self._busy and now - self._spoke >= self._every:
            self._spoke = now
            write_all(self._writing, self._beat)

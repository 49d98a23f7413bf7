"""A worker as its parent sees it: it is asked, and nothing that it answers is believed."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any, NamedTuple, NoReturn, Protocol

from worldcoder.errors import SandboxError
from worldcoder.sandbox.failures import Failure, WorkerFailed, of_exit, one_line
from worldcoder.sandbox.frames import Misread, Reader, pack
from worldcoder.sandbox.limits import Limits

START_SECONDS = 60.0
"""How long a worker may take to lock itself: it runs nothing of a stranger's until it has."""

GRACE_SECONDS = 0.2
"""How long a worker that has closed its pipe may take to end."""


LOOK_SECONDS = 0.05
"""How often to look at the memory of a worker, where that is done from here."""


class Channel(Protocol):
    """How bytes come from a worker and go to it; see `pipes.Pipes`."""

    def read(self, seconds: float | None) -> bytes | None:
        """What is there within so many seconds; `b""` at the end, None if nothing came."""

    def write(self, data: bytes, seconds: float | None) -> bool:
        """Write everything; False if that took longer."""

    def ended(self) -> bool:
        """Whether the worker has closed its end and left nothing to read."""

    def close(self) -> None:
        """Close both ends."""


class Ended(NamedTuple):
    """How a worker ended: its exit code, negative for a signal, None if unknown; and whether we killed it."""

    code: int | None
    ours: bool


class Process(Protocol):
    """What else there is to know of the process of a worker."""

    pid: int

    def end(self, grace: float) -> Ended:
        """End it, after so many seconds to end by itself."""

    def position(self) -> int:
        """What it last wrote to `WATCH.position[0]`; -1 if unknown."""

    def close(self) -> None:
        """Let go of what belongs to it; called once, after `end`."""

    def dropped(self) -> None:
        """Nobody knows the worker any more: end the process at some time, but not now."""


class Worker:
    """One process that answers requests. To be used by one thread at a time.

    pid: of the process.
    """

    _dead = True  # until there is something to end

    def __init__(
        self,
        channel: Channel,
        process: Process,
        limits: Limits,
        *,
        check: Callable[[dict[str, str]], None],
        trusting: bool = False,
        timed: bool = True,
        held: Callable[[int], int] | None = None,
    ) -> None:
        """check: is told which layers could not be put on, and raises if it minds.

        trusting: believe what the worker writes. timed: end it when its time is over. Tests do otherwise.
        held: how many bytes of memory a process holds, where the system does not watch over that.
        """
        self._channel = channel
        self._process = process
        self._limits = limits
        self._check = check
        self._trusting = trusting
        self._timed = timed
        self._held = held
        self._reader = Reader() if trusting else Reader(limits.frame_bytes, limits.reply_bytes)
        self._ready = False
        self._dead = False
        self._foreign = False
        self._closed = False
        self._used = threading.Lock()
        self._ended = Ended(None, False)
        self._position = -1
        self.pid = process.pid

    @property
    def alive(self) -> bool:
        """Whether it can be asked, as far as is known."""
        return not self._dead and not self._channel.ended()

    def request(
        self,
        message: Any,
        *,
        seconds: float | None = None,
        on_part: Callable[[Any], None] | None = None,
        answer: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Ask for something and wait for what it comes to.

        message: JSON data. seconds: how long the whole request may take, by the wall clock.
        on_part: gets the parts that the worker sends before. answer: answers what it asks.
        Raises WorkerFailed for whatever the worker does wrong, and then it is dead; SandboxError where the
        sandbox itself is broken; TypeError or ValueError for a message that is not JSON.
        """
        name = secrets.token_hex(8)
        data = pack([name, message])
        if self._foreign:
            raise SandboxError("this worker belongs to the process that made it; make one of your own")
        if not self._used.acquire(blocking=False):
            raise SandboxError(
                "this worker is being asked something already; one thread at a time may use it"
            )
        try:
            return self._ask(name, data, seconds, on_part, answer)
        finally:
            self._used.release()

    def close(self) -> None:
        """End it. Can be called again, and while it is asked: then the request raises SandboxError."""
        self._closed = True
        if self._foreign or self._dead:
            return
        if self._used.acquire(blocking=False):
            try:
                self._end(0.0)
            finally:
                self._used.release()
        else:
            self._process.end(0.0)  # whoever asks it finds out

    def forget(self) -> None:
        """Let go of it without a word, in a process that was forked from the one whose it is."""
        self._foreign = True
        self._drop()

    def __del__(self) -> None:
        if not self._dead:
            self._process.dropped()
            self._drop()

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────

    def _drop(self) -> None:
        if not self._dead:
            self._dead = True
            self._channel.close()
            self._process.close()

    def _ask(
        self,
        name: str,
        data: bytes,
        seconds: float | None,
        on_part: Callable[[Any], None] | None,
        answer: Callable[[Any], Any] | None,
    ) -> Any:
        if self._dead:
            raise SandboxError("this worker is dead; make another")
        try:
            if not self._ready:
                self._greet()
            exchange = _Exchange(self, name, self._limits.request_seconds if seconds is None else seconds)
            return exchange.run(data, on_part, answer)
        except Misread as error:
            self._fail(error.failure, error.detail)
        except BaseException:
            self._end(0.0)
            raise

    def _greet(self) -> None:
        """Hear from a new worker which layers it could not put on; no program has run in it yet."""
        until = monotonic() + START_SECONDS
        while (frame := self._reader.next()) is None:
            data = self._channel.read(until - monotonic())
            if data is None and monotonic() >= until:
                raise SandboxError(f"a worker was not ready after {START_SECONDS:.0f} seconds")
            if data == b"":
                self._died(SandboxError)
            self._reader.feed(data or b"")
        match frame:
            case ["", "hello", dict() as missing]:
                self._check(missing)
            case _:
                raise SandboxError(f"a worker could not lock itself: {one_line(str(frame[-1]))}")
        self._ready = True

    def _died(self, otherwise: type[SandboxError] | None = None) -> NoReturn:
        """Find out how it ended."""
        code, ours = self._end(GRACE_SECONDS)
        if self._closed:
            raise SandboxError("the worker was closed while it was asked")
        if code is None:
            self._fail(Failure.KILLED, "it was killed from outside, together with the process that forked it")
        if ours:
            self._fail(Failure.GARBAGE, "it closed its pipe without an answer")
        failure, detail = of_exit(code)
        if otherwise is not None and failure is not Failure.KILLED:
            raise otherwise(f"a worker could not lock itself: {detail}")
        self._fail(failure, detail)

    def _fail(self, failure: Failure, detail: str) -> NoReturn:
        self._end(0.0)
        raise WorkerFailed(failure, detail, self._position)

    def _end(self, grace: float) -> Ended:
        if not self._dead:
            try:
                self._dead = True
                self._ended = self._process.end(grace)
                self._position = self._process.position()
            except BaseException:
                self._process.dropped()
                raise
            finally:
                self._channel.close()
                self._process.close()
        return self._ended


class _Exchange:
    """One request and everything that is said until it is answered."""

    def __init__(self, worker: Worker, name: str, seconds: float) -> None:
        self._worker = worker
        self._name = name
        self._channel = worker._channel
        self._reader = worker._reader
        self._seconds = seconds
        self._silence = worker._limits.silence_seconds
        self._heard = now = monotonic()
        self._until = now + seconds

    def run(
        self, data: bytes, on_part: Callable[[Any], None] | None, answer: Callable[[Any], Any] | None
    ) -> Any:
        worker = self._worker
        if not worker._trusting:
            early = self._channel.read(0.0)
            if early == b"":
                worker._died()
            if early is not None or not self._reader.empty:
                raise Misread(Failure.GARBAGE, "it spoke without being asked")
        self._reader.taken = 0
        self._write(data)
        while True:
            frame = self._next()
            if not worker._trusting and frame[:1] != [self._name]:
                raise Misread(Failure.GARBAGE, "it answered what was not asked")
            match frame[1:]:
                case ["beat"]:
                    pass
                case ["part", value] if on_part is not None:
                    self._aside(on_part, value)
                case ["ask", value] if answer is not None:
                    reply = self._aside(answer, value)
                    self._write(pack([self._name, reply]))
                case ["done", value]:
                    if not worker._trusting and not self._reader.empty:
                        raise Misread(Failure.GARBAGE, "it wrote on after its answer")
                    return value
                case ["failed", Failure.CRASH | Failure.GARBAGE as failure, str() as detail]:
                    raise Misread(Failure(failure), one_line(detail))
                case _:
                    raise Misread(Failure.GARBAGE, "what it wrote is not of a known form")

    def _aside(self, function: Callable[[Any], Any], value: Any) -> Any:
        """Call what is the caller's; the time that it takes is not the worker's."""
        before = monotonic()
        result = function(value)
        self._until += monotonic() - before
        self._heard = monotonic()
        return result

    def _late(self) -> Misread:
        return Misread(Failure.TIMEOUT, f"it had no answer after {self._seconds:g} seconds")

    def _left(self) -> float | None:
        if not self._worker._timed:
            return None
        return min(self._until, self._heard + self._silence) - monotonic()

    def _write(self, data: bytes) -> None:
        try:
            if not self._channel.write(data, self._left()):
                raise Misread(Failure.TIMEOUT, f"it did not listen for {self._silence:g} seconds")
        except BrokenPipeError:
            self._worker._died()
        self._heard = monotonic()

    def _read(self, left: float | None) -> bytes | None:
        worker = self._worker
        if worker._held is None:
            return self._channel.read(left)
        data = self._channel.read(LOOK_SECONDS if left is None else min(left, LOOK_SECONDS))
        if worker._held(worker.pid) > worker._limits.memory:
            raise Misread(Failure.MEMORY, "it held more memory than it may have")
        return data

    def _next(self) -> list[Any]:
        """The next frame, by the time there is."""
        reader = self._reader
        if self._worker._timed and monotonic() >= self._until:  # however much it has to say
            raise self._late()
        while (frame := reader.next()) is None:
            left = self._left()
            data = self._read(left)
            if data:
                reader.feed(data)
            elif data is not None:
                self._worker._died()
            elif left is not None and left <= 0.0:
                if monotonic() >= self._until:
                    raise self._late()
                raise Misread(Failure.TIMEOUT, f"it gave no sign of life for {self._silence:g} seconds")
        self._heard = monotonic()
        return frame

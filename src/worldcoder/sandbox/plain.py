"""A worker without a lock, in a process of its own: for systems that have neither locks nor fork.

It is used only where the user said that it may be. What is left is that the user's process is not harmed by
accident, and that no answer is awaited for ever.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict

from worldcoder.sandbox.failures import one_line
from worldcoder.sandbox.frames import pack, read_value, write_all
from worldcoder.sandbox.launching import launch
from worldcoder.sandbox.limits import Limits
from worldcoder.sandbox.line import Line
from worldcoder.sandbox.modules import load_service
from worldcoder.sandbox.pipes import CHUNK
from worldcoder.sandbox.serving import serve, start_ticking
from worldcoder.sandbox.worker import Ended, Worker

# ── in the user's process ────────────────────────────────────────────────────────────────────────────────


def plain_worker(service: str, limits: Limits, prepared: Sequence[bytes]) -> Worker:
    """Start a worker without a lock."""
    process = launch(
        "plain", service, {"limits": asdict(limits)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    pipes = ThreadedPipes(process)
    worker = Worker(pipes, _Plain(process), limits, check=lambda missing: None)
    pipes.later(pack([json.loads(data) for data in prepared]))
    return worker


class ThreadedPipes:
    """The pipes of a process on a system where one cannot wait for them for some time only."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._requests = process.stdin
        self._replies = process.stdout
        self._came: queue.Queue[bytes] = queue.Queue(maxsize=8)
        self._first = b""
        self._over = False
        self._closed = False
        self._writer: threading.Thread | None = None
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        data = b"more"
        while data and not self._closed:
            try:
                data = os.read(self._replies.fileno(), CHUNK)
            except OSError:
                data = b""
            self._came.put(data)

    def later(self, data: bytes) -> None:
        """Write this before anything else."""
        self._first += data

    def read(self, seconds: float | None) -> bytes | None:
        """What is there within so many seconds; `b""` at the end, None if nothing came."""
        if self._first:
            data, self._first = self._first, b""
            self.write(data, seconds)
        if self._over:
            return b""
        try:
            data = (
                self._came.get(timeout=seconds) if seconds is None or seconds > 0 else self._came.get_nowait()
            )
        except queue.Empty:
            return None
        self._over = not data
        return data

    def write(self, data: bytes, seconds: float | None) -> bool:
        """Write everything; False if that took longer. Raises BrokenPipeError where nobody reads."""
        failed: list[OSError] = []

        def write() -> None:
            try:
                write_all(self._requests.fileno(), data)
            except OSError as error:
                failed.append(error)

        self._writer = threading.Thread(target=write, daemon=True)
        self._writer.start()
        self._writer.join(seconds)
        if failed:
            raise BrokenPipeError
        return not self._writer.is_alive()

    def ended(self) -> bool:
        """Whether the worker has closed its end and left nothing to read."""
        return self._over

    def close(self) -> None:
        """Close both ends. The process is dead, so that nobody waits for them."""
        self._closed = True
        if self._writer is not None:
            self._writer.join()
        while self._listener.is_alive():
            try:
                self._came.get(timeout=0.01)
            except queue.Empty:
                continue
        self._requests.close()
        self._replies.close()


class _Plain:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.pid = process.pid

    def end(self, grace: float) -> Ended:
        try:
            return Ended(self._process.wait(grace), False)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return Ended(self._process.wait(), True)

    def position(self) -> int:
        return -1

    def close(self) -> None:
        """Nothing is left of it."""

    def dropped(self) -> None:
        self.end(0.0)


# ── in the process of the worker ─────────────────────────────────────────────────────────────────────────


def start() -> None:
    """Be a worker without a lock, with the settings from the command line."""
    settings = json.loads(sys.argv[1])
    del sys.argv[1:]
    requests, replies = _take_pipes()
    limits = Limits(**settings["limits"])
    line = Line(requests, replies, limits.silence_seconds)
    try:
        service = load_service(settings["service"])
        for data in read_value(requests):
            service.prepare(data)
        start_ticking(line, limits)
    except Exception as error:
        line.write("broken", one_line(f"{type(error).__name__}: {error}"))
        return
    line.write("hello", {})
    serve(service, line)


def _take_pipes() -> tuple[int, int]:
    """The pipes to the parent; what programs read and print goes elsewhere."""
    requests, replies = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (requests, replies):
            msvcrt.setmode(descriptor, os.O_BINARY)
    return requests, replies

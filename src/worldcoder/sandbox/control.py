"""The user's end of a template: starting it, telling it what to do, and ending it."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import warnings
import weakref
from collections.abc import Collection, Sequence
from dataclasses import asdict
from time import monotonic
from typing import Any

from worldcoder.sandbox.frames import Reader, pack
from worldcoder.sandbox.launching import launch, shared_file
from worldcoder.sandbox.layers import Layer
from worldcoder.sandbox.limits import Limits

PATIENCE_SECONDS = 60.0
"""How long a template may take to do something, before it counts as broken."""

FAREWELL_SECONDS = 2.0


class TemplateGone(Exception):
    """The template does not answer any more."""


class Template:
    """A running template. It is used by one thread at a time."""

    def __init__(self, service: str, limits: Limits, off: Collection[Layer]) -> None:
        self._control, theirs = _socketpair()
        self._log = shared_file()
        self._reader = Reader()
        self._number = 0
        self._forks: set[int] = set()
        self.gone = False
        process: subprocess.Popen[bytes] | int
        try:
            if Layer.EXEC in off:
                process = _fork_template(theirs, self._control, service, limits, off)
            else:
                settings = {"control": theirs.fileno(), "limits": asdict(limits), "off": [*off]}
                process = launch("template", service, settings, kept=[theirs.fileno()], stderr=self._log)
        except BaseException:
            self._control.close()
            os.close(self._log)
            raise
        finally:
            theirs.close()
        self._process = process
        # Also done when nobody knows this object any more, and when the interpreter ends.
        self._finish = weakref.finalize(self, _finish, self._control, self._log, process)
        _all.add(self)

    def tell(self, do: str, *arguments: Any, handed: Sequence[int] = ()) -> int:
        """Tell it to do something and hand it descriptors. Returns the number of the command."""
        if self.gone:
            raise TemplateGone
        self._number += 1
        if do == "fork":
            self._forks.add(self._number)
        data = pack([self._number, do, len(handed), *arguments])
        try:
            socket.send_fds(self._control, [data], handed)
        except OSError:
            raise TemplateGone from None
        return self._number

    def ask(self, do: str, *arguments: Any, handed: Sequence[int] = ()) -> dict[str, Any]:
        """The same, and wait for the answer. Raises TemplateGone."""
        number = self.tell(do, *arguments, handed=handed)
        until = monotonic() + PATIENCE_SECONDS
        while True:
            while (frame := self._reader.next()) is not None:
                answered, answer = frame
                if answered == number:
                    self._forks.discard(number)
                    return {"number": number, **answer}
                if answered in self._forks:  # whoever asked for it was interrupted
                    self.tell("end", answered, 0.0)
                    self._forks.discard(answered)
            self._reader.feed(self._receive(until - monotonic()))

    def _receive(self, seconds: float) -> bytes:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        if seconds <= 0.0 or not poll.poll(seconds * 1000):
            raise TemplateGone
        try:
            data = self._control.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            raise TemplateGone
        return data

    def complaint(self) -> str:
        """The last line that it wrote to its standard error."""
        lines = os.pread(self._log, 1 << 16, 0).decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    def close(self) -> None:
        """End it, and with it all its workers."""
        self.gone = True
        self._finish()

    def forget(self) -> None:
        """Drop it without a word, in a process that was forked from the one whose it is."""
        if self._finish.detach() is not None:
            self.gone = True
            self._control.close()
            os.close(self._log)
            if not isinstance(self._process, int):
                self._process.returncode = 0  # no child of this process


def _socketpair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets that do not take the places of standard input, output and error."""
    low = []
    try:
        while True:
            pair = socket.socketpair()
            if min(end.fileno() for end in pair) > 2:
                return pair
            low.append(pair)
    finally:
        for pair in low:
            for end in pair:
                end.close()


def _finish(control: socket.socket, log: int, process: subprocess.Popen[bytes] | int) -> None:
    """Hang up, which ends a template and its workers, and wait until it has."""
    control.close()
    os.close(log)
    if isinstance(process, int):
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process, 0)
        return
    try:
        process.wait(FAREWELL_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _fork_template(
    control: socket.socket, other: socket.socket, service: str, limits: Limits, off: Collection[Layer]
) -> int:
    """A template that was not started anew: it shows what starting anew is good for."""
    from worldcoder.sandbox import template

    parent = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it may be that there are threads
        pid = os.fork()
    if pid:
        return pid
    try:
        other.close()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(null, descriptor)
        template.run(control, service, limits, off, parent)
    finally:
        os._exit(0)


_all: weakref.WeakSet[Template] = weakref.WeakSet()


def _forget_all() -> None:
    for template in [*_all]:
        template.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)

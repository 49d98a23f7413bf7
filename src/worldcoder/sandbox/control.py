"""The user's end of a template: starting it, telling it what to do, and ending it."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
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
        ours, theirs = socket.socketpair()
        self._control = ours
        self._log = shared_file()
        self._reader = Reader()
        self._number = 0
        self._forks: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._forked = 0
        self.gone = False
        _all.add(self)
        with theirs:
            if Layer.EXEC in off:
                self._forked = _fork_template(theirs, service, limits, off)
            else:
                settings = {"control": theirs.fileno(), "limits": asdict(limits), "off": [*off]}
                self._process = launch(
                    "template", service, settings, kept=[theirs.fileno()], stderr=self._log
                )

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
                    return answer  # type: ignore[no-any-return]
                if answered in self._forks:  # whoever asked for it was interrupted
                    self._forks.discard(answered)
                    self.tell("end", answer.get("pid", 0), 0.0)
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
        if self.gone:
            return
        self.gone = True
        _all.discard(self)
        self._control.close()
        os.close(self._log)
        if self._process is not None:
            try:
                self._process.wait(FAREWELL_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        elif self._forked:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._forked, 0)

    def forget(self) -> None:
        """Drop it without a word, in a process that was forked from the one whose it is."""
        self.gone = True
        self._control.close()
        os.close(self._log)
        if self._process is not None:
            self._process.returncode = 0


def _fork_template(control: socket.socket, service: str, limits: Limits, off: Collection[Layer]) -> int:
    """A template that was not started anew: it shows what starting anew is good for."""
    from worldcoder.sandbox import template

    parent = os.getpid()
    held = control.dup()
    pid = os.fork()
    if pid:
        held.close()
        return pid
    try:
        control.close()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(null, descriptor)
        template.run(held, service, limits, off, parent)
    finally:
        os._exit(0)


_all: weakref.WeakSet[Template] = weakref.WeakSet()


def _forget_all() -> None:
    for template in [*_all]:
        template.forget()
    _all.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)

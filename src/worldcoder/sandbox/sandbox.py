"""Where workers come from: one clean process that forks them, started again when it dies."""

from __future__ import annotations

import json
import os
import sys
import threading
import weakref
from collections.abc import Callable, Collection
from types import TracebackType
from typing import Any, Self

from worldcoder.errors import SandboxError
from worldcoder.sandbox.control import Template, TemplateGone
from worldcoder.sandbox.launching import shared_file
from worldcoder.sandbox.layers import (
    KERNEL_LOCKS,
    PLATFORM,
    Layer,
    LayerReport,
    elsewhere,
    locked,
    probe,
    without,
)
from worldcoder.sandbox.limits import Limits
from worldcoder.sandbox.pipes import Pipes
from worldcoder.sandbox.plain import plain_worker
from worldcoder.sandbox.worker import Ended, Worker

resident: Callable[[int], int] | None = None
"""How many bytes of memory a process holds, where the system does not watch over that itself."""

if PLATFORM == "darwin":
    from worldcoder.sandbox.macos import resident

MOST_DEATHS = 3
"""How often the template may die with no request answered in between."""

_INSTEAD = (
    "use another machine, or pass --unsafe-no-sandbox to run programs that can then do whatever you can"
)


class Sandbox:
    """Makes workers that run a service, each in a process that can do no harm.

    service: "package.module:Class", made once in the process that forks the workers.
    off: layers left out, in order to see what they are good for.
    unsafe: go on where there is no lock.
    Raises SandboxError where there is none and `unsafe` is not given.

    Several threads may use one sandbox. It belongs to the process that made it: a fork of that has the
    same sandbox, but starts workers of its own.
    """

    def __init__(
        self,
        service: str,
        *,
        limits: Limits = Limits(),  # noqa: B008  (it is frozen)
        off: Collection[Layer] = (),
        unsafe: bool = False,
        _plain: bool = PLATFORM not in ("linux", "darwin"),
    ) -> None:
        there = elsewhere() if _plain else probe()
        if not unsafe and not locked(there):
            why = "; ".join(
                f"{r.layer}: {r.detail}" for r in there if r.layer in KERNEL_LOCKS and not r.there
            )
            raise SandboxError(f"the system has no lock to run programs safely ({why}); {_INSTEAD}")
        if Layer.NO_NEW_PRIVILEGES in off:  # the kernel gives its locks to nobody without it
            off = {*off, Layer.LANDLOCK, Layer.SECCOMP}
        self.layers: tuple[LayerReport, ...] = without(there, off)
        self._service = service
        self._limits = limits
        self._off = frozenset(off)
        self._unsafe = unsafe
        self._plain = _plain
        self._prepared: list[bytes] = []
        self._lock = threading.RLock()
        self._workers: weakref.WeakSet[Worker] = weakref.WeakSet()
        self._dropped: list[tuple[Template, int]] = []
        self._template: Template | None = None
        self._told = 0
        self._deaths = 0
        self._closed = False
        _all.add(self)
        if not _plain:
            self._start()

    def prepare(self, data: Any) -> None:
        """Give JSON data to the service's `prepare`; every worker made later has it. Does not wait."""
        text = json.dumps(data, separators=(",", ":"), allow_nan=False).encode()
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox is closed")
            self._prepared.append(text)
            if self._plain:
                return
            try:
                self._tell_prepared(self._running())
            except TemplateGone:
                self._lost()

    def worker(self) -> Worker:
        """A new worker, forked and locked."""
        with self._lock:
            while not self._closed:
                if self._plain:
                    return self._remember(plain_worker(self._service, self._limits, self._prepared))
                template = self._running()
                try:
                    self._tell_prepared(template)
                    return self._remember(self._fork(template))
                except TemplateGone:
                    self._lost()
        raise SandboxError("the sandbox is closed")

    def close(self) -> None:
        """End all workers and whatever else was started. Can be called again."""
        with self._lock:
            self._closed = True
            if self._template is not None:
                self._template.close()
                self._template = None
            for worker in [*self._workers]:
                worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────

    def _start(self) -> None:
        self._template = Template(self._service, self._limits, self._off)
        self._told = 0

    def _running(self) -> Template:
        if self._template is None:
            self._start()
        assert self._template is not None
        return self._template

    def _lost(self) -> None:
        """The template is gone; another is started when it is needed, a few times."""
        complaint = ""
        if self._template is not None:
            complaint = self._template.complaint()
            self._template.close()
            self._template = None
        self._deaths += 1
        if self._deaths > MOST_DEATHS:
            self._deaths = 0
            raise SandboxError(
                f"the process that runs programs dies again and again: {complaint or 'no reason given'}"
            )

    def _tell_prepared(self, template: Template) -> None:
        while self._told < len(self._prepared):
            file = shared_file(self._prepared[self._told])
            try:
                template.tell("prepare", handed=[file])
            finally:
                os.close(file)
            self._told += 1

    def _fork(self, template: Template) -> Worker:
        while self._dropped:
            of, number = self._dropped[0]
            if of is template:
                template.ask("end", number, 0.0)
            self._dropped.pop(0)  # only now, so that an interruption forgets nobody
        theirs: list[int] = []
        ours: list[int] = []
        try:
            requests, to_worker = os.pipe()
            theirs.append(requests)
            ours.append(to_worker)
            from_worker, replies = os.pipe()
            theirs.append(replies)
            ours.append(from_worker)
            page = shared_file(size=1 << 16)
            ours.append(page)
            answer = template.ask("fork", handed=[requests, replies, page])
            if "pid" not in answer:
                raise SandboxError(answer["broken"])
            worker = Worker(
                Pipes(from_worker, to_worker),
                _Forked(self, template, answer["number"], answer["pid"], page),
                self._limits,
                check=self._check,
                trusting=Layer.FRAMES in self._off,
                timed=Layer.DEADLINE not in self._off,
                held=resident,
            )
        except BaseException:
            for descriptor in ours:
                os.close(descriptor)
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        return worker

    def _remember(self, worker: Worker) -> Worker:
        self._workers.add(worker)
        return worker

    def _check(self, missing: dict[str, str]) -> None:
        """Whether every layer that this machine has is on a new worker."""
        self._deaths = 0
        if self._unsafe:
            return
        for report in self.layers:
            if report.there and report.layer in missing:
                raise SandboxError(
                    f"the layer {report.layer.value!r} could not be put on: {missing[report.layer]}"
                )

    def _forget(self) -> None:
        """In a process that was forked from the one whose this is."""
        self._lock = threading.RLock()
        for worker in [*self._workers]:
            worker.forget()
        self._workers.clear()
        self._dropped.clear()
        self._template = None
        self._told = 0


class _Forked:
    """The process of a worker that a template has forked."""

    def __init__(self, sandbox: Sandbox, template: Template, number: int, pid: int, page: int) -> None:
        self._sandbox = sandbox
        self._template = template
        self._number = number
        self._page = page
        self.pid = pid

    def end(self, grace: float) -> Ended:
        with self._sandbox._lock:
            try:
                answer = self._template.ask("end", self._number, grace)
            except TemplateGone:
                return Ended(None, False)
            return Ended(answer["code"], answer["ours"])

    def position(self) -> int:
        data = os.pread(self._page, 8, 0)
        return int.from_bytes(data, sys.byteorder, signed=True) if len(data) == 8 else -1

    def close(self) -> None:
        os.close(self._page)

    def dropped(self) -> None:
        # Its pipe is closed, so that it ends by itself, but the template has to hear of it; not now, because
        # anything may be going on while this is called.
        self._sandbox._dropped.append((self._template, self._number))


_all: weakref.WeakSet[Sandbox] = weakref.WeakSet()


def _forget_all() -> None:
    for sandbox in [*_all]:
        sandbox._forget()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_forget_all)

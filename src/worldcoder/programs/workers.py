"""Workers for programs: made when they are needed, kept for the next call of the same program."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from worldcoder.errors import SandboxError
from worldcoder.programs.book import Book, Mark
from worldcoder.programs.check import Check
from worldcoder.programs.program import Program
from worldcoder.programs.session import Reply, Session
from worldcoder.sandbox import Failure, Layer, LayerReport, Limits, Sandbox, WorkerFailed

T = TypeVar("T")

SERVICE = "worldcoder.programs.inside.service:Service"
KEPT = 8
"""Idle workers that are kept."""
ACCIDENTS = 200
"""How often one request is made again because its worker was killed from outside."""


class Workers:
    """The locked workers of one runner. Several threads may ask at once.

    limits: what each worker may use. off: layers that are left out, which only the attack set does.
    """

    def __init__(self, limits: Limits, *, unsafe: bool, off: Collection[Layer] = ()) -> None:
        self.limits = limits
        self._book = Book()
        self._make_sandbox = partial(Sandbox, SERVICE, limits=limits, off=off, unsafe=unsafe)
        self._sandbox = self._make_sandbox()
        self._mark = Mark()  # how far the template has read
        self._idle: list[Session] = []
        self._lock = threading.Lock()
        self._checks: weakref.WeakKeyDictionary[Check, int] = weakref.WeakKeyDictionary()
        self._numbered = 0
        self._forgotten: list[int] = []

    @property
    def book(self) -> Book:
        """The tables. Where they were torn, workers and tables begin anew."""
        if self._book.torn:
            self.close()
            self._book, self._mark = Book(), Mark()
            self._checks, self._forgotten = weakref.WeakKeyDictionary(), []
            self._sandbox = self._make_sandbox()
        return self._book

    @property
    def layers(self) -> tuple[LayerReport, ...]:
        """What locks the workers."""
        return self._sandbox.layers

    def close(self) -> None:
        """End all workers."""
        with self._lock:
            idle, self._idle = self._idle, []
        for session in idle:
            session.close()
        self._sandbox.close()

    def number(self, check: Check) -> int:
        """The number under which workers know a check."""
        with self._lock:
            number = self._checks.get(check)
            if number is None:
                number = self._checks[check] = self._numbered
                self._numbered += 1
                weakref.finalize(check, self._forgotten.append, number)
            return number

    def ask(
        self,
        do: str,
        programs: Mapping[str, Program],
        *,
        read: Callable[[Session, Reply], T],
        key: str,
        check: Check | None = None,
        fresh: bool = False,
        apart_from: Session | None = None,
        **request: Any,
    ) -> T:
        """One request to a worker; returns what `read` makes of the answer.

        key: of the worker; a worker that served another key never serves this one. check: one that the worker
        has to know. fresh: a new worker. apart_from: another one than this.

        A worker that was killed from outside is replaced, and asked again. Raises WorkerFailed for what the
        worker did itself, SandboxError where workers cannot be had.
        """
        checks: dict[int, Check] = {}
        if check is not None:
            request["check"] = self.number(check)
            checks[request["check"]] = check
        for _ in range(ACCIDENTS):
            with self._session(key, checks, fresh, apart_from) as session:
                try:
                    reply = session.ask(do, programs, checks=checks, **request)
                except WorkerFailed as failed:
                    if failed.failure is not Failure.KILLED:
                        raise
                    continue
                return read(session, reply)
        raise SandboxError(
            f"workers are killed from outside again and again ({ACCIDENTS} times in one request); is memory"
            " short, or does something end processes of this machine?"
        )

    @contextmanager
    def _session(
        self, key: str, checks: Mapping[int, Check], fresh: bool, apart_from: Session | None
    ) -> Iterator[Session]:
        session = None if fresh else self._take(key, apart_from)
        if session is None:
            session = self._new(key, checks)
        try:
            yield session
        except BaseException:
            session.close()
            raise
        self._put_back(session)

    def _take(self, key: str, apart_from: Session | None) -> Session | None:
        with self._lock:
            self._idle = [session for session in self._idle if session.alive]
            for i in range(len(self._idle) - 1, -1, -1):
                session = self._idle[i]
                if session.key == key and session is not apart_from:
                    del self._idle[i]
                    return session
        return None

    def _put_back(self, session: Session) -> None:
        surplus: list[Session] = []
        worn_out = session.seconds > self.limits.cpu_seconds / 2  # before the system ends it
        if worn_out:
            session.close()
        with self._lock:
            if session.alive and not worn_out:
                self._idle.append(session)
                surplus, self._idle = self._idle[:-KEPT], self._idle[-KEPT:]
        for old in surplus:
            old.close()

    def _new(self, key: str, checks: Mapping[int, Check]) -> Session:
        with self._lock, self._book:
            forget = [n for n in self._forgotten if n in self._mark.inputs]
            self._forgotten.clear()
            before = self._mark.copy()
            news = self._book.news(self._mark, dict(checks), forget)
            if self._mark != before:
                self._sandbox.prepare(news)
            mark = self._mark.copy()
        return Session(key, self._sandbox.worker(), self._book, mark)

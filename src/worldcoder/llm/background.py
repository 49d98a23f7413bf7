"""An event loop in a thread of its own, for callers that have none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

_SECONDS_TO_END = 5.0
"""How long those that are cancelled may take to end; a connection is closed in a fraction of it."""


class Background:
    """Runs coroutines until it is closed. The thread starts with the first one."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    def start(
        self,
        group: object,
        make: Callable[[], Coroutine[Any, Any, T]],
        done: Callable[[asyncio.Task[T]], None],
    ) -> None:
        """Run a coroutine as one of a group; `done` is called, in the other thread, when it has ended."""
        loop = self._running()

        def begin() -> None:
            task = loop.create_task(make(), name=f"{id(group)}")
            task.add_done_callback(done)
            task.add_done_callback(_look)

        loop.call_soon_threadsafe(begin)

    def cancel(self, group: object) -> None:
        """End what is left of a group, and wait for it."""
        if self._loop is not None and not self._closed:
            self._wait(self._cancel(f"{id(group)}"))

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """End everything, then run `last`, then the thread."""
        with self._lock:
            closed, self._closed = self._closed, True
        if closed or self._loop is None or self._thread is None:
            last.close()
            return
        try:
            self._wait(self._cancel(None))
            self._wait(last)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_SECONDS_TO_END)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise RuntimeError("the language model is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._run, args=(self._loop,), name="llm", daemon=True)
                self._thread.start()
            return self._loop

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    def _wait(self, coroutine: Coroutine[Any, Any, None]) -> None:
        assert self._loop is not None
        future: Future[None] = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        with suppress(TimeoutError):
            future.result(_SECONDS_TO_END)

    @staticmethod
    async def _cancel(group: str | None) -> None:
        """group: None for all."""
        own = asyncio.current_task()
        tasks = [t for t in asyncio.all_tasks() if t is not own and group in (None, t.get_name())]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_SECONDS_TO_END)


def _look(task: asyncio.Task[Any]) -> None:
    """See how a task ended, or asyncio complains of one that failed as it was given up."""
    if not task.cancelled():
        task.exception()

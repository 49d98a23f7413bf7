"""Serving requests while the clock is watched: what every worker does, locked or not."""

from __future__ import annotations

import math
import os
import signal
import time
from types import FrameType
from typing import NoReturn

from worldcoder.sandbox.failures import EXIT_ERROR, EXIT_MEMORY, EXIT_TIMEOUT, Failure, one_line
from worldcoder.sandbox.limits import Limits
from worldcoder.sandbox.line import Line, Service
from worldcoder.sandbox.watch import WATCH, CallTimeout

TICK = 0.05
"""Seconds of CPU time between two looks at the call that is going on."""

PATIENCE = 4
"""How many ticks a program has to let itself be interrupted."""

_exit = os._exit  # a program may put something else in its place


def start_ticking(line: Line, limits: Limits) -> None:
    """Look at the call that is going on, in each `TICK` of CPU time."""
    if not hasattr(signal, "setitimer"):
        return
    most = max(1, math.ceil(limits.call_seconds / TICK))
    process_time = time.process_time
    began = 0.0

    def tick(number: int, frame: FrameType | None) -> None:
        nonlocal began
        try:
            line.beat()
        except OSError:
            _exit(EXIT_ERROR)  # nobody is there to hear it
        WATCH.ticks = ticks = WATCH.ticks + 1
        if ticks > 0:
            # Ticks that fall into one long call of C are only one, so the time is looked at as well.
            now = process_time()
            if ticks == 1:
                began = now - TICK
            elif ticks < most and now - began >= limits.call_seconds:
                WATCH.ticks = ticks = most
            if ticks >= most + PATIENCE:
                _exit(EXIT_TIMEOUT)
            if ticks >= most:
                if not WATCH.over:
                    WATCH.over = True
                    WATCH.overruns += 1
                raise CallTimeout

    signal.signal(signal.SIGPROF, tick)
    signal.setitimer(signal.ITIMER_PROF, TICK, TICK)


def serve(service: Service, line: Line) -> NoReturn:
    """Answer one request after the other, and end when there are no more."""
    while True:
        try:
            message = line.receive()
        except (EOFError, OSError):
            _exit(0)
        WATCH.reset()
        try:
            value = service.handle(message, line)
        except CallTimeout:
            _exit(EXIT_TIMEOUT)
        except MemoryError:
            _exit(EXIT_MEMORY)
        except BaseException as error:
            _give_up(line, Failure.CRASH, error)
        WATCH.reset()
        try:
            line.done(value)
        except MemoryError:
            _exit(EXIT_MEMORY)
        except (TypeError, ValueError, RecursionError) as error:
            _give_up(line, Failure.GARBAGE, error)
        except OSError:
            _exit(EXIT_ERROR)
        del message, value


def _give_up(line: Line, failure: Failure, error: BaseException) -> NoReturn:
    try:
        line.write("failed", failure, one_line(f"{type(error).__name__}: {error}"))
    finally:
        _exit(EXIT_ERROR)

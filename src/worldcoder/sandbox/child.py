"""What a worker does from the moment it is forked: it locks itself, then serves until nobody asks any more."""

from __future__ import annotations

import gc
import mmap
import os
from collections.abc import Collection
from typing import NoReturn

from worldcoder.sandbox.failures import EXIT_ERROR, one_line
from worldcoder.sandbox.layers import Layer
from worldcoder.sandbox.limits import Limits
from worldcoder.sandbox.line import Line, Service
from worldcoder.sandbox.locking import lock
from worldcoder.sandbox.serving import serve, start_ticking
from worldcoder.sandbox.watch import WATCH


def run(
    service: Service,
    reading: int,
    writing: int,
    page: int,
    limits: Limits,
    off: Collection[Layer],
    parent: int,
) -> NoReturn:
    """Be a worker. The descriptors: requests, replies, and the page shared with the parent."""
    try:
        line = Line(reading, writing, limits.silence_seconds)
        try:
            os.dup2(1, 2)
            shared = mmap.mmap(page, mmap.PAGESIZE)
            os.close(page)
            WATCH.position = memoryview(shared).cast("q")[:1]
            WATCH.reset()
            if Layer.TIMER not in off:
                start_ticking(line, limits)
            missing = lock((reading, writing), limits, off, parent)
            gc.enable()
        except Exception as error:
            line.write("broken", one_line(f"{type(error).__name__}: {error}"))
            raise
        line.write("hello", missing)
        serve(service, line)
    finally:
        os._exit(EXIT_ERROR)

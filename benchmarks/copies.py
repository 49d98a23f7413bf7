"""Work in copies of this process: each begins with what is known here, and nothing it learns is known anywhere else."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from worldcoder.programs import Runner

T = TypeVar("T")

_KEPT: list[Any] = []
"""What belongs to the first process and must not be closed by another one."""


def in_copies(works: Sequence[Callable[[], T]], runner: Runner) -> list[T]:
    """What each work gives, in their order, as many at once as there are cores. runner: what they run programs with.

    Raises RuntimeError where one fails; its traceback is on standard error.
    """
    found: list[T] = []
    running: list[tuple[int, int]] = []
    for work in works:
        if len(running) >= (os.cpu_count() or 1):
            found.append(_result(*running.pop(0)))
        running.append(_begin(work, runner))
    return found + [_result(*one) for one in running]


def _begin(work: Callable[[], Any], runner: Runner) -> tuple[int, int]:
    """A copy at work: its process, and where its result can be read."""
    sys.stdout.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    try:
        _KEPT.append(dict(vars(runner)))
        runner.__init__(limits=runner.limits)  # type: ignore[misc] # the workers belong to the first process
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(work(), pipe)
        runner.close()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def _result(child: int, reading: int) -> Any:
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if status:
        raise RuntimeError(f"a copy of this process ended with status {status}")
    return pickle.loads(answer)

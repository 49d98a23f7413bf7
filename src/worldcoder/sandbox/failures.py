"""What a worker did wrong, and how its end says so."""

from __future__ import annotations

import signal
from enum import StrEnum


class Failure(StrEnum):
    """What a worker did wrong."""

    TIMEOUT = "timeout"
    """One call took too long, or there was no sign of life, or the request's time ran out."""
    MEMORY = "memory"
    """It wanted more memory than it may have."""
    CRASH = "crash"
    """The interpreter died, or ended, or the service failed."""
    FLOOD = "flood"
    """It wrote more than a reply may have."""
    GARBAGE = "garbage"
    """What it wrote is no answer, or it spoke without being asked."""
    KILLED = "killed"
    """Somebody outside ended it: a SIGKILL that is not ours, or the system's out-of-memory killer."""


class WorkerFailed(Exception):
    """A worker did something wrong and is dead. Callers turn this into a result of their own.

    failure: what it did.
    detail: one line about it. It may quote the worker, so it is not to be believed.
    position: what the worker last wrote to `WATCH.position[0]`, not to be believed either; -1 if unknown.
    """

    def __init__(self, failure: Failure, detail: str, position: int = -1) -> None:
        super().__init__(failure, detail, position)
        self.failure = failure
        self.detail = one_line(detail)
        self.position = position

    def __str__(self) -> str:
        return f"{self.failure}: {self.detail}"


def one_line(text: str, *, longest: int = 300) -> str:
    """Text of unknown origin as one printable line of bounded length."""
    head = " ".join(text[: 4 * longest].split())
    clean = "".join(c if c.isprintable() else "?" for c in head)
    return clean if len(clean) <= longest else clean[: longest - 1] + "…"


# How a worker ends itself. The numbers mean nothing to anybody else.
EXIT_TIMEOUT = 81
EXIT_MEMORY = 82
EXIT_ERROR = 83


def of_exit(code: int) -> tuple[Failure, str]:
    """What the exit code of a worker means: as subprocess has it, negative for a signal."""
    if code == EXIT_TIMEOUT:
        return Failure.TIMEOUT, "one call took too long"
    if code == EXIT_MEMORY:
        return Failure.MEMORY, "it wanted more memory than it may have"
    if code >= 0:
        return Failure.CRASH, f"it ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    if name == "SIGKILL":
        return Failure.KILLED, "it was killed from outside"
    if name == "SIGXCPU":
        return Failure.TIMEOUT, "it used up the CPU time of its life"
    return Failure.CRASH, f"the interpreter died of {name}"

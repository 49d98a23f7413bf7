"""Who runs the programs of a command, and what is said about how they are locked up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from worldcoder.programs import Runner
from worldcoder.runs import locks

Write = Callable[[str], None]


@contextmanager
def running(*, unsafe: bool, warn: Write) -> Iterator[Runner]:
    """A runner that is closed at the end, whatever that is. What protects less than it could is said once.

    unsafe: run programs where they cannot be locked up. Raises SandboxError where they cannot and it is not set.
    """
    with Runner(unsafe=unsafe) as runner:
        caution = locks.caution(runner.layers)
        if caution is not None:
            warn(f"caution: {caution}")
        yield runner


def sandbox_of(runner: Runner) -> str:
    """What keeps the programs of a runner from doing harm, as `--json` has it."""
    return locks.in_words(runner.layers)


def unlocked(sandbox: str) -> Iterator[str]:
    """The line that says it where programs ran without a lock; none where there was one."""
    if sandbox == locks.NONE:
        yield "  sandbox     none: programs could do whatever you can (--unsafe-no-sandbox)"

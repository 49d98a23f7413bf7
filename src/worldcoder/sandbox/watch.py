"""What a worker watches while a program runs: how long one call takes, and which one it is.

Code that calls a program writes here whether or not it is in a worker; outside of one nobody looks.

    WATCH.position[0] = number
    WATCH.ticks = 0
    try:
        result = function(...)
    except CallTimeout:
        ...
    finally:
        WATCH.ticks = OUTSIDE
    if WATCH.over:  # the exception can be swallowed by the program, and is lost in a `__del__`
        WATCH.over = False
        ...
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import TYPE_CHECKING

OUTSIDE = -(1 << 60)
"""What `WATCH.ticks` is while no program is called: so low that counting up never reaches a limit."""


class CallTimeout(BaseException):
    """Raised in a program by the tick, when one call of it took too long."""


class Watch:
    """What the tick reads and writes.

    ticks: set to 0 just before a program is called and to OUTSIDE after it.
    over: set by the tick when a call took too long.
    overruns: how many calls were too long in this request.
    position: one number that the parent can still read when the worker is dead.
    """

    __slots__ = ("over", "overruns", "position", "ticks")

    if TYPE_CHECKING:
        position: MutableSequence[int] | memoryview[int]

    def __init__(self) -> None:
        self.ticks = OUTSIDE
        self.over = False
        self.overruns = 0
        self.position = [-1]

    def reset(self) -> None:
        """As it is when a request begins."""
        self.ticks = OUTSIDE
        self.over = False
        self.overruns = 0
        self.position[0] = -1


WATCH = Watch()

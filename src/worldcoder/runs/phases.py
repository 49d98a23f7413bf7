"""Which part of the loop of a run is under way, and where in it a run was cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

from worldcoder.runs.interruption import Interruption


@dataclass(frozen=True)
class Cut:
    """Where a run was cut off, so that it can be repeated up to there.

    reason: why. actions, episodes: how many there were. phase: the part of the loop. replies: how many the
    language model had given. asking: whether it was waited for.
    """

    reason: str
    actions: int
    episodes: int
    phase: str
    replies: int = 0
    asking: bool = False

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any] | None) -> Cut | None:
        """What `to_json` wrote; None where nothing is noted."""
        return None if values is None else cls(**values)


class Phases:
    """Entered around each part of the loop: `with phases("observe"): ...`.

    where: the counts of now, for a given reason and phase. allowed: entered around what may be cut off. mark: called
    at the beginning of each part.
    until: where the run that is repeated was cut off; there, this one is as well (it raises Interruption).
    """

    def __init__(
        self,
        where: Callable[[str, str], Cut],
        allowed: Callable[[], AbstractContextManager[None]],
        mark: Callable[[], None],
        until: Cut | None = None,
    ) -> None:
        self.now = ""
        self.until = until
        self._where = where
        self._allowed = allowed
        self._mark = mark

    @contextmanager
    def __call__(self, name: str, *, guarded: bool = True) -> Iterator[None]:
        """One part of the loop. guarded: whether it may be cut off anywhere."""
        self.now = name
        self._mark()
        if self.until is not None and not self.until.asking and self.cut(self.until.reason) == self.until:
            raise Interruption(self.until.reason)
        if guarded:
            with self._allowed():
                yield
        else:
            yield

    def cut(self, reason: str) -> Cut:
        """Where the run is, as where it was cut off."""
        return self._where(reason, self.now)

    def in_vain(self) -> None:
        """There is no reply to what is asked: raises Interruption where the repeated run was cut off waiting for it."""
        until = self.until
        if until is not None and until.asking:
            here = self.cut(until.reason)
            if replace(here, replies=until.replies, asking=True) == until:
                raise Interruption(until.reason)

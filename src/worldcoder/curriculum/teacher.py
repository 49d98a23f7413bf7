"""Which environment is learned next.

A teacher is asked and told: `ask` names a stage, `tell` says how the visit there went. In `InOrder` each stage has
its turn once. `ByProgress` practises where the agent is learning most: the measure of progress is the change of the
share of steps that the model foresaw, between two windows of steps (Oudeyer, Kaplan and Hafner, "Intrinsic
Motivation Systems for Autonomous Mental Development", IEEE Transactions on Evolutionary Computation 11(2), 2007,
section IV), taken without its sign, so that what is being forgotten is practised as well, and chosen from greedily
with a share of chance (Matiisen, Oliver, Cohen and Schulman, "Teacher-Student Curriculum Learning", 2017,
arXiv 1707.00183, the window algorithm). What both leave open, when to stop, is decided here: what is mastered is
skipped, what is hopeless for now rests until the model has become another one elsewhere.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

WINDOW = 30
"""Steps in one window."""
MASTERED = 0.95
"""The share of steps foreseen from which on a stage is mastered, where its last two visits were solved."""
HOPELESS = 0.02
"""Progress below which a stage that was not solved rests."""
CHANCE = 0.1
"""The share of visits that go anywhere, as the progress elsewhere may be underestimated."""


@dataclass(frozen=True)
class Visit:
    """How one visit went. solved: as the stage wants it. foreseen: of each step, whether the model said what it would
    lead to. changed: whether the transition program became another one."""

    solved: bool
    foreseen: tuple[bool, ...]
    changed: bool


class Teacher(Protocol):
    """Chooses stages, by number."""

    def ask(self) -> int | None:
        """The stage to visit next; None: none is left."""
        ...

    def tell(self, stage: int, visit: Visit) -> None:
        """How a visit went; exactly one after each `ask`."""
        ...

    @property
    def ended(self) -> str:
        """Why none is left: `done`, `mastered`, `hopeless` or `visits`."""
        ...


class InOrder:
    """Each stage once, in order."""

    ended = "done"

    def __init__(self, stages: int) -> None:
        self._stages = stages
        self._next = 0

    def ask(self) -> int | None:
        return self._next if self._next < self._stages else None

    def tell(self, stage: int, visit: Visit) -> None:
        self._next += 1


@dataclass
class _Record:
    """What is known of a stage."""

    foreseen: list[bool] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    rests_since: int | None = None  # so many changes of the model had been elsewhere

    @property
    def progress(self) -> float:
        """How much the share of steps foreseen changed between the last two windows."""
        recent, before = self.foreseen[-WINDOW:], self.foreseen[-2 * WINDOW : -WINDOW]
        return abs(_share(recent) - _share(before))

    @property
    def mastered(self) -> bool:
        """Whether the last two visits were solved, and nearly nothing in them was a surprise."""
        last = self.visits[-2:]
        steps = [step for visit in last for step in visit.foreseen]
        return len(last) == 2 and all(visit.solved for visit in last) and _share(steps) >= MASTERED


class ByProgress:
    """Where most is being learned; what was never visited first, in order.

    visits: at most so many in all. chance: the share of visits that go to any stage that is open.
    """

    def __init__(
        self, stages: int, rng: random.Random, *, visits: int = 1_000, chance: float = CHANCE
    ) -> None:
        self.ended = "visits"
        self._records = [_Record() for _ in range(stages)]
        self._rng = rng
        self._left = visits
        self._chance = chance
        self._changes = 0

    def ask(self) -> int | None:
        records = self._records
        if all(record.mastered for record in records):
            self.ended = "mastered"
            return None
        open_ones = [n for n, record in enumerate(records) if not record.mastered and self._has_hope(record)]
        if not open_ones:
            self.ended = "hopeless"
            return None
        if not self._left:
            return None
        unvisited = [n for n in open_ones if not records[n].visits]
        if unvisited:
            return unvisited[0]
        if self._rng.random() < self._chance:
            return self._rng.choice(open_ones)
        return max(open_ones, key=lambda n: (records[n].progress, -len(records[n].visits)))

    def _has_hope(self, record: _Record) -> bool:
        return record.rests_since is None or record.rests_since < self._changes

    def tell(self, stage: int, visit: Visit) -> None:
        record = self._records[stage]
        self._left -= 1
        record.visits.append(visit)
        record.foreseen += visit.foreseen
        self._changes += visit.changed
        stuck = not visit.solved and record.progress < HOPELESS and not visit.changed
        record.rests_since = self._changes if stuck else None


def _share(steps: Sequence[bool]) -> float:
    """The share of steps that were foreseen; none where there is no step."""
    return sum(steps) / max(1, len(steps))

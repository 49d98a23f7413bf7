"""Crates in rows: a push moves a whole row of them, however long, if there is room behind it.

The Mover goes up, down, left or right. If a Wall is ahead, nothing moves. If a Crate is ahead, it is the first
of a row: it, the Crate behind it in the same direction, the one behind that, and so on to the first cell
without a Crate. If that cell is a Wall, nothing moves. Else all Crates of the row move one cell on and the
Mover follows. Crates beside the row stay where they are.

There may be more Crates than Marks. A step gives 1 for each Mark by which more are covered by a Crate than
before, and takes 1 for each by which fewer are: a row that moves along a line of marks may win one and lose
another, which gives 0. With all Marks covered the episode ends, which gives 5 more.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple

from worldcoder.envs.lab.base import LabWorld, Outcome, thing
from worldcoder.envs.lab.grids import MOVES, Cell, beside, inside, only, placed, read_map, room
from worldcoder.world.values import Action, Obj

_LEGEND = {
    "#": ["Wall"], "@": ["Mover"], "+": ["Mover", "Mark"], "$": ["Crate"], "*": ["Crate", "Mark"], ".": ["Mark"],
}  # fmt: skip


class Yard(NamedTuple):
    """Where everything is."""

    walls: frozenset[Cell]
    marks: frozenset[Cell]
    mover: Cell
    crates: frozenset[Cell]


class Rows(LabWorld[Yard]):
    """A yard of crates; see the module for the rules."""

    world = "rows"
    goal = "cover every mark with a crate"
    glyphs: ClassVar = {"Mover": "@", "Crate": "$", "Mark": ".", "Wall": "#"}
    moves = MOVES
    lengths = range(6, 16)

    def after(self, now: Yard, action: Action) -> Outcome[Yard]:
        """The rules."""
        first = behind = beside(now.mover, action.name)
        while behind in now.crates:
            behind = beside(behind, action.name)
        if behind in now.walls:
            return Outcome(now)
        crates = now.crates - {first} | {behind} if first != behind else now.crates
        done = now.marks <= crates
        gained = len(now.marks & crates) - len(now.marks & now.crates)
        return Outcome(now._replace(mover=first, crates=crates), float(gained + 5 * done), done)

    def scenery(self, level: Yard) -> Iterable[Obj]:
        """Walls and marks."""
        return [*placed("Wall", level.walls), *placed("Mark", level.marks)]

    def objects(self, now: Yard) -> Iterable[Obj]:
        """Crates and the mover."""
        x, y = now.mover
        return [*placed("Crate", now.crates), thing("Mover", x=x, y=y)]

    def draft(self, rng: random.Random) -> Yard | None:
        """Three crates in a row and one more; marks where some come to be by pushes at random."""
        walls = room(rng, 8, 7, rng.randint(2, 4))
        floor = inside(8, 7, walls)
        start, way = rng.choice(floor), rng.choice(("down", "right"))
        row = [start, beside(start, way), beside(beside(start, way), way)]
        crates = frozenset([*row, rng.choice(floor)])
        free = sorted(set(floor) - crates)
        if not crates <= set(floor) or len(crates) < 4:
            return None
        mover = rng.choice(free)
        now = level = Yard(walls, frozenset(), mover, crates)
        for _ in range(60):
            now = self.after(now, rng.choice(MOVES)).now
        marks = frozenset(rng.sample(sorted(now.crates), 3))
        return level._replace(marks=marks) if not marks & crates else None

    def good(self, level: Yard, solution: Sequence[Action]) -> bool:
        """Long enough, and with a row of two or more on the way."""
        now, longest = level, 0
        for action in solution:
            cell, length = beside(now.mover, action.name), 0
            while cell in now.crates:
                cell, length = beside(cell, action.name), length + 1
            longest = max(longest, length)
            now = self.after(now, action).now
        return super().good(level, solution) and longest >= 2


def read(text: str) -> Yard:
    """A level from a map: `#` wall, `@` mover, `$` crate, `.` mark, `*` a crate and `+` the mover on one."""
    on = read_map(text, _LEGEND)
    walls, marks, crates = (frozenset(on[kind]) for kind in ("Wall", "Mark", "Crate"))
    return Yard(walls, marks, only("mover", on["Mover"]), crates)


def make_env(*, level: str | None = None, max_steps: int = 150) -> Rows:
    """Crates that are pushed in whole rows onto marks.

    level: a map for every seed, see `read`; without one each seed has its own. max_steps: actions after which
    an episode is truncated.
    """
    return Rows(None if level is None else read(level), max_steps=max_steps)

"""Boulders that fall, dirt to dig in, diamonds to collect.

The Digger goes up, down, left or right, or waits; y grows downwards. Ahead of him may be

  a Wall      he stays;
  Dirt        it is gone, and he stands there;
  a Diamond   it is his, which gives 1, and he stands there;
  a Boulder   if he goes left or right, it is not `falling` and the cell behind it is empty, he pushes it there
              and takes its place; else he stays;
  nothing     he stands there.

Then each Boulder, the lowest first, so that a pile falls as one, looks at the cell below it:

  empty       it falls there, one cell a step, and is `falling`;
  the Digger  if it was `falling`, it falls on him, and is where he is: the episode ends in failure, with -1
              whatever else he got in this step; if it was lying still, it rests on him and is not `falling`;
  all else    Wall, Dirt, Diamond or Boulder: it lies still, and is not `falling`.

So one can walk under a boulder that lies still, and stand there; but whoever digs away what it lies on and
goes down has it coming after him. Diamonds do not fall. With the last Diamond the episode ends, which gives 5
more.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from worldcoder.envs.lab.base import LabWorld, Outcome, thing
from worldcoder.envs.lab.grids import MOVES, WAYS, Cell, beside, inside, only, placed, read_map, rim
from worldcoder.world.values import Action, Obj

_LEGEND = {
    "#": ["Wall"], "@": ["Digger"], ":": ["Dirt"], "*": ["Diamond"], "O": ["Boulder"], "V": ["Boulder", "falling"],
}  # fmt: skip


class Cave(NamedTuple):
    """Where everything is; `falling` are those of the boulders that fell in the last step."""

    walls: frozenset[Cell]
    digger: Cell
    dirt: frozenset[Cell]
    diamonds: frozenset[Cell]
    boulders: frozenset[Cell]
    falling: frozenset[Cell] = frozenset()


class Stones(LabWorld[Cave]):
    """A cave; see the module for the rules."""

    world = "stones"
    goal = "collect all diamonds"
    glyphs: ClassVar = {"Digger": "@", "Wall": "#", "Dirt": ":", "Boulder": "O", "Diamond": "*"}
    moves = (*MOVES, Action("wait"))
    lengths = range(8, 26)
    stages = True

    def after(self, now: Cave, action: Action) -> Outcome[Cave]:
        """The rules."""
        before = len(now.diamonds)
        if action.name in WAYS:
            now = _gone(now, action.name)
        now, hit = _fallen(now)
        if hit:
            return Outcome(now, -1.0, True)
        done = not now.diamonds
        return Outcome(now, float(before - len(now.diamonds) + 5 * done), done)

    def scenery(self, level: Cave) -> Iterable[Obj]:
        """The walls."""
        return placed("Wall", level.walls)

    def objects(self, now: Cave) -> Iterable[Obj]:
        """All but the walls."""
        yield from placed("Dirt", now.dirt)
        yield from placed("Diamond", now.diamonds)
        for x, y in now.boulders:
            yield thing("Boulder", x=x, y=y, falling=(x, y) in now.falling)
        x, y = now.digger
        yield thing("Digger", x=x, y=y)

    def draft(self, rng: random.Random) -> Cave | None:
        """A cave at rest, half of it dirt."""
        cells = inside(8, 8)
        rng.shuffle(cells)
        digger, *cells = cells
        walls = rim(8, 8) | frozenset(cells[:3])
        diamonds, boulders = frozenset(cells[3:6]), frozenset(cells[6:10])
        dirt = frozenset(cells[10 : 10 + rng.randint(14, 20)])
        level = Cave(walls, digger, dirt, diamonds, boulders)
        fits = not _fallen(level)[0].falling and not any(beside(b, "down") == digger for b in boulders)
        return level if fits else None


def _gone(now: Cave, way: str) -> Cave:
    """The digger's part of a step."""
    ahead = beside(now.digger, way)
    if ahead in now.walls:
        return now
    if ahead not in now.boulders:
        return now._replace(digger=ahead, dirt=now.dirt - {ahead}, diamonds=now.diamonds - {ahead})
    beyond = beside(ahead, way)
    full = any(beyond in cells for cells in (now.walls, now.dirt, now.diamonds, now.boulders))
    if way not in ("left", "right") or ahead in now.falling or full:
        return now
    return now._replace(digger=ahead, boulders=now.boulders - {ahead} | {beyond})


def _fallen(now: Cave) -> tuple[Cave, bool]:
    """The boulders' part of a step, and whether one fell on the digger."""
    boulders, falling, hit = set(now.boulders), set(), False
    for boulder in sorted(now.boulders, key=lambda cell: -cell[1]):
        below = beside(boulder, "down")
        if below == now.digger:
            falls = boulder in now.falling
            hit = hit or falls
        else:
            falls = not any(below in cells for cells in (boulders, now.dirt, now.walls, now.diamonds))
        if falls:
            boulders.remove(boulder)
            boulders.add(below)
            falling.add(below)
    return now._replace(boulders=frozenset(boulders), falling=frozenset(falling)), hit


def read(text: str) -> Cave:
    """A level from a map: `#` wall, `@` digger, `:` dirt, `*` diamond, `O` boulder, `V` one that is falling."""
    on = read_map(text, _LEGEND)
    walls, *rest = (frozenset(on[kind]) for kind in ("Wall", "Dirt", "Diamond", "Boulder", "falling"))
    return Cave(walls, only("digger", on["Digger"]), *rest)


def make_env(*, level: str | None = None, max_steps: int = 150) -> Stones:
    """A digger under boulders that fall, in a cave with diamonds.

    level: a map for every seed, see `read`; without one each seed has its own. max_steps: actions after which
    an episode is truncated.
    """
    return Stones(None if level is None else read(level), max_steps=max_steps)

"""Two twins who move at once, one of them as in a mirror.

An action is up, down, left or right. The Twin who is not `mirrored` goes that way; the mirrored one goes up and
down with it, but right where it goes left and left where it goes right. Each of them stays where he is if a
Wall is ahead of him, whatever becomes of the other. Then they look at where this would leave them:

  both on one cell, or each where the other was    neither of them moves.

A Twin may go to a cell that the other one leaves in this step. After that, if a Twin stands on a Pit, the
episode ends in failure, with -1, wherever the other one is. If each stands on the Pad of his own `color`, it
ends with 1. Every other step costs 0.01. The other's Pad is plain floor.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from worldcoder.envs.lab.base import LabWorld, Outcome, thing
from worldcoder.envs.lab.grids import BACK, MOVES, Cell, beside, inside, only, placed, read_map, room
from worldcoder.world.values import Action, Obj

_LEGEND = {
    "#": ["Wall"], "o": ["Pit"],
    "A": ["twin"], "a": ["pad"], "M": ["mirrored twin"], "m": ["mirrored pad"],
}  # fmt: skip

_COLORS = ("green", "purple")


class Pair(NamedTuple):
    """Where everything is; of twins and pads the mirrored one comes second."""

    walls: frozenset[Cell]
    pits: frozenset[Cell]
    pads: tuple[Cell, Cell]
    twins: tuple[Cell, Cell]


class Twins(LabWorld[Pair]):
    """A room with two twins; see the module for the rules."""

    world = "twins"
    goal = "bring each twin to the pad of his color"
    glyphs: ClassVar = {"Twin": "@", "Pad": "_", "Pit": "o", "Wall": "#"}
    moves = MOVES
    lengths = range(7, 25)

    def after(self, now: Pair, action: Action) -> Outcome[Pair]:
        """The rules."""
        way = action.name
        mirrored = BACK[way] if way in ("left", "right") else way
        one, other = (
            cell if ahead in now.walls else ahead
            for cell, ahead in zip(
                now.twins, (beside(now.twins[0], way), beside(now.twins[1], mirrored)), strict=True
            )
        )
        if one != other and (other, one) != now.twins:
            now = now._replace(twins=(one, other))
        if now.pits & set(now.twins):
            return Outcome(now, -1.0, True)
        done = now.twins == now.pads
        return Outcome(now, 1.0 if done else -0.01, done)

    def scenery(self, level: Pair) -> Iterable[Obj]:
        """All but the twins."""
        yield from placed("Wall", level.walls)
        yield from placed("Pit", level.pits)
        for (x, y), color in zip(level.pads, _COLORS, strict=True):
            yield thing("Pad", x=x, y=y, color=color)

    def objects(self, now: Pair) -> Iterable[Obj]:
        """The twins."""
        for (x, y), color in zip(now.twins, _COLORS, strict=True):
            yield thing("Twin", x=x, y=y, color=color, mirrored=color == _COLORS[1])

    def draft(self, rng: random.Random) -> Pair | None:
        """A room with pillars and pits; sometimes a wall between the twins."""
        width, height = 9, 7
        walls = room(rng, width, height, rng.randint(5, 8))
        if rng.random() < 0.5:
            walls |= {(width // 2, y) for y in range(height)}
        floor = inside(width, height, walls)
        rng.shuffle(floor)
        west = [cell for cell in floor if cell[0] < width // 2]
        east = [cell for cell in floor if cell[0] > width // 2]
        pits = frozenset([west.pop(), east.pop()])
        twins, pads = (west.pop(), east.pop()), (west.pop(), east.pop())
        return Pair(walls, pits, pads, twins)


def read(text: str) -> Pair:
    """A level from a map: `#` wall, `o` pit, `A` the twin and `a` his pad, `M` and `m` those of the mirrored."""
    on = read_map(text, _LEGEND)
    pads = only("pad", on["pad"]), only("mirrored pad", on["mirrored pad"])
    twins = only("twin", on["twin"]), only("mirrored twin", on["mirrored twin"])
    return Pair(frozenset(on["Wall"]), frozenset(on["Pit"]), pads, twins)


def make_env(*, level: str | None = None, max_steps: int = 100) -> Twins:
    """Two twins who are moved by one action, one of them mirrored.

    level: a map for every seed, see `read`; without one each seed has its own. max_steps: actions after which
    an episode is truncated.
    """
    return Twins(None if level is None else read(level), max_steps=max_steps)

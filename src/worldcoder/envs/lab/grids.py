"""Grids for the lab: ways to go, maps as text, and rooms."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping
from textwrap import dedent

from worldcoder.envs.lab.base import thing
from worldcoder.envs.sokoban_levels import Cell, reachable
from worldcoder.errors import LevelFormatError
from worldcoder.world.values import Action, Obj

WAYS: dict[str, Cell] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
"""The four ways to go, by name; y grows downwards."""

BACK = {"up": "down", "down": "up", "left": "right", "right": "left"}
"""The opposite of each way."""

MOVES = tuple(Action(way) for way in WAYS)
"""An action for each way."""


def beside(cell: Cell, way: str) -> Cell:
    """The next cell in a direction."""
    dx, dy = WAYS[way]
    return cell[0] + dx, cell[1] + dy


def read_map(text: str, legend: Mapping[str, Collection[str]]) -> dict[str, tuple[Cell, ...]]:
    """The cells of each thing on a map, row by row; a thing that is not on it has none.

    legend: for each character the things it stands for; spaces stand for nothing. Every thing of the legend
    is in the result.

    Raises LevelFormatError for an empty map and for a character that is not in the legend.
    """
    found: dict[str, list[Cell]] = {what: [] for things in legend.values() for what in things}
    rows = dedent(text).strip("\n").splitlines()
    if not rows:
        raise LevelFormatError("expected a map, got no text; draw one with the characters of the legend")
    for y, row in enumerate(rows):
        for x, character in enumerate(row):
            if character != " " and character not in legend:
                known = " ".join(legend)
                raise LevelFormatError(
                    f"line {y + 1} of the map: there is no character {character!r}; expected space or: {known}"
                )
            for what in legend.get(character, ()):
                found[what].append((x, y))
    return {what: tuple(cells) for what, cells in found.items()}


def only(what: str, cells: Collection[Cell]) -> Cell:
    """The cell of something of which a map has exactly one; raises LevelFormatError otherwise."""
    if len(cells) != 1:
        raise LevelFormatError(f"expected exactly one {what} on the map, found {len(cells)}")
    return next(iter(cells))


def closed(start: Cell, walls: Collection[Cell]) -> None:
    """Raise LevelFormatError for walls that do not enclose a cell."""
    widest, lowest = (max((cell[i] for cell in walls), default=0) for i in (0, 1))
    edge = {(x, y) for x in range(-1, widest + 2) for y in range(-1, lowest + 2)}
    edge = {(x, y) for x, y in edge if x in (-1, widest + 1) or y in (-1, lowest + 1)}
    if start in edge or reachable(start, edge | set(walls)) & {
        beside(cell, way) for cell in edge for way in WAYS
    }:
        raise LevelFormatError("the walls of the map have a gap; close it, for what goes through it is lost")


def rim(width: int, height: int) -> frozenset[Cell]:
    """The outermost cells of a grid."""
    cells = ((x, y) for x in range(width) for y in range(height))
    return frozenset((x, y) for x, y in cells if x in (0, width - 1) or y in (0, height - 1))


def inside(width: int, height: int, walls: Collection[Cell] = ()) -> list[Cell]:
    """The other cells of a grid, but for some, in order."""
    cells = ((x, y) for x in range(1, width - 1) for y in range(1, height - 1))
    return [cell for cell in cells if cell not in walls]


def room(rng: random.Random, width: int, height: int, pillars: int) -> frozenset[Cell]:
    """The walls of a room: its rim and some pillars, which leave its floor in one piece."""
    while True:
        walls = rim(width, height) | set(rng.sample(inside(width, height), pillars))
        floor = inside(width, height, walls)
        if len(reachable(floor[0], walls)) == len(floor):
            return walls


def placed(kind: str, cells: Iterable[Cell]) -> list[Obj]:
    """An object of a kind in each cell."""
    return [thing(kind, x=x, y=y) for x, y in cells]


__all__ = [
    "BACK", "MOVES", "WAYS", "Cell", "beside", "closed", "inside", "only", "placed", "reachable", "read_map",
    "rim", "room",
]  # fmt: skip

"""Sokoban levels made by reverse play: from the solved position, boxes are pulled instead of pushed.

Whatever reverse play reaches can be solved by playing it forwards, so every level has a solution.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import platformdirs

from worldcoder.envs.sokoban_levels import NEIGHBOURS, Cell, Level, parse_levels, reachable
from worldcoder.errors import LevelFormatError, WorldError

VERSION = 1
"""Part of every cache key; raised whenever the same seed gives another level."""

SIZES = range(5, 21)

_ROOMS = 200  # rooms to try before giving up
_BEAM = 48  # positions kept at each depth of the reverse play, fewer in large rooms
_WORK = 7000  # what keeps a layer quick: positions × boxes × floor
_DEPTH = 60  # pulls

_Position = tuple[frozenset[Cell], Cell]  # the boxes, and the first cell of the player's region


def generate_level(width: int, height: int, boxes: int, seed: int) -> Level:
    """The level of a seed: solvable, closed, no box on a target, every box to be pushed.

    width, height: with the outer walls. Levels are kept in memory and in the user's cache folder.

    Raises WorldError as `check_options` does, and where no such level was found.
    """
    check_options(width, height, boxes)
    return _cached(width, height, boxes, seed)


def check_options(width: int, height: int, boxes: int) -> None:
    """Raises WorldError for a size, or a number of boxes for a size, that has no levels."""
    for name, length in (("width", width), ("height", height)):
        if length not in SIZES:
            raise WorldError(
                f"sokoban: {name}={length}: expected {SIZES[0]} to {SIZES[-1]}, outer walls included"
            )
    most = min((width - 2) * (height - 2) // 6, 10)
    if not 1 <= boxes <= most:
        raise WorldError(
            f"sokoban: boxes={boxes}: expected 1 to {most} in {width}×{height}; change one of them"
        )


@lru_cache(maxsize=1024)
def _cached(width: int, height: int, boxes: int, seed: int) -> Level:
    file = cache_folder() / f"v{VERSION}" / f"{width}x{height}-{boxes}" / f"{seed}.xsb"
    level = _load(file, width, height, boxes)
    if level is None:
        level = _generate(width, height, boxes, random.Random(f"{VERSION} {width} {height} {boxes} {seed}"))
        _store(file, level)
    return level


def forget_levels() -> None:
    """Empty the levels kept in memory; those in the cache folder stay."""
    _cached.cache_clear()


def cache_folder() -> Path:
    """Where generated levels are kept: WORLDCODER_CACHE_DIR if it is set, else the user's cache folder."""
    root = os.environ.get("WORLDCODER_CACHE_DIR")
    return Path(root or platformdirs.user_cache_dir("worldcoder", appauthor=False)) / "sokoban"


def _load(file: Path, width: int, height: int, boxes: int) -> Level | None:
    """The cached level, or None for any reason: a cache may be missing, torn or someone else's."""
    try:
        (level,) = parse_levels(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, LevelFormatError):
        return None
    fits = (level.width, level.height, len(level.boxes)) == (width, height, boxes)
    return level if fits and not level.boxes & level.targets else None


def _store(file: Path, level: Level) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as out:
            out.write(f"{level}\n")
        Path(out.name).replace(file)  # atomic: a reader sees all of it or none
    except OSError:
        pass  # the level is only made again next time


# ── rooms and reverse play ───────────────────────────────────────────────────────────────────────────────


def _generate(width: int, height: int, boxes: int, rng: random.Random) -> Level:
    for _ in range(_ROOMS):
        floor = _carve(width, height, rng)
        walls = frozenset((x, y) for x in range(width) for y in range(height)) - floor
        if len(floor) < 3 * boxes + 3:
            continue
        targets = frozenset(rng.sample(sorted(floor), boxes))
        layers = list(_reverse_play(targets, walls, floor, rng))
        hard = layers[max(2 * boxes, len(layers) // 2) :]
        deep = [position for layer in hard for position in layer if not position[0] & targets]
        if deep:
            moved, corner = rng.choice(deep)
            player = rng.choice(sorted(reachable(corner, walls | moved)))
            return Level(width, height, player, walls, moved, targets)
    raise WorldError(f"sokoban: no level with {boxes} boxes in {width}×{height} was found; use fewer boxes")


def _carve(width: int, height: int, rng: random.Random) -> frozenset[Cell]:
    """Connected floor: a walk that widens into small blocks until about half of the inside is open."""
    inside = [(x, y) for x in range(1, width - 1) for y in range(1, height - 1)]
    enough = len(inside) * rng.uniform(0.5, 0.7)
    x, y = rng.choice(inside)
    floor = {(x, y)}
    dx, dy = rng.choice(NEIGHBOURS)
    while len(floor) < enough:
        if rng.random() < 0.35:
            dx, dy = rng.choice(NEIGHBOURS)
        x, y = min(max(x + dx, 1), width - 2), min(max(y + dy, 1), height - 2)
        floor.add((x, y))
        if rng.random() < 0.3:  # a box needs room beside it to be turned
            floor.update((min(x + i, width - 2), min(y + j, height - 2)) for i in (0, 1) for j in (0, 1))
    return frozenset(floor)


def _reverse_play(
    targets: frozenset[Cell], walls: frozenset[Cell], floor: frozenset[Cell], rng: random.Random
) -> Iterator[list[_Position]]:
    """Positions by the number of pulls that lead to them: breadth first, a random sample where too many."""
    beam = max(4, min(_BEAM, _WORK // (len(targets) * len(floor))))
    layer = sorted({_region(cell, walls, targets) for cell in floor - targets}, key=_order)
    seen = set(layer)
    for _ in range(_DEPTH):
        if not layer:
            return
        yield layer
        after = {p for position in layer for p in _pulls(position, walls)} - seen
        seen |= after
        ordered = sorted(after, key=_order)  # sets of cells have no order of their own to draw from
        layer = rng.sample(ordered, beam) if len(ordered) > beam else ordered


def _region(player: Cell, walls: frozenset[Cell], boxes: frozenset[Cell]) -> _Position:
    return boxes, min(reachable(player, walls | boxes))


def _order(position: _Position) -> tuple[list[Cell], Cell]:
    return sorted(position[0]), position[1]


def _pulls(position: _Position, walls: frozenset[Cell]) -> Iterator[_Position]:
    boxes, corner = position
    blocked = walls | boxes
    walkable = reachable(corner, blocked)
    for box in boxes:
        for dx, dy in NEIGHBOURS:
            near = (box[0] + dx, box[1] + dy)
            far = (near[0] + dx, near[1] + dy)
            if near in walkable and far not in blocked:  # the player steps back to far, the box to near
                yield _region(far, walls, boxes - {box} | {near})

"""Sokoban levels: what one is, and reading and writing them as XSB text.

XSB draws a level with one character a cell: `#` wall, `@` player, `+` player on a target, `$` box, `*` box on
a target, `.` target, and a space, `-` or `_` for floor. A file holds any number of levels, with blank lines,
comments (`;`) or other text between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from worldcoder.errors import LevelFormatError

Cell = tuple[int, int]
"""x and y; y grows downwards."""

NEIGHBOURS: tuple[Cell, ...] = ((0, -1), (0, 1), (-1, 0), (1, 0))

_FLOOR = " -_"
_CELLS = set("#@+$*." + _FLOOR)


@dataclass(frozen=True, slots=True)
class Level:
    """The start of a game. boxes and targets are equally many; title is what the file calls the level."""

    width: int
    height: int
    player: Cell
    walls: frozenset[Cell]
    boxes: frozenset[Cell]
    targets: frozenset[Cell]
    title: str = ""

    def __str__(self) -> str:
        """The level as XSB."""
        rows = []
        for y in range(self.height):
            row = "".join(self._character((x, y)) for x in range(self.width))
            rows.append(row.rstrip())
        return "\n".join(rows)

    def _character(self, cell: Cell) -> str:
        if cell in self.walls:
            return "#"
        on_target = cell in self.targets
        if cell == self.player:
            return "+" if on_target else "@"
        if cell in self.boxes:
            return "*" if on_target else "$"
        return "." if on_target else " "


def reachable(start: Cell, blocked: frozenset[Cell] | set[Cell]) -> set[Cell]:
    """The cells that can be walked to from `start`; the blocked ones must enclose it."""
    seen = {start}
    stack = [start]
    while stack:
        x, y = stack.pop()
        for dx, dy in NEIGHBOURS:
            cell = (x + dx, y + dy)
            if cell not in seen and cell not in blocked:
                seen.add(cell)
                stack.append(cell)
    return seen


def read_levels(path: str | Path) -> tuple[Level, ...]:
    """The levels of an XSB file, in its order; there is at least one.

    Raises LevelFormatError, naming the file, the line and what is wrong with it.
    """
    file = Path(path).expanduser()
    try:
        data = file.read_bytes()
    except IsADirectoryError as error:
        raise LevelFormatError(f"{path}: is a folder; name a level file in it") from error
    except FileNotFoundError as error:
        raise LevelFormatError(f"{path}: no such level file; check the path") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        if file.is_dir():  # how some systems answer for a folder
            raise LevelFormatError(f"{path}: is a folder; name a level file in it") from error
        raise LevelFormatError(f"{path}: cannot be read: {error}") from error
    if b"\0" in data:
        raise LevelFormatError(f"{path}: expected a text file with levels in XSB, got a binary file")
    # Titles and authors of old collections are in all sorts of encodings; the cells are ASCII in each.
    return parse_levels(data.decode("utf-8-sig", errors="replace"), source=str(path))


def parse_levels(text: str, *, source: str = "levels") -> tuple[Level, ...]:
    """The levels of an XSB text, in its order; there is at least one.

    source: what the text is called in messages. Raises LevelFormatError as `read_levels` does.
    """
    levels: list[Level] = []
    rows: list[tuple[int, str]] = []
    title = ""
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        line = line.rstrip()
        if _is_row(line, inside=bool(rows)):
            rows.append((number, line))
            continue
        if rows:
            levels.append(_level(rows, title, source))
            rows, title = [], ""
        if line.strip():
            title = line.lstrip("; ").strip()
    if not levels:
        raise LevelFormatError(f"{source}: no level in it; expected rows such as '#@ $.#' (XSB)")
    return tuple(levels)


def _is_row(line: str, *, inside: bool) -> bool:
    """Whether a line belongs to a drawing; one that does may still have a wrong character in it."""
    drawn = line.strip(_FLOOR + "\t")
    if not drawn or drawn.startswith(";"):
        return False
    return drawn[0] == "#" or (inside and (drawn[-1] == "#" or set(drawn) <= _CELLS))


def _level(rows: Sequence[tuple[int, str]], title: str, source: str) -> Level:
    found: dict[str, list[Cell]] = {character: [] for character in _CELLS}
    for y, (number, line) in enumerate(rows):
        for x, character in enumerate(line):
            if character not in found:
                raise LevelFormatError(
                    f"{source}, line {number}: unknown character {character!r} in column {x + 1};"
                    " a level is drawn with # @ + $ * . and spaces (comments begin with ;)"
                )
            found[character].append((x, y))
    first = rows[0][0]
    players = found["@"] + found["+"]
    boxes = frozenset(found["$"] + found["*"])
    targets = frozenset(found["."] + found["*"] + found["+"])
    if not players:
        raise LevelFormatError(f"{source}, line {first}: the level has no player; put one @ in it")
    if len(players) > 1:
        number = rows[max(y for _, y in players)][0]
        raise LevelFormatError(
            f"{source}, line {number}: {len(players)} players in one level; expected one @ or +"
        )
    if not boxes or len(boxes) != len(targets):
        raise LevelFormatError(
            f"{source}, line {first}: the level has {_count(boxes, 'box', 'boxes')} and"
            f" {_count(targets, 'target', 'targets')}; expected as many of one as of the other, at least one"
        )
    width, height = max(len(line) for _, line in rows), len(rows)
    walls = frozenset(found["#"])
    gap = _gap(players[0], walls, width, height)
    if gap is not None:
        number = rows[min(max(gap[1], 0), height - 1)][0]
        raise LevelFormatError(
            f"{source}, line {number}: the level is not closed; the player can leave it here; add a wall"
        )
    return Level(width, height, players[0], walls, boxes, targets, title)


def _gap(player: Cell, walls: frozenset[Cell], width: int, height: int) -> Cell | None:
    """A cell outside the drawing that the player could walk to if nothing but walls stopped it."""
    rim = {(x, y) for x in range(-1, width + 1) for y in (-1, height)}
    rim |= {(x, y) for x in (-1, width) for y in range(-1, height + 1)}
    inner = reachable(player, walls | rim)
    exits = [(x + dx, y + dy) for x, y in inner for dx, dy in NEIGHBOURS if (x + dx, y + dy) in rim]
    return min(exits, default=None)


def _count(things: Iterable[Cell], one: str, many: str) -> str:
    n = len(list(things))
    return f"{n} {one if n == 1 else many}"

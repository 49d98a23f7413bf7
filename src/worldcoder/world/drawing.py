"""A state as text: a grid of characters where objects have places, lines of text where they have none.

Nothing here knows a world. An environment may say which character stands for which kind (`glyphs`); a kind
without one gets a letter of its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from worldcoder.world.values import Obj, Ref, State

LARGEST = 200
"""States that span more cells than this in one direction are written as text."""

_LISTED = 12  # lines below the grid at most
_LIGHT = "·:'-"  # for the kinds there are most of
_COMMON = 0.3  # share of all objects that makes a kind common, if there are enough of it
_MANY = 6
_OTHERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789*+=%&"


def choose_glyphs(states: Iterable[State], glyphs: Mapping[str, str] | None = None) -> dict[str, str]:
    """A character for each kind in the states: the given one, else one of its own.

    Common kinds get light characters, the others a letter of their name where one is free. The order of the
    result is the order of drawing: the rarest kind comes last and ends up on top.

    glyphs: as an environment's `glyphs`; only the first character of each counts.
    """
    states = list(states)
    counts: Counter[str] = Counter()
    for state in states:
        counts.update(o.kind for o in state)
    total = counts.total()
    order = sorted(counts, key=lambda kind: (-counts[kind], _reversed(kind)))
    chosen = {kind: glyphs[kind][0] for kind in order if glyphs and glyphs.get(kind)}
    taken = set(chosen.values())
    for kind in sorted(counts):
        if kind not in chosen:
            common = counts[kind] >= max(_COMMON * total, _MANY * len(states))
            light = _LIGHT if common and len(counts) > 1 else ""
            wanted = light + kind[0].upper() + kind.lower() + kind.upper() + _OTHERS
            chosen[kind] = next((c for c in wanted if c.isprintable() and c not in taken | {" "}), "?")
            taken.add(chosen[kind])
    return {kind: chosen[kind] for kind in order}


def _reversed(kind: str) -> tuple[int, ...]:
    """Among equally common kinds the alphabetically first is drawn last."""
    return tuple(-ord(c) for c in kind)


def draw(state: State, glyphs: Mapping[str, str] | None = None) -> str:
    """The state as a grid of characters, x to the right and y down, without a newline at the end.

    Below the grid stand what it cannot show: objects without a place (those carried, say), attributes other
    than x and y, and cells that hold more than one object. A state without places, or one too large for a
    screen, comes out as its text form.

    glyphs: a character for each kind; an environment's `glyphs`, or what `choose_glyphs` gave for a whole
    episode. Kinds that are not in it get a character of their own.
    """
    cells = cells_of(state)
    if not cells:
        return str(state)
    columns = [x for x, _ in cells]
    rows = [y for _, y in cells]
    left, right, top, bottom = min(columns), max(columns), min(rows), max(rows)
    if right - left >= LARGEST or bottom - top >= LARGEST:
        return str(state)
    chosen = choose_glyphs([state], glyphs)
    rank = {kind: i for i, kind in enumerate(chosen)}
    lines = []
    for y in range(top, bottom + 1):
        row = ""
        for x in range(left, right + 1):
            here = cells.get((x, y), ())
            row += chosen[max((o.kind for o in here), key=rank.__getitem__)] if here else " "
        lines.append(row.rstrip())
    notes = _crowds(cells, chosen, rank) + _details(state, chosen)
    if len(notes) > _LISTED:
        notes = [*notes[: _LISTED - 1], f"… and {len(notes) - _LISTED + 1} more"]
    return "\n".join(lines + notes)


def legend(state: State, glyphs: Mapping[str, str] | None = None) -> str:
    """What the characters of `draw` mean, rarest kind first: `@ Player  $ Box`."""
    chosen = choose_glyphs([state], glyphs)
    return "  ".join(f"{glyph} {kind}" for kind, glyph in reversed(chosen.items()))


def cells_of(state: State) -> dict[tuple[int, int], tuple[Obj, ...]]:
    """The objects of each cell that holds any; objects whose x and y are not whole numbers are left out."""
    cells: dict[tuple[int, int], tuple[Obj, ...]] = {}
    for o in state:
        x, y = o.attributes.get("x"), o.attributes.get("y")
        if type(x) is int and type(y) is int:
            cells[x, y] = (*cells.get((x, y), ()), o)
    return cells


def _crowds(
    cells: Mapping[tuple[int, int], tuple[Obj, ...]], glyphs: Mapping[str, str], rank: Mapping[str, int]
) -> list[str]:
    """The cells with more than one object, what is on top first: `(3, 4): $ on .`"""
    lines = []
    for (x, y), here in sorted(cells.items(), key=lambda item: (item[0][1], item[0][0])):
        if len(here) > 1:
            stack = sorted((o.kind for o in here), key=rank.__getitem__, reverse=True)
            lines.append(f"({x}, {y}): {' on '.join(glyphs[kind] for kind in stack)}")
    return lines


def _details(state: State, glyphs: Mapping[str, str]) -> list[str]:
    """A line for each object of which the grid does not tell all, rarest kind first."""
    lines = []
    rank = list(glyphs)
    for o in sorted(state, key=lambda o: -rank.index(o.kind)):
        x, y = o.attributes.get("x"), o.attributes.get("y")
        placed = type(x) is int and type(y) is int
        rest = {a: v for a, v in o.attributes.items() if v is not None and not (placed and a in ("x", "y"))}
        if placed and not rest:
            continue
        where = f" at ({x}, {y})" if placed else ""
        name = f"{o.kind} {o.name}" if o.name else o.kind
        values = ", ".join(f"{a} {_word(state, v)}" for a, v in rest.items())
        lines.append(f"{glyphs[o.kind]} {name}{where}" + (f": {values}" if values else ""))
    return lines


def _word(state: State, value: object) -> str:
    if isinstance(value, Ref):
        target = state.follow(value)
        return target.name or target.kind
    return value if isinstance(value, str) else repr(value)

"""States as pictures: coloured tiles, one look for each kind of object, in any world that has places.

What never moves in the pictures lies flat; what moves is a disc or a rounded square on top. The commonest
kind fills its cells. An attribute that names a colour decides the colour.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import matplotlib
from PIL import Image, ImageColor, ImageDraw, ImageFont

from worldcoder.world.drawing import cells_of, choose_glyphs
from worldcoder.world.values import Obj, State

_PALETTE = ("#e4572e", "#2e86ab", "#f0a202", "#3d9970", "#8e5aa9", "#c2185b", "#5f6caf", "#7a6f5d", "#00838f")
_FILL = "#46505f"  # the commonest kind
_FLOOR, _LINE, _PAPER, _INK, _FAINT = "#f3efe7", "#e6e0d4", "#ffffff", "#2b2f36", "#7a808a"
_FINE = 2  # pictures are drawn so much larger, then made smaller: smooth edges
_LARGEST, _SMALLEST, _ACROSS = 52, 10, 460  # pixels: a tile at most and at least, the grid as a rule


@dataclass(frozen=True)
class _Look:
    """How a kind is drawn. shape: "fill", "flat", "disc" or "block"."""

    colour: str
    shape: str
    letter: str


class Tiles:
    """Draws the states of one episode alike.

    states: all that will be drawn; they decide the size of the grid and the look of each kind.
    captions: how many lines of text each picture has.
    """

    def __init__(
        self, states: Sequence[State], glyphs: Mapping[str, str] | None = None, *, captions: int = 1
    ) -> None:
        self._captions = captions
        places = [place for state in states for place in cells_of(state)]
        self._left, self._top = min(x for x, _ in places), min(y for _, y in places)
        self._columns = max(x for x, _ in places) - self._left + 1
        self._rows = max(y for _, y in places) - self._top + 1
        across = max(self._columns, self._rows)
        self._tile = max(_SMALLEST, min(_LARGEST, _ACROSS // across)) * _FINE
        self._looks = _looks(states, glyphs)
        self._order = {kind: i for i, kind in enumerate(self._looks)}
        self._elsewhere = any(len(_placeless(state)) for state in states)
        self._width = max(self._columns * self._tile, 280 * _FINE) + 2 * self._margin

    @property
    def _margin(self) -> int:
        return 12 * _FINE

    def draw(self, state: State, captions: Sequence[str]) -> Image.Image:
        """One picture: the grid, the captions, what each look means, and what has no place."""
        line = 22 * _FINE
        legend = self._legend_rows()
        below = line * (self._captions + len(legend) + self._elsewhere) + 6 * _FINE
        height = self._rows * self._tile + 2 * self._margin + below
        picture = Image.new("RGB", (self._width, height), _PAPER)
        canvas = ImageDraw.Draw(picture)
        left = (self._width - self._columns * self._tile) // 2
        self._grid(canvas, state, left, self._margin)
        y = self._margin + self._rows * self._tile + 8 * _FINE
        for i, caption in enumerate(captions):
            text = _cut(caption, self._width - 2 * self._margin, _font(13 * _FINE))
            canvas.text((self._margin, y + i * line), text, fill=_INK, font=_font(13 * _FINE))
        y += line * (self._captions - 1)
        for row in legend:
            y += line
            x = self._margin
            for kind in row:
                self._object(canvas, Obj(kind), (x, y, 16 * _FINE), under=False)
                x += 21 * _FINE
                canvas.text((x, y), kind, fill=_FAINT, font=_font(12 * _FINE))
                x += round(_font(12 * _FINE).getlength(kind)) + 16 * _FINE
        if self._elsewhere:
            y += line
            x = self._margin
            canvas.text((x, y), "elsewhere", fill=_FAINT, font=_font(12 * _FINE))
            x += round(_font(12 * _FINE).getlength("elsewhere")) + 10 * _FINE
            for o in _placeless(state):
                self._object(canvas, o, (x, y, 16 * _FINE), under=False)
                x += 21 * _FINE
        return picture.resize((picture.width // _FINE, picture.height // _FINE), Image.Resampling.LANCZOS)

    def _grid(self, canvas: ImageDraw.ImageDraw, state: State, left: int, top: int) -> None:
        size = self._tile
        cells = cells_of(state)
        for row in range(self._rows):
            for column in range(self._columns):
                x, y = left + column * size, top + row * size
                canvas.rectangle((x, y, x + size - 1, y + size - 1), fill=_FLOOR, outline=_LINE, width=_FINE)
        for row in range(self._rows):
            for column in range(self._columns):
                here = cells.get((column + self._left, row + self._top), ())
                ordered = sorted(here, key=lambda o: self._order[o.kind])
                for i, o in enumerate(ordered):
                    place = (left + column * size, top + row * size, size)
                    self._object(canvas, o, place, under=i > 0)

    def _object(
        self, canvas: ImageDraw.ImageDraw, o: Obj, place: tuple[int, int, int], *, under: bool
    ) -> None:
        """One object in a square. under: whether something lies under it, which should stay visible."""
        x, y, size = place
        look = self._looks[o.kind]
        colour = _named_colour(o) or look.colour
        inset = {"fill": 0.0, "flat": 0.14, "disc": 0.12, "block": 0.1}[look.shape]
        inset = round(size * (inset + (0.08 if under and look.shape != "fill" else 0)))
        box = (x + inset, y + inset, x + size - 1 - inset, y + size - 1 - inset)
        edge = max(1, size // 22)
        match look.shape:
            case "fill":
                canvas.rectangle(box, fill=colour)
            case "flat":
                canvas.rounded_rectangle(
                    box, size // 10, fill=_mixed(colour, _FLOOR, 0.3), outline=colour, width=edge
                )
            case "disc":
                canvas.ellipse(box, fill=colour, outline=_mixed(colour, "#000000", 0.75), width=edge)
            case _:
                rim = _mixed(colour, "#000000", 0.75)
                canvas.rounded_rectangle(box, size // 6, fill=colour, outline=rim, width=edge)
        if look.letter and size >= 14 * _FINE:
            ink = _mixed(colour, "#000000", 0.6) if look.shape == "flat" else _ink_on(colour)
            centre = (x + size / 2, y + size / 2)
            canvas.text(centre, look.letter, fill=ink, font=_font(round(size * 0.42)), anchor="mm")

    def _legend_rows(self) -> list[list[str]]:
        """The kinds, rarest first, in rows that fit."""
        rows: list[list[str]] = [[]]
        room = free = self._width - 2 * self._margin
        for kind in reversed(self._looks):
            needed = round(_font(12 * _FINE).getlength(kind)) + 37 * _FINE
            if needed > free and rows[-1]:
                rows.append([])
                free = room
            rows[-1].append(kind)
            free -= needed
        return rows


def _looks(states: Sequence[State], glyphs: Mapping[str, str] | None) -> dict[str, _Look]:
    """The look of each kind, in the order of drawing."""
    chosen = choose_glyphs(states, glyphs)
    counts = Counter(o.kind for o in states[0])
    moving = {kind for kind in chosen if len({_places(state, kind) for state in states}) > 1}
    fill = next((kind for kind in chosen if kind not in moving and counts[kind] >= 6), None)
    looks = {}
    colours = iter(_PALETTE * (1 + len(chosen) // len(_PALETTE)))
    rarest_first = list(reversed(chosen))
    for kind in [k for k in rarest_first if k in moving] + [k for k in rarest_first if k not in moving]:
        letter = chosen[kind] if chosen[kind].isalnum() else ""
        if kind == fill:
            looks[kind] = _Look(_FILL, "fill", "")
            continue
        alone = counts[kind] == 1
        shape = ("disc" if alone else "block") if kind in moving else "flat"
        looks[kind] = _Look(next(colours), shape, letter)
    lowest_first = sorted(chosen, key=lambda kind: (kind in moving, kind != fill))
    return {kind: looks[kind] for kind in lowest_first}


def _places(state: State, kind: str) -> tuple[tuple[object, object], ...]:
    return tuple(sorted((str(o.attributes.get("x")), str(o.attributes.get("y"))) for o in state.all(kind)))


def _placeless(state: State) -> list[Obj]:
    placed = {id(o) for here in cells_of(state).values() for o in here}
    return [o for o in state if id(o) not in placed]


def _named_colour(o: Obj) -> str | None:
    """The first attribute that is the name of a colour."""
    for value in o.attributes.values():
        if isinstance(value, str) and value.isalpha():
            try:
                red, green, blue = ImageColor.getrgb(value)[:3]
            except ValueError:
                continue
            return _mixed(f"#{red:02x}{green:02x}{blue:02x}", _INK, 0.8)
    return None


def _mixed(one: str, other: str, share: float) -> str:
    pairs = zip(ImageColor.getrgb(one)[:3], ImageColor.getrgb(other)[:3], strict=True)
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


def _cut(text: str, width: int, font: ImageFont.FreeTypeFont) -> str:
    """The text, or as much of it as fits."""
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(text + "…") > width:
        text = text[:-1]
    return text + "…"


def _ink_on(colour: str) -> str:
    red, green, blue = ImageColor.getrgb(colour)[:3]
    return _INK if 0.299 * red + 0.587 * green + 0.114 * blue > 150 else _PAPER


@lru_cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    """The font that comes with matplotlib: the same everywhere, and with all the letters needed."""
    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf"), size)

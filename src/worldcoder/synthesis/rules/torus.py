"""Grids that go round: what leaves on one side comes in on the other. Read off displacements, kind by kind."""

from __future__ import annotations

from collections import Counter

from worldcoder.synthesis.rules.scene import Place
from worldcoder.synthesis.rules.statistics import Box, Vector

_JUMPS = 2
"""Times that something has to come in on the other side."""
_LEAST = 4
"""How far it has to be at least from one side to the other."""


class Torus:
    """Which kinds go round, along which axes.

    They were seen to jump nearly the whole way, else to go one or two steps, the other way, and never anything between.
    """

    def __init__(self) -> None:
        self._moves: dict[tuple[str, int], Counter[int]] = {}

    def add(self, kind: str, vector: Vector) -> None:
        """Count a displacement."""
        for axis in (0, 1):
            if vector[axis]:
                self._moves.setdefault((kind, axis), Counter())[vector[axis]] += 1

    def goes_round(self, kind: str, axis: int, frame: Box | None) -> bool:
        """Whether things of a kind go round along an axis."""
        moves = self._moves.get((kind, axis))
        if moves is None or frame is None:
            return False
        extent = frame[axis + 2] - frame[axis]
        if extent < _LEAST or not all(abs(v) <= 2 or extent - 1 <= abs(v) <= extent for v in moves):
            return False
        jumps = {v: n for v, n in moves.items() if abs(v) > 2}
        return sum(jumps.values()) >= _JUMPS and all(
            any(m * v < 0 for m in moves if abs(m) <= 2) for v in jumps
        )

    def axes(self, frame: Box | None) -> dict[str, tuple[bool, bool]]:
        """The kinds that go round, and whether they do along x and along y."""
        kinds = dict.fromkeys(kind for kind, _ in self._moves)
        found = {kind: (self.goes_round(kind, 0, frame), self.goes_round(kind, 1, frame)) for kind in kinds}
        return {kind: axes for kind, axes in found.items() if any(axes)}


def brought_in(place: Place, axes: tuple[bool, bool], frame: Box) -> Place:
    """The place that is meant by one that may lie beyond the frame."""
    x, y = (
        low + (v - low) % (high - low + 1) if round_ else v
        for v, low, high, round_ in zip(place, frame[:2], frame[2:], axes, strict=True)
    )
    return x, y


def straightened(vector: Vector, axes: tuple[bool, bool], frame: Box) -> Vector:
    """A displacement without the way round."""
    x, y = (
        v - (high - low + 1) * ((v > 0) - (v < 0)) if round_ and abs(v) > 2 else v
        for v, low, high, round_ in zip(vector, frame[:2], frame[2:], axes, strict=True)
    )
    return x, y

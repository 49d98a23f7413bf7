"""How far things are from where they close a part of the goal, learned from the steps that a search looks at."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

FAMILIAR = 20
"""States with a thing that were expanded, after which a way that was never seen counts as none."""
LOST = 30
"""The distance of a thing from which no way to where it is wanted was seen."""
FAR = 60
"""The same to one place of several."""


class Ways:
    """What became of what, one step at a time.

    An atom is *wanted* if things that came to be so always closed a part of the goal, and if leaving it opened one,
    where it was ever left. The ways of single things to what is wanted are a relaxation: that things are in each
    other's way is not in them. Nothing here depends on the order in which things or atoms are listed.
    """

    def __init__(self) -> None:
        self._from: dict[
            int, dict[int, bool]
        ] = {}  # what came of what, and whether that always closed a part
        self._opened: dict[int, bool] = {}  # by what was left, whether that ever opened a part
        self._expanded: dict[int, int] = {}  # in how many states that were expanded
        self._wanted: dict[int, int] = {}  # with its column
        self._rows: dict[int, tuple[int, ...]] = {}  # to each wanted atom; empty where there is no way to any

    def expand(self, atoms: Sequence[int]) -> None:
        """A state with these atoms is expanded."""
        expanded = self._expanded
        for atom in atoms:
            expanded[atom] = expanded.get(atom, 0) + 1

    def see(self, before: Sequence[int], after: Sequence[int], opened: int) -> None:
        """A step, and how many parts of the goal it opened, fewer than 0 if it closed some."""
        if len(before) != len(after):
            return  # what came or went cannot be told
        for old, new in zip(before, after, strict=True):
            if old != new:
                into = self._from.setdefault(new, {})
                into[old] = into.get(old, True) and opened < 0
                if opened > 0 or old not in self._opened:
                    self._opened[old] = opened > 0

    def measure(self) -> bool:
        """Compute the distances anew; whether anything is wanted."""
        wanted = [
            atom for atom, into in self._from.items() if any(into.values()) and self._opened.get(atom, True)
        ]
        distances = [self._distances(atom) for atom in wanted]
        following: dict[int, list[int]] = {}
        for new, into in self._from.items():
            for old in into:
                following.setdefault(old, []).append(new)
        concerned: dict[int, None] = {atom: None for distance in distances for atom in distance}
        queue = list(concerned)
        for atom in queue:  # and what these can become, though no way leads back
            for new in following.get(atom, ()):
                if new not in concerned:
                    concerned[new] = None
                    queue.append(new)
        self._wanted = {atom: column for column, atom in enumerate(wanted)}
        self._rows = {
            atom: tuple([distance.get(atom, FAR) for distance in distances])
            if any(atom in distance for distance in distances)
            else ()
            for atom in concerned
        }
        return bool(wanted)

    def _distances(self, wanted: int) -> dict[int, int]:
        """How many steps of one thing it is to a wanted atom, from wherever there is a way."""
        distance = {wanted: 0}
        queue = deque([wanted])
        while queue:
            atom = queue.popleft()
            for before in self._from.get(atom, ()):
                if before not in distance:
                    distance[before] = distance[atom] + 1
                    queue.append(before)
        return distance

    def distance(self, atoms: Sequence[int]) -> int:
        """How far a state is from the goal: of things that are not where they are wanted and of wanted places that
        are not taken, each to the nearest of the others."""
        rows, wanted = self._rows, self._wanted
        total, away, taken = 0, [], set()
        for atom in atoms:
            row = rows.get(atom)
            if row:
                if atom in wanted:
                    taken.add(wanted[atom])
                else:
                    away.append(row)
            elif row is not None and self._expanded.get(atom, 0) >= FAMILIAR:
                total += LOST
        free = [column for column in wanted.values() if column not in taken]
        if away and free:
            table = [[row[column] for column in free] for row in away]
            total += sum(map(min, table)) + sum(map(min, zip(*table, strict=True)))
        return total

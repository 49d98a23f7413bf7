"""What was observed, as rows: a set of literals that were true, and the effects that explain what happened."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from worldcoder.synthesis.rules.effects import KEEP, UNKNOWN, Effect


@dataclass
class Side:
    """Observations of one context that some effect explains together."""

    effects: dict[Effect, float]
    transitions: list[int]


class Row:
    """One kind of context met, and what was observed there.

    In a clean world all observations agree and there is one side; otherwise the largest one is believed.
    """

    def __init__(self, mask: int) -> None:
        self.mask = mask
        self.sides: list[Side] = []

    @property
    def effects(self) -> dict[Effect, float]:
        """What explains the larger part of the observations, with costs."""
        return self._believed().effects

    @property
    def transitions(self) -> set[int]:
        """Those it stands for."""
        return {i for side in self.sides for i in side.transitions}

    @property
    def count(self) -> int:
        """How many transitions it stands for."""
        return sum(len(side.transitions) for side in self.sides)

    @property
    def disputed(self) -> list[int]:
        """The transitions on the smaller sides."""
        believed = self._believed()
        return [i for side in self.sides if side is not believed for i in side.transitions]

    def _believed(self) -> Side:
        return (
            self.sides[0] if len(self.sides) == 1 else max(self.sides, key=lambda side: len(side.transitions))
        )

    def add(self, effects: Mapping[Effect, float], transition: int) -> bool:
        """Add an observation; whether the row now says something else."""
        before = self._believed() if self.sides else None
        said = None if before is None else len(before.effects)
        for side in self.sides:
            both = {effect: cost for effect, cost in side.effects.items() if effect in effects}
            if both:
                side.effects = both
                side.transitions.append(transition)
                break
        else:
            self.sides.append(Side(dict(effects), [transition]))
        after = self._believed()
        return after is not before or len(after.effects) != said


class Rows:
    """Rows without repetitions."""

    def __init__(self) -> None:
        self.by_mask: dict[int, Row] = {}
        self._unknown: dict[int, None] = {}

    def add(self, mask: int, effects: Mapping[Effect, float], transition: int) -> Row | None:
        """Add one observation; returns the row if it is new or says something else than before."""
        if UNKNOWN in effects:
            self._unknown.setdefault(transition)
            return None
        row = self.by_mask.get(mask)
        if row is None:
            row = self.by_mask[mask] = Row(mask)
        return row if row.add(effects, transition) else None

    @property
    def contradictions(self) -> list[int]:
        """The transitions that no rule of the language can explain together with the others."""
        return [*self._unknown, *(i for row in self.by_mask.values() for i in row.disputed)]

    @property
    def conflicting(self) -> list[int]:
        """The same, with some of those that they contradict."""
        rows = (row for row in self.by_mask.values() if len(row.sides) > 1)
        return [*self._unknown, *(i for row in rows for side in row.sides for i in side.transitions[:5])]

    def of(self, transitions: Collection[int]) -> Rows:
        """The rows of these transitions, as all of them explain them."""
        found = Rows()
        found.by_mask = {
            mask: row for mask, row in self.by_mask.items() if not row.transitions.isdisjoint(transitions)
        }
        return found

    @property
    def changing(self) -> list[int]:
        """The transitions in which something changes, in their order."""
        return sorted(
            i
            for row in self.by_mask.values()
            for side in row.sides
            if KEEP not in side.effects
            for i in side.transitions
        )

    def __len__(self) -> int:
        return len(self.by_mask)

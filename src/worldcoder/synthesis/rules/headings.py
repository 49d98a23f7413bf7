"""Where things head by themselves: guards by their heading, what lies on a belt by the belt's, twins each his way.

Like all structure it is read off the data. For each kind the displacements seen are held against what might tell
them: an attribute of the thing, of what it refers to, or of what lies under it, or the action together with an
attribute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from worldcoder.synthesis.rules.scene import KIND, PLACE, Scene, Thing
from worldcoder.synthesis.rules.statistics import Vector, unit

Look = tuple[Any, ...]
Source = tuple[str, ...]
"""("own", attribute), ("of", reference, attribute), ("under", kind, attribute), ("action",), ("action", attribute)."""

_ENOUGH = 6
"""Moves of a kind from which on its heading is looked for, where there is an avatar that may have moved it."""
_DRIFTS = 3
"""Moves of a kind from which on there is a way that its things mostly go."""
_CARRIED = 3
"""The same for an avatar, of moves that are not its own."""
_PURE = 0.9
_TWICE = 2
"""Times that an action was seen from which on it tells what it leaves behind in an attribute."""


@dataclass(frozen=True)
class Heading:
    """What tells where things of a kind head, and where to by its value."""

    source: Source
    table: dict[Any, Vector]

    def key(self, scene: Scene, verb: Any, thing: Thing) -> Any:
        """The value that tells, here."""
        return _key(self.source, scene, verb, thing)

    def of(self, scene: Scene, verb: Any, thing: Thing) -> Vector | None:
        """Where a thing heads; None where that is not known."""
        return self.table.get(self.key(scene, verb, thing))


def _key(source: Source, scene: Scene, verb: Any, thing: Thing) -> Any:
    match source:
        case ("own", attribute):
            return thing.values.get(attribute)
        case ("of", reference, attribute):
            other = thing.values.get(reference)
            return other.values.get(attribute) if isinstance(other, Thing) else None
        case ("under", kind, attribute):
            here = [t for t in scene.at(thing.place) if t.kind == kind]
            return here[0].values.get(attribute) if here else None
        case ("action",):
            return verb
    return (verb, thing.values.get(source[1]))


@dataclass
class OwnMoves:
    """The displacements of one kind."""

    total: int = 0
    _by: dict[Source, dict[Any, Counter[Vector]]] = field(default_factory=dict)
    _by_verb: Counter[Any] = field(default_factory=Counter)
    _carried: dict[tuple[Any, Source], dict[Any, Counter[Vector]]] = field(default_factory=dict)

    def add(self, scene: Scene, verb: Any, thing: Thing, vector: Vector) -> None:
        """One more; the scene is the one before it."""
        self.total += 1
        self._by_verb[verb] += 1
        for source in self._sources(scene, thing):
            key = _key(source, scene, verb, thing)
            self._by.setdefault(source, {}).setdefault(key, Counter())[vector] += 1
            if source[0] == "under":
                self._carried.setdefault((verb, source), {}).setdefault(key, Counter())[vector] += 1

    def drift(self) -> Vector | None:
        """The commonest displacement."""
        counts = self._by.get(("action",), {}).values()
        vectors = sum(counts, Counter[Vector]())
        return vectors.most_common(1)[0][0] if vectors else None

    @staticmethod
    def _sources(scene: Scene, thing: Thing) -> Iterator[Source]:
        yield ("action",)
        for attribute, value in thing.values.items():
            if attribute not in (PLACE, KIND) and not isinstance(value, Thing) and value is not None:
                yield ("own", attribute)
                yield ("action", attribute)
            if isinstance(value, Thing):
                for its, one in value.values.items():
                    if its not in (PLACE, KIND) and isinstance(one, str | int):
                        yield ("of", attribute, its)
        for other in scene.at(thing.place):
            if other is not thing:
                for attribute, value in other.values.items():
                    if attribute not in (PLACE, KIND) and isinstance(value, str | int):
                        yield ("under", other.kind, attribute)

    def heading(self, *, led: bool) -> Heading | None:
        """What tells the displacements best; None where nothing does, or the avatar leads.

        led: there is an avatar, so that what follows the action need not be the thing's own doing.
        """
        if self.total < (_ENOUGH if led else 4):
            return None
        share = {source: self._share(by) for source, by in self._by.items()}
        by_action = share.get(("action",), 0.0)
        for source in sorted(self._by, key=lambda s: (s[0] == "action", s[0] == "under", len(s))):
            by = self._by[source]
            counted = sum(sum(moves.values()) for moves in by.values())
            vectors = {moves.most_common(1)[0][0] for moves in by.values()}
            if len(by) > 8 + 8 * (source[0] == "action") or len(vectors) < 2 or share[source] < _PURE:
                continue
            if source == ("action",) and led:
                continue
            if counted < _PURE * self.total and source[0] != "under":
                continue
            if source == ("action",) or share[source] > by_action + 0.05:
                return Heading(source, dict(self._table(by)))
        return None

    def carried(self) -> tuple[Heading, set[Any]] | None:
        """What lies under things and tells where they are carried, and the actions that move them in no other way."""
        for source in dict.fromkeys(source for _, source in self._carried):
            merged: dict[Any, Counter[Vector]] = {}
            verbs = set()
            for (verb, its), by in self._carried.items():
                if its == source and self._by_verb[verb] == sum(moves.total() for moves in by.values()):
                    verbs.add(verb)
                    for key, moves in by.items():
                        merged.setdefault(key, Counter()).update(moves)
            counted = sum(moves.total() for moves in merged.values())
            vectors = {moves.most_common(1)[0][0] for moves in merged.values()}
            if counted >= _CARRIED and len(vectors) > 1 and len(merged) <= 8 and self._share(merged) >= _PURE:
                return Heading(source, dict(self._table(merged))), verbs
        return None

    @staticmethod
    def _share(by: dict[Any, Counter[Vector]]) -> float:
        total = sum(sum(moves.values()) for moves in by.values())
        return sum(moves.most_common(1)[0][1] for moves in by.values()) / total

    @staticmethod
    def _table(by: dict[Any, Counter[Vector]]) -> Iterable[tuple[Any, Vector]]:
        for key, moves in by.items():
            vector, count = moves.most_common(1)[0]
            if 2 * count > sum(moves.values()):
                yield key, vector


class Remembered:
    """Attributes that say where a thing headed last: after each action that heads somewhere, a value of its own."""

    def __init__(self) -> None:
        self._after: dict[tuple[str, str], dict[Any, Counter[Any]]] = {}

    def add(self, verb: Any, new: Thing) -> None:
        """What a thing was like after an action."""
        for attribute, value in new.values.items():
            if attribute not in (PLACE, KIND) and not isinstance(value, Thing) and value is not None:
                by_verb = self._after.setdefault((new.kind, attribute), {})
                by_verb.setdefault(verb, Counter())[value] += 1

    def found(self, kind: str, steps: Mapping[Any, Vector]) -> tuple[str, dict[Any, Vector]] | None:
        """The attribute, and where things head by its value."""
        for (its, attribute), by_verb in self._after.items():
            table: dict[Any, Vector] = {}
            told = {verb: by_verb[verb] for verb in steps if by_verb.get(verb, Counter()).total() >= _TWICE}
            ways = {steps[verb] for verb in told}
            for verb, values in told.items():
                value, count = values.most_common(1)[0]
                if count >= _PURE * values.total():
                    table.setdefault(value, steps[verb])
            if its == kind and len(ways) > 1 and len(table) == len(set(table.values())) == len(ways):
                return attribute, table
        return None


class Slides:
    """What things passed that went farther than one step, and what they came to rest on."""

    def __init__(self) -> None:
        self._passed: set[tuple[str, Look]] = set()
        self._ended: set[tuple[str, Look]] = set()

    def add(self, scene: Scene, thing: Thing, vector: Vector, look: Callable[[Thing], Look]) -> None:
        """One more displacement; the scene is the one before it."""
        assert thing.place is not None
        (x, y), (dx, dy), times = thing.place, unit(vector), max(map(abs, vector))
        for k in range(1, times + 1):
            seen = self._passed if k < times else self._ended
            seen.update((thing.kind, look(t)) for t in scene.at((x + k * dx, y + k * dy)) if t is not thing)

    def stops(self, mover: str) -> set[Look]:
        """What a mover comes to rest on: never passed, as far as is known, and once the end of a move."""
        return {look for kind, look in self._ended - self._passed if kind == mover}

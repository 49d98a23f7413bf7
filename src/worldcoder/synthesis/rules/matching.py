"""Which of the things after a step is which of those before it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from worldcoder.synthesis.rules.scene import PLACE, Scene, Thing, scene_of
from worldcoder.synthesis.rules.statistics import Vector, vector_between
from worldcoder.world.difference import assignment, match
from worldcoder.world.values import State

Became = list[Thing | None]
"""For each thing of a scene, what it became; None where it is gone."""

_COMES = 1.5
"""How unlikely it is that a thing comes, or goes, in nats."""
_OTHERWISE = 1.2
"""The same of an attribute that changes."""
_LEAPS = 1.5
"""The same of going farther than to a place beside, besides how often that was seen."""
_MOST = 30
"""Things among which partners are exchanged; where there are more, the first guess has to do."""


@dataclass(frozen=True)
class Ways:
    """How far things of a kind go in a step, along x and y: how often each way was seen."""

    seen: Mapping[Vector, int]

    def unlikely(self, thing: Thing, new: Thing) -> float:
        """How unlikely it is that one became the other, in nats."""
        way, total = _way(thing, new), sum(self.seen.values())
        went = 0.0 if way is None else math.log((total + 1) / (self.seen.get(way, 0) + 0.5))
        leaps = way is not None and max(map(abs, way)) > 1
        changed = sum(_differ(v, new.values.get(a)) for a, v in thing.values.items() if a != PLACE)
        return went + _LEAPS * leaps + _OTHERWISE * changed


_NOTHING: Mapping[str, Ways] = MappingProxyType({})


def becomes(before: State, after: State, fleeting: Mapping[str, Ways] = _NOTHING) -> Became:
    """For each thing of the scene before, the thing it became in the scene after, or None.

    fleeting: kinds whose things come and go, and how they go (see `comings.py`).
    """
    now, then = scene_of(before), scene_of(after)
    became: Became = [None if j is None else then.things[j] for j in match(before, after)]
    for kind, ways in fleeting.items():
        _match_again(kind, ways, now, then, became)
    return became


def ways_in(steps: Sequence[tuple[State, State]], matches: Sequence[Became], kind: str) -> Ways:
    """How things of a kind without names went in these steps."""
    seen = Counter(
        way
        for (before, _), became in zip(steps, matches, strict=True)
        for thing in scene_of(before).kinds.get(kind, ())
        if (new := became[thing.index]) is not None and (way := _way(thing, new)) is not None
    )
    return Ways(seen)


def _differ(old: object, new: object) -> bool:
    """Whether a value has changed. Of things that are referred to names alone tell, for these are of two scenes."""
    if isinstance(old, Thing) and isinstance(new, Thing):
        return old.name != new.name
    return old != new


def _way(thing: Thing, new: Thing) -> Vector | None:
    if thing.name is not None or thing.place is None or new.place is None:
        return None
    return vector_between(thing.place, new.place)


def _match_again(kind: str, ways: Ways, now: Scene, then: Scene, became: Became) -> None:
    """What became of the things of one kind, by how such things go."""
    things = [t for t in now.kinds.get(kind, ()) if t.name is None]
    taken = {new.index for t, new in zip(now.things, became, strict=True) if new and t.kind != kind}
    news = [t for t in then.kinds.get(kind, ()) if t.name is None and t.index not in taken]
    things = [t for t in things if (new := became[t.index]) is None or new.kind == kind]
    costs = {
        (i, j): cost
        for i, thing in enumerate(things)
        for j, new in enumerate(news)
        if (cost := ways.unlikely(thing, new)) < 2 * _COMES
    }
    for some, others in _connected(len(things), costs):
        if len(some) + len(others) > _MOST:
            continue
        size = len(some) + len(others)  # each may be gone, and each may be new
        table = [[costs.get((i, j), 1e3) for j in others] + [_COMES] * len(some) for i in some] + [
            [_COMES] * len(others) + [0.0] * len(some) for _ in others
        ]
        found = assignment(table) if size else []
        for i, column in zip(some, found, strict=False):
            became[things[i].index] = news[others[column]] if column < len(others) else None


def _connected(count: int, pairs: Mapping[tuple[int, int], float]) -> Iterator[tuple[list[int], list[int]]]:
    """Those of so many things, and of the others, that are paired with each other by whatever many steps."""
    partners: dict[tuple[bool, int], list[tuple[bool, int]]] = {(False, i): [] for i in range(count)}
    for i, j in pairs:
        partners[False, i].append((True, j))
        partners.setdefault((True, j), []).append((False, i))
    seen: set[tuple[bool, int]] = set()
    for first in [(False, i) for i in range(count)]:
        group, left = [], [first]
        while left:
            one = left.pop()
            if one not in seen:
                seen.add(one)
                group.append(one)
                left += partners[one]
        if group:
            yield (
                sorted(i for other, i in group if not other),
                sorted(j for other, j in group if other),
            )

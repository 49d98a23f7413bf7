"""How new a step is, by what was tried before: for a proposer that has no hypotheses of its own to disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from typing import Any

from worldcoder.world.values import Action, Obj, State

TOP = 2.0
"""The interest of a step of which something is new."""
_WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1))
_PLAIN = (bool, str)
_KEPT = 20_000

Feature = tuple[Any, ...]
"""The kind of an object, how much it weighs what is said of it, and what that is."""


class Novelty:
    """Counts what actions were tried near: for each object that can change, what stands next to it, each way on
    its own, with what is behind that. What changes often counts for more, as that is what the actions act on;
    and so does what stands near others that can change.
    """

    def __init__(self) -> None:
        self._tried: set[tuple[Action, Feature]] = set()
        self._around: dict[State, list[Feature]] = {}
        self._changes: Counter[str] = Counter()

    def observe(self, state: State, action: Action, changed: Set[str]) -> None:
        """An action was tried. changed: the kinds that changed by it."""
        if changed - self._changes.keys():
            self._around.clear()
        self._changes.update(changed)
        self._tried.update((action, feature) for feature in self._features(state))

    def interest(self, state: State, action: Action) -> float:
        """`TOP` times the share of what is new about an action there; 0 for nothing."""
        new = known = 0
        for feature in self._features(state):
            weight = self._changes[feature[0]] * feature[1]
            if (action, feature) in self._tried:
                known += weight
            else:
                new += weight
        return TOP * new / (new + known) if new else 0.0

    def _features(self, state: State) -> list[Feature]:
        found = self._around.get(state)
        if found is None:
            if len(self._around) > _KEPT:
                self._around.clear()
            found = self._around[state] = list(dict.fromkeys(features(state, self._changes.keys())))
        return found


def features(state: State, moving: Set[str]) -> Iterator[Feature]:
    """What an action can meet in a state."""
    places: dict[tuple[int, int], list[Obj]] = {}
    for o in state:
        place = _place(o)
        if place is not None:
            places.setdefault(place, []).append(o)
    for o in state:
        if o.kind not in moving:
            continue
        look, place = _look(o), _place(o)
        if place is None:
            yield o.kind, 1, look
            continue
        x, y = place
        yield o.kind, 1, look, _looks(places[place])
        for dx, dy in _WAYS:
            near = places.get((x + dx, y + dy), [])
            far = places.get((x + 2 * dx, y + 2 * dy), []) if near else []
            movable = sum(other.kind in moving for other in (*near, *far))
            yield o.kind, 1 + 2 * movable, look, dx, dy, _looks(near), _looks(far)


def _looks(objects: Iterable[Obj]) -> tuple[str, ...]:
    return tuple(sorted(map(_look, objects)))


def _place(o: Obj) -> tuple[int, int] | None:
    x, y = o.attributes.get("x"), o.attributes.get("y")
    return (x, y) if isinstance(x, int) and isinstance(y, int) else None


def _look(o: Obj) -> str:
    """The kind of an object and its attributes that are words or truth values."""
    words = [f"{a}={v}" for a, v in o.attributes.items() if isinstance(v, _PLAIN)]
    return " ".join([o.kind, *words])

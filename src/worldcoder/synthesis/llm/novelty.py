"""How new a step is, by what was tried before: for a proposer that has no hypotheses of its own to disagree."""

from __future__ import annotations

from collections.abc import Iterator, Set

from worldcoder.world.values import Action, Obj, State

TOP = 2.0
"""The interest of a step of which something is new."""
_WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1))
_PLAIN = (bool, str)
_KEPT = 20_000

Feature = tuple[object, ...]


class Novelty:
    """Counts what actions were tried near: for each object that can change, what stands one and two steps from
    it, each way on its own, and its attributes that are words.
    """

    def __init__(self) -> None:
        self._tried: set[tuple[Action, Feature]] = set()
        self._around: dict[State, list[Feature]] = {}
        self._kinds = 0

    def observe(self, state: State, action: Action, moving: Set[str]) -> None:
        """An action was tried. moving: the kinds that can change."""
        self._tried.update((action, feature) for feature in self._features(state, moving))

    def interest(self, state: State, action: Action, moving: Set[str]) -> float:
        """`TOP` times the share of what is new about an action there; 0 for nothing."""
        found = self._features(state, moving)
        return TOP * sum((action, f) not in self._tried for f in found) / max(len(found), 1)

    def _features(self, state: State, moving: Set[str]) -> list[Feature]:
        if len(moving) != self._kinds or len(self._around) > _KEPT:
            self._around.clear()
            self._kinds = len(moving)
        found = self._around.get(state)
        if found is None:
            found = self._around[state] = list(dict.fromkeys(features(state, moving)))
        return found


def features(state: State, moving: Set[str]) -> Iterator[Feature]:
    """What an action can meet in a state."""
    places: dict[tuple[int, int], list[str]] = {}
    for o in state:
        place = _place(o)
        if place is not None:
            places.setdefault(place, []).append(_look(o))
    for o in state:
        if o.kind not in moving:
            continue
        look, place = _look(o), _place(o)
        if place is None:
            yield (look,)
            continue
        x, y = place
        yield look, "here", tuple(sorted(places[place]))
        for dx, dy in _WAYS:
            near, far = (tuple(sorted(places.get((x + n * dx, y + n * dy), ()))) for n in (1, 2))
            yield look, dx, dy, near, far


def _place(o: Obj) -> tuple[int, int] | None:
    x, y = o.attributes.get("x"), o.attributes.get("y")
    return (x, y) if isinstance(x, int) and isinstance(y, int) else None


def _look(o: Obj) -> str:
    """The kind of an object and its attributes that are words or truth values."""
    words = [f"{a}={v}" for a, v in o.attributes.items() if isinstance(v, _PLAIN)]
    return " ".join([o.kind, *words])

"""How new a step is, by what was tried before: for a proposer that has no hypotheses of its own to disagree."""

from __future__ import annotations

from collections.abc import Iterator, Set

from worldcoder.world.values import Action, Obj, State

TOP = 2.0
"""The interest of a step of which something is new."""
_WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1))
_PLAIN = (bool, str)

Feature = tuple[object, ...]


class Novelty:
    """Counts what actions were tried near: for each object that can change, what stands one and two steps from
    it, each way on its own, and its attributes that are words.
    """

    def __init__(self) -> None:
        self._tried: set[Feature] = set()
        self._known: dict[tuple[State, Action], float] = {}

    def observe(self, state: State, action: Action, moving: Set[str]) -> None:
        """An action was tried. moving: the kinds that can change."""
        before = len(self._tried)
        self._tried.update(features(state, action, moving))
        if len(self._tried) != before:
            self._known.clear()

    def interest(self, state: State, action: Action, moving: Set[str]) -> float:
        """`TOP` times the share of what is new about an action there; 0 for nothing."""
        known = self._known.get((state, action))
        if known is None:
            found = set(features(state, action, moving))
            known = TOP * len(found - self._tried) / max(len(found), 1)
            self._known[state, action] = known
        return known


def features(state: State, action: Action, moving: Set[str]) -> Iterator[Feature]:
    """What an action meets in a state."""
    places: dict[tuple[int, int], list[str]] = {}
    for o in state:
        place = _place(o)
        if place is not None:
            places.setdefault(place, []).append(_look(o))
    for o in state:
        if o.kind not in moving:
            continue
        look = action, _look(o)
        place = _place(o)
        if place is None:
            yield look
            continue
        x, y = place
        yield (*look, "here", tuple(sorted(places[place])))
        for dx, dy in _WAYS:
            near, far = (tuple(sorted(places.get((x + n * dx, y + n * dy), ()))) for n in (1, 2))
            yield (*look, dx, dy, near, far)


def _place(o: Obj) -> tuple[int, int] | None:
    x, y = o.attributes.get("x"), o.attributes.get("y")
    return (x, y) if isinstance(x, int) and isinstance(y, int) else None


def _look(o: Obj) -> str:
    """The kind of an object and its attributes that are words or truth values."""
    words = [f"{a}={v}" for a, v in o.attributes.items() if isinstance(v, _PLAIN)]
    return " ".join([o.kind, *words])

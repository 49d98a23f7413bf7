"""How new a step is, by what was tried before: for a proposer that has no hypotheses of its own to disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Any

from worldcoder.world.values import Action, Obj, State

TOP = 2.0
"""The interest of a step of which something is new."""
_WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1))
_PLAIN = (bool, str)
_KEPT = 20_000

Way = tuple[int, int]
Feature = tuple[Any, ...]
"""What an action can meet: the kind of an object, how much it weighs what is said of it, and what that is."""


@dataclass(frozen=True)
class Around:
    """An object that can change, and what is around it.

    own: what is said of it alone, or of it and what is in the same place. near: by the way on which it is, what is next
    to it, with what is behind that. manner: its attributes but for its place.
    """

    kind: str
    manner: tuple[Any, ...]
    own: tuple[Feature, ...]
    near: tuple[tuple[Way, Feature], ...] = ()


class Novelty:
    """Counts what actions were tried near: for each object that can change, what stands next to it, each way on
    its own, with what is behind that. What changes often counts for more, as that is what the actions act on;
    and so does what stands near others that can change.

    Where it was seen which way an action takes an object, what is on that way counts for that action, and of what is
    beside it only what it is. Else most of what is new would be what the action has nothing to do with: to walk
    upwards with a wall on the left, and then with one on the right.
    """

    def __init__(self) -> None:
        self._tried: set[tuple[Action | None, Feature]] = set()
        self._around: dict[State, list[Around]] = {}
        self._changes: Counter[str] = Counter()
        self._ways: dict[tuple[Any, ...], set[Way]] = {}

    def observe(self, state: State, action: Action, next_state: State) -> None:
        """An action was tried."""
        gone, come = _changed(state, next_state)
        changed = {o.kind for o in (*gone, *come)}
        if changed - self._changes.keys():
            self._around.clear()
        self._changes.update(changed)
        for kind in changed:
            self._learn_way(action, [o for o in gone if o.kind == kind], [o for o in come if o.kind == kind])
        self._tried.update(self._features(state, action))

    def interest(self, state: State, action: Action) -> float:
        """`TOP` times the share of what is new about an action there; 0 for nothing."""
        new = known = 0
        for key in self._features(state, action):
            _, feature = key
            weight = self._changes[feature[0]] * feature[1]
            if key in self._tried:
                known += weight
            else:
                new += weight
        return TOP * new / (new + known) if new else 0.0

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────

    def _learn_way(self, action: Action, gone: list[Obj], come: list[Obj]) -> None:
        """Which way an action took the only object of its kind that changed."""
        if len(gone) != 1 or len(come) != 1:
            return
        old, new = _place(gone[0]), _place(come[0])
        if old is None or new is None or old == new:
            return
        way, manner = (new[0] - old[0], new[1] - old[1]), _manner(gone[0])
        self._ways.setdefault((gone[0].kind, manner, action), set()).add(way)
        if manner:
            self._ways.setdefault((gone[0].kind, manner), set()).add(way)

    def _way(self, thing: Around, action: Action) -> Way | None:
        """The way an action takes an object; else the one that an object of this manner was always taken."""
        for key in ((thing.kind, thing.manner, action), (thing.kind, thing.manner)):
            known = self._ways.get(key, ())
            if len(known) == 1:
                return next(iter(known))
        return None

    def _features(self, state: State, action: Action) -> dict[tuple[Action | None, Feature], None]:
        """What the action can meet, each with the action; what is only beside its way without."""
        found = self._around.get(state)
        if found is None:
            if len(self._around) > _KEPT:
                self._around.clear()
            found = self._around[state] = list(_surroundings(state, self._changes.keys()))
        features: dict[tuple[Action | None, Feature], None] = {}
        for thing in found:
            ahead = self._way(thing, action)
            features.update(((action, feature), None) for feature in thing.own)
            for way, feature in thing.near:
                if ahead is None or ahead == way:
                    features[action, feature] = None
                else:
                    kind, _, look, _, next_to, _ = feature
                    features[None, (kind, 1, look, next_to)] = None
        return features


def _surroundings(state: State, moving: Set[str]) -> Iterator[Around]:
    places: dict[Way, list[Obj]] = {}
    for o in state:
        place = _place(o)
        if place is not None:
            places.setdefault(place, []).append(o)
    for o in state:
        if o.kind not in moving:
            continue
        look, place = _look(o), _place(o)
        if place is None:
            yield Around(o.kind, _manner(o), ((o.kind, 1, look),))
            continue
        x, y = place
        near_by = []
        for dx, dy in _WAYS:
            near = places.get((x + dx, y + dy), [])
            far = places.get((x + 2 * dx, y + 2 * dy), []) if near else []
            movable = sum(other.kind in moving for other in (*near, *far))
            near_by.append(((dx, dy), (o.kind, 1 + 2 * movable, look, (dx, dy), _looks(near), _looks(far))))
        own = (o.kind, 1, look), (o.kind, 1, look, _looks(places[place]))
        yield Around(o.kind, _manner(o), own, tuple(near_by))


def _changed(before: State, after: State) -> tuple[list[Obj], list[Obj]]:
    """The objects that are in one of two states and not in the other."""
    old, new = ({(o.kind, o.name, tuple(o.attributes.items())): o for o in s} for s in (before, after))
    return [o for key, o in old.items() if key not in new], [o for key, o in new.items() if key not in old]


def _looks(objects: Iterable[Obj]) -> tuple[str, ...]:
    return tuple(sorted(map(_look, objects)))


def _place(o: Obj) -> Way | None:
    x, y = o.attributes.get("x"), o.attributes.get("y")
    return (x, y) if isinstance(x, int) and isinstance(y, int) else None


def _manner(o: Obj) -> tuple[Any, ...]:
    """The attributes of an object but for its place."""
    return tuple((a, v) for a, v in o.attributes.items() if a not in ("x", "y"))


def _look(o: Obj) -> str:
    """The kind of an object and its attributes that are words or truth values."""
    words = [f"{a}={v}" for a, v in o.attributes.items() if isinstance(v, _PLAIN)]
    return " ".join([o.kind, *words])

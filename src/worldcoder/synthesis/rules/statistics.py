"""Small statistics of what changes: displacements, their majorities, what depends on the action."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import gcd, log
from typing import Any

from worldcoder.synthesis.rules.scene import PLACE, Scene, Thing

Vector = tuple[int, int]
Box = tuple[Any, Any, Any, Any]
_SURE = 0.75
"""The share of what changed beside an avatar that has to tell where an action heads, if it never moved it."""
_STEERED = 0.8
"""The share of its moves along an axis that an action has to tell, and half of all its moves,"""
_ASLANT = 5
"""and how much of them has to go along the other as well, each move counting twice."""
_TOUCHES = 3
"""The same in numbers, where another action moves it there."""
Verb = str | tuple[Any, ...]
"""An action without the objects it names: "up", or ("go", "north") where the arguments are mere words."""


def same_value(old: Any, new: Any, became: Sequence[Thing | None]) -> bool:
    """Whether a value stayed, a reference to what the same thing became counting as the same."""
    if isinstance(old, Thing):
        return isinstance(new, Thing) and became[old.index] is new
    return bool(old == new) and not isinstance(new, Thing)


def outcome_of(thing: Thing, became: Sequence[Thing | None]) -> Any:
    """What an action did to a thing, roughly: how far it went, which of its other values changed."""
    new = became[thing.index]
    if new is None:
        return "gone"
    vector = vector_between(thing.place, new.place) if thing.place and new.place else None
    changed = tuple(
        a for a, v in thing.values.items() if a != PLACE and not same_value(v, new.values.get(a), became)
    )
    return vector, changed


def information(counts: Counter[tuple[Verb, Any]]) -> float:
    """The mutual information of action and outcome in nats, less its bias (Miller 1955); 0 at least."""
    total = sum(counts.values())
    verbs: Counter[Verb] = Counter()
    outcomes: Counter[Any] = Counter()
    for (verb, outcome), n in counts.items():
        verbs[verb] += n
        outcomes[outcome] += n
    found = sum(n / total * log(n * total / (verbs[v] * outcomes[o])) for (v, o), n in counts.items())
    bias = (len(verbs) - 1) * (len(outcomes) - 1) / (2 * total)
    return max(0.0, found - bias)


def is_far(thing: Thing, avatar: Thing | None) -> bool:
    """More than three steps from the avatar."""
    if (
        avatar is None
        or avatar.place is None
        or thing.place is None
        or not vector_between(thing.place, avatar.place)
    ):
        return False
    return sum(map(abs, vector_between(thing.place, avatar.place) or ())) > 3


def vector_between(a: tuple[Any, Any], b: tuple[Any, Any]) -> Vector | None:
    """The displacement from one place to another; None where these are no cells of a grid."""
    if all(type(v) is int for v in (*a, *b)):
        return (b[0] - a[0], b[1] - a[1])
    return None


def count_move(table: dict[Any, Counter[Vector]], key: Any, vector: Vector, weight: int) -> None:
    """Add to a count, leaving nothing where it comes to 0."""
    counts = table.setdefault(key, Counter())
    counts[vector] += weight
    if counts[vector] <= 0:
        del counts[vector]
        if not counts:
            del table[key]


def unit(vector: Vector) -> Vector:
    """The direction of a displacement, whatever its length."""
    length = gcd(*vector) or 1
    return (vector[0] // length, vector[1] // length)


def majority(table: Mapping[Any, Counter[Vector]]) -> tuple[dict[Any, Vector], float]:
    """The commonest vector of each value, and the share of all moves that these explain."""
    chosen = {value: moves.most_common(1)[0][0] for value, moves in table.items()}
    total = sum(sum(moves.values()) for moves in table.values())
    return chosen, sum(moves.most_common(1)[0][1] for moves in table.values()) / total


def steered(table: Mapping[Verb, Counter[Vector]]) -> tuple[dict[Verb, Vector], list[Vector]] | None:
    """Where actions head that are gone along one axis, and the ways that are gone along the other in the same step.

    Of something that walks to the left or right and falls. None where nothing is gone along both axes at once.
    """
    found: list[tuple[int, dict[Verb, Vector], list[Vector]]] = []
    for axis in (0, 1):
        walks: dict[Verb, int] = {}
        aslant: Counter[int] = Counter()
        for verb, moves in table.items():
            going = Counter({to: n for to, n in moves.items() if to[axis]})
            value, count = _commonest(going, axis)
            if count and count >= _STEERED * going.total() and 2 * count >= _STEERED * moves.total():
                walks[verb] = value
                aslant.update(
                    {to[1 - axis]: n for to, n in moves.items() if to[axis] == value and to[1 - axis]}
                )
        if (
            len(set(walks.values())) < 2
            or not aslant
            or max(map(abs, aslant)) > 1
            or aslant.total() < _ASLANT
        ):
            continue
        ways = {to[1 - axis] for moves in table.values() for to in moves if abs(to[1 - axis]) == 1}
        usual = aslant.most_common(1)[0][0]
        for verb in table.keys() - walks.keys():  # what goes the other way along that axis
            value, count = _commonest(table[verb], 1 - axis)
            if value not in (0, usual) and count >= _STEERED * table[verb].total():
                walks[verb] = 0
        steps = {
            verb: _vector(axis, walks[verb], 0 if walks[verb] else _commonest(moves, 1 - axis)[0])
            for verb, moves in table.items()
            if verb in walks
        }
        found.append((aslant.total(), steps, [_vector(axis, 0, v) for v in sorted(ways, reverse=True)]))
    return None if not found else max(found, key=lambda one: one[0])[1:]


def _commonest(moves: Counter[Vector], axis: int) -> tuple[int, int]:
    """The commonest displacement along an axis, and how often it was seen."""
    along: Counter[int] = Counter()
    for to, n in moves.items():
        along[to[axis]] += n
    return along.most_common(1)[0] if along else (0, 0)


def _vector(axis: int, along: int, across: int) -> Vector:
    return (across, along) if axis else (along, across)


def complete(table: dict[Any, Vector], unknown: Iterable[Any]) -> None:
    """Where all directions but one have their opposite and one value is left, it is the missing one."""
    rest = list(unknown)
    missing = {(-x, -y) for x, y in table.values()} - set(table.values())
    if len(rest) == 1 and len(missing) == 1:
        table[rest[0]] = missing.pop()


def suppose(table: dict[Any, Vector], unknown: Sequence[Any], *, turned_round: bool) -> set[Any]:
    """With one axis known and two values left, suppose that they are the two ways of the other axis: those values.

    Which is which is a guess: the first thing that changes beside the avatar tells, and a step that leads nowhere
    where nothing is in the way turns it round.
    """
    vectors = list(table.values())
    if len(unknown) != 2 or len(vectors) != 2 or vectors[0] != (-vectors[1][0], -vectors[1][1]):
        return set()
    x, y = vectors[0]
    if 0 not in (x, y):
        return set()
    first, second = reversed(unknown) if turned_round else unknown
    table[first], table[second] = (-y, x), (y, -x)
    return {first, second}


def repeated(things: Sequence[Thing]) -> set[str]:
    """The attributes of which two things have the same value, as far as these are plain ones."""
    found = set()
    for attribute in things[0].values if things else ():
        values = [t.values.get(attribute) for t in things]
        plain = [v for v in values if not isinstance(v, Thing)]
        if len(set(plain)) < len(plain):
            found.add(attribute)
    return found


def standing(scene: Scene, things: Sequence[Thing]) -> tuple[int, int, float]:
    """How many there are, how much there is to say of each, and how near the middle the nearest stands."""
    x0, y0, x1, y1 = scene.bounds
    places = [t.place for t in things if t.place is not None and all(type(v) is int for v in t.place)]
    apart = (abs(2 * x - x0 - x1) + abs(2 * y - y0 - y1) for x, y in places)
    return len(things), -len(things[0].values), min(apart, default=0)


def is_sure(touches: Counter[Vector], to: Vector, taken: Collection[Vector]) -> bool:
    """Whether what changed beside the avatar tells where an action heads that never moved it.

    taken: where other actions move it.
    """
    return touches[to] >= _SURE * touches.total() and (to not in taken or touches[to] >= _TOUCHES)


def widened(box: Box | None, other: Box) -> Box:
    """The least box that holds both: least x and y, greatest x and y."""
    if box is None:
        return other
    return (min(box[0], other[0]), min(box[1], other[1]), max(box[2], other[2]), max(box[3], other[3]))

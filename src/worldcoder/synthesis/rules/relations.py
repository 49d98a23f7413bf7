"""What relates an object to others: neighbours, what joins it to something, being first of several, sight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from worldcoder.synthesis.rules.language import Context, Literal, gap, is_own, minds_avatar, term_values
from worldcoder.synthesis.rules.quantities import is_number
from worldcoder.synthesis.rules.scene import KIND, PLACE, Place, Thing
from worldcoder.synthesis.rules.statistics import unit, vector_between

BESIDE = ((1, 0), (0, 1), (-1, 0), (0, -1))
_AROUND = (*BESIDE, (1, 1), (-1, 1), (-1, -1), (1, -1))
_STEPS = (2, 3, 4, 5)
"""How near the avatar has to be, as far as it is spoken of."""
_FEW = 8
"""Values of an attribute up to which each is spoken of."""


def own_relations(context: Context) -> Iterator[Literal]:
    """Those of the object itself."""
    thing = context.thing
    if thing.place is not None and all(type(v) is int for v in thing.place):
        yield from _neighbours(context, thing.place)
        if minds_avatar(context):
            yield ("sees",) if sees(context) else ("not sees",)
            yield from _gaps(context)
    yield from _joined(context, own=True)
    yield from _ranks(context)
    for kind, attribute, found in _passed_alike(context):
        yield ("passed like" if found else "not passed like", kind, attribute)
    for term in ("self",) if context.is_avatar else ("self", "me"):
        yield from _alike(context, term)


def common_relations(context: Context) -> Iterator[Literal]:
    """Those of what the action and the avatar name."""
    yield from _joined(context, own=False)
    way = on_the_way(context)
    if way is not None:
        passed = {t.kind for t in way}
        for kind in context.vocabulary.kinds:
            if kind != context.vocabulary.avatar:
                yield ("passed" if kind in passed else "not passed", kind)


def on_the_way(context: Context) -> list[Thing] | None:
    """What lies on the way that the avatar has gone in earlier phases, the end included.

    None where it never goes farther than one step: what it came onto says as much.
    """
    avatar, start = context.avatar, context.origin
    if avatar is None or start is None or not context.vocabulary.slides(avatar.kind):
        return None
    end = avatar.place
    vector = vector_between(start, end) if end is not None else None
    if end is None or vector is None or 0 not in vector or not all(type(v) is int for v in (*start, *end)):
        return []
    (x, y), (dx, dy), times = start, unit(vector), max(map(abs, vector))
    return [
        t for k in range(1, times + 1) for t in context.scene.at((x + k * dx, y + k * dy)) if t is not avatar
    ]


def _passed_alike(context: Context) -> Iterator[tuple[str, str, bool]]:
    """By kind and attribute, whether something that has the object's own value lies on the way."""
    way, thing, vocabulary = on_the_way(context), context.thing, context.vocabulary
    if way is None or context.is_avatar:
        return
    for attribute, value in thing.values.items():
        if (
            attribute not in (PLACE, KIND)
            and isinstance(value, str)
            and vocabulary.varies(thing.kind, attribute)
        ):
            for kind in vocabulary.kinds:
                if kind != thing.kind and vocabulary.varies(kind, attribute):
                    found = any(t.kind == kind and t.values.get(attribute) == value for t in way)
                    yield kind, attribute, found


def _gaps(context: Context) -> Iterator[Literal]:
    """How far the avatar is from an object: along which axis more, along which not at all, in how many steps."""
    assert context.avatar is not None
    between = gap(context.thing.place, context.avatar.place)
    if between is not None:
        wide, tall = map(abs, between)
        yield ("wider",) if wide > tall else ("not wider",)
        yield ("taller",) if tall > wide else ("not taller",)
        for axis, apart in (("x", wide), ("y", tall)):
            yield ("not level" if apart else "level", axis)
        for steps in _STEPS:
            yield ("within" if wide + tall <= steps else "not within", steps)


def _neighbours(context: Context, place: Place) -> Iterator[Literal]:
    """What is in the four cells beside an object; and where exactly, if it is something that changes."""
    vocabulary, (x, y) = context.vocabulary, place
    beside: set[str] = set()
    values: dict[tuple[str, str, Any], None] = {}  # in the order in which they are met
    for dx, dy in _AROUND:
        for t in context.scene.at(vocabulary.meant(context.thing.kind, (x + dx, y + dy))):
            if t.kind in vocabulary.alive:
                yield ("next", t.kind, (dx, dy))
            if (dx, dy) in BESIDE:
                beside.add(t.kind)
                mine = ((t.kind, a, v) for a, v in t.values.items() if (t.kind, a) in vocabulary.changing)
                values.update(dict.fromkeys(mine))
    for kind in vocabulary.kinds:
        yield ("neighbour", kind) if kind in beside else ("no neighbour", kind)
    for kind, attribute, value in values:
        plain = attribute not in (PLACE, KIND) and not isinstance(value, Thing)
        if plain and len(vocabulary.values.get((kind, attribute), ())) <= _FEW:
            yield ("neighbour.", kind, attribute, value)


def _joined(context: Context, *, own: bool) -> Iterator[Literal]:
    """Whether something refers to both of two things, as a road does to the towns at its ends."""
    joints = context.vocabulary.links
    if not joints:
        return
    named = [(t, v) for t, v in term_values(context).items() if isinstance(v, Thing)]
    for i, (first, a) in enumerate(named):
        for second, b in named[i + 1 :]:
            if a is not b and (is_own(first) or is_own(second)) is own:
                for kind, attributes in joints.items():
                    found = any(
                        any(t.values.get(one) is a for one in attributes)
                        and any(t.values.get(one) is b for one in attributes)
                        for t in context.scene.kinds.get(kind, ())
                    )
                    yield ("joined" if found else "not joined", kind, first, second)


def _alike(context: Context, term: str) -> Iterator[Literal]:
    """Whether there are others with the same value: anybody who waits at the floor where the lift is."""
    target = context.term(term)
    for attribute, value in target.values.items() if isinstance(target, Thing) else ():
        if attribute in (PLACE, KIND) or type(value) not in (int, float, str):
            continue
        for kind in context.vocabulary.kinds:
            if context.vocabulary.varies(kind, attribute) and not context.vocabulary.is_single(kind):
                there = any(t is not context.thing for t in having(context, kind, term, attribute))
                yield ("some with" if there else "none with", kind, term, attribute)


def having(context: Context, kind: str, term: str, attribute: str) -> list[Thing]:
    """The objects of a kind that have the value that what a term names has, without that one."""
    target = context.term(term)
    value = target.values.get(attribute) if isinstance(target, Thing) else None
    if value is None:
        return []
    there = context.scene.kinds.get(kind, ())
    return [
        t for t in there if t is not target and attribute in t.values and _same(t.values[attribute], value)
    ]


def _same(a: Any, b: Any) -> bool:
    return a is b if isinstance(a, Thing) or isinstance(b, Thing) else bool(a == b)


def _ranks(context: Context) -> Iterator[Literal]:
    """Whether a number of the object is the least or the greatest of those of its kind that refer to something."""
    thing, vocabulary = context.thing, context.vocabulary
    if vocabulary.is_single(thing.kind):
        return
    numbers = [a for a, v in thing.values.items() if is_number(v) and vocabulary.varies(thing.kind, a)]
    if not numbers:
        return
    others = [t for t in context.scene.kinds.get(thing.kind, ()) if t is not thing]
    for kind, reference in vocabulary.references:
        if kind == thing.kind:
            for term, target in term_values(context).items():
                if isinstance(target, Thing) and term not in ("self", "me"):
                    there = [t for t in others if t.values.get(reference) is target]
                    for number in numbers:
                        mine = thing.values[number]
                        its = [v for t in there if is_number(v := t.values.get(number))]
                        least, most = all(v > mine for v in its), all(v < mine for v in its)
                        yield ("before all" if least else "not before all", reference, term, number)
                        yield ("after all" if most else "not after all", reference, term, number)


def sees(context: Context) -> bool:
    """Whether the avatar is in a row or column with the object, and nothing that stops the object is between."""
    thing, avatar = context.thing, context.avatar
    place = context.place(("toward", 1))
    if place is None or avatar is None or thing.place is None:
        return False
    dx, dy = place[0] - thing.place[0], place[1] - thing.place[1]
    while place != avatar.place:
        if any(not context.vocabulary.passable(thing.kind, t) for t in context.scene.at(place)):
            return False
        place = (place[0] + dx, place[1] + dy)
    return True

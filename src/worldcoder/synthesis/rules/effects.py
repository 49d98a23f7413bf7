"""The language of effects: what can happen to an object.

`effects(context, ...)` gives every effect that explains what was observed, with its description length;
`apply_effect` says what an effect makes of an attribute. An effect is a plain value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from worldcoder.synthesis.rules.language import (
    NEARER,
    Context,
    PlaceTerm,
    object_terms,
    place_terms,
    quantity_cost,
    term_values,
)
from worldcoder.synthesis.rules.quantities import is_number, quantities, quantity_of, with_singles
from worldcoder.synthesis.rules.relations import having
from worldcoder.synthesis.rules.scene import KIND, PLACE, Place, Thing
from worldcoder.synthesis.rules.statistics import Vector
from worldcoder.synthesis.rules.vocabulary import Vocabulary

Effect = tuple[Any, ...]

KEEP: Effect = ("keep",)
DELETE: Effect = ("delete",)
UNKNOWN: Effect = ("unknown",)


def effects(context: Context, attribute: str, new: Any) -> dict[Effect, float]:
    """Every effect that explains that the attribute has this value after the action, with its cost.

    new: the value in terms of the scene before (references as things of it); the effect ("unknown",) where
    nothing else fits.
    """
    found: dict[Effect, float] = {}
    old = context.thing.values.get(attribute)
    for effect, cost in candidate_effects(context, attribute, new):
        value = apply_effect(context, attribute, effect)
        if value is new or (_plain(value) and _plain(new) and _equal(value, new)):
            found.setdefault(effect, cost)
    if not found:
        found[UNKNOWN] = 12.0
    assert KEEP in found or old is not new
    return found


def _plain(value: Any) -> bool:
    return not isinstance(value, Thing)


def _equal(value: Any, new: Any) -> bool:
    """Whether two values are the same; True is no number."""
    return bool(value == new) and isinstance(value, bool) == isinstance(new, bool)


def candidate_effects(context: Context, attribute: str, new: Any) -> Iterator[tuple[Effect, float]]:
    """Effects that could lead to a value; `apply_effect` decides."""
    yield KEEP, 0.4
    if attribute == PLACE:
        yield from _place_effects(context, new)
        return
    old = context.thing.values.get(attribute)
    if isinstance(new, Thing):
        for term in object_terms(context):
            if term != "self":
                yield ("object", term), 1.4 + 0.5 * term.count(".")
        for place_term in place_terms(context):
            if _names_object(context, place_term):
                yield ("object at", place_term), 1.2 + 0.3 * abs(place_term[1] - 1)
                yield ("kind at", place_term, new.kind), 2.0 + 0.3 * abs(place_term[1] - 1)
        yield from _alike(context, (new.kind,))
        return
    if (context.thing.kind, attribute) in context.vocabulary.references:
        # where there is nothing to refer to, it stays as it is: no condition has to say so
        for place_term in place_terms(context):
            if _names_object(context, place_term):
                yield ("object at", place_term), 1.2 + 0.3 * abs(place_term[1] - 1)
        yield from _alike(context, context.vocabulary.kinds)
    yield ("set", new), 1.6 if new is None or isinstance(new, bool) else 2.2
    if type(old) in (int, float) and type(new) in (int, float):
        yield ("add", new - old), 1.5 + 0.2 * abs(new - old)
        known = [
            v for v in context.vocabulary.values.get((context.thing.kind, attribute), {}) if is_number(v)
        ]
        apart = sorted(known)[1] if len(known) > 2 else 0
        if apart > 0 and set(known) == {i * apart for i in range(len(known))}:
            for k in (apart, -apart):
                yield ("turn", k, apart * len(known)), 1.7
        for quantity, value in quantities(context).items():
            for sign in (1, -1):
                rest = new - old - sign * value
                if value and abs(rest) <= 1 and quantity != ("of", "self", attribute):
                    yield ("plus", sign, quantity, rest), 2.6 + 0.6 * abs(rest) + quantity_cost(quantity)
    if isinstance(old, bool):
        yield ("flip",), 1.7
    if context.is_avatar and attribute == context.vocabulary.remembers:
        yield ("as headed",), 1.4
    heading = context.vocabulary.headings.get(context.thing.kind)
    faces = context.is_avatar and attribute == context.vocabulary.facing and isinstance(old, str)
    if faces or (heading is not None and heading.source == ("own", attribute)):
        for quarters in (2, 1, 3):
            yield ("rotate", quarters), 1.8
    yield from _copies(context, attribute, new)


def _names_object(context: Context, place: PlaceTerm) -> bool:
    """Whether what is at a place may be what is referred to."""
    anchor = context.thing if place[0] in ("self", "own") else context.avatar
    fixed = place[0] != "off" and place[0] not in NEARER
    return fixed and anchor is not None and PLACE in anchor.values


def _alike(context: Context, kinds: Iterable[str]) -> Iterator[tuple[Effect, float]]:
    """The only object of a kind that has the same value: what lies in the slot where the arm is."""
    for kind in kinds:
        for attribute in context.thing.values:
            if attribute not in (PLACE, KIND) and attribute in context.vocabulary.attributes_of(kind):
                yield ("object with", kind, attribute), 2.2


def _copies(context: Context, attribute: str, new: Any) -> Iterator[tuple[Effect, float]]:
    """What is taken from something else: a value of what a term names or of the only one of a kind, or a word."""
    terms = {term: context.term(term) for term in object_terms(context)}
    for term, target in with_singles(context, terms) if new is not None and not isinstance(new, bool) else ():
        for other, value in target.values.items():
            if not _equal(value, new) or (term, other) == ("self", attribute):
                continue
            if not term.startswith("the:"):
                yield ("copy", term, other), 2.0 + 0.5 * term.count(".")
            elif context.vocabulary.varies(target.kind, other):
                yield ("copy", term, other), 2.6
    for term, target in terms.items():
        if term.startswith("arg") and not isinstance(target, Thing):
            yield ("object", term), 1.5


Made = tuple[tuple[str, Any], ...]
"""The attributes of what appears: each a value, or ("copy", term, attribute, more) for what it is taken from."""


def attributes_made(context: Context, made: Thing) -> list[tuple[Made, float]]:
    """What says which attributes something has that appears, with costs: values, or copies where there is one."""
    values = sorted((a, v) for a, v in made.values.items() if a not in (PLACE, KIND))
    copied = tuple((a, _source(context, a, v) or v) for a, v in values)
    found: list[tuple[Made, float]] = [(tuple(values), 0.0)]
    if copied != tuple(values):
        found.append((copied, 0.4 * sum(isinstance(v, tuple) for _, v in copied)))
    return found


def _source(context: Context, attribute: str, value: Any) -> tuple[str, str, str, int] | None:
    """Where an attribute of what appears may be taken from."""
    terms = [(term, thing) for term, thing in term_values(context).items() if isinstance(thing, Thing)]
    if value is None or isinstance(value, bool):
        return None
    for term, thing in terms:
        if "." not in term and _equal(thing.values.get(attribute), value):
            return "copy", term, attribute, 0
    for term, thing in terms:
        for other, its in thing.values.items() if "." not in term and type(value) is int else ():
            if other not in (PLACE, KIND) and type(its) is int and abs(value - its) <= 1:
                return "copy", term, other, value - its
    return None


def _place_effects(context: Context, new: Any) -> Iterator[tuple[Effect, float]]:
    if new == (None, None):
        yield ("place", None), 1.2
        return
    for term in place_terms(context):
        if term == ("self", 0) or term[0] == "own" or term[1] == -1:
            continue
        if term[0] == "off":
            yield ("place", term), 2.4 + 0.6 * max(map(abs, term[1]))
        elif term[0] in NEARER:
            yield ("place", term), 1.4
        else:
            yield ("place", term), 1.0 + 0.4 * abs(term[1] - 1) + (0.2 if term[0] == "self" else 0)
    if context.own is not None:
        yield ("place", ("own", 1)), 1.2
        yield ("place", ("own", 2)), 1.8
    if not context.is_avatar and context.next_avatar:
        yield ("place", ("me next", 0)), 1.5
        yield ("place", ("me next", 1)), 1.8
    for name in object_terms(context):
        if name not in ("self", "me"):
            yield ("place of", name), 1.8
    for kind in context.vocabulary.kinds:
        single = context.scene.single(kind)
        if single is not None and single is not context.avatar and single is not context.thing:
            yield ("place of", f"the:{kind}"), 2.6
        if (kind, PLACE) not in context.vocabulary.changing and not context.vocabulary.is_single(kind):
            for term in place_terms(context)[:3]:
                yield ("partner", kind, term), 3.0
    if context.vocabulary.slides(context.thing.kind):
        yield ("slide",), 2.5


def apply_effect(context: Context, attribute: str, effect: Effect) -> Any:
    """The value that an effect gives an attribute; the old one where the effect does not apply."""
    thing = context.thing
    old = thing.values.get(attribute)
    match effect:
        case ("keep",) | ("unknown",) | ("delete",):
            return old
        case ("set", value):
            return value
        case ("add", amount):
            return old + amount if type(old) in (int, float) else old
        case ("turn", k, n):
            return (old + k) % n if type(old) is int else old
        case ("flip",):
            return not old
        case ("plus", sign, quantity, rest):
            value = quantity_of(context, quantity)
            return old if value is None or type(old) not in (int, float) else old + sign * value + rest
        case ("rotate", quarters):
            return rotations(compass(context.vocabulary, thing.kind), quarters).get(old, old)
        case ("as headed",):
            return told(context.vocabulary.remembered).get(context.direction, old)
        case ("copy", term, other):
            target = context.term(term)
            return target.values.get(other, old) if isinstance(target, Thing) else old
        case ("object", term):
            return context.term(term)
        case ("object at", term):
            here = _others_at(context, term)
            return here[0] if len(here) == 1 else old
        case ("kind at", term, kind):
            here = [t for t in _others_at(context, term) if t.kind == kind]
            return here[0] if here else old
        case ("object with", kind, other):
            found = having(context, kind, "self", other)
            return found[0] if len(found) == 1 else old
        case ("place", None):
            return (None, None)
        case ("place", ("me next", k)):
            place = context.next_avatar.get(PLACE)
            if place is None or place[0] is None or (k and context.direction is None):
                return old
            dx, dy = context.direction or (0, 0)
            return (place[0] + k * dx, place[1] + k * dy) if k else place
        case ("place", term):
            return context.place(term) or old
        case ("place of", term):
            target = context.term(term)
            return target.values.get(PLACE, old) if isinstance(target, Thing) else old
        case ("partner", kind, term):
            place = context.place(term)
            if not any(t.kind == kind for t in context.scene.at(place)):
                return old
            others = [
                t for t in context.scene.kinds.get(kind, ()) if t.place is not None and t.place != place
            ]
            return others[0].place if len(others) == 1 else old
        case ("slide",):
            return _slide(context) or old
    raise AssertionError(effect)


def _others_at(context: Context, term: PlaceTerm) -> list[Thing]:
    return [
        t for t in context.scene.at(context.place(term)) if t is not context.thing and t is not context.avatar
    ]


def told(table: Mapping[Any, Vector]) -> dict[Vector | None, Any]:
    """The value that says that something heads there."""
    return {vector: value for value, vector in table.items()}


def compass(vocabulary: Vocabulary, kind: str) -> Mapping[Any, Vector]:
    """Where things of a kind head, by the attribute that says so."""
    if kind == vocabulary.avatar:
        return vocabulary.facings
    heading = vocabulary.headings.get(kind)
    return {} if heading is None else heading.table


def rotations(table: Mapping[Any, Vector], quarters: int) -> dict[Any, Any]:
    """For each value that heads somewhere, the one that heads so many quarters further (y growing downwards)."""
    back = told(table)
    turned = {}
    for value, (x, y) in table.items():
        for _ in range(quarters):
            x, y = -y, x
        if (x, y) in back:
            turned[value] = back[x, y]
    return turned


def _slide(context: Context) -> Place | None:
    """As far ahead as nothing stands in the way that is solid for the thing, and nothing is there to stop on."""
    place, direction = context.thing.place, context.own or context.direction
    stops = context.vocabulary.stops(context.thing.kind)
    if place is None or direction is None or type(place[0]) is not int:
        return None
    x0, y0, x1, y1 = context.scene.bounds
    while True:
        ahead = (place[0] + direction[0], place[1] + direction[1])
        blocked = any(
            not context.vocabulary.passable(context.thing.kind, t)
            for t in context.scene.at(ahead)
            if t is not context.thing
        )
        if blocked or not (x0 <= ahead[0] <= x1 and y0 <= ahead[1] <= y1):
            return place
        place = ahead
        if any(
            context.vocabulary.look(t) in stops for t in context.scene.at(place) if t is not context.thing
        ):
            return place

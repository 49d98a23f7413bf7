"""Every literal that is true in a context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from worldcoder.synthesis.rules.language import Context, Literal, PlaceTerm, is_own, place_terms, term_values
from worldcoder.synthesis.rules.quantities import (
    alike_literals,
    compared_literals,
    counted_literals,
    covered_literals,
    varies,
    with_singles,
)
from worldcoder.synthesis.rules.relations import common_relations, own_relations
from worldcoder.synthesis.rules.scene import KIND, PLACE, Place, Thing
from worldcoder.synthesis.rules.vocabulary import Vocabulary


def literals(context: Context) -> Iterator[Literal]:
    """Every literal of the language that is true in a context."""
    yield from common_literals(context)
    yield from own_literals(context)


def common_literals(context: Context) -> Iterator[Literal]:
    """Those that do not depend on which object it is, the avatar aside: they are the same for all others."""
    vocabulary, avatar = context.vocabulary, context.avatar
    step = vocabulary.verb(context.action) in vocabulary.steps
    if len(vocabulary.actions) > 1:
        # a rule for one direction only is unlikely where others head elsewhere
        yield ("this step" if step and not context.action.args else "action", context.action.name)
    if vocabulary.steps:
        yield ("heads",) if step and avatar is not None else ("heads not",)
    if vocabulary.remembers is not None and avatar is not None and step:
        before = vocabulary.remembered.get(avatar.values.get(vocabulary.remembers))
        yield ("goes on",) if before == context.direction else ("turns",)
    values = term_values(context)
    common = {term: value for term, value in values.items() if not is_own(term)}
    for term, target in common.items():
        if isinstance(target, Thing):
            yield from _value_literals(context, term, target)
            if term != "me":
                yield ("kind", term, target.kind)
        elif term.startswith("arg"):
            yield ("this way" if step else "arg", term, target)
    yield from _identity_literals(values, own=False)
    yield from _distance_literals(context, common)
    yield from _equality_literals(context, own=False)
    for kind in vocabulary.kinds:
        single = context.scene.single(kind) if vocabulary.is_single(kind) else None
        if single is not None and single is not avatar:
            yield from _value_literals(context, f"the:{kind}", single, changing=True)
    yield from _quantified(context)
    yield from counted_literals(context)
    yield from covered_literals(context, own=False)
    yield from compared_literals(context, own=False)
    yield from _reference_literals(context, common)
    yield from common_relations(context)
    yield from _row_literals(context)
    if context.phase and avatar is not None and avatar.place is not None:
        yield ("moved",) if avatar.place != context.origin else ("not moved",)
    if not context.is_avatar and avatar is not None and PLACE in context.next_avatar:
        yield ("moves",) if context.next_avatar[PLACE] != avatar.values.get(PLACE) else ("stays",)


def own_literals(context: Context) -> Iterator[Literal]:
    """Those that speak of the object itself."""
    thing, avatar = context.thing, context.avatar
    values = term_values(context)
    yield from _place_literals(context, values)
    mine = {term: value for term, value in values.items() if is_own(term)}
    for term, target in mine.items():
        if isinstance(target, Thing):
            yield from _value_literals(context, term, target)
            yield ("kind", term, target.kind)
    yield from _identity_literals(values, own=True)
    yield from _equality_literals(context, own=True)
    yield from compared_literals(context, own=True)
    yield from alike_literals(context)
    yield from covered_literals(context, own=True)
    yield from _reference_literals(context, mine)
    yield from own_relations(context)
    if any(t is thing for t in context.row()):
        yield ("in row",)
    if not context.is_avatar and avatar is not None:
        for attribute, value in context.next_avatar.items():
            if value is thing:
                yield ("becomes", attribute)
        if avatar.place and thing.place and _distance(avatar.place, thing.place) == 1:
            yield ("near",)


def _place_literals(context: Context, values: Mapping[str, Any]) -> Iterator[Literal]:
    vocabulary, scene, thing = context.vocabulary, context.scene, context.thing
    x0, y0, x1, y1 = scene.bounds
    others = [(t, o) for t, o in values.items() if t != "self" and isinstance(o, Thing)]
    for place_term in place_terms(context):
        place = context.place(place_term)
        if place is None:
            continue
        if thing.place == place and place_term not in (("self", 0),):
            yield ("here", place_term)
        anchor = context.avatar if place_term == ("me", 0) else thing
        here = [t for t in scene.at(place) if t is not thing and t is not anchor]
        if place_term[1] != 0:
            for mover in _movers(context, place_term):
                solid = any(not vocabulary.passable(mover, t) for t in here)
                yield ("blocked", place_term, mover) if solid else ("free", place_term, mover)
                if vocabulary.looks_change:
                    solid = any(not vocabulary.ever_passable(mover, t.kind) for t in here)
                    yield ("hindered" if solid else "unhindered", place_term, mover)
            if not (x0 <= place[0] <= x1 and y0 <= place[1] <= y1):
                yield ("outside", place_term)
            if not vocabulary.in_frame(place):
                yield ("off frame", place_term)
        yield ("not empty", place_term) if here else ("empty", place_term)
        if vocabulary.headings and place_term[0] != "off":
            coming = arrivals(context, place)
            for kind in vocabulary.headings:
                yield ("comes" if kind in coming else "none comes", place_term, kind)
        present = {t.kind for t in here}
        for kind in vocabulary.kinds:
            if kind not in present:
                yield ("not at", place_term, kind)
        for t in here:
            yield ("at", place_term, t.kind)
            for attribute, value in t.values.items():
                if attribute in (PLACE, KIND) or isinstance(value, Thing):
                    continue
                if vocabulary.varies(t.kind, attribute):
                    yield ("at.", place_term, t.kind, attribute, value)
                    for seen in vocabulary.values[t.kind, attribute]:
                        if seen != value and (t.kind, attribute) in vocabulary.changing:
                            yield ("not at.", place_term, t.kind, attribute, seen)
                for term, other in others:
                    if other is not t and attribute in other.values:
                        same = other.values[attribute] == value
                        yield ("at=" if same else "not at=", place_term, t.kind, attribute, term)
                yield from _matched_literals(context, place_term, t, attribute, others)


def _matched_literals(
    context: Context, place: PlaceTerm, there: Thing, attribute: str, others: Sequence[tuple[str, Thing]]
) -> Iterator[Literal]:
    """Whether a value of what is at a place is another value of an object: of the last segment, the length."""
    vocabulary, value = context.vocabulary, there.values[attribute]
    if place[1] != 1 or type(value) not in (int, float, str) or not vocabulary.varies(there.kind, attribute):
        return
    mine = [("self", context.thing)] if place[0] == "self" else []
    for term, thing in (*mine, *others):
        for other, its in thing.values.items() if "." not in term and thing is not there else ():
            if other in (attribute, PLACE, KIND) or type(its) is not type(value):
                continue
            if len(vocabulary.values_of(other)) > 1:  # a term may name an object of any kind
                form = "at matched" if its == value else "not at matched"
                yield (form, place, there.kind, attribute, term, other)


def arrivals(context: Context, place: Place) -> set[str]:
    """The kinds of which something else heads for a place by itself, with nothing in the way."""
    found = set()
    vocabulary, scene = context.vocabulary, context.scene
    for kind in vocabulary.headings:
        for t in scene.kinds.get(kind, ()):
            own = vocabulary.own_direction(scene, t, context.action) if t is not context.thing else None
            if own is None or t.place is None:
                continue
            if vocabulary.meant(t.kind, (t.place[0] + own[0], t.place[1] + own[1])) != place:
                continue
            if all(vocabulary.ever_passable(kind, o.kind) for o in scene.at(place)):
                found.add(kind)
    return found


def _movers(context: Context, term: PlaceTerm) -> list[str]:
    """The kinds that might go to a place: the thing's own, and what stands one step before it and can move."""
    movers = {context.thing.kind: None}
    if term[0] != "off" and term[1] == 2:
        for t in context.scene.at(context.place((term[0], 1))):
            if (t.kind, PLACE) in context.vocabulary.changing:
                movers.setdefault(t.kind)
    return list(movers)


def _value_literals(
    context: Context, term: str, target: Thing, *, changing: bool = False
) -> Iterator[Literal]:
    vocabulary = context.vocabulary
    for attribute, value in target.values.items():
        if attribute == PLACE:
            yield ("value" if value[0] is None else "not value", term, PLACE, None)
            continue
        if attribute == KIND:
            continue
        if changing and (target.kind, attribute) not in vocabulary.changing:
            continue
        if isinstance(value, Thing):
            yield ("not value", term, attribute, None)
            continue
        if _tells_heading(vocabulary, target.kind, attribute):
            yield ("headed", term, attribute, value)
            for seen in vocabulary.values_of(attribute):
                if seen != value:
                    yield ("not headed", term, attribute, seen)
            continue
        known = vocabulary.values_of(attribute)  # of any kind: a term may name an object of any
        if len(known) > 1 or value is None:
            yield ("value", term, attribute, value)
            if attribute in vocabulary.changing_attributes and len(known) > 2:
                for seen in known:
                    if seen != value:
                        yield ("not value", term, attribute, seen)
            if type(value) in (int, float) and len(known) > 2:
                for seen in known:
                    if type(seen) in (int, float):
                        yield ("least" if value >= seen else "most", term, attribute, seen)


def _tells_heading(vocabulary: Vocabulary, kind: str, attribute: str) -> bool:
    """Whether things of a kind head somewhere by this attribute: rules for one way only are unlikely."""
    heading = vocabulary.headings.get(kind)
    own = heading is not None and heading.source == ("own", attribute)
    return own or (kind == vocabulary.avatar and attribute in (vocabulary.facing, vocabulary.remembers))


def _identity_literals(values: Mapping[str, Any], *, own: bool) -> Iterator[Literal]:
    things = [(term, value, is_own(term)) for term, value in values.items() if isinstance(value, Thing)]
    for i, (first, a, one) in enumerate(things):
        for second, b, other in things[i + 1 :]:
            if (one or other) is own:
                if second.startswith(f"{first}.") and a is not b:
                    continue
                yield ("is" if a is b else "not is", first, second)
                if a is not b and "." not in first:
                    for attribute, x in a.values.items():
                        if attribute not in b.values:
                            continue
                        y = b.values[attribute]
                        if attribute in (PLACE, KIND) or isinstance(x, bool):
                            continue
                        same = x is y if isinstance(x, Thing) else x == y
                        yield ("same" if same else "not same", first, second, attribute)


def _equality_literals(context: Context, *, own: bool) -> Iterator[Literal]:
    """Values of different attributes that are or are not the same: a passenger's goal and the lift's floor."""
    terms = [(t, v) for t, v in with_singles(context, term_values(context)) if "." not in t]
    plain = [
        (term, attribute, value)
        for term, thing in terms
        for attribute, value in thing.values.items()
        if attribute not in (PLACE, KIND)
        and type(value) in (int, float, str)
        and varies(context.vocabulary, term, thing, attribute)
    ]
    for i, (first, attribute, a) in enumerate(plain):
        for second, other, b in plain[i + 1 :]:
            if (is_own(first) or is_own(second)) is not own:
                continue
            if (attribute != other or first.startswith("the:") or second.startswith("the:")) and type(
                a
            ) is type(b):
                yield ("equal" if a == b else "not equal", first, attribute, second, other)


def _distance_literals(context: Context, values: Mapping[str, Any]) -> Iterator[Literal]:
    """How far the avatar is from what the action names: in its place, one step away, or farther."""
    if context.avatar is None or context.avatar.place is None:
        return
    for term, target in values.items():
        if "." not in term and term.startswith("arg") and isinstance(target, Thing) and target.place:
            distance = _distance(context.avatar.place, target.place)
            yield ("with" if distance == 0 else "beside" if distance == 1 else "apart", term)


def _reference_literals(context: Context, values: Mapping[str, Any]) -> Iterator[Literal]:
    """Whether anything of a kind refers to an object: whether a place holds something."""
    for term, target in values.items():
        mine = term.startswith("self.") and term.count(".") == 1
        if isinstance(target, Thing) and term != "me" and ("." not in term or mine):
            for kind, attribute in context.vocabulary.references:
                if context.avatar is not None and kind == context.avatar.kind:
                    continue
                if mine and kind == context.thing.kind:
                    continue
                there = context.scene.kinds.get(kind, ())
                if any(t.values.get(attribute) is target for t in there):
                    yield ("referred", term, kind, attribute)
                else:
                    yield ("unreferred", term, kind, attribute)


def _row_literals(context: Context) -> Iterator[Literal]:
    """Whether the whole row ahead of the avatar could go one step on."""
    row = context.row()
    if row:
        end = context.scene.at(context.place(("me", len(row) + 1)))
        free = all(context.vocabulary.passable(row[-1].kind, t) for t in end)
        yield ("row free",) if free else ("row blocked",)


def _quantified(context: Context) -> Iterator[Literal]:
    vocabulary = context.vocabulary
    for kind, attribute in vocabulary.changing:
        if attribute == PLACE or vocabulary.is_single(kind):
            continue
        known = vocabulary.values.get((kind, attribute), {})
        if 1 < len(known) <= 4:
            present = {t.values.get(attribute) for t in context.scene.kinds.get(kind, ())}
            for value in known:
                yield ("any" if value in present else "none", kind, attribute, value)


def _distance(a: Place, b: Place) -> float:
    try:
        return float(abs(a[0] - b[0]) + abs(a[1] - b[1]))
    except TypeError:
        return float("inf")

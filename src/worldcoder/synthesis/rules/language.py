"""The language of rules: what can be said about an object before an action.

A *context* is one object in one state under one action. `literals(context)` lists every literal that is true
there. A literal is a plain value, so that a rule is a set of literals and an effect (`effects.py`), and `emit.py`
can write either as Python.

Terms name objects: "self" is the object the rule is about, "me" the avatar, "arg0" what the action's first
argument names, "the:Kind" the only object of a kind, "me.a" what attribute a of the avatar refers to.
"link:Kind" the only object of a kind that refers to nothing but the avatar, what it refers to and the arguments.
Places: ("me", k) is k steps ahead of the avatar, ("self", k) the same from the object itself, ("own", k) k steps
where the object heads by itself, ("off", (dx, dy)) a fixed way from the object, ("origin", 0) where the avatar set
out from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from worldcoder.synthesis.rules.quantities import quantity_cost, quantity_literals
from worldcoder.synthesis.rules.scene import KIND, PLACE, Place, Scene, Thing
from worldcoder.synthesis.rules.statistics import Vector
from worldcoder.synthesis.rules.vocabulary import Vocabulary
from worldcoder.world.values import Action

PlaceTerm = tuple[str, Any]
Literal = tuple[Any, ...]
COSTS: Mapping[str, float] = {
    "action": 1.0, "heads": 0.6, "at": 2.0, "at.": 2.8, "at=": 2.6, "not at": 2.3, "not at.": 3.1, "not at=": 3.0,
    "blocked": 1.9, "free": 1.8, "empty": 2.0, "not empty": 2.2, "here": 1.2, "outside": 1.8,
    "is": 1.6, "not is": 1.9, "value": 2.2, "not value": 2.5, "least": 2.6, "most": 2.6, "kind": 1.4,
    "same": 2.4, "not same": 2.7, "any": 3.0, "none": 3.0, "moves": 2.0, "stays": 2.2, "becomes": 1.5, "near": 2.6,
    "this step": 2.8, "this way": 3.4, "off frame": 1.9, "equal": 2.8, "not equal": 3.1,
    "hindered": 2.0, "unhindered": 1.9, "comes": 2.4, "none comes": 2.4,
    "arg": 2.0, "with": 1.6, "beside": 1.8, "apart": 2.2, "moved": 2.0, "not moved": 2.2,
    "row free": 2.6, "row blocked": 2.8, "in row": 2.0, "referred": 2.4, "unreferred": 2.4,
    "any like": 3.4, "none like": 3.4, "every": 3.2, "not every": 3.4, "some": 2.8, "no": 2.6,
    "some on": 2.8, "none on": 2.8, "all on": 3.2,
    "more": 3.0, "at most": 3.0, "count least": 3.0, "count below": 3.0,
}  # fmt: skip
"""Description lengths in nats. Literals about farther places and constants cost more (see `literal_cost`)."""


@dataclass(frozen=True)
class Context:
    """One object under one action.

    next_avatar: the avatar's attributes after the action as far as they are predicted already; empty while the
    avatar itself is being predicted.
    own: where the object heads by itself. phase: what happened in earlier phases of the step is in the scene
    already. origin: where the avatar was before the first of them.
    """

    scene: Scene
    action: Action
    thing: Thing
    avatar: Thing | None
    direction: Vector | None
    vocabulary: Vocabulary
    next_avatar: Mapping[str, Any] = field(default_factory=dict)
    own: Vector | None = None
    phase: int = 0
    origin: Place | None = None
    known: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    """What was found out about this context already."""

    @property
    def is_avatar(self) -> bool:
        return self.thing is self.avatar

    def place(self, term: PlaceTerm) -> Place | None:
        """Where a place term points, or None where it points nowhere."""
        anchor, k = term
        if anchor == "off":
            start, vector, times = self.thing.place, k, 1
        elif anchor == "origin":
            return self.origin
        elif anchor == "own":
            if self.own is None:
                return None
            start, vector, times = self.thing.place, self.own, k
        else:
            start = self.thing.place if anchor == "self" else self.avatar.place if self.avatar else None
            vector, times = self.direction or (0, 0), k
            if k and self.direction is None:
                return None
        if start is None:
            return None
        if not times:
            return start
        x, y = start
        if type(x) is not int or type(y) is not int:
            return None
        return (x + times * vector[0], y + times * vector[1])

    def term(self, term: str) -> Any:
        """The object (or value) that a term names, or None."""
        head, *path = term.split(".")
        found: Any
        if head == "self":
            found = self.thing
        elif head == "me":
            found = self.avatar
        elif head.startswith("arg"):
            index = int(head[3:])
            value = self.action.args[index] if index < len(self.action.args) else None
            found = self.scene.by_name.get(value, value) if isinstance(value, str) else value
        elif head.startswith("link:"):
            found = self.link(head.removeprefix("link:"))
        else:
            found = self.scene.single(head.removeprefix("the:"))
        for attribute in path:
            found = found.values.get(attribute) if isinstance(found, Thing) else None
        return found

    def link(self, kind: str) -> Thing | None:
        """The only thing of a kind that refers to nothing but the avatar, what it refers to and the arguments."""
        if ("link", kind) not in self.known:
            self.known["link", kind] = self._link(kind)
        return self.known["link", kind]  # type: ignore[no-any-return]

    def _link(self, kind: str) -> Thing | None:
        focus = [self.term(f"arg{i}") for i in range(len(self.action.args))]
        if self.avatar is not None:
            focus += [self.avatar, *(v for v in self.avatar.values.values() if isinstance(v, Thing))]
        found = [
            thing
            for thing in self.scene.kinds.get(kind, ())
            if all(
                any(v is one for one in focus)
                for v in (thing.values.get(a) for a in self.vocabulary.links[kind])
            )
        ]
        return found[0] if len(found) == 1 else None

    def row(self) -> list[Thing]:
        """The things that can be pushed, one behind the other ahead of the avatar, nearest first."""
        row: list[Thing] = []
        if self.avatar is None or self.direction is None or not self.vocabulary.pushed:
            return row
        while True:
            place = self.place(("me", len(row) + 1))
            here = [t for t in self.scene.at(place) if t.kind in self.vocabulary.pushed]
            if not here:
                return row
            row.append(here[0])


def place_terms(context: Context) -> list[PlaceTerm]:
    """The places that matter for a context, nearest first."""
    terms: list[PlaceTerm] = []
    if context.is_avatar:
        terms += [("self", 0), ("self", 1), ("self", 2)]
    else:
        terms += [("me", 0), ("me", 1), ("me", 2), ("self", 0), ("self", 1)]
    if context.own is not None:
        terms += [("own", 1), ("own", 2)]
    if context.origin is not None:
        terms.append(("origin", 0))
    if not context.is_avatar:
        terms += [
            ("off", v)
            for v in context.vocabulary.offsets.get(context.thing.kind, ())
            if max(map(abs, v)) <= 2
        ]
    return terms


def object_terms(context: Context) -> list[str]:
    """Terms that name an object here, besides the object itself."""
    if "terms" not in context.known:
        context.known["terms"] = _object_terms(context)
    return context.known["terms"]  # type: ignore[no-any-return]


def _object_terms(context: Context) -> list[str]:
    terms = [f"arg{i}" for i in range(len(context.action.args))]
    roots = ["self", *([] if context.is_avatar or context.avatar is None else ["me"])]
    for root in roots + terms:
        thing = context.term(root)
        if isinstance(thing, Thing):
            for attribute, value in thing.values.items():
                if isinstance(value, Thing):
                    terms.append(f"{root}.{attribute}")
                    terms += [
                        f"{root}.{attribute}.{a}" for a, v in value.values.items() if isinstance(v, Thing)
                    ]
    terms += [f"link:{kind}" for kind in context.vocabulary.links if context.link(kind) is not None]
    return [*roots, *dict.fromkeys(terms)]


def literals(context: Context) -> Iterator[Literal]:
    """Every literal of the language that is true in a context."""
    vocabulary, thing, avatar = context.vocabulary, context.thing, context.avatar
    if len(vocabulary.actions) > 1:
        step = vocabulary.verb(context.action) in vocabulary.steps
        # a rule for one direction only is unlikely where others head elsewhere
        yield ("this step" if step and not context.action.args else "action", context.action.name)
    if vocabulary.steps:
        yield ("heads",) if context.direction is not None else ("heads not",)
    terms = object_terms(context)
    yield from _place_literals(context, terms)
    values = {term: context.term(term) for term in terms}
    for term, target in values.items():
        if isinstance(target, Thing):
            yield from _value_literals(context, term, target)
            if term != "me":
                yield ("kind", term, target.kind)
        elif term.startswith("arg"):
            step = vocabulary.verb(context.action) in vocabulary.steps
            yield ("this way" if step else "arg", term, target)
    yield from _identity_literals(context, values)
    yield from _distance_literals(context, values)
    yield from _equality_literals(context, values)
    for kind in vocabulary.kinds:
        if kind in (thing.kind, avatar.kind if avatar else None):
            continue
        single = context.scene.single(kind) if vocabulary.is_single(kind) else None
        if single is not None:
            yield from _value_literals(context, f"the:{kind}", single, changing=True)
    yield from _quantified(context)
    yield from quantity_literals(context, terms)
    yield from _reference_literals(context, values)
    yield from _row_literals(context)
    if context.phase and avatar is not None:
        yield ("moved",) if avatar.place != context.origin else ("not moved",)
    if not context.is_avatar and avatar is not None:
        if PLACE in context.next_avatar:
            yield ("moves",) if context.next_avatar[PLACE] != avatar.values.get(PLACE) else ("stays",)
        for attribute, value in context.next_avatar.items():
            if value is thing:
                yield ("becomes", attribute)
        if avatar.place and thing.place and _distance(avatar.place, thing.place) == 1:
            yield ("near",)


def _place_literals(context: Context, terms: list[str]) -> Iterator[Literal]:
    vocabulary, scene, thing = context.vocabulary, context.scene, context.thing
    x0, y0, x1, y1 = scene.bounds
    others = [t for t in terms if t != "self" and isinstance(context.term(t), Thing)]
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
                for term in others:
                    other = context.term(term)
                    if isinstance(other, Thing) and other is not t and attribute in other.values:
                        same = other.values[attribute] == value
                        yield ("at=" if same else "not at=", place_term, t.kind, attribute, term)


def arrivals(context: Context, place: Place) -> set[str]:
    """The kinds of which something else heads for a place by itself, with nothing in the way."""
    found = set()
    vocabulary, scene = context.vocabulary, context.scene
    for kind in vocabulary.headings:
        for t in scene.kinds.get(kind, ()):
            own = vocabulary.own_direction(scene, t, context.action) if t is not context.thing else None
            if own is None or t.place is None or (t.place[0] + own[0], t.place[1] + own[1]) != place:
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


def _identity_literals(context: Context, values: Mapping[str, Any]) -> Iterator[Literal]:
    terms = list(values)
    for i, first in enumerate(terms):
        for second in terms[i + 1 :]:
            a, b = values[first], values[second]
            if isinstance(a, Thing) and isinstance(b, Thing):
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


def _equality_literals(context: Context, values: Mapping[str, Any]) -> Iterator[Literal]:
    """Values of different attributes that are or are not the same: a passenger's goal and the lift's floor."""
    terms = [(t, v) for t, v in values.items() if "." not in t and isinstance(v, Thing)]
    for kind in context.vocabulary.kinds:
        single = context.scene.single(kind) if context.vocabulary.is_single(kind) else None
        if single is not None and all(single is not v for _, v in terms):
            terms.append((f"the:{kind}", single))
    plain = [
        (term, attribute, value)
        for term, thing in terms
        for attribute, value in thing.values.items()
        if attribute not in (PLACE, KIND)
        and type(value) in (int, float, str)
        and context.vocabulary.varies(thing.kind, attribute)
    ]
    for i, (first, attribute, a) in enumerate(plain):
        for second, other, b in plain[i + 1 :]:
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
        if isinstance(target, Thing) and term != "me" and "." not in term:
            for kind, attribute in context.vocabulary.references:
                if context.avatar is not None and kind == context.avatar.kind:
                    continue
                there = context.scene.kinds.get(kind, ())
                if any(t.values.get(attribute) is target for t in there):
                    yield ("referred", term, kind, attribute)
                else:
                    yield ("unreferred", term, kind, attribute)


def _row_literals(context: Context) -> Iterator[Literal]:
    """Whether the whole row ahead of the avatar could go one step on, and whether the thing stands in it."""
    row = context.row()
    if row:
        end = context.scene.at(context.place(("me", len(row) + 1)))
        free = all(context.vocabulary.passable(row[-1].kind, t) for t in end)
        yield ("row free",) if free else ("row blocked",)
        if any(t is context.thing for t in row):
            yield ("in row",)


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


def literal_cost(literal: Literal) -> float:
    """The description length of a literal."""
    form = literal[0].removesuffix(" not")
    cost = COSTS[form]
    if form in ("more", "at most"):
        cost += quantity_cost(literal[1]) + quantity_cost(literal[2])
    elif len(literal) > 1 and isinstance(literal[1], tuple):
        anchor, k = literal[1]
        cost += (
            0.5 + 0.6 * max(map(abs, k))
            if anchor == "off"
            else 0.3
            if anchor == "origin"
            else 0.35 * abs(k - 1) + (0.2 if anchor == "self" else 0.0)
        )
    elif form not in ("action", "kind") and len(literal) > 1 and isinstance(literal[1], str):
        cost += 0.5 * literal[1].count(".") + (0.6 if literal[1].startswith("the:") else 0.0)
    return cost


def _distance(a: Place, b: Place) -> float:
    try:
        return float(abs(a[0] - b[0]) + abs(a[1] - b[1]))
    except TypeError:
        return float("inf")

"""The language of rules: what can be said about an object before an action.

A *context* is one object in one state under one action. `literals.py` lists every literal that is true there. A
literal is a plain value, so that a rule is a set of literals and an effect (`effects.py`), and `emit.py`
can write either as Python.

Terms name objects: "self" is the object the rule is about, "me" the avatar, "arg0" what the action's first
argument names, "the:Kind" the only object of a kind, "me.a" what attribute a of the avatar refers to.
"link:Kind" the only object of a kind that refers to nothing but the avatar, what it refers to and the arguments,
"same:Kind:a" the only one of a kind that has the same number a as the object itself, "same:Kind:a:+1" one more: what
comes after it.
Places: ("me", k) is k steps ahead of the avatar, -1 behind it, ("self", k) the same from the object itself,
("own", k) k steps where the object heads by itself, ("off", (dx, dy)) a fixed way from the object, ("origin", 0)
where the avatar set out from, ("toward", 1) one step to the avatar in its row or column; ("nearer x", 1) and others
(`NEARER`) one step that brings the object nearer to the avatar along an axis or both, or farther from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from worldcoder.synthesis.rules.scene import PLACE, Place, Scene, Thing
from worldcoder.synthesis.rules.statistics import Vector, vector_between
from worldcoder.synthesis.rules.vocabulary import Vocabulary
from worldcoder.world.values import Action

PlaceTerm = tuple[str, Any]
Literal = tuple[Any, ...]
Quantity = tuple[str, ...]
"""A number: see `quantities.py`."""
NEARER: Mapping[str, tuple[str, int]] = {
    "nearer x": ("x", 1), "nearer y": ("y", 1), "nearer xy": ("xy", 1), "farther x": ("x", -1), "farther y": ("y", -1),
}  # fmt: skip
"""Anchors of places one step nearer to the avatar or farther from it: the axes, and 1 or -1."""
COSTS: Mapping[str, float] = {
    "action": 1.0, "heads": 0.6, "at": 2.0, "at.": 2.8, "at=": 2.6, "not at": 2.3, "not at.": 3.1, "not at=": 3.0,
    "at matched": 3.2, "not at matched": 3.6,
    "blocked": 1.9, "free": 1.8, "empty": 2.0, "not empty": 2.2, "here": 1.2, "outside": 1.8,
    "headed": 3.4, "not headed": 3.8, "goes on": 1.8, "turns": 1.8,
    "is": 1.6, "not is": 1.9, "value": 2.2, "not value": 2.5, "least": 2.6, "most": 2.6, "kind": 1.4,
    "same": 2.4, "not same": 2.7, "any": 3.0, "none": 3.0, "moves": 2.0, "stays": 2.2, "becomes": 1.5, "near": 2.6,
    "this step": 2.8, "this way": 3.4, "off frame": 1.9, "equal": 2.8, "not equal": 3.1,
    "hindered": 2.0, "unhindered": 1.9, "comes": 2.4, "none comes": 2.4,
    "arg": 2.0, "with": 1.6, "beside": 1.8, "apart": 2.2, "moved": 2.0, "not moved": 2.2,
    "row free": 2.6, "row blocked": 2.8, "in row": 2.0, "referred": 2.4, "unreferred": 2.4,
    "any like": 3.4, "none like": 3.4, "every": 3.2, "not every": 3.4, "some": 2.8, "no": 2.6,
    "some on": 2.8, "none on": 2.8, "all on": 3.2,
    "wider": 2.2, "not wider": 2.4, "taller": 2.2, "not taller": 2.4, "level": 2.0, "not level": 2.2,
    "within": 2.6, "not within": 2.8,
    "neighbour": 2.4, "no neighbour": 2.6, "neighbour.": 3.2, "next": 3.8, "sees": 2.2, "not sees": 2.4,
    "joined": 2.4, "not joined": 2.6, "before all": 2.6, "not before all": 2.8, "after all": 2.6, "not after all": 2.8,
    "passed": 2.4, "not passed": 2.6, "passed like": 2.8, "not passed like": 3.0,
    "all covered": 2.6, "not all covered": 2.8, "all like covered": 3.0, "not all like covered": 3.2,
    "some with": 2.6, "none with": 2.8,
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
    phase: float = 0
    origin: Place | None = None
    known: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    """What was found out about this context already."""

    @property
    def is_avatar(self) -> bool:
        return self.thing is self.avatar

    def place(self, term: PlaceTerm) -> Place | None:
        """Where a place term points, or None where it points nowhere."""
        anchor, k = term
        if anchor in NEARER:
            return (
                None if self.avatar is None else nearer(self.thing.place, self.avatar.place, *NEARER[anchor])
            )
        if anchor == "toward":
            return None if self.avatar is None else toward(self.thing.place, self.avatar.place)
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
        kind = self.avatar.kind if anchor == "me" and self.avatar is not None else self.thing.kind
        return self.vocabulary.meant(kind, (x + times * vector[0], y + times * vector[1]))

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
        elif head.startswith("same:"):
            found = self.same(*numbered(head))
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

    def same(self, kind: str, attribute: str, more: int = 0) -> Thing | None:
        """The only other thing of a kind that has the same value of an attribute, or so much more."""
        key = "same", kind, attribute, more
        if key not in self.known:
            mine = self.thing.values.get(attribute)
            wanted = mine + more if more and type(mine) is int else None if more else mine
            there = self.scene.kinds.get(kind, ()) if wanted is not None or not more else ()
            found = [t for t in there if t.values.get(attribute) == wanted and t is not self.thing]
            self.known[key] = found[0] if len(found) == 1 else None
        return self.known[key]  # type: ignore[no-any-return]

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


def numbered(term: str) -> tuple[str, str, int]:
    """The kind, the attribute, and how much more it is, of a term "same:Kind:a" or "same:Kind:a:+1"."""
    _, kind, attribute, *more = term.split(":")
    return kind, attribute, int(more[0]) if more else 0


def is_own(term: str) -> bool:
    """Whether a term names the object itself, or something by way of it."""
    return term == "self" or term.startswith(("self.", "same:"))


def toward(start: Place | None, end: Place | None) -> Place | None:
    """One step from a place to another in its row or column; None where it is in neither, or the same."""
    vector = gap(start, end)
    if start is None or vector is None or vector == (0, 0) or 0 not in vector:
        return None
    dx, dy = ((v > 0) - (v < 0) for v in vector)
    return (start[0] + dx, start[1] + dy)


def minds_avatar(context: Context) -> bool:
    """Whether a thing may go where it goes because of where the avatar is."""
    vocabulary, kind = context.vocabulary, context.thing.kind
    other = not context.is_avatar and context.avatar is not None
    moves = kind in vocabulary.autonomous and (kind, PLACE) in vocabulary.changing
    return other and (moves or kind in vocabulary.wilful)


def gap(start: Place | None, end: Place | None) -> Vector | None:
    """How far it is from a place to another along each axis; None where these are no cells of a grid."""
    return vector_between(start, end) if start is not None and end is not None else None


def nearer(start: Place | None, end: Place | None, axes: str, sign: int) -> Place | None:
    """One step from a place that leads nearer to another (sign 1) or farther from it, along each of some axes.

    None where there is none, since the two are level.
    """
    between = gap(start, end)
    if start is None or between is None:
        return None
    step = [((v > 0) - (v < 0)) if axis in axes else 0 for axis, v in zip("xy", between, strict=True)]
    return (
        (start[0] + sign * step[0], start[1] + sign * step[1]) if sum(map(abs, step)) == len(axes) else None
    )


def place_cost(term: PlaceTerm) -> float:
    """What a place adds to the description length of what speaks of it."""
    anchor, k = term
    if anchor == "off":
        return 0.5 + 0.6 * float(max(map(abs, k)))
    if anchor == "origin" or anchor in NEARER:
        return 0.3
    return (1.4 if k < 0 else 0.35 * float(abs(k - 1))) + (0.2 if anchor == "self" else 0.0)


def place_terms(context: Context) -> list[PlaceTerm]:
    """The places that matter for a context, nearest first."""
    terms: list[PlaceTerm] = []
    if context.is_avatar:
        terms += [
            ("self", 0),
            ("self", 1),
            ("self", 2),
            ("self", -1),
            *(("off", v) for v in context.vocabulary.sways),
        ]
    else:
        terms += [("me", 0), ("me", 1), ("me", 2), ("me", -1), ("self", 0), ("self", 1)]
    if context.own is not None:
        terms += [("own", 1), ("own", 2)]
    if context.origin is not None:
        terms.append(("origin", 0))
    if minds_avatar(context):
        terms += [("toward", 1), *((anchor, 1) for anchor in NEARER)]
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


def term_values(context: Context) -> dict[str, Any]:
    """What the terms name, the object itself first."""
    if "values" not in context.known:
        context.known["values"] = {term: context.term(term) for term in object_terms(context)}
    return context.known["values"]  # type: ignore[no-any-return]


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
    met = context.vocabulary.meets.get(context.thing.kind, ())
    terms += [
        f"same:{kind}:{a}:{more:+}" if more else f"same:{kind}:{a}"
        for kind, a, more in met
        if context.same(kind, a, more) is not None
    ]
    return [*roots, *dict.fromkeys(terms)]


_OWN = 0.5
"""By how much it is cheaper to speak of the object's own values."""
_OF_ITSELF = frozenset({
    "here", "near", "in row", "becomes", "next", "neighbour", "no neighbour", "neighbour.", "sees", "not sees",
    "any like", "none like", "before all", "not before all", "after all", "not after all", "some with", "none with",
    "wider", "not wider", "taller", "not taller", "level", "not level", "within", "not within", "passed like",
    "not passed like", "all like covered", "not all like covered",
})  # fmt: skip

_OWN_PLACES = frozenset({"self", "own", "off", "toward", *NEARER})


def speaks_of_itself(literal: Literal) -> bool:
    """Whether a literal says something of the very object that a rule is about."""
    if literal[0] in _OF_ITSELF:
        return True
    parts = [*literal[1:], *(inner for part in literal[1:] if isinstance(part, tuple) for inner in part)]
    names = (part for part in parts if isinstance(part, str))
    return any(name in _OWN_PLACES or name.startswith(("self.", "same:")) for name in names)


def literal_cost(literal: Literal) -> float:
    """The description length of a literal."""
    form = literal[0].removesuffix(" not")
    cost = COSTS[form]
    if form in ("more", "at most"):
        cost += quantity_cost(literal[1]) + quantity_cost(literal[2])
    elif len(literal) > 1 and isinstance(literal[1], tuple):
        cost += place_cost(literal[1])
    elif form != "action" and len(literal) > 1 and isinstance(literal[1], str):
        cost += 0.5 * literal[1].count(".") + (0.6 if literal[1].startswith(("the:", "same:")) else 0.0)
        if form in ("value", "not value") and literal[1] == "self":
            cost -= _OWN
    return cost


def quantity_cost(quantity: Quantity) -> float:
    """What a quantity adds to the description length of what speaks of it."""
    if quantity[0] == "sum":
        return 0.6
    return 0.5 * quantity[1].count(".") + (0.4 if quantity[1].startswith(("the:", "link:", "same:")) else 0.0)

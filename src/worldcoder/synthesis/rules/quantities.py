"""What can be said of numbers: sums, counts, and whether one is more than another.

A quantity is ("of", term, attribute), a number of an object; ("sum", kind, attribute), of all objects of a kind
together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from worldcoder.synthesis.rules.language import Context, Literal, Quantity, is_own, term_values
from worldcoder.synthesis.rules.scene import KIND, PLACE, Scene, Thing
from worldcoder.synthesis.rules.vocabulary import Vocabulary

_MOST_COUNTED = 3
"""Up to how many it is told how many there are."""


def is_number(value: Any) -> bool:
    """Whether a value can be calculated with."""
    return type(value) in (int, float)


def quantities(context: Context) -> dict[Quantity, Any]:
    """The numbers that can be spoken of in a context, with their values."""
    return {quantity: value for quantity, value, _ in _quantities(context)}


def quantity_of(context: Context, quantity: Quantity) -> Any:
    """The value of a number; None where it is none here."""
    if quantity[0] == "sum":
        values = [t.values.get(quantity[2]) for t in context.scene.kinds.get(quantity[1], ())]
        return sum(v for v in values if v is not None) if values and all(map(is_number, values)) else None
    thing = context.term(quantity[1])
    value = thing.values.get(quantity[2]) if isinstance(thing, Thing) else None
    return value if is_number(value) else None


def with_singles(context: Context, values: Mapping[str, Any]) -> list[tuple[str, Thing]]:
    """The objects that terms name, and those of which there is only one."""
    vocabulary = context.vocabulary
    things = [(term, thing) for term, thing in values.items() if isinstance(thing, Thing)]
    for kind in vocabulary.kinds:
        single = context.scene.single(kind) if vocabulary.is_single(kind) else None
        if single is not None and single is not context.avatar:
            things.append((f"the:{kind}", single))
    return things


def varies(vocabulary: Vocabulary, term: str, thing: Thing, attribute: str) -> bool:
    """Whether what a term names was seen with more than one value; a term may name an object of any kind."""
    if term.startswith("the:"):
        return vocabulary.varies(thing.kind, attribute)
    return len(vocabulary.values_of(attribute)) > 1


def _quantities(context: Context) -> list[tuple[Quantity, Any, bool]]:
    """The numbers with their values, and whether they were ever seen to change."""
    if "quantities" in context.known:
        return context.known["quantities"]  # type: ignore[no-any-return]
    vocabulary = context.vocabulary
    found: list[tuple[Quantity, Any, bool]] = []
    for term, thing in with_singles(context, term_values(context)):
        for attribute, value in thing.values.items():
            if attribute in (PLACE, KIND) or not is_number(value):
                continue
            fixed = term.startswith("the:")  # any other term may name an object of any kind
            if varies(vocabulary, term, thing, attribute) or (fixed and vocabulary.is_single(thing.kind)):
                changes = (
                    (thing.kind, attribute) in vocabulary.changing
                    if fixed
                    else attribute in vocabulary.changing_attributes
                )
                found.append((("of", term, attribute), value, changes))
    for kind, attribute in vocabulary.changing:
        if not vocabulary.is_single(kind) and vocabulary.is_numeric(kind, attribute):
            values = [t.values.get(attribute) for t in context.scene.kinds.get(kind, ())]
            if values and all(map(is_number, values)):
                found.append((("sum", kind, attribute), sum(v for v in values if v is not None), True))
    context.known["quantities"] = found
    return found


def compared_literals(context: Context, *, own: bool) -> Iterator[Literal]:
    """Which number is the larger one; own: of pairs with a number of the object itself, or of the others."""
    numbers = [(q, v, changes, _is_own(q)) for q, v, changes in _quantities(context)]
    for i, (one, a, changes, mine) in enumerate(numbers):
        for other, b, changes_too, its in numbers[i + 1 :]:
            if (changes or changes_too) and (mine or its) is own:
                yield ("more", one, other) if a > b else ("at most", one, other)
                yield ("more", other, one) if b > a else ("at most", other, one)


def _is_own(quantity: Quantity) -> bool:
    return quantity[0] == "of" and is_own(quantity[1])


def counted_literals(context: Context) -> Iterator[Literal]:
    """How many there are of something, and what holds of all."""
    vocabulary, scene = context.vocabulary, context.scene
    for kind in dict.fromkeys((*vocabulary.vanishing, *vocabulary.appearing)):
        if not vocabulary.is_single(kind):
            yield ("some", kind) if scene.kinds.get(kind) else ("no", kind)
    for kind, top in vocabulary.covering:
        there = scene.kinds.get(kind, [])
        covered = sum(any(o.kind == top and o is not t for o in scene.at(t.place)) for t in there)
        yield ("some on" if covered else "none on", kind, top)
        if covered and covered == len(there):
            yield ("all on", kind, top)
    for kind, attribute, known in _few_valued(context):
        held = [t.values.get(attribute) for t in scene.kinds.get(kind, ())]
        for value in known:
            count = held.count(value)
            for n in range(2, _MOST_COUNTED + 1):
                yield ("count least" if count >= n else "count below", kind, attribute, value, n)
            if len(known) > 2:
                yield ("every" if count == len(held) else "not every", kind, attribute, value)


def covers(vocabulary: Vocabulary, kind: str) -> tuple[str, ...]:
    """What may come to lie on things of a kind, the avatar too, where there are several of these kinds."""
    tops = [top for below, top in vocabulary.covering if below == kind]
    if vocabulary.avatar and vocabulary.ever_passable(vocabulary.avatar, kind):
        tops.append(vocabulary.avatar)
    return tuple(tops) if len(tops) > 1 else ()


def covered_literals(context: Context, *, own: bool) -> Iterator[Literal]:
    """Whether something lies on all of a kind, whatever it is; own: on all that are like the object itself."""
    vocabulary, scene, thing = context.vocabulary, context.scene, context.thing
    for kind in dict.fromkeys(below for below, _ in vocabulary.covering):
        tops, there = covers(vocabulary, kind), scene.kinds.get(kind, ())
        if not tops:
            continue
        if not own:
            if there and not vocabulary.is_single(kind):
                yield ("all covered" if _are_covered(scene, there, tops) else "not all covered", kind)
            continue
        for shared, mine in thing.values.items():
            if shared in (PLACE, KIND) or not isinstance(mine, str) or not vocabulary.varies(kind, shared):
                continue
            alike = [t for t in there if t.values.get(shared) == mine and t is not thing]
            if alike:
                covered = _are_covered(scene, alike, tops)
                yield ("all like covered" if covered else "not all like covered", kind, shared)


def _are_covered(scene: Scene, things: Sequence[Thing], tops: Sequence[str]) -> bool:
    return all(any(o.kind in tops for o in scene.at(t.place)) for t in things)


def alike_literals(context: Context) -> Iterator[Literal]:
    """What holds of the others that are like the object itself: of all switches of its color."""
    vocabulary, thing = context.vocabulary, context.thing
    for kind, attribute, known in _few_valued(context):
        there = context.scene.kinds.get(kind, ())
        for shared, mine in thing.values.items():
            if shared in (PLACE, KIND, attribute) or not isinstance(mine, str):
                continue
            if not vocabulary.varies(kind, shared) or (kind, shared) in vocabulary.changing:
                continue
            alike = [
                t.values.get(attribute) for t in there if t.values.get(shared) == mine and t is not thing
            ]
            for value in known:
                yield ("any like" if value in alike else "none like", kind, shared, attribute, value)


def _few_valued(context: Context) -> Iterator[tuple[str, str, Mapping[Any, None]]]:
    """The attributes that change, of kinds of which there are several, and that have a few values."""
    vocabulary = context.vocabulary
    for kind, attribute in vocabulary.changing:
        known = vocabulary.values.get((kind, attribute), {})
        if attribute != PLACE and not vocabulary.is_single(kind) and 1 < len(known) <= 4:
            yield kind, attribute, known

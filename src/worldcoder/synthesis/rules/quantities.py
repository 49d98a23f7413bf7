"""What can be said of numbers: sums, counts, and whether one is more than another.

A quantity is ("of", term, attribute), a number of an object; ("sum", kind, attribute), of all objects of a kind
together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from worldcoder.synthesis.rules.scene import KIND, PLACE, Thing

if TYPE_CHECKING:
    from worldcoder.synthesis.rules.language import Context, Literal

Quantity = tuple[str, ...]

_MOST_COUNTED = 3
"""Up to how many it is told how many there are."""


def is_number(value: Any) -> bool:
    """Whether a value can be calculated with."""
    return type(value) in (int, float)


def quantities(context: Context, terms: Sequence[str]) -> dict[Quantity, Any]:
    """The numbers that can be spoken of in a context, with their values."""
    if "quantities" not in context.known:
        context.known["quantities"] = dict(_quantities(context, terms))
    return context.known["quantities"]  # type: ignore[no-any-return]


def quantity_of(context: Context, quantity: Quantity) -> Any:
    """The value of a number; None where it is none here."""
    if quantity[0] == "sum":
        values = [t.values.get(quantity[2]) for t in context.scene.kinds.get(quantity[1], ())]
        return sum(v for v in values if v is not None) if values and all(map(is_number, values)) else None
    thing = context.term(quantity[1])
    value = thing.values.get(quantity[2]) if isinstance(thing, Thing) else None
    return value if is_number(value) else None


def _quantities(context: Context, terms: Sequence[str]) -> Iterator[tuple[Quantity, Any]]:
    vocabulary = context.vocabulary
    things = [(term, thing) for term in terms if isinstance(thing := context.term(term), Thing)]
    for kind in vocabulary.kinds:
        single = context.scene.single(kind) if vocabulary.is_single(kind) else None
        if single is not None and all(single is not thing for _, thing in things):
            things.append((f"the:{kind}", single))
    for term, thing in things:
        for attribute, value in thing.values.items():
            if attribute in (PLACE, KIND) or not is_number(value):
                continue
            if vocabulary.varies(thing.kind, attribute) or vocabulary.is_single(thing.kind):
                yield ("of", term, attribute), value
    for kind, attribute in vocabulary.changing:
        if not vocabulary.is_single(kind) and vocabulary.is_numeric(kind, attribute):
            values = [t.values.get(attribute) for t in context.scene.kinds.get(kind, ())]
            if values and all(map(is_number, values)):
                yield ("sum", kind, attribute), sum(values)


def quantity_literals(context: Context, terms: Sequence[str]) -> Iterator[Literal]:
    """Comparisons of numbers, counts, and what holds of all or of those like the object itself."""
    vocabulary, scene, thing = context.vocabulary, context.scene, context.thing
    numbers = list(quantities(context, terms).items())
    for i, (one, a) in enumerate(numbers):
        for other, b in numbers[i + 1 :]:
            if not (_changes(context, one) or _changes(context, other)):
                continue
            yield ("more", one, other) if a > b else ("at most", one, other)
            yield ("more", other, one) if b > a else ("at most", other, one)
    for kind in dict.fromkeys((*vocabulary.vanishing, *vocabulary.appearing)):
        if not vocabulary.is_single(kind):
            yield ("some", kind) if scene.kinds.get(kind) else ("no", kind)
    for kind, top in vocabulary.covering:
        there = scene.kinds.get(kind, [])
        covered = sum(any(o.kind == top and o is not t for o in scene.at(t.place)) for t in there)
        yield ("some on" if covered else "none on", kind, top)
        if covered and covered == len(there):
            yield ("all on", kind, top)
    for kind, attribute in vocabulary.changing:
        if attribute == PLACE or vocabulary.is_single(kind):
            continue
        known = vocabulary.values.get((kind, attribute), {})
        if not 1 < len(known) <= 4:
            continue
        there = scene.kinds.get(kind, [])
        held = [t.values.get(attribute) for t in there]
        for value in known:
            count = held.count(value)
            for n in range(2, _MOST_COUNTED + 1):
                yield ("count least" if count >= n else "count below", kind, attribute, value, n)
            if len(known) > 2:
                yield ("every" if count == len(held) else "not every", kind, attribute, value)
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


def _changes(context: Context, quantity: Quantity) -> bool:
    """Whether a number was ever seen to change."""
    form, term, attribute = quantity
    if form == "sum":
        return True
    thing = context.term(term)
    return isinstance(thing, Thing) and (thing.kind, attribute) in context.vocabulary.changing


def quantity_cost(quantity: Quantity) -> float:
    """What a quantity adds to the description length of what speaks of it."""
    if quantity[0] == "sum":
        return 0.6
    return 0.5 * quantity[1].count(".") + (0.4 if quantity[1].startswith(("the:", "link:")) else 0.0)

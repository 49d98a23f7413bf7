"""What the meaning of rows and literals depends on, and some of what it follows from."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from worldcoder.synthesis.rules.scene import KIND, PLACE

if TYPE_CHECKING:
    from worldcoder.synthesis.rules.vocabulary import Vocabulary


def structure_of(vocabulary: Vocabulary) -> tuple[Any, ...]:
    """What the meaning of rows and literals depends on: when it changes, all data are read anew."""
    return (
        vocabulary.avatar,
        tuple(sorted(vocabulary.steps.items(), key=repr)),
        vocabulary.facing,
        tuple(sorted(vocabulary.facings.items(), key=repr)),
        vocabulary.remembers,
        tuple(sorted(vocabulary.remembered.items(), key=repr)),
        tuple(vocabulary.kinds),
        tuple(vocabulary.changing),
        tuple(vocabulary.vanishing),
        tuple(vocabulary.appearing),
        len(vocabulary.together),
        vocabulary.frame,
        tuple(min(len(v), 6) for v in vocabulary.values.values()),
        sum(min(len(v), 6) for v in vocabulary.offsets.values()),
        tuple((kind, h.source, tuple(h.table.items())) for kind, h in vocabulary.headings.items()),
        len(vocabulary.references),
        tuple(sorted(vocabulary.pushed)),
        tuple(vocabulary.links),
        tuple((kind, tuple(those)) for kind, those in vocabulary.meets.items()),
        tuple(vocabulary.wilful),
        tuple(vocabulary.rounds.items()),
        tuple(vocabulary.sways),
        tuple(vocabulary.spawners.items()),
        tuple(vocabulary.covering),
        sum(len(vocabulary.stops(kind)) for kind in vocabulary.offsets if vocabulary.slides(kind)),
    )


def covering(
    kinds: Iterable[str],
    changing: Iterable[tuple[str, str]],
    together: Collection[tuple[str, str]],
    avatar: str | None,
) -> list[tuple[str, str]]:
    """Pairs of a kind that stays where it is and one that comes to lie there, the avatar aside."""
    moves = [kind for kind, attribute in changing if attribute == PLACE]
    pairs = [(a, b) for a in kinds for b in moves if b != avatar and a not in moves]
    return [pair for pair in pairs if pair in together]


def links(
    references: Iterable[tuple[str, str]], changing: Collection[tuple[str, str]], avatar: str | None
) -> dict[str, list[str]]:
    """The kinds that always refer to the same several things, with the attributes that do."""
    found: dict[str, list[str]] = {}
    for kind, attribute in references:
        if (kind, attribute) not in changing:
            found.setdefault(kind, []).append(attribute)
    return {kind: a for kind, a in found.items() if kind != avatar and len(a) > 1}


def meets(vocabulary: Vocabulary) -> dict[str, list[tuple[str, str, int]]]:
    """Which kinds have things numbered by what changes of others, with that attribute, and how much more it is.

    Of pieces of a track that have a position each, there is one where the car is. And of things that are numbered
    themselves, there is one that comes before each, and one after it.
    """
    numbered = [
        (kind, attribute)
        for kind in vocabulary.kinds
        for attribute in vocabulary.attributes_of(kind)
        if attribute not in (PLACE, KIND)
        and not vocabulary.is_single(kind)
        and (kind, attribute) not in vocabulary.changing
        and vocabulary.varies(kind, attribute)
        and vocabulary.is_numeric(kind, attribute)
    ]
    found: dict[str, list[tuple[str, str, int]]] = {}
    for kind, attribute in vocabulary.changing:
        found.setdefault(kind, []).extend(
            (other, a, 0)
            for other, a in numbered
            if a == attribute and other != kind and vocabulary.is_numeric(kind, a)
        )
    for kind, attribute in numbered:
        if kind in vocabulary.alive and not vocabulary.repeats(kind, attribute):
            found.setdefault(kind, []).extend((kind, attribute, more) for more in (-1, 1))
    return {kind: those for kind, those in found.items() if those}

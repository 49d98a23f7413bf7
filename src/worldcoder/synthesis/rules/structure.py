"""What the meaning of rows and literals depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
        tuple(vocabulary.wilful),
        tuple(vocabulary.covering),
        sum(len(vocabulary.stops(kind)) for kind in vocabulary.offsets if vocabulary.slides(kind)),
    )

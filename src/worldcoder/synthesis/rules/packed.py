"""Sets of rows as 64-bit words, thousands at a time: what the searches for rules spend their time on.

A set is a column of an array of shape (words, sets); as elsewhere, the ones of an int stand for its rows.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

_AT_ONCE = 512
"""Of so many as are best, the order is looked at first."""


def pack(sets: Sequence[int], words: int) -> Words:
    """Sets given as ints, of at most 64 rows for each word. Shape (words, sets)."""
    data = b"".join([one.to_bytes(8 * words, "little") for one in sets])
    return np.ascontiguousarray(np.frombuffer(data, np.dtype("<u8")).reshape(-1, words).T)


def unpack(packed: Words) -> list[int]:
    """The sets as ints."""
    data, size = packed.T.tobytes(), 8 * len(packed)
    return [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]


def sizes(packed: Words) -> Numbers:
    """How many rows are in each set."""
    found: Numbers = np.bitwise_count(packed).sum(axis=0, dtype=np.int64)
    return found


def overlaps(some: Words, others: Words) -> Numbers:
    """How many rows each of some sets shares with each of the others. Shape (some, others)."""
    shared = np.zeros((some.shape[1], others.shape[1]), dtype=np.int64)
    for mine, theirs in zip(some, others, strict=True):
        shared += np.bitwise_count(mine[:, None] & theirs[None, :])
    return shared


def fingerprints(packed: Words) -> Words:
    """A number for each set, the same for equal sets; for others with a chance of 2**-64 a pair."""
    if len(packed) == 1:
        alone: Words = packed[0]
        return alone
    factors = _factors(len(packed))
    mixed = (packed ^ (packed >> np.uint64(31))) * factors[0]
    mixed ^= mixed >> np.uint64(29)
    total: Words = (mixed * factors[1]).sum(axis=0, dtype=np.uint64)
    return total


@cache
def _factors(words: int) -> Words:
    """Odd numbers, always the same ones. Shape (2, words, 1)."""
    rng = random.Random(0)
    return np.array([[[rng.getrandbits(64) | 1] for _ in range(words)] for _ in range(2)], dtype=np.uint64)


def firsts(marks: Words) -> Numbers:
    """Where each mark stands for the first time, in the order of these places."""
    _, first = np.unique(marks, return_index=True)
    first.sort()
    return first


def ascending(values: Floats) -> Iterator[int]:
    """The indexes of values, least first; of equal ones the first of them first."""
    if len(values) > 4 * _AT_ONCE:
        limit = np.partition(values, _AT_ONCE)[_AT_ONCE]
        best = np.flatnonzero(values <= limit)
        yield from best[np.argsort(values[best], kind="stable")].tolist()
        rest = np.flatnonzero(values > limit)
        yield from rest[np.argsort(values[rest], kind="stable")].tolist()
    else:
        yield from np.argsort(values, kind="stable").tolist()

"""Which hypotheses come next, where the best ones are not to be proposed."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from worldcoder.synthesis.rules.lists import DecisionList

K = TypeVar("K")


def combinations(ensembles: Mapping[K, Sequence[DecisionList]]) -> Iterator[dict[K, DecisionList]]:
    """One list of each ensemble, those that cost least together first.

    What is given is only where another one than the first of its ensemble is taken, so that the first
    combination is empty.
    """
    keys = list(ensembles)
    first = (0,) * len(keys)
    waiting, met = [(0.0, first)], {first}
    while waiting:
        cost, at = heapq.heappop(waiting)
        yield {key: ensembles[key][i] for key, i in zip(keys, at, strict=True) if i}
        for n, key in enumerate(keys):
            lists, i = ensembles[key], at[n] + 1
            following = (*at[:n], i, *at[n + 1 :])
            if i < len(lists) and following not in met:
                met.add(following)
                heapq.heappush(waiting, (cost + lists[i].cost - lists[i - 1].cost, following))

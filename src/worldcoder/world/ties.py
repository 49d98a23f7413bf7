"""The canonical order of objects that look alike and differ only in what refers to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def break_ties(
    plain: Sequence[tuple[Any, ...]], edges: Sequence[dict[str, int]], order: Sequence[int]
) -> list[int]:
    """Order unnamed objects that look alike by what refers to them and what they refer to.

    Colour refinement; where it leaves ties among objects that take part in references, each member of the
    first tie is tried in turn and the smallest result taken (individualisation, as in McKay's nauty).
    """
    involved = {t for out in edges for t in out.values()} | {i for i, out in enumerate(edges) if out}
    incoming: dict[int, list[tuple[str, int]]] = {}
    for i, out in enumerate(edges):
        for attribute, target in out.items():
            incoming.setdefault(target, []).append((attribute, i))

    def refine(colour: list[int]) -> list[int]:
        while True:
            signature = [
                (
                    colour[i],
                    tuple(sorted((a, colour[t]) for a, t in edges[i].items())),
                    tuple(sorted((a, colour[s]) for a, s in incoming.get(i, ()))),
                )
                for i in range(len(colour))
            ]
            rank = {s: r for r, s in enumerate(sorted(set(signature)))}
            new = [rank[s] for s in signature]
            if len(rank) == len(set(colour)):
                return new
            colour = new

    def form(colour: list[int]) -> tuple[Any, ...]:
        return tuple(
            sorted((colour[i], tuple(sorted((a, colour[t]) for a, t in edges[i].items()))) for i in involved)
        )

    def settle(colour: list[int]) -> list[int]:
        colour = refine(colour)
        classes: dict[int, list[int]] = {}
        for i in sorted(involved):
            classes.setdefault(colour[i], []).append(i)
        tie = next((members for c, members in sorted(classes.items()) if len(members) > 1), None)
        if tie is None:
            return colour
        tried = [settle([2 * c + (i != chosen) for i, c in enumerate(colour)]) for chosen in tie]
        return min(tried, key=form)

    ranks = {p: r for r, p in enumerate(sorted(set(plain)))}
    colour = settle([ranks[p] for p in plain])
    return sorted(order, key=colour.__getitem__)

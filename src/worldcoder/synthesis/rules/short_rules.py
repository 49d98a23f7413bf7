"""Rules of up to three literals that are right in all rows in which they apply: the steps of the search for lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worldcoder.synthesis.rules.effects import Effect
from worldcoder.synthesis.rules.packed import (
    Floats,
    Numbers,
    Words,
    ascending,
    fingerprints,
    firsts,
    overlaps,
    pack,
    sizes,
    unpack,
)

Found = tuple[int, Effect, int, float]
"""A rule on some rows: its condition and effect, the rows that it covers, what it costs."""

_LITERALS = 90
"""Looked at alone and in pairs: the cheapest that differ."""
_PAIRS = 40
"""Pairs that a third literal is added to."""
_SHARE = 8
"""Rules of each effect, or the commonest would crowd out the others."""
_GAIN = 4.0
"""How much better a rule is for more rows: so many times log(1 + rows)."""


@dataclass(frozen=True)
class _Conditions:
    """Conditions with the rows they hold in, and what their literals cost. parts: the literals. Shape (parts, n)."""

    covers: Words
    prices: Floats
    parts: Numbers

    def __len__(self) -> int:
        return len(self.prices)

    def only(self, which: NDArray[Any]) -> _Conditions:
        """Some of them."""
        return _Conditions(self.covers[:, which], self.prices[which], self.parts[:, which])

    def joined(self, mine: Numbers, others: _Conditions, theirs: Numbers) -> _Conditions:
        """Pairs of some of these and some of the others that hold where neither does alone: one for each cover."""
        some, more = self.covers[:, mine], others.covers[:, theirs]
        both = some & more
        new = np.flatnonzero(both.any(axis=0) & (both != some).any(axis=0) & (both != more).any(axis=0))
        new = new[firsts(fingerprints(both[:, new]))]
        mine, theirs = mine[new], theirs[new]
        parts = np.concatenate([self.parts[:, mine], others.parts[:, theirs]])
        return _Conditions(both[:, new], self.prices[mine] + others.prices[theirs], parts)


class ShortRules:
    """The literals and effects that rules are made of.

    columns: literals with the rows they hold in. cost: of each literal. own: the literals that speak of what changes.
    effects: the rows that each explains, what a rule with it costs besides its literals, and the same for a rule
    without an own literal. words: of 64 rows each, for all rows. looked_at: how many literals were put together in
    the last search.
    """

    def __init__(
        self,
        columns: Sequence[tuple[int, int]],
        cost: Sequence[float],
        own: int,
        effects: Mapping[Effect, tuple[int, float, float]],
        words: int,
    ) -> None:
        columns = sorted(columns, key=lambda one: (cost[one[0]], one[0]))
        self._bits = [1 << literal for literal, _ in columns]
        self._own = np.array([bool(own & bit) for bit in self._bits], dtype=bool)
        self._columns = _Conditions(
            pack([column for _, column in columns], words),
            np.array([cost[literal] for literal, _ in columns]),
            np.arange(len(columns))[None, :],
        )
        self._effects = list(effects)
        self._explained = pack([rows for rows, _, _ in effects.values()], words)
        self._prices = np.array([price for _, price, _ in effects.values()])
        self._distant = np.array([price for _, _, price in effects.values()])
        self.looked_at = 0

    def among(self, remaining: int) -> list[Found]:
        """The rules on the remaining rows, those of the most useful effect first, the most useful of each first."""
        rows = pack([remaining], len(self._explained))
        some = self._explained & rows
        effects = np.flatnonzero(some.any(axis=0))
        explained = some[:, effects]
        single = self._single(rows)
        alone, _ = _explained(single.covers, explained)
        impure = single.only(np.logical_not(alone.any(axis=0)))
        self.looked_at = len(impure)
        first, second = _pairs(len(impure))
        pairs = impure.joined(first, impure, second)
        two, most = _explained(pairs.covers, explained)
        size = sizes(pairs.covers)
        promising = np.flatnonzero((size > 1) & ~two.any(axis=0))
        badness = (size - 2 * most + 0.3 * pairs.prices)[promising]
        best = pairs.only(promising[list(islice(ascending(badness), _PAIRS))])
        first, second = np.divmod(np.arange(len(best) * len(impure)), max(1, len(impure)))
        threes = best.joined(first, impure, second)
        threes = threes.only(~np.isin(fingerprints(threes.covers), fingerprints(pairs.covers)))
        three, _ = _explained(threes.covers, explained)
        return self._most_useful(
            [single, pairs, threes], np.concatenate([alone, two, three], axis=1), effects
        )

    def _single(self, rows: Words) -> _Conditions:
        covers = self._columns.covers & rows
        kept = np.flatnonzero(covers.any(axis=0) & (covers != rows).any(axis=0))
        kept = kept[firsts(fingerprints(covers[:, kept]))][:_LITERALS]
        return _Conditions(covers[:, kept], self._columns.prices[kept], self._columns.parts[:, kept])

    def _most_useful(
        self, conditions: Sequence[_Conditions], fits: NDArray[np.bool_], effects: Numbers
    ) -> list[Found]:
        """The rules to go on with. fits: whether each of the effects explains all that each condition covers."""
        covers = np.concatenate([some.covers for some in conditions], axis=1)
        parts = np.concatenate([some.parts[[0, len(some.parts) // 2, -1]] for some in conditions], axis=1)
        prices = np.concatenate([some.prices for some in conditions])
        own = self._own[parts].any(axis=0)
        row, which = np.nonzero(fits)
        effect = effects[row]
        prices = prices[which] + np.where(own[which], self._prices[effect], self._distant[effect])
        ranks = prices - _GAIN * np.log1p(sizes(covers))[which]
        order = np.lexsort((ranks, row))
        place = np.arange(len(order)) - np.searchsorted(row[order], np.arange(len(effects)))[row[order]]
        order = order[place < _SHARE]
        leading = np.full(len(effects), np.inf)
        np.minimum.at(leading, row[order], ranks[order])
        order = order[np.argsort(leading[row[order]], kind="stable")]
        found: dict[tuple[int, Effect], Found] = {}
        for (one, two, three), cover, i, price in zip(
            parts[:, which[order]].T.tolist(),
            unpack(covers[:, which[order]]),
            effect[order].tolist(),
            prices[order].tolist(),
            strict=True,
        ):
            condition = self._bits[one] | self._bits[two] | self._bits[three]
            found.setdefault((cover, self._effects[i]), (condition, self._effects[i], cover, price))
        return list(found.values())


def _explained(covers: Words, explained: Words) -> tuple[NDArray[np.bool_], Numbers]:
    """Whether each effect explains all rows of each cover, shape (effects, covers), and how many one does at most."""
    shared = overlaps(explained, covers)
    fits: NDArray[np.bool_] = np.equal(shared, sizes(covers))
    return fits, shared.max(axis=0, initial=0)


@cache
def _pairs(n: int) -> tuple[Numbers, Numbers]:
    """All pairs of n things, the first of them first."""
    first, second = np.triu_indices(n, 1)
    return first, second

"""What kept the programs of a run from doing harm, in words."""

from __future__ import annotations

from collections.abc import Iterable

from worldcoder.sandbox import Layer, LayerReport, locked

LOCKED = "locked"
NO_LANDLOCK = "locked, without Landlock"
NONE = "none (--unsafe-no-sandbox)"
OLD = "none"
"""Of runs recorded before there was a sandbox."""

_FROM_BEST = (LOCKED, NO_LANDLOCK, NONE, OLD)


def in_words(layers: Iterable[LayerReport]) -> str:
    """What there is, as it stands in a run's summary."""
    layers = tuple(layers)
    there = {report.layer for report in layers if report.there}
    if not locked(layers):
        return NONE
    if Layer.LANDLOCK in there or Layer.SEATBELT in there:
        return LOCKED
    return NO_LANDLOCK


def weakest(*found: str | None) -> str:
    """The one that protects least; for runs that were carried out in parts."""
    known = [_FROM_BEST.index(one) if one in _FROM_BEST else len(_FROM_BEST) - 1 for one in found if one]
    return _FROM_BEST[max(known, default=0)]


def caution(layers: Iterable[LayerReport]) -> str | None:
    """What somebody who runs programs should know; None where everything is there that there could be."""
    layers = tuple(layers)
    words = in_words(layers)
    if words == NONE:
        return "programs run without a sandbox: they can do whatever you can (--unsafe-no-sandbox)"
    if words == NO_LANDLOCK:
        why = next(report.detail for report in layers if report.layer == Layer.LANDLOCK)
        return f"programs are locked up without Landlock ({why}): one lock less; see `worldcoder doctor`"
    return None


def recorded(layers: Iterable[LayerReport]) -> dict[str, bool]:
    """The layers as a run's log has them: by name, whether they are there."""
    return {str(report.layer): report.there for report in layers}

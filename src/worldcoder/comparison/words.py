"""What was predicted against what was observed, in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from worldcoder.world.difference import describe_change
from worldcoder.world.values import State

_PLACE = re.compile(r" at \((?:-?\d+|None), (?:-?\d+|None)\)")
_MOVE = re.compile(r"\b([xy]) (-?\d+) → (-?\d+)")


def state_in_words(before: State, predicted: State, observed: State) -> str:
    """How a predicted state differs from the one observed."""
    said, happened = describe_change(before, predicted), describe_change(before, observed)
    return f"predicted {_own(said, happened)}, observed {_own(happened, said)}"


def reward_in_words(predicted: float, observed: float) -> str:
    """How a predicted reward differs from the one observed."""
    return f"predicted reward {predicted:g}, observed {observed:g}"


def end_in_words(predicted: bool, observed: bool) -> str:
    """How a predicted end differs from what was observed."""
    ends = {True: "the end of the episode", False: "that it goes on"}
    return f"predicted {ends[predicted]}, observed {ends[observed]}"


def without_places(text: str) -> str:
    """A difference wherever it happens: places are left out, moves are told by how far they go."""
    return _MOVE.sub(lambda m: f"{m[1]} {int(m[3]) - int(m[2]):+d}", _PLACE.sub("", text))


def _own(lines: Sequence[str], others: Sequence[str]) -> str:
    """What is in one change and not in the other."""
    own = [line for line in lines if line not in others]
    return "; ".join(own) or ("nothing more" if lines else "no change")

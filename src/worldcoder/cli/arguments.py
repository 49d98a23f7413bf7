"""Reading what is given on the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from worldcoder.errors import UsageError

MOST_SEEDS = 100_000


def parse_seeds(text: str) -> list[int]:
    """The seeds of `1-20`, `3` or `1,4,7-9`, in that order, each once; raises UsageError for other text."""
    seeds: dict[int, None] = {}
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,10})\s*(?:-\s*([0-9]{1,10})\s*)?", part)
        if match is None:
            raise UsageError(f"--seeds {text}: expected numbers and ranges, as in 1-20, 3 or 1,4,7-9")
        first = int(match[1])
        last = first if match[2] is None else int(match[2])
        if last < first:
            raise UsageError(f"--seeds {text}: {part.strip()} ends before it begins; write {last}-{first}")
        if last - first >= MOST_SEEDS or len(seeds) > MOST_SEEDS:
            raise UsageError(f"--seeds {text}: more than {MOST_SEEDS} seeds; ask for fewer")
        seeds.update(dict.fromkeys(range(first, last + 1)))
    return list(seeds)


def parse_options(pairs: Sequence[str]) -> dict[str, str]:
    """The options of `name=value` words. Raises UsageError for a word without a name and `=`."""
    options: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--option {pair}: expected name=value, as in --option size=9")
        if name.strip() in options:
            raise UsageError(f"--option {name.strip()} is given twice; leave one out")
        options[name.strip()] = value
    return options

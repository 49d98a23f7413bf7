"""What was never tried and never seen, in words: what a reader of a program cannot know from its rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from worldcoder.synthesis.rules.language import Literal
from worldcoder.synthesis.rules.novelty import Key
from worldcoder.synthesis.rules.scene import PLACE
from worldcoder.synthesis.rules.statistics import Verb
from worldcoder.synthesis.rules.vocabulary import Look

if TYPE_CHECKING:
    from worldcoder.synthesis.rules.dynamics import Dynamics

_WIDTH = 110
_MOST = 8
"""Entries of one line, after which only their number is given."""


def gaps(dynamics: Dynamics) -> list[str]:
    """Sentences about what the data do not tell, each short enough for a line; none where nothing is missing.

    Never tried: kinds of things that were somewhere (ahead, underneath, named by an action, held) with some actions
    and never with others, and actions never chosen. Never seen: movers and what may or may not stop them.
    """
    missing: dict[str, dict[str, None]] = {}
    for verb, where in _never_tried(dynamics):
        missing.setdefault(where, {}).setdefault(verb)
    tried = [f"{_list(list(verbs))} {where}".strip() for where, verbs in missing.items()]
    met = [f"{_list(whom)} in the way of {mover}" for mover, whom in _never_met(dynamics).items()]
    lines = [_line("Never tried", tried), _line("Never seen", met)]
    return [line for line in lines if line]


def _never_tried(dynamics: Dynamics) -> Iterator[tuple[str, str]]:
    """Actions, and where things were with which they were never tried."""
    met = {key: list(dynamics.literals.of(mask)) for key, mask in dynamics.doubts.met().items()}
    actions = {transition.action.name for transition in dynamics.transitions}
    for verb in dynamics.vocabulary.verbs:
        name = verb if isinstance(verb, str) else str(verb[0])
        if name not in actions:
            yield name, ""
    for (verb, kind), mine in met.items():
        known = set(mine)
        names_things = verb in dynamics.vocabulary.with_objects
        looks_ahead = any(_place(lit) == ("self", 1) for lit in mine)
        missing: dict[str, list[str]] = {}
        for lit in _of_kind(met, kind):
            where = _where(lit, looks_ahead=looks_ahead)
            if where and lit not in known and (names_things or not _of_argument(lit)):
                missing.setdefault(where, []).append(lit[2])
        for where, kinds in missing.items():
            yield _name(verb), where.format(_list(kinds))


def _of_kind(met: dict[Key, list[Literal]], kind: str) -> Iterable[Literal]:
    """What was met of things of a kind with any action, each once."""
    return dict.fromkeys(lit for (_, other), lits in met.items() if other == kind for lit in lits)


def _where(literal: Literal, *, looks_ahead: bool) -> str | None:
    """Where a literal says that something of a kind is; None if it says something else."""
    if literal[0] == "at":
        if _place(literal) == ("self", 1):
            return "with {} ahead" if looks_ahead else None
        return "on {}" if _place(literal) == ("self", 0) else None
    if literal[0] == "kind" and literal[1] not in ("self", "me"):
        head, _, path = literal[1].partition(".")
        if head.startswith("arg") and not path:
            return "for {}" if head == "arg0" else f"with {{}} as its argument {int(head[3:]) + 1}"
        return f"with {path.replace('.', ' ')} {{}}" if head == "self" else None
    return None


def _of_argument(literal: Literal) -> bool:
    return literal[0] == "kind" and str(literal[1]).startswith("arg")


def _place(literal: Literal) -> object:
    return literal[1] if len(literal) > 2 else None


def _never_met(dynamics: Dynamics) -> dict[str, list[str]]:
    """Movers, and the things of which it was never seen whether they stop them."""
    by_mover: dict[str, list[Look]] = {}
    vocabulary = dynamics.vocabulary
    for mover, look in sorted(dynamics.untested_passages(), key=repr):
        by_itself = mover in vocabulary.autonomous or mover in vocabulary.wilful
        # of those it is not noted what stopped them; and who pushes is behind
        placed = PLACE in vocabulary.attributes_of(look[0])
        if placed and look[0] != vocabulary.avatar and not by_itself:
            by_mover.setdefault(mover, []).append(look)
    return {mover: [" ".join(map(str, look)) for look in looks] for mover, looks in by_mover.items()}


def _name(verb: Verb) -> str:
    return verb if isinstance(verb, str) else f"{verb[0]}({', '.join(map(str, verb[1:]))})"


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _line(what: str, found: list[str]) -> str:
    """As much as a line holds, and how much there is besides."""
    text, shown = f"{what}: ", 0
    for one in found[:_MOST]:
        if shown and len(text) + len(one) > _WIDTH:
            break
        text, shown = f"{text}{'; ' if shown else ''}{one}", shown + 1
    left = len(found) - shown
    return (f"{text}; and {left} more" if left else text) if shown else ""

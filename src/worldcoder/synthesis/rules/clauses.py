"""Sentences made of sentences: "open the red door, then pick up the key".

A goal is taken apart where what it is made of is known: clauses of a form in which goals were reached, and between
them other words. What such a word says of the order of its clauses is decided by the data; only what is tried first
goes by what it says in English.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Literal

from worldcoder.planning.parts import Order
from worldcoder.synthesis.rules.sentences import Sentence
from worldcoder.world.values import Goal

Joint = tuple[str, ...]
"""The words between two clauses."""

Meaning = Literal["then", "after", "and"]
"""What a joint says: the left before the right, the right before the left, or both, in any order."""

MEANINGS: tuple[Meaning, ...] = ("then", "after", "and")

_SAYS: Mapping[str, Meaning] = {
    "then": "then", "before": "then", "until": "then", "after": "after", "once": "after", "when": "after",
}  # fmt: skip
"""What words mostly say; of all others "and" is supposed."""
_UNUSUAL = 3.0
"""What it costs in nats that a joint says something else."""
_LONGEST = 3
"""Words in a joint, at most."""
_WORD, _GAP, _CHANGED = 0.3, 0.5, 1.0
"""What it costs to take apart: a word of a joint, a joint without words, a word of a clause that is another one."""


@dataclass(frozen=True)
class Compound:
    """A goal of several clauses, each a goal of its own, and the joints between them."""

    clauses: tuple[Goal, ...]
    joints: tuple[Joint, ...]

    def orders(self, faults: Mapping[tuple[Joint, Meaning], float]) -> Iterator[tuple[float, Order]]:
        """In which order the clauses may have to be done, each with what it costs to think so, the likeliest first.

        faults: what speaks against a joint's having a meaning.
        """
        different = tuple(dict.fromkeys(self.joints))
        found: dict[Order, float] = {}
        for meanings in product(MEANINGS, repeat=len(different)):
            means = dict(zip(different, meanings, strict=True))
            cost = sum(
                faults.get(said, 0.0) + (0.0 if usual(said[0]) == said[1] else _UNUSUAL)
                for said in means.items()
            )
            order = _order([means[joint] for joint in self.joints])
            found[order] = min(cost, found.get(order, cost))
        yield from sorted(((cost, order) for order, cost in found.items()), key=lambda pair: pair[0])


def usual(joint: Joint) -> Meaning:
    """What a joint mostly says."""
    return next((_SAYS[word] for word in joint if word in _SAYS), "and")


def _order(joints: Sequence[Meaning]) -> Order:
    """For each clause those before it. What is joined by "and" belongs together more closely than what is in order."""
    groups: list[list[int]] = [[0]]
    between: list[Meaning] = []
    for n, meaning in enumerate(joints, 1):
        if meaning == "and":
            groups[-1].append(n)
        else:
            groups.append([n])
            between.append(meaning)
    before: dict[int, set[int]] = {n: set() for n in range(len(joints) + 1)}
    so_far = groups[0]
    for meaning, group in zip(between, groups[1:], strict=True):
        first, last = (so_far, group) if meaning == "then" else (group, so_far)
        for n in last:
            before[n].update(first)
        so_far = [*so_far, *group]
    return tuple(tuple(sorted(before[n])) for n in sorted(before))


def take_apart(goal: Goal, sentence: Sentence, known: Iterable[Sentence]) -> Compound | None:
    """A goal as clauses of known forms; None where it is one clause, or cannot be taken apart so.

    known: goals that were reached. A clause may have one word that is another one.
    """
    forms = list(dict.fromkeys(one.form for one in known if one.names))
    form, size = sentence.form, len(sentence.form)
    if not forms or len(sentence.names) < 2 or any(_distance(form, one) is not None for one in forms):
        return None
    best: list[tuple[float, tuple[tuple[int, int], ...]] | None] = [None] * (size + 1)
    best[0] = 0.0, ()
    for end in range(1, size + 1):
        for begin in range(end):
            changed = min(
                (d for one in forms if (d := _distance(form[begin:end], one)) is not None), default=None
            )
            if changed is None:
                continue
            for gap in range(_LONGEST + 1):
                left = best[begin - gap] if gap <= begin else None
                joint = form[begin - gap : begin]
                if left is None or not all(isinstance(word, str) for word in joint):
                    continue
                if gap == begin and gap:
                    continue  # nothing stands before the first clause
                cost = left[0] + _CHANGED * changed + (_WORD * gap if gap or not begin else _GAP)
                known_one = best[end]
                if known_one is None or cost < known_one[0]:
                    best[end] = cost, (*left[1], (begin, end))
    whole = best[size]
    if whole is None or len(whole[1]) < 2:
        return None
    spans, parts = sentence.spans, whole[1]
    clauses = tuple(goal[spans[begin][0] : spans[end - 1][1]] for begin, end in parts)
    joints = tuple(tuple(str(word) for word in form[end:begin]) for (_, end), (begin, _) in pairwise(parts))
    return Compound(clauses, joints)


def _distance(form: tuple[str | frozenset[str], ...], known: tuple[str | frozenset[str], ...]) -> int | None:
    """In how many words two forms differ, where they name the same in the same places: 0 or 1; else None.

    The first word is the same.
    """
    if form == known:
        return 0
    if len(form) != len(known) or form[:1] != known[:1]:
        return None
    different = [(a, b) for a, b in zip(form, known, strict=True) if a != b]
    return 1 if len(different) == 1 and all(isinstance(part, str) for part in different[0]) else None

"""What was met with which kind of action: literals, and pairs of literals about what is near."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from worldcoder.synthesis.rules.language import Literal
from worldcoder.synthesis.rules.lists import Literals, bits
from worldcoder.synthesis.rules.scene import Thing
from worldcoder.synthesis.rules.statistics import Verb
from worldcoder.synthesis.rules.vocabulary import Vocabulary
from worldcoder.world.values import Action

Key = tuple[Verb, str]
"""A group of actions and a kind of object."""

_NOVEL = frozenset({
    "action", "heads", "heads not", "at", "at.", "empty", "kind", "outside", "value", "not value", "headed", "any",
    "is", "same", "arg", "with", "beside",
})  # fmt: skip
_PAIRED = frozenset({
    "at", "at.", "empty", "value", "not value", "headed", "kind", "is", "any", "with", "beside",
})  # fmt: skip


_AROUND = frozenset({"neighbour", "neighbour."})
"""What is met by an action that heads nowhere: it may act on what is beside the avatar, wherever that is."""


@dataclass(frozen=True)
class Doubt:
    """What is not known about one action in one state.

    unseen: literals never met with an action of this kind. pairs: how many pairs of nearby literals were never
    met together with it. disputed: whether the lists disagree on anything that it leads to. lost: it is not known
    where the action heads.
    """

    unseen: tuple[Literal, ...]
    pairs: int
    disputed: bool
    lost: bool


class Novelty:
    """Remembers what was met.

    around: of an action that heads nowhere, so that what is beside the avatar counts as what is ahead does else.
    """

    def __init__(self, literals: Literals) -> None:
        self._literals = literals
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._seen: dict[Key, int] = {}
        self._pairs: dict[Key, set[tuple[int, int]]] = {}
        self._sorted_out = self._novel_bits = self._paired_bits = self._around_bits = 0

    def note(self, key: Key, mask: int, *, around: bool = False) -> bool:
        """Remember what was met; whether any of it was new."""
        self._sort_out()
        seen, pairs = self._seen.get(key, 0), self._pairs.setdefault(key, set())
        novel = self._novel(around)
        before = (seen & novel, len(pairs))
        self._seen[key] = seen | mask
        pairs.update(self._pairs_of(mask, around))
        return before != (self._seen[key] & novel, len(pairs))

    @property
    def met(self) -> dict[Key, int]:
        """The literals that were met."""
        return dict(self._seen)

    def unseen(self, key: Key, mask: int, *, around: bool = False) -> int:
        """Those of the literals whose first meeting would be worth something, and that were never met."""
        self._sort_out()
        return mask & self._novel(around) & ~self._seen.get(key, 0)

    def new_pairs(self, key: Key, mask: int, *, around: bool = False) -> int:
        """How many pairs were never met."""
        self._sort_out()
        known = self._pairs.get(key, set())
        return sum(pair not in known for pair in self._pairs_of(mask, around))

    def _novel(self, around: bool) -> int:
        return self._novel_bits | self._around_bits if around else self._novel_bits

    def _sort_out(self) -> None:
        while self._sorted_out < len(self._literals.all):
            literal = self._literals.all[self._sorted_out]
            if literal[0] in _NOVEL and _is_near(literal, 1) and not _is_number(literal):
                self._novel_bits |= 1 << self._sorted_out
            if literal[0] in _PAIRED and _is_near(literal, 2) and not _is_number(literal):
                self._paired_bits |= 1 << self._sorted_out
            if literal[0] in _AROUND and not _is_number(literal):
                self._around_bits |= 1 << self._sorted_out
            self._sorted_out += 1

    def _pairs_of(self, mask: int, around: bool) -> Iterator[tuple[int, int]]:
        paired = self._paired_bits | self._around_bits if around else self._paired_bits
        chosen = list(bits(mask & paired))
        for n, i in enumerate(chosen):
            for j in chosen[n + 1 :]:
                yield (i, j)


def _is_near(literal: Literal, most: int) -> bool:
    """Whether a literal speaks of a place so many steps ahead at most, or of no place."""
    if len(literal) < 2 or not isinstance(literal[1], tuple):
        return True
    return bool(literal[1][0] != "off" and literal[1][1] <= most)


def _is_number(literal: Literal) -> bool:
    """Whether a literal is about one value of a number: there are too many of these to try them all."""
    return literal[0] in ("value", "not value", "headed", "arg") and type(literal[-1]) in (int, float)


def is_lost(vocabulary: Vocabulary, avatar: Thing | None, action: Action) -> bool:
    """Whether it is not known where the action heads, though that could still be found out."""
    verb = vocabulary.verb(action)
    if avatar is None or vocabulary.direction(avatar, action) is not None:
        return False
    if vocabulary.facing is not None:
        value = avatar.values.get(vocabulary.facing)
        return verb in vocabulary.movers and vocabulary.tries[verb, value] < 4
    return verb not in vocabulary.effective and vocabulary.tries[verb, None] < 3

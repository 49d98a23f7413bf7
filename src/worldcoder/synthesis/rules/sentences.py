"""Goals as sentences: which of their words name a kind or a value, and how alike two goals are.

Nothing is known of any language here. A word means something where the world has a name that is written so; all
other words only tell one form of sentence from another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from worldcoder.synthesis.rules.scene import KIND
from worldcoder.synthesis.rules.vocabulary import Vocabulary
from worldcoder.world.values import Goal

Names = Mapping[str, str]
"""What words name, by role: a kind (`KIND`), or the value of an attribute."""


@dataclass(frozen=True)
class Sentence:
    """A goal, read with the names of a world.

    form: its words, and in the place of each name the roles that it has. names: what is named, in that order. spans:
    where in the text each part of the form begins and ends.
    """

    form: tuple[str | frozenset[str], ...]
    names: tuple[Names, ...]
    spans: tuple[tuple[int, int], ...] = field(default=(), compare=False)

    @property
    def roles(self) -> tuple[frozenset[str], ...]:
        """What sort of things are named, in order."""
        return tuple(part for part in self.form if isinstance(part, frozenset))

    @property
    def words(self) -> tuple[str, ...]:
        """The words that name nothing, in order."""
        return tuple(part for part in self.form if isinstance(part, str))

    def likeness(self, other: Sentence) -> float:
        """How alike the words are that name nothing: 1 where they are the same, 0 where none is in both."""
        mine, its = set(self.words), set(other.words)
        if self.form == other.form:
            return 1.0
        return 0.9 * len(mine & its) / max(len(mine | its), 1)


def read(goal: Goal, lexicon: Mapping[tuple[str, ...], Names]) -> Sentence:
    """The sentence that a goal is. Of names that begin at the same word the longest counts."""
    found = list(_WORD.finditer(goal))
    tokens = [_plain(match.group()) for match in found]
    longest = max(map(len, lexicon), default=0)
    form: list[str | frozenset[str]] = []
    names: list[Names] = []
    spans: list[tuple[int, int]] = []
    at = 0
    while at < len(tokens):
        part: str | frozenset[str] = tokens[at]
        end = at + 1
        for length in range(min(longest, len(tokens) - at), 0, -1):
            named = lexicon.get(tuple(tokens[at : at + length]))
            if named is not None:
                part, end = frozenset(named), at + length
                names.append(named)
                break
        form.append(part)
        spans.append((found[at].start(), found[end - 1].end()))
        at = end
    return Sentence(tuple(form), tuple(names), tuple(spans))


def lexicon_of(vocabulary: Vocabulary) -> dict[tuple[str, ...], Names]:
    """What can be named: kinds, and values that are text, by the words that they are written with."""
    found: dict[tuple[str, ...], dict[str, str]] = {}

    def add(name: str, role: str) -> None:
        tokens = tuple(words_of(name))
        if tokens:
            found.setdefault(tokens, {}).setdefault(role, name)

    for kind in vocabulary.kinds:
        add(kind, KIND)
    for (_, attribute), values in vocabulary.values.items():
        for value in values:
            if isinstance(value, str) and attribute != KIND:
                add(value, attribute)
    return dict(found)


def words_of(text: str) -> list[str]:
    """The words of a name or a sentence in order, in lower case, a plural's s taken off."""
    return [_plain(match.group()) for match in _WORD.finditer(text)]


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def _plain(word: str) -> str:
    word = word.lower()
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word

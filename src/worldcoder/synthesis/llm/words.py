"""Words: which goals are alike, and letters to count with."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"[a-z0-9]+")


def words(text: str) -> list[str]:
    """The words of a text, in small letters."""
    return _WORD.findall(text.lower())


def nearest(query: str, texts: Sequence[str]) -> list[int]:
    """The numbers of texts, the one most like the query first: Okapi BM25 with k1 = 1.5 and b = 0.75.

    (Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, equation 3.15.) Of
    equals, the later one is first.
    """
    documents = [Counter(words(text)) for text in texts]
    usual = sum(map(Counter.total, documents)) / max(len(documents), 1) or 1.0
    scores = []
    for document in documents:
        score = 0.0
        for word in dict.fromkeys(words(query)):
            having = sum(word in other for other in documents)
            rarity = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
            often = document[word]
            score += rarity * often * 2.5 / (often + 1.5 * (0.25 + 0.75 * document.total() / usual))
        scores.append(score)
    return sorted(range(len(texts)), key=lambda i: (-scores[i], -i))


def letters(number: int) -> str:
    """A, B, ..., Z, AA, AB, ... for 0, 1, ..."""
    name = ""
    while number >= 0:
        name = chr(ord("A") + number % 26) + name
        number = number // 26 - 1
    return name

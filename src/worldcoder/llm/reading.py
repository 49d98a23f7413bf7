"""Parts of what servers send, read without believing that they are what they should be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from worldcoder.llm.keys import Hide
from worldcoder.llm.server import Answer, Text
from worldcoder.llm.values import Finish, Usage, readable

MOST_TEXT = 4 << 20
"""Characters that an answer may have; a model's longest answers have a tenth of that."""

_FINISHES: dict[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "refusal",
    "refusal": "refusal",
    "safety": "refusal",
}


class TooLarge(Exception):
    """More arrives than any answer can have."""


def finish_of(reason: object) -> Finish | None:
    """How a text ended; None: it did not yet."""
    if not isinstance(reason, str) or not reason:
        return None
    return _FINISHES.get(reason.lower(), "other")


def text_of(content: object) -> str:
    """The text of a content, which is a text or a list of parts; anything else has none."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(text_of(part.get("text")) for part in content if isinstance(part, dict))
    return ""


def mapping_of(value: object) -> Mapping[str, Any]:
    """An object of JSON; anything else is taken for an empty one."""
    return value if isinstance(value, dict) else {}


def count_of(value: object) -> int | None:
    """A number of tokens; None for what cannot be one."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 40:
        return None
    return value


def usage_of(tokens_in: object, tokens_out: object, cached: object) -> Usage | None:
    """What a server reports; None where it is missing or cannot be true: no prompt has no tokens."""
    into, out = count_of(tokens_in), count_of(tokens_out)
    if not into or out is None:
        return None
    return Usage(into, out, cached=min(count_of(cached) or 0, into))


class Gathered:
    """An answer that grows, and is bounded."""

    def __init__(self, hide: Hide) -> None:
        self.answer = Answer()
        self._hide = hide
        self._size = 0

    def add(self, number: object, text: str, unseen: str = "") -> Text:
        """More of a text; what is unseen only counts. Raises TooLarge, and ValueError for no number."""
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 1024:
            raise ValueError(f"{number!r} is no number of a text")
        self._size += len(text) + len(unseen)
        if self._size > MOST_TEXT:
            raise TooLarge
        one = self.answer.texts.setdefault(number, Text())
        one.parts.append(text)
        one.unseen += len(unseen)
        return one

    def name(self, model: object) -> None:
        """The model, as the server calls it."""
        if isinstance(model, str) and model:
            self.answer.model = readable(self._hide(model))[:200]

    def close(self) -> Answer:
        """Nothing more comes."""
        for one in self.answer.texts.values():
            one.text = readable(self._hide("".join(one.parts)))
        return self.answer

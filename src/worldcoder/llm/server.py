"""What a server of language models is to those who ask it: one attempt, one answer or one failure.

Each kind of server is one module next to this one. Whatever it answers is turned into these values there, so
that nobody else needs to know how servers differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from worldcoder.errors import LLMError
from worldcoder.llm.values import Finish, Request, Usage

Feature = Literal[
    "schema", "n", "seed", "stop", "temperature", "stream", "usage", "max_tokens", "max_completion_tokens"
]
"""What a server may not accept. "usage": to be told the tokens at the end of a stream."""


@dataclass(frozen=True)
class Attempt:
    """How a request is put to a server this time.

    n: how many texts. seed: the one for these texts. without: what is left out.
    """

    request: Request
    n: int
    seed: int | None
    without: frozenset[Feature] = frozenset()

    def offers(self, feature: Feature) -> bool:
        return feature not in self.without


@dataclass
class Text:
    """One text, in the parts in which it arrives; `text` once it has.

    finish: None while it is not complete. unseen: characters that were written but are not part of the text, as
    a model's thoughts are. refused: the text is the reason for a refusal.
    """

    text: str = ""
    finish: Finish | None = None
    unseen: int = 0
    refused: bool = False
    parts: list[str] = field(default_factory=list)


@dataclass
class Answer:
    """What has arrived of an answer: complete texts and incomplete ones, by their number."""

    texts: dict[int, Text] = field(default_factory=dict)
    usage: Usage | None = None
    model: str = ""

    def complete(self) -> list[Text]:
        """The texts that have come to their end, in order."""
        return [text for _, text in sorted(self.texts.items()) if text.finish is not None]


Why = Literal["busy", "unreachable", "broken", "slow", "unreadable", "rejected", "final"]
"""busy: not now. unreachable: no connection. broken: the answer was cut off. slow: it took too long.
unreadable: it is no answer. rejected: the server does not take the request as it is put. final: never."""


class Failure(Exception):
    """An attempt failed.

    error: what is raised if nobody tries again. paid: whether the server may have worked on it.
    retry_after: seconds that the server asks to wait. blamed: the features that it says it does not accept.
    status: of HTTP. answer: what had arrived.
    """

    def __init__(
        self,
        why: Why,
        error: LLMError,
        *,
        paid: bool = False,
        retry_after: float | None = None,
        blamed: frozenset[Feature] = frozenset(),
        status: int | None = None,
        answer: Answer | None = None,
    ) -> None:
        super().__init__(str(error))
        self.why: Why = why
        self.error = error
        self.paid = paid
        self.retry_after = retry_after
        self.blamed = blamed
        self.status = status
        self.answer = answer


class Server(Protocol):
    """One model on one server."""

    name: str
    """As requests name it, such as "openai/gpt-5-mini"."""

    place: str
    """Where it is, for messages; nothing secret is in it."""

    lacks: frozenset[Feature]
    """What is known before it is asked that it does not accept."""

    async def ask(self, attempt: Attempt) -> Answer:
        """Raises Failure."""
        ...

    async def close(self) -> None:
        """Let go of its connections."""
        ...

"""What is said to a language model and what it answers: values that are compared, kept and read back."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cached_property
from typing import Any, Final, Literal

from worldcoder.errors import ValueFormError

Role = Literal["system", "user", "assistant"]

Finish = Literal["stop", "length", "refusal", "other"]
"""How a text ended: the model was done; it was cut off; the model (or a filter) refused; anything else."""

_RESERVED = {"model", "messages", "n", "temperature", "max_tokens", "max_completion_tokens", "seed", "stop"}
_RESERVED |= {"response_format", "output_config", "system", "stream", "stream_options", "api_key"}


def canonical(value: Any) -> str:
    """JSON that is the same for equal values, in whatever order a mapping lists its keys."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueFormError(f"a request can hold only what JSON can: {error}") from error


def readable(text: str) -> str:
    """A text that can be sent and stored: halves of a surrogate pair become one character, lone ones a mark."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str

    def __post_init__(self) -> None:
        if self.role not in ("system", "user", "assistant"):
            raise ValueFormError(f"a message is of system, user or assistant, not of {self.role!r}")
        object.__setattr__(self, "content", readable(self.content))

    def to_json(self) -> dict[str, str]:
        return {"role": self.role, "content": self.content}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Message:
        return cls(data["role"], data["content"])


@dataclass(frozen=True)
class Request:
    """A question: everything that decides the answer, and nothing else. Keys and addresses are no part of it.

    model: as the client names itself, such as "openai/gpt-5-mini". n: how many texts are wanted.
    max_tokens: the most that one of them may have. temperature, seed: None leaves it to the server.
    stop: texts that end an answer. schema: a JSON schema that the answer should follow.
    options: further fields of the body, for one server or another, such as {"reasoning_effort": "low"}.
    """

    model: str
    messages: tuple[Message, ...]
    _: KW_ONLY
    n: int = 1
    temperature: float | None = None
    max_tokens: int = 4096
    seed: int | None = None
    stop: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.messages:
            raise ValueFormError("a request needs at least one message")
        for name in ("n", "max_tokens"):
            if not _is_count(getattr(self, name)) or getattr(self, name) < 1:
                raise ValueFormError(f"{name} of a request is at least 1, not {getattr(self, name)!r}")
        if self.temperature is not None and not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise ValueFormError(f"the temperature of a request is not negative; got {self.temperature!r}")
        reserved = _RESERVED & set(self.options)
        if reserved:
            raise ValueFormError(f"{', '.join(sorted(reserved))} cannot be among the options of a request")
        # copies, so that nobody changes a request that was asked
        own = {
            "messages": tuple(self.messages),
            "temperature": None if self.temperature is None else float(self.temperature),
            "stop": tuple(self.stop),
            "schema": None if self.schema is None else json.loads(canonical(dict(self.schema))),
            "options": json.loads(canonical(dict(self.options))),
        }
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def __hash__(self) -> int:
        return hash(self.key)

    @cached_property
    def key(self) -> str:
        """What the request is known by in a record: the sha256 of its content."""
        return hashlib.sha256(canonical(self.to_json()).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        simple = {f.name: getattr(self, f.name) for f in fields(self)}
        return {**simple, "messages": [m.to_json() for m in self.messages], "stop": list(self.stop)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Request:
        rest = {k: v for k, v in data.items() if k not in ("model", "messages", "stop")}
        messages = tuple(Message.from_json(m) for m in data["messages"])
        return cls(data["model"], messages, stop=tuple(data["stop"]), **rest)

    def as_text(self) -> str:
        """The request as a letter: a line for each setting, then the messages. For people and differences."""
        settings = {k: v for k, v in self.to_json().items() if k != "messages"}
        head = [f"{name}: {canonical(value)}" for name, value in settings.items()]
        return "\n".join([*head, *(f"── {m.role} ──\n{m.content}" for m in self.messages)])


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server reports them. cached: those of tokens_in that were read from its cache."""

    tokens_in: int
    tokens_out: int
    _: KW_ONLY
    cached: int = 0

    def __add__(self, other: Usage) -> Usage:
        cached = self.cached + other.cached
        return Usage(self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out, cached=cached)

    def to_json(self) -> dict[str, int]:
        return {"tokens_in": self.tokens_in, "tokens_out": self.tokens_out, "cached": self.cached}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Usage:
        return cls(data["tokens_in"], data["tokens_out"], cached=data["cached"])


@dataclass(frozen=True, slots=True)
class Cost:
    """What something costs in US dollars; None where that is not known, which is not the same as nothing."""

    usd: float | None

    def __post_init__(self) -> None:
        if self.usd is not None and not (math.isfinite(self.usd) and self.usd >= 0):
            raise ValueFormError(f"a cost is not negative; got {self.usd!r}")

    @property
    def known(self) -> bool:
        return self.usd is not None

    def __add__(self, other: Cost) -> Cost:
        """The sum of what is known and what is not is not known."""
        if self.usd is None or other.usd is None:
            return UNKNOWN
        return Cost(self.usd + other.usd)

    def __str__(self) -> str:
        if self.usd is None:
            return "unknown"
        return f"${self.usd:.2f}" if self.usd >= 1 or not self.usd else f"${self.usd:.2g}"


UNKNOWN: Final = Cost(None)
FREE: Final = Cost(0.0)


@dataclass(frozen=True, slots=True)
class Spent:
    """What was, or may be, spent on a model.

    calls: texts that were asked for: a request for three is three, however the server is asked for them, and a
    request that fails after the server may have worked on it counts as well. tokens: in and out.
    exact: whether the server told the tokens; where it did not, they are estimated, and rather too many.
    """

    calls: int = 0
    tokens: int = 0
    cost: Cost = FREE
    _: KW_ONLY
    exact: bool = True

    def __add__(self, other: Spent) -> Spent:
        exact = self.exact and other.exact
        return Spent(
            self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost, exact=exact
        )

    def to_json(self) -> dict[str, Any]:
        return {"calls": self.calls, "tokens": self.tokens, "usd": self.cost.usd, "exact": self.exact}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Spent:
        return cls(data["calls"], data["tokens"], Cost(data["usd"]), exact=data["exact"])


NOTHING: Final = Spent()


@dataclass(frozen=True)
class Reply:
    """An answer.

    texts, finishes: as many as were asked for; fewer only where asking for the rest failed. A refusal is an
    answer: its text is the reason, if one was given. usage: None where the server did not report it.
    model: as the server names it. seconds: from the first request to the last text, waiting included.
    spent: all that was, requests that failed on the way included. without: what the server does not accept of
    the request ("seed", "schema", ...) and was left out.
    """

    texts: tuple[str, ...]
    finishes: tuple[Finish, ...]
    _: KW_ONLY
    usage: Usage | None = None
    model: str = ""
    seconds: float = 0.0
    spent: Spent = NOTHING
    without: tuple[str, ...] = ()

    @property
    def cost(self) -> Cost:
        return self.spent.cost

    @property
    def refused(self) -> bool:
        """Whether every text is a refusal."""
        return all(finish == "refusal" for finish in self.finishes)

    def to_json(self) -> dict[str, Any]:
        return {
            "texts": list(self.texts),
            "finishes": list(self.finishes),
            "usage": None if self.usage is None else self.usage.to_json(),
            "model": self.model,
            "seconds": self.seconds,
            "spent": self.spent.to_json(),
            "without": list(self.without),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Reply:
        return cls(
            tuple(data["texts"]),
            tuple(data["finishes"]),
            usage=None if data["usage"] is None else Usage.from_json(data["usage"]),
            model=data["model"],
            seconds=data["seconds"],
            spent=Spent.from_json(data["spent"]),
            without=tuple(data["without"]),
        )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)

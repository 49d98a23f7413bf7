"""How asking a language model fails.

    LLMError
    ├── MissingExtra     a package that talks to servers is not installed
    ├── WrongKey         there is no key, or the server refuses it
    ├── NoCredit         the account has nothing left
    ├── UnknownModel     the server, or the price list where a limit of costs needs it, does not know the model
    ├── Unavailable      the server cannot be reached, is too slow or keeps failing, after all retries
    ├── NotRecorded      a replay was asked what is not in the record
    ├── BudgetReached    what may be spent is spent
    ├── Rejected         the server does not take this request (another may fare better)
    │   └── PromptTooLong
    └── BadReply         the server answers what cannot be read, after all retries
        └── ReplyTooLarge

The first seven are `lasting`: the next request would fare no better.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from worldcoder.errors import BudgetReached, LLMError
from worldcoder.llm.values import NOTHING, Spent


class MissingExtra(LLMError):
    """A package that is needed to talk to servers is not installed."""


class WrongKey(LLMError):
    """There is no key, or the server refuses it."""


class NoCredit(LLMError):
    """The server says that the account has nothing left."""


class UnknownModel(LLMError):
    """The server does not know the model, or the price list does not and a limit of costs needs it."""


class Unavailable(LLMError):
    """The server cannot be reached, is too slow or keeps failing."""


class NotRecorded(LLMError):
    """A replay was asked what is not in the record."""


class Rejected(LLMError):
    """The server does not take this request; another may fare better."""

    lasting: ClassVar[bool] = False


class PromptTooLong(Rejected):
    """The request has more tokens than the model can read."""


class BadReply(LLMError):
    """The server answers what cannot be read."""

    lasting: ClassVar[bool] = False


class ReplyTooLarge(BadReply):
    """The server sends more than any answer can have."""


_KINDS: dict[str, type[LLMError]] = {
    kind.__name__: kind
    for kind in (
        MissingExtra,
        WrongKey,
        NoCredit,
        UnknownModel,
        Unavailable,
        NotRecorded,
        Rejected,
        PromptTooLong,
        BadReply,
        ReplyTooLarge,
    )
}


def spent_on(error: LLMError) -> Spent:
    """What was spent although nothing came of it."""
    return NOTHING if error.spent is None else cast(Spent, error.spent)


def error_to_json(error: LLMError) -> dict[str, Any]:
    """An error as it is recorded."""
    data = {"kind": type(error).__name__, "message": str(error), "spent": spent_on(error).to_json()}
    return {**data, "which": error.which} if isinstance(error, BudgetReached) else data


def error_from_json(data: Mapping[str, Any]) -> LLMError:
    """The error that was recorded."""
    if data["kind"] == BudgetReached.__name__:
        error: LLMError = BudgetReached(data["message"], data["which"])
    else:
        error = _KINDS.get(data["kind"], LLMError)(data["message"])
    error.spent = Spent.from_json(data["spent"])
    return error

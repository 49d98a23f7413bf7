"""Talks to language models: clients, budgets, a record of every answer.

    with LanguageModel(Recorded(open_client("openai/gpt-5-mini"), SqliteStore(path)), budget=budget) as model:
        reply = model.ask(Request(model.name, (Message("user", "..."),)))

It knows nothing of worlds or programs. Everything listed in `__all__` can be had from here; it is imported when it
is asked for, and the libraries that talk to servers (the extras `llm` and `anthropic`) when a client is opened.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worldcoder.errors import BudgetReached, LLMError
    from worldcoder.llm.budget import Budget, Limits, Remaining
    from worldcoder.llm.client import Client, ServerClient, most
    from worldcoder.llm.errors import (
        BadReply,
        MissingExtra,
        NoCredit,
        NotRecorded,
        PromptTooLong,
        Rejected,
        ReplyTooLarge,
        Unavailable,
        UnknownModel,
        WrongKey,
    )
    from worldcoder.llm.model import Flight, LanguageModel
    from worldcoder.llm.opening import PROVIDERS, open_client, price_of
    from worldcoder.llm.patience import Patience
    from worldcoder.llm.prices import Price
    from worldcoder.llm.record import Recorded, Replaying
    from worldcoder.llm.store import REPLIES_TABLE, Entry, MemoryStore, Outcome, SqliteStore, Store
    from worldcoder.llm.tokens import count_prompt, count_tokens
    from worldcoder.llm.values import Cost, Message, Reply, Request, Spent, Usage

__all__ = [
    "PROVIDERS",
    "REPLIES_TABLE",
    "BadReply",
    "Budget",
    "BudgetReached",
    "Client",
    "Cost",
    "Entry",
    "Flight",
    "LLMError",
    "LanguageModel",
    "Limits",
    "MemoryStore",
    "Message",
    "MissingExtra",
    "NoCredit",
    "NotRecorded",
    "Outcome",
    "Patience",
    "Price",
    "PromptTooLong",
    "Recorded",
    "Rejected",
    "Remaining",
    "Replaying",
    "Reply",
    "ReplyTooLarge",
    "Request",
    "ServerClient",
    "Spent",
    "SqliteStore",
    "Store",
    "Unavailable",
    "UnknownModel",
    "Usage",
    "WrongKey",
    "count_prompt",
    "count_tokens",
    "most",
    "open_client",
    "price_of",
]

_FROM = {
    "worldcoder.errors": ("BudgetReached", "LLMError"),
    "worldcoder.llm.budget": ("Budget", "Limits", "Remaining"),
    "worldcoder.llm.client": ("Client", "ServerClient", "most"),
    "worldcoder.llm.errors": (
        "BadReply",
        "MissingExtra",
        "NoCredit",
        "NotRecorded",
        "PromptTooLong",
        "Rejected",
        "ReplyTooLarge",
        "Unavailable",
        "UnknownModel",
        "WrongKey",
    ),
    "worldcoder.llm.model": ("Flight", "LanguageModel"),
    "worldcoder.llm.opening": ("PROVIDERS", "open_client", "price_of"),
    "worldcoder.llm.patience": ("Patience",),
    "worldcoder.llm.prices": ("Price",),
    "worldcoder.llm.record": ("Recorded", "Replaying"),
    "worldcoder.llm.store": ("REPLIES_TABLE", "Entry", "MemoryStore", "Outcome", "SqliteStore", "Store"),
    "worldcoder.llm.tokens": ("count_prompt", "count_tokens"),
    "worldcoder.llm.values": ("Cost", "Message", "Reply", "Request", "Spent", "Usage"),
}
_HOME = {name: module for module, names in _FROM.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name not in _HOME:
        raise AttributeError(f"module 'worldcoder.llm' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

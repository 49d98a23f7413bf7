"""What the command line says of language models, and what it takes for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from worldcoder.cli.words import count, number
from worldcoder.errors import UsageError
from worldcoder.llm.values import Cost
from worldcoder.proposers import ModelConfig
from worldcoder.runs.events import Asking

SETTINGS = tuple(f.name for f in fields(ModelConfig) if f.name != "name")
"""What can be set of a model besides its name."""


def model_config(given: Mapping[str, Any]) -> ModelConfig | None:
    """The model that was set up on the command line; None where none is named."""
    settings = {name: given[name] for name in SETTINGS if name in given}
    if "model" in given:
        return ModelConfig(given["model"], **settings)
    if settings:
        option = next(iter(settings)).replace("_", "-")
        raise UsageError(f"--{option} of which language model? Name it: --model openai/gpt-5-mini")
    if given.get("synthesizer") in ("llm", "hybrid"):
        raise UsageError(
            f"--synthesizer {given['synthesizer']} needs a language model: --model openai/gpt-5-mini"
        )
    return None


def asking(event: Asking) -> str:
    """`asking openai/gpt-5-mini: 3 in flight, 12 of 50 calls, 41k tokens, $0.12`."""
    calls = f"{event.calls} of {count(event.most, 'call')}"
    spent = f"{short(event.tokens)} tokens, {cost(event.usd)}"
    return f"asking {event.model}: {event.in_flight} in flight, {calls}, {spent}"


def asked(summary: Mapping[str, Any]) -> Iterator[str]:
    """The line that says what was spent on a language model; none where none was asked."""
    name = summary.get("language_model")
    if name is None:
        return
    spent = f"{count(summary['model_calls'], 'call')}, {count(summary['tokens'], 'token')}"
    into, out = summary.get("tokens_in"), summary.get("tokens_out")
    if into is not None and out is not None and summary["model_calls"]:
        spent += f" ({number(into)} in, {number(out)} out)"
    yield f"  asked       {name}: {spent}, {cost(summary['usd'])}"


def short(tokens: int) -> str:
    """`812`, `41k`, `1.2M`."""
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.0f}k" if tokens < 999_500 else f"{tokens / 1e6:.1f}M"


def cost(usd: float | None) -> str:
    """`$0.12`, or that it is unknown, which is not the same as nothing."""
    return "cost unknown" if usd is None else str(Cost(usd))

"""Tokens are rather over- than underestimated; prices come from a list, or are unknown."""

from __future__ import annotations

import socket
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldcoder.llm import Message, Price, Request, Usage, count_prompt, count_tokens
from worldcoder.llm.prices import NO_PRICE

MEASURED = {
    "The quick brown fox jumps over the lazy dog.": 10,
    "def transition(state, action):\n    return state\n": 11,
    "Obj('Box', x=3, y=11, on_goal=False)": 17,
    "#############": 2,
    "MiniGridBlockedUnlockPickup": 6,
    "3f9a01bc77de": 10,
    "玩家向北走一步，箱子被推到目标上。": 20,
    "🧱🟫🙂📦🎯": 14,
}
"""The most that the tokenizers cl100k, o200k and Qwen 3.6 count."""


@pytest.mark.parametrize("text", MEASURED)
def test_no_tokenizer_counts_more(text: str) -> None:
    assert count_tokens(text * 10) >= MEASURED[text] * 10


@given(st.text())
def test_no_text_has_more_tokens_than_bytes(text: str) -> None:
    assert 0 <= count_tokens(text) <= len(text.encode())
    assert count_tokens(text) <= count_tokens(text + " and more")


def test_a_prompt_has_its_messages_and_what_is_around_them() -> None:
    short = Request("m", (Message("user", "hello"),))
    long = Request("m", (Message("system", "be brief"), Message("user", "hello")), schema={"type": "object"})
    assert 0 < count_tokens("hello") < count_prompt(short) < count_prompt(long)


def test_prices_are_read_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def no(*arguments: object) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", no)
    cost = Price("gpt-4o", "openai").of(Usage(1_000_000, 0))
    assert cost.usd is not None
    assert 0.1 < cost.usd < 100
    cached = Price("gpt-4o", "openai").of(Usage(1_000_000, 0, cached=1_000_000))
    assert cached.usd is not None
    assert cached.usd < cost.usd


@pytest.mark.parametrize(
    "price",
    [
        Price("nobody-knows-9", "openai"),
        Price("gpt-4o", "nobody"),
        Price("gpt-4o", address="http://127.0.0.1:8000/v1"),
        Price("gpt-4.1", "github-copilot"),  # in the list, without a price
        NO_PRICE,
    ],
)
def test_what_is_not_in_the_list_is_unknown_and_never_nothing(price: Price) -> None:
    assert not price.known
    assert price.of(Usage(10, 10)).usd is None


def test_the_address_tells_whose_price_it_is() -> None:
    assert Price("openai/gpt-4o", address="https://openrouter.ai/api/v1").known


def test_without_the_list_every_price_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert not Price("gpt-4o", "openai").known

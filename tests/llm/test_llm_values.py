"""Requests, replies and what they cost, as values."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldcoder.errors import BudgetReached, LLMError, ValueFormError
from worldcoder.llm import Cost, Message, Reply, Request, Spent, UnknownModel, Usage
from worldcoder.llm.errors import error_from_json, error_to_json, spent_on
from worldcoder.llm.values import FREE, UNKNOWN, readable

HELLO = (Message("user", "hello"),)

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(min_size=1, max_size=3).filter(lambda s: s != "n"), JSON, max_size=4)
MESSAGES = st.builds(Message, st.sampled_from(["system", "user", "assistant"]), st.text())
REQUESTS = st.builds(
    Request,
    st.text(min_size=1, max_size=8),
    st.lists(MESSAGES, min_size=1, max_size=3).map(tuple),
    n=st.integers(1, 5),
    temperature=st.none() | st.floats(0, 2),
    max_tokens=st.integers(1, 9999),
    seed=st.none() | st.integers(0, 99),
    stop=st.lists(st.text(max_size=3), max_size=2).map(tuple),
    schema=st.none() | OBJECTS,
    options=OBJECTS,
)  # fmt: skip
USD = st.none() | st.floats(0, 100)
SPENT = st.builds(Spent, st.integers(0, 9), st.integers(0, 9999), st.builds(Cost, USD), exact=st.booleans())
REPLIES = st.builds(
    Reply,
    st.lists(st.text(), max_size=3).map(tuple),
    st.lists(st.sampled_from(["stop", "length", "refusal", "other"]), max_size=3).map(tuple),
    usage=st.none() | st.builds(Usage, st.integers(0, 99), st.integers(0, 99), cached=st.integers(0, 9)),
    model=st.text(max_size=5),
    seconds=st.floats(0, 100),
    spent=SPENT,
    without=st.lists(st.sampled_from(["seed", "schema"]), max_size=2).map(tuple),
)


def shuffled(value: Any) -> Any:
    """The same, with every mapping in the other order."""
    if isinstance(value, dict):
        return {key: shuffled(inner) for key, inner in reversed(value.items())}
    return [shuffled(inner) for inner in value] if isinstance(value, list) else value


FEW = settings(max_examples=50, deadline=None)


@FEW
@given(REQUESTS)
def test_requests_survive_json(request: Request) -> None:
    again = Request.from_json(json.loads(json.dumps(request.to_json())))
    assert again == request
    assert again.key == request.key
    assert hash(again) == hash(request)


@FEW
@given(REQUESTS)
def test_the_key_does_not_depend_on_the_order_of_mappings(request: Request) -> None:
    assert Request.from_json(shuffled(request.to_json())).key == request.key


@FEW
@given(REQUESTS, REQUESTS)
def test_different_requests_have_different_keys(one: Request, other: Request) -> None:
    assert (one.to_json() == other.to_json()) >= (one.key == other.key)


@FEW
@given(REPLIES)
def test_replies_survive_json(reply: Reply) -> None:
    assert Reply.from_json(json.loads(json.dumps(reply.to_json()))) == reply


def test_everything_that_decides_the_answer_is_in_the_key() -> None:
    base = Request("m", HELLO)
    others = [
        Request("m2", HELLO),
        Request("m", (Message("system", "hello"),)),
        Request("m", HELLO, n=2),
        Request("m", HELLO, temperature=0),
        Request("m", HELLO, max_tokens=5),
        Request("m", HELLO, seed=0),
        Request("m", HELLO, stop=("x",)),
        Request("m", HELLO, schema={}),
        Request("m", HELLO, options={"top_p": 0.5}),
    ]
    assert len({r.key for r in (base, *others)}) == len(others) + 1
    assert Request("m", HELLO, temperature=1).key == Request("m", HELLO, temperature=1.0).key


def test_a_request_cannot_be_changed_from_outside() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    request = Request("m", HELLO, schema=schema)
    key = request.key
    schema["properties"]["x"] = {}
    assert Request("m", HELLO, schema=request.schema).key == key
    assert pickle.loads(pickle.dumps(request)) == request


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": 0},
        {"n": True},
        {"max_tokens": 0},
        {"temperature": -1},
        {"temperature": math.nan},
        {"options": {"api_key": "x"}},
        {"options": {"n": 3}},
        {"options": {"x": math.inf}},
        {"schema": {"x": object()}},
    ],
)
def test_what_is_no_request(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueFormError):
        Request("m", HELLO, **wrong)


def test_what_is_no_conversation() -> None:
    with pytest.raises(ValueFormError, match="at least one message"):
        Request("m", ())
    with pytest.raises(ValueFormError, match="system, user or assistant"):
        Message("tool", "x")  # type: ignore[arg-type]


def test_half_surrogate_pairs_can_be_sent_and_stored() -> None:
    assert readable("a\ud83d\ude42b") == "a\N{SLIGHTLY SMILING FACE}b"
    assert readable("a\ud83db") == "a\N{REPLACEMENT CHARACTER}b"
    assert Message("user", "\udcff").content.encode()


def test_an_unknown_cost_stays_unknown() -> None:
    assert (Cost(1.0) + UNKNOWN).usd is None
    assert (UNKNOWN + FREE).usd is None
    assert not (Spent(1, 2, Cost(0.5)) + Spent(1, 2, UNKNOWN)).cost.known
    assert [str(c) for c in (UNKNOWN, FREE, Cost(0.00123), Cost(12.3456))] == [
        "unknown",
        "$0.00",
        "$0.0012",
        "$12.35",
    ]
    for wrong in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueFormError):
            Cost(wrong)


@given(SPENT, SPENT)
def test_what_is_spent_adds_up(one: Spent, other: Spent) -> None:
    both = one + other
    assert (both.calls, both.tokens) == (one.calls + other.calls, one.tokens + other.tokens)
    assert both.exact == (one.exact and other.exact)
    assert Spent.from_json(json.loads(json.dumps(both.to_json()))) == both


def test_errors_survive_json() -> None:
    spent = Spent(2, 300, UNKNOWN, exact=False)
    for error in (UnknownModel("no such model"), BudgetReached("enough", "usd"), LLMError("?")):
        error.spent = spent
        again = error_from_json(json.loads(json.dumps(error_to_json(error))))
        assert (type(again), str(again), spent_on(again)) == (type(error), str(error), spent)
        assert getattr(again, "which", None) == getattr(error, "which", None)

"""What comes of whatever a server does: each bad thing has one defined end."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm_worlds import ENVIRONMENT, SHORT, Seen, ask, closing, hasty, opened, seen
from scripted_server import (
    Asked,
    Behaviour,
    Script,
    ScriptedServer,
    busy,
    drip,
    empty,
    event_error,
    hang,
    huge,
    invalid_json,
    no_choices,
    no_usage,
    raw,
    refuse,
    rejects,
    reset,
    say,
    status,
    stops_short,
    unknown_model,
    wrong_key,
    wrong_type,
)

from worldcoder.errors import ValueFormError
from worldcoder.llm import (
    BadReply,
    LLMError,
    Message,
    NoCredit,
    Patience,
    PromptTooLong,
    Rejected,
    ReplyTooLarge,
    Request,
    Unavailable,
    UnknownModel,
    Usage,
    WrongKey,
)
from worldcoder.llm.errors import spent_on
from worldcoder.llm.wire import retry_after

BOTH = pytest.mark.parametrize("model", ["openai/test", "anthropic/test"])


# ── what goes well ───────────────────────────────────────────────────────────────────────────────────────


@BOTH
@pytest.mark.parametrize("whole", [False, True])
def test_an_answer(model: str, whole: bool) -> None:
    result = seen([say("Hello, you there.", ignores_stream=whole)], ask(model=model))
    reply = result.reply
    assert reply.texts == ("Hello, you there.",)
    assert reply.finishes == ("stop",)
    assert reply.usage == Usage(11, 7)
    assert reply.model == "scripted-1"
    assert (reply.spent.calls, reply.spent.tokens, reply.spent.exact) == (1, 18, True)
    assert not reply.cost.known
    assert 0 < reply.seconds < 5
    assert not reply.refused


def test_what_is_asked_of_openai() -> None:
    request = ask(
        "what?",
        n=2,
        temperature=0.5,
        seed=7,
        stop=("END",),
        schema={"type": "object"},
        options={"top_p": 0.9},
    )
    (asked,) = seen([say("a", "b")], request).server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["accept-encoding"] == "identity"
    assert asked.body.pop("response_format")["json_schema"]["schema"] == {"type": "object"}
    assert asked.body == {
        "model": "test",
        "messages": [{"role": "user", "content": "what?"}],
        "n": 2,
        "temperature": 0.5,
        "max_tokens": 50,
        "seed": 7,
        "stop": ["END"],
        "top_p": 0.9,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_what_is_asked_of_anthropic() -> None:
    said = (
        Message("system", "be brief"),
        Message("user", "what?"),
        Message("assistant", "x"),
        Message("user", "y"),
    )
    request = Request(
        "anthropic/test", said, max_tokens=50, temperature=0.5, stop=("END",), schema={"type": "object"}
    )
    (asked,) = seen([say("a")], request).server.asked
    assert asked.path == "/v1/messages"
    assert asked.body == {
        "model": "test",
        "system": "be brief",
        "messages": [m.to_json() for m in said[1:]],
        "temperature": 0.5,
        "max_tokens": 50,
        "stop_sequences": ["END"],
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
        "stream": True,
    }


def test_several_texts_at_once() -> None:
    result = seen([say("a", "b", "c")], ask(n=3))
    assert result.reply.texts == ("a", "b", "c")
    assert result.reply.spent.calls == 3
    assert len(result.server.asked) == 1


def test_a_text_that_was_cut_off() -> None:
    assert seen([say("def f(", finish="length")], ask()).reply.finishes == ("length",)
    assert seen([say("def f(", finish="max_tokens")], ask(model="anthropic/test")).reply.finishes == (
        "length",
    )


def test_thoughts_are_no_part_of_the_text_but_count() -> None:
    message = {
        "role": "assistant",
        "reasoning_content": "hm " * 10,
        "content": [{"type": "text", "text": "4"}],
    }
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    reply = seen([raw(json.dumps({"choices": [choice]}))], ask()).reply
    without = seen([no_usage("4")], ask()).reply
    assert reply.texts == ("4",)
    assert reply.spent.tokens == without.spent.tokens + 30


def test_a_client_is_asked_for_its_own_model_only() -> None:
    with ScriptedServer([say("x")]) as server:
        client = opened(server)

        async def run(client: Any) -> None:
            with pytest.raises(ValueFormError, match="openai/other"):
                await client.complete(ask(model="openai/other"))

        asyncio.run(closing(client, run))


# ── bad things, and how they end ─────────────────────────────────────────────────────────────────────────

AT_LAST = "at last"


@BOTH
@pytest.mark.parametrize(
    ("bad", "calls"),
    [
        (busy(), 1),
        (busy(retry_after="0.01"), 1),
        (status(500, "oops"), 1),
        (status(503, "loading"), 1),
        (status(529, "overloaded"), 1),
        (status(504, "gateway timeout"), 2),
        (reset(), 2),
        (stops_short(), 2),
        (event_error(), 2),
        (no_choices(), 2),
        (invalid_json(), 2),
        (wrong_type(), 2),
        (raw(""), 2),
        (raw('["not", "an", "object"]'), 2),
        (raw("[" * 100_000), 2),
        (raw('data: {"choices": [{"index": -1, "delta": {"content": "x"}}]}\n\n', "text/event-stream"), 2),
        (raw(b"\x1f\x8b\x08", headers={"Content-Encoding": "gzip"}), 2),
        (raw('{"error": {"message": "upstream failed", "code": 502}}'), 1),
    ],
    ids=lambda value: "" if isinstance(value, int) else getattr(value, "__qualname__", "").partition(".")[0],
)
def test_what_is_tried_again(model: str, bad: Behaviour, calls: int) -> None:
    """calls: an attempt that the server may have worked on counts."""
    result = seen([bad, say(AT_LAST)], ask(model=model))
    assert_tried_again(result, calls)


@BOTH
@pytest.mark.parametrize("bad", [hang(), drip()], ids=["hang", "drip"])
def test_what_takes_too_long_is_tried_again(model: str, bad: Behaviour) -> None:
    seen([say("x")], ask(model=model))  # so that the library is imported
    assert_tried_again(seen([bad, say(AT_LAST)], ask(model=model), patience=hasty(1.5)), 2)


def assert_tried_again(result: Seen, calls: int) -> None:
    """The first attempt failed, the second did not."""
    assert result.reply.texts == (AT_LAST,)
    assert len(result.server.asked) == 2
    assert result.reply.spent.calls == calls
    assert result.reply.spent.exact == (calls == 1), "what broke off is not told, but estimated"
    if calls == 2:
        assert result.reply.spent.tokens > 50 + 18, "all that it could have cost"


@BOTH
@pytest.mark.parametrize(
    ("bad", "kind", "attempts", "said"),
    [
        (busy(), Unavailable, 3, r"does not answer \(HTTP 429\): slow down; tried 3 times"),
        (status(500, "oops"), Unavailable, 3, r"HTTP 500\): oops"),
        (reset(), Unavailable, 3, "broke off the connection"),
        (no_choices(), BadReply, 3, "there is no text"),
        (invalid_json(), BadReply, 3, "cannot be read"),
        (wrong_type(), BadReply, 3, "its type is text/html, not JSON; is the base URL right"),
        (huge(), ReplyTooLarge, 1, "sends more than an answer can have"),
        (status(400, "weird"), Rejected, 1, r"does not take the request \(HTTP 400\): weird"),
        (status(400, "maximum context length is 4096 tokens"), PromptTooLong, 1, "too long for test"),
        (status(413, "too large"), PromptTooLong, 1, "too long for test"),
        (status(402, "pay"), NoCredit, 1, "no credit left"),
        (
            status(429, "You exceeded your current quota", code="insufficient_quota"),
            NoCredit,
            1,
            "no credit left",
        ),
        (status(403, "not for you"), WrongKey, 1, "refuses access to test; check .*_API_KEY"),
        (unknown_model(), UnknownModel, 1, "does not know the model test"),
        (status(400, "test is not a valid model ID"), UnknownModel, 1, "does not know the model test"),
        (status(404, "Not Found"), Unavailable, 1, "nothing to ask at http.*check the base URL"),
        (
            raw("x", "text/html", 302, headers={"Location": "http://127.0.0.1:9/"}),
            Unavailable,
            1,
            "nothing to ask at",
        ),
    ],
    ids=lambda value: (
        "" if isinstance(value, str | int) else getattr(value, "__qualname__", "").partition(".")[0]
    ),
)
def test_what_ends_in_an_error(
    model: str, bad: Behaviour, kind: type[LLMError], attempts: int, said: str
) -> None:
    result = seen([bad], ask(model=model))
    assert type(result.error) is kind
    assert re.search(said, str(result.error)), str(result.error)
    assert len(result.server.asked) == attempts
    assert "\n" not in str(result.error)
    assert len(str(result.error)) < 500


def test_bytes_without_end() -> None:
    """Also where they are no JSON and have no end of a line."""
    assert isinstance(seen([raw("x" * (65 << 20))], ask()).error, ReplyTooLarge)


def test_what_only_this_request_ends_in_is_not_lasting() -> None:
    assert [k for k in (Rejected, PromptTooLong, BadReply, ReplyTooLarge) if k.lasting] == []
    assert all(k.lasting for k in (Unavailable, WrongKey, NoCredit, UnknownModel))


@BOTH
def test_an_empty_text_is_an_answer(model: str) -> None:
    result = seen([empty()], ask(model=model))
    assert result.reply.texts == ("",)
    assert len(result.server.asked) == 1, "nobody pays twice without being asked"


@BOTH
def test_a_refusal_is_an_answer(model: str) -> None:
    reply = seen([refuse("I'd rather not.")], ask(model=model)).reply
    assert reply.refused
    assert reply.texts == ("I'd rather not.",)
    assert seen([say("", finish="content_filter")], ask()).reply.refused


@BOTH
def test_without_usage_the_tokens_are_estimated_and_the_cost_is_not_nothing(model: str) -> None:
    reply = seen([no_usage("some text")], ask(model=model)).reply
    assert reply.usage is None
    assert not reply.spent.exact
    assert 11 < reply.spent.tokens < 150
    assert reply.cost.usd is None


@pytest.mark.parametrize(
    "told", [{"prompt_tokens": 0, "completion_tokens": 0}, {"prompt_tokens": "11"}, {"prompt_tokens": -3}, []]
)
def test_usage_that_cannot_be_true_is_none(told: Any) -> None:
    assert seen([say("x", usage=told)], ask()).reply.usage is None


@pytest.mark.parametrize(
    ("keyed", "said"),
    [(True, "refuses the key in OPENAI_API_KEY"), (False, "wants a key: set OPENAI_API_KEY")],
)
def test_a_wrong_key_is_one_clear_error_at_once(keyed: bool, said: str) -> None:
    result = seen([wrong_key()], ask(), environment=ENVIRONMENT if keyed else {})
    assert isinstance(result.error, WrongKey)
    assert said in str(result.error)
    assert len(result.server.asked) == 1
    assert spent_on(result.error).calls == 0


@pytest.mark.parametrize(
    "bad",
    [
        raw(
            '[{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}]',
            code=400,
        ),
        status(403, "Your API key has expired"),
    ],
    ids=["google", "expired"],
)
def test_a_wrong_key_that_is_told_in_another_way(bad: Behaviour) -> None:
    result = seen([bad], ask(seed=3))
    assert isinstance(result.error, WrongKey)
    assert "refuses the key in OPENAI_API_KEY (HTTP 40" in str(result.error)
    assert len(result.server.asked) == 1


def test_errors_that_are_a_text() -> None:
    message = '{"error": "model \'test\' not found, try pulling it first"}'
    assert isinstance(seen([raw(message, code=404)], ask()).error, UnknownModel)
    assert "no such thing" in str(seen([raw("no such thing", "text/plain", 400)], ask()).error)


def test_numbers_of_texts_that_are_all_the_same() -> None:
    choices = [{"index": 0, "message": {"content": text}, "finish_reason": "stop"} for text in ("a", "b")]
    assert seen([raw(json.dumps({"choices": choices}))], ask(n=2)).reply.texts == ("a", "b")


def test_a_choice_without_a_message_is_no_text() -> None:
    choices = [{"index": 0, "text": "a", "finish_reason": "stop"}, "b"]
    assert isinstance(seen([raw(json.dumps({"choices": choices}))], ask(n=2)).error, BadReply)


def test_a_server_that_is_not_there() -> None:
    with ScriptedServer([say("x")]) as server:
        url = server.url
    began = time.monotonic()
    with ScriptedServer([say("x")]) as other:
        client = opened(other, base_url=url)
    with pytest.raises(Unavailable, match=r"cannot be reached .*is it running\?; tried 3 times") as failed:
        asyncio.run(closing(client, lambda c: c.complete(ask())))
    assert spent_on(failed.value).calls == 0
    assert time.monotonic() - began < 5


@BOTH
def test_a_server_that_only_lets_one_wait(model: str) -> None:
    result = seen([hang()], ask(model=model), patience=hasty(0.3))
    assert isinstance(result.error, Unavailable)
    assert "did not answer within 0.3 s; tried 3 times" in str(result.error)
    assert len(result.server.asked) == 3
    assert spent_on(result.error).calls == 3


def test_the_deadline_over_all_retries() -> None:
    patience = Patience(attempt_seconds=0.3, total_seconds=0.7, tries=99, first_pause=0.01)
    result = seen([hang()], ask(), patience=patience)
    assert isinstance(result.error, Unavailable)
    assert "within 0.7 s, with all retries" in str(result.error)
    assert 2 <= len(result.server.asked) <= 3


# ── waiting ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_server_is_not_asked_before_it_wants_to_be(form: str) -> None:
    times: list[float] = []

    def script(asked: Asked) -> Behaviour:
        times.append(time.time())
        if asked.number:
            return say("x")
        if form == "seconds":
            return busy(retry_after="0.4")
        return busy(retry_after=format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True))

    assert seen(script, ask()).reply.texts == ("x",)
    assert times[1] - times[0] >= (0.4 if form == "seconds" else 0.9)


def test_what_one_request_is_told_to_wait_holds_for_all() -> None:
    times: list[float] = []

    def script(asked: Asked) -> Behaviour:
        times.append(time.monotonic())
        return busy(retry_after="0.5") if asked.number == 0 else say("x")

    with ScriptedServer(script) as server:

        async def run(client: Any) -> None:
            first = asyncio.create_task(client.complete(ask("one")))
            while not times:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            await asyncio.gather(first, *(client.complete(ask(f"{i}")) for i in range(3)))

        asyncio.run(closing(opened(server), run))
    assert min(times[1:]) - times[0] >= 0.5


def test_a_server_that_wants_to_rest_too_long_is_not_waited_for() -> None:
    began = time.monotonic()
    result = seen([busy(retry_after="3600")], ask())
    assert isinstance(result.error, Unavailable)
    assert "in 3600 s, would be too late" in str(result.error)
    assert time.monotonic() - began < 4


@given(
    st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms"]), st.text() | st.integers(0, 10**30).map(str)
    )
)
def test_any_retry_after_can_be_read(headers: dict[str, str]) -> None:
    wait = retry_after(headers)
    assert wait is None or wait >= 0


def test_retry_after() -> None:
    now = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)
    later = format_datetime(now + timedelta(seconds=90), usegmt=True)
    read = [
        retry_after(headers, now=now.timestamp)
        for headers in (
            {"retry-after": "7"},
            {"retry-after": " 1.5 "},
            {"retry-after-ms": "250", "retry-after": "7"},
            {"retry-after": later},
            {"retry-after": format_datetime(now - timedelta(days=1), usegmt=True)},
            {"retry-after": "soon"},
            {"retry-after": "-5"},
            {},
        )
    ]
    assert read == [7, 1.5, 0.25, 90, 0, None, None, None]


@given(st.integers(1, 500), st.none() | st.floats(0, 1000), st.integers())
def test_pauses_grow_are_bounded_and_never_shorter_than_asked(
    failures: int, asked: float | None, seed: int
) -> None:
    patience = Patience(first_pause=1, longest_pause=60)
    pause = patience.pause(failures, asked, random.Random(seed))
    assert pause == patience.pause(failures, asked, random.Random(seed))
    if asked is not None:
        assert asked <= pause <= asked + 1
    else:
        assert min(60, 2.0 ** (failures - 1)) / 2 <= pause <= min(60, 2.0 ** (failures - 1))


def test_requests_in_flight_are_bounded() -> None:
    with ScriptedServer(lambda asked: say("x", pause=0.05)) as server:

        async def run(client: Any) -> None:
            await asyncio.gather(*(client.complete(ask(f"{i}")) for i in range(12)))

        asyncio.run(closing(opened(server, in_flight=3), run))
        assert len(server.asked) == 12
        assert server.most_at_once == 3


# ── servers that do not accept everything ────────────────────────────────────────────────────────────────


def test_a_server_that_ignores_n_is_asked_again_and_remembered() -> None:
    script = [say("a", ignores_n=True), *(say(t, ignores_n=True) for t in "bcdef")]
    result = seen(script, ask("1", n=3, seed=5), ask("2", n=3, seed=5))
    assert len(result.reply.texts) == 3
    bodies = [asked.body for asked in result.server.asked]
    assert [body.get("n") for body in bodies] == [3, None, None, None, None, None]
    assert sorted(body["seed"] for body in bodies[3:]) == [5, 6, 7], "or the texts would be the same"
    assert result.reply.spent.calls == 3


@BOTH
def test_a_server_that_rejects_n_is_asked_again_and_remembered(model: str) -> None:
    result = seen([rejects("n", say("x"))], ask("1", n=3, model=model), ask("2", n=2, model=model))
    assert result.reply.texts == ("x", "x")
    rejected = [asked for asked in result.server.asked if "n" in asked.body]
    assert len(rejected) == (1 if model == "openai/test" else 0)
    assert result.reply.spent.calls == 2


@pytest.mark.parametrize(
    ("code", "message"),
    [(400, None), (400, "bad request"), (500, "Internal Server Error"), (422, None), (501, "no")],
)
@pytest.mark.parametrize(("field", "name"), [("response_format", "schema"), ("seed", "seed")])
def test_what_a_server_rejects_is_left_out_and_remembered(
    field: str, name: str, code: int, message: str | None
) -> None:
    """Whether it says what it does not like or not; with another error than it should, too."""
    wish: dict[str, Any] = {"schema": {"type": "object"}, "seed": 3}
    result = seen([rejects(field, say("x"), code, message)], *(ask(f"{i}", **wish) for i in range(3)))
    assert result.reply.texts == ("x",)
    assert result.reply.without == (name,)
    last = [asked for asked in result.server.asked if asked.prompt == "2"]
    assert len(last) == 1, "it is remembered"
    other = "seed" if name == "schema" else "response_format"
    assert other in last[0].body, "nothing else is left out"
    assert result.reply.spent.calls == 1


def test_a_server_that_only_stumbles_is_not_thought_to_reject_anything() -> None:
    """Errors of its own that pass by themselves, each time just after something was left out."""
    script = [*[status(500), status(500), say("x"), say("y")] * 3, say("z")]
    result = seen(script, *(ask(f"{i}", seed=3) for i in range(7)), patience=replace(SHORT, tries=5))
    assert result.reply.texts == ("z",)
    assert result.reply.without == ()


def test_a_server_that_rejects_several_things_without_saying_so() -> None:
    def script(asked: Asked) -> Behaviour:
        return status(400, "no") if {"response_format", "seed"} & set(asked.body) else say("x")

    reply = seen(script, ask(schema={"type": "object"}, seed=3)).reply
    assert reply.without == ("schema", "seed")


def test_a_server_that_rejects_everything_says_the_first_thing() -> None:
    def script(asked: Asked) -> Behaviour:
        return status(400, f"no {asked.number}")

    result = seen(script, ask(schema={"type": "object"}, seed=3, n=2))
    assert isinstance(result.error, Rejected)
    assert str(result.error).endswith("no 0")
    assert len(result.server.asked) == 5
    again = seen(script, ask(), ask())
    assert "max_tokens" in again.server.asked[-1].body, "nothing is learned from it"


@pytest.mark.parametrize("field", ["max_tokens", "temperature", "stop", "stream_options", "stream"])
def test_fields_that_newer_or_older_models_do_not_know(field: str) -> None:
    request = ask(temperature=0.3, stop=("END",))
    result = seen([rejects(field, say("x"))], request, request)
    assert result.reply.texts == ("x",)
    assert len(result.server.asked) == 3
    assert ("max_completion_tokens" in result.server.asked[-1].body) == (field == "max_tokens")
    assert result.reply.without == ((field,) if field in ("temperature", "stop") else ())


def test_a_limit_that_is_rejected_under_both_names() -> None:
    def script(asked: Asked) -> Behaviour:
        name = "max_tokens" if "max_tokens" in asked.body else "max_completion_tokens"
        return status(400, f"{name} is too large", param=name)

    result = seen(script, ask())
    assert isinstance(result.error, Rejected)
    assert str(result.error).endswith("max_tokens is too large")
    assert len(result.server.asked) == 2


def test_texts_that_were_complete_when_the_stream_broke_are_kept() -> None:
    result = seen([reset(complete=["one", "two"]), say("three")], ask(n=3))
    assert result.reply.texts == ("one", "two", "three")
    assert result.server.asked[1].n == 1
    assert result.reply.usage is None
    assert not result.reply.spent.exact


def test_a_stream_that_breaks_after_the_last_text_lacks_nothing() -> None:
    result = seen([reset(complete=["one", "two"], after="")], ask(n=2))
    assert result.reply.texts == ("one", "two")
    assert len(result.server.asked) == 1


def test_what_came_is_handed_out_where_the_rest_fails() -> None:
    script: Script = [say("one", ignores_n=True), status(402, "pay")]
    assert seen(script, ask(n=3)).reply.texts == ("one",)

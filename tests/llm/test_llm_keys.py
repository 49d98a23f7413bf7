"""Which server a name means, which key goes there, and that nobody else sees it."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import logging
import pickle
import random
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest
from llm_worlds import ENVIRONMENT, KEY, ask, closing, opened
from scripted_server import (
    Asked,
    Behaviour,
    ScriptedServer,
    event_error,
    raw,
    reset,
    say,
    status,
    wrong_key,
    wrong_type,
)

from worldcoder.errors import UsageError
from worldcoder.llm import (
    BadReply,
    LLMError,
    MemoryStore,
    Patience,
    Recorded,
    Reply,
    SqliteStore,
    WrongKey,
    open_client,
    price_of,
)
from worldcoder.llm.errors import error_to_json
from worldcoder.llm.keys import Key, find_key, hiding, is_loopback, shown


def inside(client: Any) -> tuple[str, str | None, Any]:
    """Where a client asks, with which key, and at what price."""
    library = client._server._wire._client
    sent = None if client._server._wire._refusal.keyed is False else library.api_key
    asyncio.run(client.close())
    return str(library.base_url).rstrip("/"), sent, client.price


OPENROUTER = "https://openrouter.ai/api/v1"
GEMINI = "https://generativelanguage.googleapis.com/v1beta/openai"
OLLAMA = "http://127.0.0.1:11434/v1"
FAR, NEAR, SAFE = "http://gpu.example:9/v1", "http://127.0.0.1:9/v1", "https://host.example/v1"
OTHER = {"OPENAI_API_KEY": "sk-other"}


@pytest.mark.parametrize(
    ("name", "base_url", "environment", "url", "key"),
    [
        ("openai/gpt-4o", None, {"OPENAI_API_KEY": KEY}, "https://api.openai.com/v1", KEY),
        ("openai/gpt-4o", None, {"OPENAI_API_KEY": f" {KEY}\n"}, "https://api.openai.com/v1", KEY),
        ("openai/x", None, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{SAFE}/"}, SAFE, KEY),
        ("openai/x", NEAR, {"OPENAI_API_KEY": KEY}, NEAR, KEY),
        ("openai/x", NEAR, {}, NEAR, None),
        ("openai/x", FAR, {"OPENAI_API_KEY": KEY}, FAR, None),
        ("x", FAR, {**OTHER, "LLM_API_KEY": KEY}, FAR, KEY),
        ("x", "http://[::1]:9/v1", OTHER, "http://[::1]:9/v1", None),
        ("meta/llama", SAFE, {"LLM_API_KEY": KEY}, SAFE, KEY),
        ("ollama/qwen3", None, OTHER, OLLAMA, None),
        ("ollama/qwen3:8b", None, {"OLLAMA_HOST": "0.0.0.0"}, OLLAMA, None),
        ("ollama/qwen3", None, {"OLLAMA_HOST": "https://far.example:99"}, "https://far.example:99/v1", None),
        ("ollama/qwen3", "http://near:1/v1", {"OLLAMA_HOST": "far"}, "http://near:1/v1", None),
        ("openrouter/meta/llama", None, {"OPENROUTER_API_KEY": KEY}, OPENROUTER, KEY),
        ("openai/gpt-4o", OPENROUTER, {**OTHER, "OPENROUTER_API_KEY": KEY}, OPENROUTER, KEY),
        ("gemini/gemini-2.5-flash", None, {"GOOGLE_API_KEY": KEY}, GEMINI, KEY),
        ("anthropic/claude-sonnet-4-5", None, {"ANTHROPIC_API_KEY": KEY}, "https://api.anthropic.com", KEY),
    ],
)
def test_which_server_and_which_key(
    name: str, base_url: str | None, environment: dict[str, str], url: str, key: str | None
) -> None:
    client = open_client(name, base_url=base_url, environment=environment)
    assert client.name == name
    assert inside(client)[:2] == (url, key)


@pytest.mark.parametrize(
    ("name", "base_url", "known"),
    [
        ("openai/gpt-4o", None, True),
        ("openai/gpt-4o", "http://127.0.0.1:9/v1", False),
        ("openai/gpt-4o", "https://openrouter.ai/api/v1", True),
        ("anthropic/claude-sonnet-4-5", None, True),
        ("gemini/gemini-2.5-flash", None, True),
        ("openai/no-such-model", None, False),
        ("ollama/qwen3", None, False),
        ("gpt-4o", "https://host.example/v1", False),
    ],
)
def test_whose_price(name: str, base_url: str | None, known: bool) -> None:
    environment = {**ENVIRONMENT, "OPENROUTER_API_KEY": KEY, "GEMINI_API_KEY": KEY}
    assert inside(open_client(name, base_url=base_url, environment=environment))[2].known is known
    assert price_of(name, base_url=base_url).known is known, "for which no key is needed"


@pytest.mark.parametrize("name", ["openai/gpt-4o", "anthropic/claude-sonnet-4-5", "openrouter/x", "gemini/x"])
def test_a_missing_key_is_told_before_anything_is_sent(name: str) -> None:
    with pytest.raises(WrongKey, match=r"there is no key for .*: set [A-Z]+_API_KEY in the environment"):
        open_client(name, environment={})


def test_what_is_no_key() -> None:
    with pytest.raises(WrongKey, match="OPENAI_API_KEY does not hold a key") as wrong:
        open_client("openai/gpt-4o", environment={"OPENAI_API_KEY": f"export KEY={KEY}"})
    assert KEY not in str(wrong.value)


@pytest.mark.parametrize("name", ["", " x", "gpt-4o", "openai/", "/", "x\ny"])
def test_names_that_mean_nothing(name: str) -> None:
    with pytest.raises(UsageError):
        open_client(name, environment=ENVIRONMENT)


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://host/v1", "http://", "http://a b/v1", "http://host:99999/v1"]
)
def test_addresses_that_mean_nothing(url: str) -> None:
    with pytest.raises(UsageError, match="the base URL for openai/x is not one"):
        open_client("openai/x", base_url=url, environment=ENVIRONMENT)


def test_a_password_in_an_address_is_not_shown() -> None:
    assert shown("https://me:pass-word@host.example:8/v1?key=1") == "https://host.example:8/v1"
    assert hiding(None, "https://me:pass-word@host.example/v1")("x pass-word y") == "x *** y"
    with pytest.raises(UsageError) as wrong:
        open_client("openai/x", base_url="ftp://me:pass-word@host/v1", environment=ENVIRONMENT)
    assert "pass-word" not in str(wrong.value)


def test_loopback() -> None:
    assert all(
        is_loopback(f"http://{host}:1/v1") for host in ("localhost", "127.0.0.1", "127.1.2.3", "[::1]")
    )
    assert not any(is_loopback(f"http://{host}/v1") for host in ("host.example", "10.0.0.1", "127.example"))


def test_a_key_does_not_show_itself() -> None:
    key = find_key(["A", "B"], {"A": "", "B": KEY})
    assert key is not None
    assert key.reveal() == KEY
    for text in (repr(key), str(key), f"{key}", f"{[key]}"):
        assert KEY not in text
    for take_along in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError):
            take_along(key)
    assert find_key(["A"], {}) is None
    assert hiding(Key("ab", "A"))("a text about it") == "a text about it", "too short to be looked for"


def test_no_key_is_sent_where_there_is_none() -> None:
    with ScriptedServer([say("x")]) as server:
        environment = {"OPENAI_ORG_ID": "org-secret", "OPENAI_PROJECT_ID": "proj-secret"}
        asyncio.run(closing(opened(server, environment=environment), lambda c: c.complete(ask())))
        sent = json.dumps(server.asked[0].headers)
    assert "authorization" not in server.asked[0].headers
    assert "secret" not in sent


def test_the_environment_of_the_library_is_not_sent_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "sk-of-somebody-else")
    monkeypatch.setenv(
        "OPENAI_CUSTOM_HEADERS", "X-Token: sk-of-somebody-else\nAuthorization: sk-of-somebody-else"
    )
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Token: sk-of-somebody-else")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # nobody is there
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with ScriptedServer([say("x")]) as server:
        client = open_client("test", base_url=server.url)
        asyncio.run(closing(client, lambda c: c.complete(ask(model="test"))))
        client = open_client("anthropic/test", base_url=server.root, environment=ENVIRONMENT)
        asyncio.run(closing(client, lambda c: c.complete(ask(model="anthropic/test"))))
    assert len(server.asked) == 2
    assert "sk-of-somebody-else" not in json.dumps([asked.headers for asked in server.asked])


def echo(asked: Asked) -> Behaviour:
    """A server that gives the key away wherever it can."""
    key = f"{asked.authorization}"
    ways = [
        wrong_key(),
        status(400, f"bad request with {key}", code=key),
        status(500, key),
        status(403, key),
        status(404, f"no model {key}"),
        event_error(f"overloaded: {key}"),
        raw(f"<p>{key}</p>", "text/html"),
        raw(f'{{"{key}": '),
        reset(after=key),
        wrong_type(),
        say(f"Your key is {key}.", model=key),
    ]
    return ways[int(asked.prompt) % len(ways)]


@pytest.mark.parametrize("model", ["openai/test", "anthropic/test"])
def test_a_key_is_in_no_error_no_log_no_record_and_no_repr(
    model: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Whatever is logged, at whatever level, by whichever library; and whatever a traceback shows."""
    caplog.set_level(logging.DEBUG)
    for name in ("openai", "anthropic", "httpx2", "httpcore2", "httpx", "httpcore", "asyncio"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    children: list[str] = []
    sys.addaudithook(lambda event, details: children.append(event) if event in SPAWNING else None)
    patience = Patience(tries=1, unreadable_tries=1, first_pause=0.01)
    outcomes: list[Reply | LLMError] = []
    told: list[str] = []
    record = tmp_path / "log.sqlite"
    with ScriptedServer(echo) as server, SqliteStore(record) as store:

        async def run(client: Any) -> None:
            told.append(repr(client) + repr(vars(client)) + repr(client._server))
            recorded = Recorded(client, store)
            for number in range(11):
                try:
                    outcomes.append(await recorded.complete(ask(f"{number}", model=model)))
                except LLMError as error:
                    outcomes.append(error)
                    told.append(deeply(error))

        asyncio.run(closing(opened(server, model, patience=patience), run))
    assert all(KEY in str(asked.authorization) for asked in server.asked), "it was sent, and given away"
    assert sum(isinstance(outcome, Reply) for outcome in outcomes) == 1
    told += [json.dumps(o.to_json() if isinstance(o, Reply) else error_to_json(o)) for o in outcomes]
    told += [caplog.text, *(str(vars(r)) for r in caplog.records), *capfd.readouterr()]
    told += [path.read_bytes().decode("latin-1") for path in tmp_path.iterdir()]
    assert len(caplog.records) > 10, "the libraries do log"
    for text in told:
        assert KEY not in text
    assert not children, "no process is started"


SPAWNING = {"subprocess.Popen", "os.system", "os.posix_spawn", "os.spawn", "os.exec", "os.fork", "os.forkpty"}


def deeply(error: BaseException) -> str:
    """All that a traceback and what hangs on an error could show."""
    texts = ["".join(traceback.format_exception(error))]
    one: BaseException | None = error
    while one is not None:
        texts += [repr(one), repr(vars(one)), repr(one.args)]
        one = one.__cause__ or one.__context__
    return "\n".join(texts)


def test_a_key_in_the_type_of_a_reply_is_not_shown() -> None:
    with ScriptedServer(lambda asked: raw("x", f"text/{asked.authorization}")) as server:
        client = opened(server, patience=Patience(unreadable_tries=1))
        with pytest.raises(BadReply, match="its type is text/Bearer \\*\\*\\*"):
            asyncio.run(closing(client, lambda c: c.complete(ask())))


def test_errors_of_the_library_go_no_further() -> None:
    """They hold the request with its headers, and would end up in a pickle or a debugger's report."""
    with ScriptedServer([status(500, "oops")]) as server:
        client = opened(server, patience=Patience(tries=1), rng=random.Random(0))
        with pytest.raises(LLMError) as failed:
            asyncio.run(closing(client, lambda c: c.complete(ask())))
    one: BaseException | None = failed.value
    while one is not None:
        assert type(one).__module__.startswith("worldcoder."), repr(one)
        one = one.__cause__ or one.__context__
    gc.collect()


def test_a_record_is_the_same_whatever_key_and_address() -> None:
    said = []
    for key in ("sk-one-0123456789", "sk-two-0123456789"):
        store = MemoryStore()
        with ScriptedServer([say("x")]) as server:
            recorded = Recorded(opened(server, environment={"OPENAI_API_KEY": key}), store)
            asyncio.run(closing(recorded, lambda c: c.complete(ask())))
        entry = store.find(ask().key, 0)
        assert entry is not None
        assert isinstance(entry.outcome, Reply)
        said.append((entry.request, entry.outcome.texts))
    assert said[0] == said[1]

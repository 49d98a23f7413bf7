"""A server of language models on loopback that does what a script says, over real sockets.

    with ScriptedServer([busy(retry_after="1"), say("hello")]) as server:
        client = open_client("openai/test", base_url=server.url)

A script is a list of behaviours (the last one repeats), or a function from what is asked to a behaviour or a text.
It speaks OpenAI's protocol, with and without streaming, and Anthropic's where that is asked for.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Headers = dict[str, str]


@dataclass(frozen=True)
class Asked:
    """One request as it arrived. number: counted from 0."""

    number: int
    path: str
    headers: Headers
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        """The last message."""
        return str(self.body["messages"][-1]["content"])

    @property
    def n(self) -> int:
        return int(self.body.get("n", 1))

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def anthropic(self) -> bool:
        return self.path.endswith("/messages")

    @property
    def authorization(self) -> str | None:
        return self.headers.get("authorization") or self.headers.get("x-api-key")


class Exchange:
    """What a behaviour works with: the request, and the connection to answer on."""

    def __init__(self, asked: Asked, handler: _Handler, stop: threading.Event) -> None:
        self.asked = asked
        self.stop = stop
        self._handler = handler
        self._chunked = False

    def send(self, status: int, content: bytes | str, headers: Headers | None = None) -> None:
        """A whole answer."""
        data = content.encode() if isinstance(content, str) else content
        self._handler.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self._handler.send_header(name, value)
        self._handler.send_header("Content-Length", str(len(data)))
        self._handler.end_headers()
        self._handler.wfile.write(data)

    def begin(self, kind: str = "text/event-stream") -> None:
        """An answer in parts."""
        self._handler.send_response(200)
        self._handler.send_header("Content-Type", kind)
        self._handler.send_header("Transfer-Encoding", "chunked")
        self._handler.end_headers()

    def part(self, content: str) -> None:
        data = content.encode("utf-8", "surrogatepass")
        self._handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def event(self, data: dict[str, Any], kind: str | None = None) -> None:
        name = f"event: {kind}\n" if kind else ""
        self.part(f"{name}data: {json.dumps(data)}\n\n")

    def end(self) -> None:
        self._handler.wfile.write(b"0\r\n\r\n")

    def reset(self) -> None:
        """Break the connection off at once."""
        self._handler.close_connection = True
        connection = self._handler.connection
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(connection.detach())


Behaviour = Callable[[Exchange], None]
Script = Sequence[Behaviour | str] | Callable[[Asked], Behaviour | str]

REPORTED = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@dataclass(frozen=True)
class _Said:
    """What an answer is made of."""

    texts: tuple[str, ...]
    finish: str = "stop"
    usage: dict[str, Any] | None = field(default_factory=lambda: dict(REPORTED))
    model: str = "scripted-1"
    refusal: str | None = None


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────


def say(
    *texts: str,
    finish: str = "stop",
    usage: dict[str, Any] | None = REPORTED,
    model: str = "scripted-1",
    ignores_n: bool = False,
    ignores_stream: bool = False,
    refusal: str | None = None,
    pause: float = 0.0,
) -> Behaviour:
    """Answer; the texts are repeated until there are `n` of them. pause: seconds before."""

    def behave(exchange: Exchange) -> None:
        exchange.stop.wait(pause)
        n = 1 if ignores_n else exchange.asked.n
        given = texts or ("",)
        said = _Said(tuple(given[i % len(given)] for i in range(n)), finish, usage, model, refusal)
        if exchange.asked.stream and not ignores_stream:
            _stream(exchange, said)
        else:
            exchange.send(200, json.dumps(_whole(exchange.asked, said)))

    return behave


def refuse(reason: str = "I cannot help with that.") -> Behaviour:
    """The model refuses."""

    def behave(exchange: Exchange) -> None:
        if exchange.asked.anthropic:
            say(reason, finish="refusal")(exchange)
        else:
            say("", refusal=reason)(exchange)

    return behave


def empty() -> Behaviour:
    """A text that is empty."""
    return say("")


def no_choices() -> Behaviour:
    """An answer in which there is no text at all."""

    def behave(exchange: Exchange) -> None:
        exchange.send(200, json.dumps({"id": "1", "object": "chat.completion", "choices": []}))

    return behave


def no_usage(*texts: str) -> Behaviour:
    """Nothing about tokens."""
    return say(*texts, usage=None)


# ── what goes wrong ──────────────────────────────────────────────────────────────────────────────────────


def status(number: int, message: str = "no", *, retry_after: str | None = None, **error: Any) -> Behaviour:
    """An error as such servers send it; `error` are more fields of it."""

    def behave(exchange: Exchange) -> None:
        headers = {} if retry_after is None else {"Retry-After": retry_after}
        exchange.send(number, json.dumps({"error": {"message": message, **error}}), headers)

    return behave


def busy(retry_after: str | None = None) -> Behaviour:
    """Too many requests."""
    return status(429, "slow down", retry_after=retry_after, type="rate_limit_error")


def wrong_key() -> Behaviour:
    """The key is refused, and repeated in the message, as some servers do."""

    def behave(exchange: Exchange) -> None:
        status(401, f"Incorrect API key provided: {exchange.asked.authorization}", code="invalid_api_key")(
            exchange
        )

    return behave


def unknown_model() -> Behaviour:
    return status(404, "The model `test` does not exist", code="model_not_found")


def rejects(field: str, behaviour: Behaviour, code: int = 400, message: str | None = None) -> Behaviour:
    """Does not accept a field of the body; says so, or something else."""

    def behave(exchange: Exchange) -> None:
        if field in exchange.asked.body:
            named = {} if message is not None else {"param": field}
            status(code, message or f"Unsupported parameter: '{field}'", **named)(exchange)
        else:
            behaviour(exchange)

    return behave


def hang() -> Behaviour:
    """Say nothing until the server is closed."""

    def behave(exchange: Exchange) -> None:
        exchange.stop.wait(60)

    return behave


def drip(seconds: float = 0.05) -> Behaviour:
    """A word now and then, forever."""

    def behave(exchange: Exchange) -> None:
        exchange.begin()
        while not exchange.stop.wait(seconds):
            exchange.event(_chunk(0, {"content": "well "}))

    return behave


def reset(after: str = "half an ans", *, complete: Sequence[str] = ()) -> Behaviour:
    """Break off in the middle of a stream. complete: texts that came to their end before."""

    def behave(exchange: Exchange) -> None:
        exchange.begin()
        for index, text in enumerate(complete):
            exchange.event(_chunk(index, {"content": text}))
            exchange.event(_chunk(index, {}, "stop"))
        exchange.event(_chunk(len(complete), {"content": after}))
        time.sleep(0.02)  # so that it arrives before the reset does
        exchange.reset()

    return behave


def stops_short() -> Behaviour:
    """End a stream in order, in the middle of a text."""

    def behave(exchange: Exchange) -> None:
        exchange.begin()
        exchange.event(_chunk(0, {"content": "half an ans"}))
        exchange.end()

    return behave


def raw(
    content: bytes | str, kind: str = "application/json", code: int = 200, *, headers: Headers | None = None
) -> Behaviour:
    """Exactly this."""

    def behave(exchange: Exchange) -> None:
        exchange.send(code, content, {"Content-Type": kind, **(headers or {})})

    return behave


def invalid_json() -> Behaviour:
    return raw('{"choices": [{"message": {"content": "he')


def wrong_type() -> Behaviour:
    return raw("<html><body>Welcome to nginx!</body></html>", "text/html")


def huge(size: int = 10 << 20) -> Behaviour:
    """An answer of so many bytes."""
    return say("x" * size)


def event_error(message: str = "overloaded") -> Behaviour:
    """An error in the middle of a stream."""

    def behave(exchange: Exchange) -> None:
        exchange.begin()
        exchange.event(_chunk(0, {"content": "half an ans"}))
        exchange.event({"error": {"message": message}}, "error" if exchange.asked.anthropic else None)
        exchange.end()

    return behave


# ── the protocols ────────────────────────────────────────────────────────────────────────────────────────


def _whole(asked: Asked, said: _Said) -> dict[str, Any]:
    if asked.anthropic:
        content = [{"type": "text", "text": said.texts[0]}]
        reason = "end_turn" if said.finish == "stop" else said.finish
        about = {
            "model": said.model,
            "content": content,
            "stop_reason": reason,
            "usage": _anthropic(said.usage),
        }
        return {"id": "msg_1", "type": "message", "role": "assistant", **about}
    choices = [
        {
            "index": index,
            "message": {"role": "assistant", "content": text, "refusal": said.refusal},
            "finish_reason": said.finish,
        }
        for index, text in enumerate(said.texts)
    ]
    about = {} if said.usage is None else {"usage": said.usage}
    return {"id": "1", "object": "chat.completion", "model": said.model, "choices": choices, **about}


def _stream(exchange: Exchange, said: _Said) -> None:
    exchange.begin()
    if exchange.asked.anthropic:
        _stream_anthropic(exchange, said)
        exchange.end()
        return
    for index, text in enumerate(said.texts):
        exchange.event(_chunk(index, {"role": "assistant", "content": ""}))
        size = max(8, len(text) // 64)
        for start in range(0, len(text), size):
            exchange.event(_chunk(index, {"content": text[start : start + size]}, model=said.model))
        if said.refusal is not None:
            exchange.event(_chunk(index, {"refusal": said.refusal}))
        exchange.event(_chunk(index, {}, said.finish, model=said.model))
    if said.usage is not None and "stream_options" in exchange.asked.body:
        exchange.event({"id": "1", "object": "chat.completion.chunk", "choices": [], "usage": said.usage})
    exchange.part("data: [DONE]\n\n")
    exchange.end()


def _chunk(
    index: int, delta: Headers, finish: str | None = None, model: str = "scripted-1"
) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion.chunk", "model": model, "choices": [choice]}


def _stream_anthropic(exchange: Exchange, said: _Said) -> None:
    usage = _anthropic(said.usage)
    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    message["model"] = said.model
    if usage:
        message["usage"] = {**usage, "output_tokens": 1}
    exchange.event({"type": "message_start", "message": message}, "message_start")
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    exchange.event(block, "content_block_start")
    exchange.event({"type": "ping"}, "ping")
    text = said.texts[0]
    size = max(8, len(text) // 64)
    for start in range(0, len(text), size):
        delta = {"type": "text_delta", "text": text[start : start + size]}
        exchange.event({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")
    exchange.event({"type": "content_block_stop", "index": 0}, "content_block_stop")
    reason = "end_turn" if said.finish == "stop" else said.finish
    last: dict[str, Any] = {"type": "message_delta", "delta": {"stop_reason": reason}}
    if usage:
        last["usage"] = {"output_tokens": usage["output_tokens"]}
    exchange.event(last, "message_delta")
    exchange.event({"type": "message_stop"}, "message_stop")


def _anthropic(usage: dict[str, Any] | None) -> dict[str, Any]:
    if usage is None:
        return {}
    return {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]}


# ── the server ───────────────────────────────────────────────────────────────────────────────────────────


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        body = json.loads(self.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        scripted = self.server.scripted
        asked, behaviour = scripted.next(self.path, headers, body)
        try:
            behaviour(Exchange(asked, self, scripted.stop))
        except OSError:  # the client is gone
            self.close_connection = True
        finally:
            scripted.done()

    do_GET = do_POST

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""


class _Listener(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 64

    def __init__(self, scripted: ScriptedServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.scripted = scripted
        self.open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is gone is no error; anything else fails the test."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError | ValueError):
            self.scripted.errors.append(error)


class ScriptedServer:
    """Serves a script while it is entered.

    asked: the requests so far. most_at_once: how many were answered at the same time at most.
    """

    def __init__(self, script: Script) -> None:
        self.asked: list[Asked] = []
        self.errors: list[BaseException | None] = []
        self.most_at_once = 0
        self.stop = threading.Event()
        self._script = script
        self._at_once = 0
        self._lock = threading.Lock()
        self._listener = _Listener(self)
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.02,))

    @property
    def root(self) -> str:
        """The address without a path, which Anthropic's library wants."""
        return f"http://127.0.0.1:{self._listener.server_address[1]}"

    @property
    def url(self) -> str:
        """The base URL for the protocol of OpenAI."""
        return f"{self.root}/v1"

    def next(self, path: str, headers: Headers, body: dict[str, Any]) -> tuple[Asked, Behaviour]:
        """What to do with a request."""
        with self._lock:
            asked = Asked(len(self.asked), path, headers, body)
            self.asked.append(asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            if callable(self._script):
                chosen = self._script(asked)
            else:
                chosen = self._script[min(asked.number, len(self._script) - 1)]
        return asked, say(chosen) if isinstance(chosen, str) else chosen

    def done(self) -> None:
        with self._lock:
            self._at_once -= 1

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop.set()
        self._listener.shutdown()
        for connection in list(self._listener.open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        self._listener.server_close()
        self._thread.join()
        assert not self.errors, self.errors

"""One request over HTTP, by the library of whoever made the protocol (openai, anthropic; they are built alike).

The library's own retries are off: what to try again, and what that costs, is decided in one place for all
servers. What goes wrong becomes a `Failure` here, with a text that shows no key: the library's errors, which
hold the headers of the request, go no further.
"""

from __future__ import annotations

import json
import re
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx2

from worldcoder.llm.errors import BadReply, ReplyTooLarge, Unavailable
from worldcoder.llm.keys import Hide, is_loopback
from worldcoder.llm.reading import MOST_TEXT, TooLarge
from worldcoder.llm.refusals import Refusal, refused
from worldcoder.llm.server import Failure
from worldcoder.llm.values import readable

_MOST_BYTES = 16 * MOST_TEXT  # in a stream each token comes with some hundred bytes around it
_CONNECT_SECONDS = 10.0
_SHOWN = 300


class Gather(Protocol):
    """Puts an answer together. Raises ValueError for what is no answer, TooLarge for what is too much."""

    def event(self, data: Mapping[str, Any]) -> None:
        """A part of an answer that comes as a stream."""
        ...

    def whole(self, data: Mapping[str, Any]) -> None:
        """An answer that comes at once."""
        ...


def http_client(base_url: str) -> httpx2.AsyncClient:
    """A client for the library.

    It follows no redirects, which would take a key along, and asks for answers that are not compressed, so that
    what they unpack to is bounded. On this machine it leaves the environment's proxies alone.
    """
    settings: dict[str, Any] = {}
    if urlsplit(base_url).scheme == "http":  # reading all certificates takes a while, and none is needed
        settings["verify"] = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS),  # the rest is limited by who asks
        follow_redirects=False,
        trust_env=not is_loopback(base_url),
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [_bound]},
        **settings,
    )


class Wire:
    """Posts bodies to one path and hands on what comes back.

    library: the module with its errors and `AsyncStream`. client: its client. headers: for each request; a value
    of `library.Omit()` leaves one out that the library would send.
    """

    def __init__(
        self, library: Any, client: Any, path: str, headers: Mapping[str, Any], refusal: Refusal, hide: Hide
    ) -> None:
        self._library = library
        self._client = client
        self._path = path
        self._headers = dict(headers)
        self._refusal = refusal
        self._hide = hide

    async def post(self, body: Mapping[str, Any], gather: Gather) -> None:
        """Raises Failure, outside of any other exception, so that none is dragged along."""
        failure: Failure
        try:
            stream = await self._client.post(
                self._path,
                cast_to=object,
                body=dict(body),
                options={"headers": self._headers},
                stream=True,
                stream_cls=self._library.AsyncStream[object],
            )
            try:
                await self._read(stream, gather)
            finally:
                await stream.close()
            return
        except Failure as known:
            failure = known
        except TooLarge:
            failure = Failure(
                "final", ReplyTooLarge(f"{self._place} sends more than an answer can have"), paid=True
            )
        except self._library.APIStatusError as error:
            failure = self._by_status(error, body)
        except (self._library.APIConnectionError, httpx2.TransportError) as error:
            failure = self._by_connection(error)
        except self._library.APIError as error:  # told in the middle of a stream
            failure = Failure(
                "broken", self._unavailable(f"breaks off: {self._short(error.message)}"), paid=True
            )
        except (ValueError, RecursionError, httpx2.DecodingError) as error:
            failure = self._unreadable(str(error))
        failure.__context__ = failure.__cause__ = None
        raise failure

    async def close(self) -> None:
        await self._client.close()

    @property
    def _place(self) -> str:
        return self._refusal.place

    async def _read(self, stream: Any, gather: Gather) -> None:
        response: httpx2.Response = stream.response
        if response.headers.get("content-encoding", "identity") != "identity":
            raise self._unreadable("it is compressed, which was not asked for")
        kind = response.headers.get("content-type", "").partition(";")[0].strip()
        if kind.lower() == "text/event-stream":
            async for event in stream:
                gather.event(self._told(event))
        elif kind.lower().endswith("json"):
            gather.whole(self._told(json.loads(await response.aread())))
        else:
            await response.aread()
            raise self._unreadable(
                f"its type is {self._short(kind) or 'not told'}, not JSON; is the base URL right?"
            )

    def _told(self, data: object) -> Mapping[str, Any]:
        """An object of JSON; an error in it is raised, whatever the status of HTTP was."""
        if not isinstance(data, dict):
            raise ValueError(f"{type(data).__name__} instead of an object")
        error = data.get("error")
        if error:
            detail = error if isinstance(error, dict) else {"message": str(error)}
            code = detail.get("code")
            status = code if isinstance(code, int) and 400 <= code < 600 else 500
            raise refused(self._refusal, status, detail, self._short(str(detail.get("message", error))), {})
        return data

    def _by_status(self, error: Any, body: Mapping[str, Any]) -> Failure:
        told = error.body[0] if isinstance(error.body, list) and error.body else error.body  # as Google does
        detail = told if isinstance(told, dict) else {}
        inner = detail.get("error")
        detail = inner if isinstance(inner, dict) else detail
        message = detail.get("message") or (told if isinstance(told, str) else error.message)
        text = self._short(str(message))
        if error.status_code < 300:
            return Failure("broken", self._unavailable(f"breaks off: {text}"), paid=True)
        wait = retry_after(error.response.headers)
        return refused(self._refusal, error.status_code, detail, text, body, wait=wait)

    def _by_connection(self, error: Exception) -> Failure:
        reason = error if isinstance(error, httpx2.TransportError) else error.__cause__
        if isinstance(reason, TooLarge):
            return Failure(
                "final", ReplyTooLarge(f"{self._place} sends more than an answer can have"), paid=True
            )
        never = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)
        if isinstance(reason, (*never, httpx2.UnsupportedProtocol)):
            what = self._short(str(reason)) or type(reason).__name__
            return Failure("unreachable", self._unavailable(f"cannot be reached ({what}); is it running?"))
        what = self._short(str(reason or "")) or type(reason or error).__name__
        return Failure("broken", self._unavailable(f"broke off the connection ({what})"), paid=True)

    def _unavailable(self, what: str) -> Unavailable:
        return Unavailable(f"{self._place} {what}")

    def _unreadable(self, why: str) -> Failure:
        error = BadReply(f"{self._place} sends an answer that cannot be read: {self._short(why)}")
        return Failure("unreadable", error, paid=True)

    def _short(self, text: str) -> str:
        line = " ".join(readable(self._hide(text)).split())
        return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def retry_after(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """How long a server asks to wait: in milliseconds, in seconds, or until a date; None: it does not say."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if re.fullmatch(r"\d+(\.\d+)?", value):
            return float(value) / unit
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now())
    except (ValueError, OverflowError):
        return None


async def _bound(response: httpx2.Response) -> None:
    """Make a response end with TooLarge where it becomes too large."""
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = _MOST_BYTES
        async for chunk in self._inner:
            left -= len(chunk)
            if left < 0:
                raise TooLarge
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()

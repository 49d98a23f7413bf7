"""Anthropic's own protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from worldcoder.llm.extras import require
from worldcoder.llm.keys import Key, headers_of_environment, hiding, shown
from worldcoder.llm.reading import Gathered, count_of, finish_of, mapping_of, text_of, usage_of
from worldcoder.llm.refusals import Refusal
from worldcoder.llm.server import Answer, Attempt, Failure, Feature
from worldcoder.llm.wire import Wire, http_client

_PATH = "/v1/messages"
_OWN_HOST = "api.anthropic.com"


class AnthropicServer:
    """One model behind Anthropic's protocol, which knows neither `n` nor `seed`."""

    lacks: frozenset[Feature] = frozenset({"n", "seed", "usage", "max_completion_tokens"})

    def __init__(self, name: str, model: str, base_url: str, key: Key | None, variable: str) -> None:
        library = require("anthropic", extra="anthropic")
        self.name = name
        self.place = shown(base_url)
        self._model = model
        self._hide = hiding(key, base_url)
        client = library.AsyncAnthropic(
            api_key="none" if key is None else key.reveal(),
            base_url=base_url,
            max_retries=0,
            timeout=None,
            http_client=http_client(base_url),
        )
        headers: dict[str, Any] = {}
        if key is None:
            headers |= {"Authorization": library.Omit(), "X-Api-Key": library.Omit()}
        if urlsplit(base_url).hostname != _OWN_HOST:
            headers |= {name: library.Omit() for name in headers_of_environment("ANTHROPIC_CUSTOM_HEADERS")}
        refusal = Refusal(self.place, _PATH, model, variable, key is not None)
        self._wire = Wire(library, client, _PATH, headers, refusal, self._hide)

    async def ask(self, attempt: Attempt) -> Answer:
        gathered = _Gathered(self._hide)
        try:
            await self._wire.post(self.body(attempt), gathered)
        except Failure as failure:
            failure.answer = gathered.close()
            raise
        return gathered.close()

    def body(self, attempt: Attempt) -> dict[str, Any]:
        """What is sent."""
        request = attempt.request
        said = [m.to_json() for m in request.messages if m.role != "system"]
        system = "\n\n".join(m.content for m in request.messages if m.role == "system")
        body: dict[str, Any] = {"model": self._model, "messages": said, "max_tokens": request.max_tokens}
        if system:
            body["system"] = system
        if attempt.offers("stream"):
            body["stream"] = True
        if request.temperature is not None and attempt.offers("temperature"):
            body["temperature"] = request.temperature
        if request.stop and attempt.offers("stop"):
            body["stop_sequences"] = list(request.stop)
        if request.schema is not None and attempt.offers("schema"):
            body["output_config"] = {"format": {"type": "json_schema", "schema": dict(request.schema)}}
        return {**request.options, **body}

    async def close(self) -> None:
        await self._wire.close()


class _Gathered(Gathered):
    """The events are message_start, content_block_delta, message_delta and others that say nothing more."""

    def __init__(self, hide: Any) -> None:
        super().__init__(hide)
        self._counts: dict[str, Any] = {}

    def event(self, data: Mapping[str, Any]) -> None:
        kind = data.get("type")
        if kind == "message_start":
            self._about(mapping_of(data.get("message")))
        elif kind == "content_block_delta":
            delta = mapping_of(data.get("delta"))
            self.add(0, text_of(delta.get("text")), text_of(delta.get("thinking")))
        elif kind == "message_delta":
            self._about(data)
            self._end(mapping_of(data.get("delta")))

    def whole(self, data: Mapping[str, Any]) -> None:
        content = data.get("content")
        for block in content if isinstance(content, list) else ():
            part = mapping_of(block)
            self.add(0, text_of(part.get("text")), text_of(part.get("thinking")))
        self._about(data)
        if isinstance(content, list):
            self._end({"stop_reason": "other", **data})

    def _end(self, data: Mapping[str, Any]) -> None:
        finish = finish_of(data.get("stop_reason"))
        if finish is not None:
            self.add(0, "").finish = finish

    def _about(self, data: Mapping[str, Any]) -> None:
        """Model and tokens; the counts of a later event are totals and replace those before."""
        self.name(data.get("model"))
        self._counts.update(
            {k: v for k, v in mapping_of(data.get("usage")).items() if count_of(v) is not None}
        )
        cached = count_of(self._counts.get("cache_read_input_tokens")) or 0
        written = count_of(self._counts.get("cache_creation_input_tokens")) or 0
        fresh = count_of(self._counts.get("input_tokens"))
        into = None if fresh is None else fresh + cached + written
        self.answer.usage = usage_of(into, self._counts.get("output_tokens"), cached)

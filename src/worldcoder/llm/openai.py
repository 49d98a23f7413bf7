"""Servers that speak OpenAI's protocol: OpenAI, OpenRouter, Ollama, vLLM, llama.cpp, Gemini's endpoint, ..."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from worldcoder.llm.extras import require
from worldcoder.llm.keys import Key, headers_of_environment, hiding, shown
from worldcoder.llm.reading import Gathered, finish_of, mapping_of, text_of, usage_of
from worldcoder.llm.refusals import Refusal
from worldcoder.llm.server import Answer, Attempt, Failure, Feature
from worldcoder.llm.wire import Wire, http_client

_PATH = "/chat/completions"
_OWN_HOST = "api.openai.com"
_FOR_OPENAI_ALONE = ("OpenAI-Organization", "OpenAI-Project")
"""Headers that the library takes from the environment, whoever the server is."""

_THOUGHTS = ("reasoning_content", "reasoning")


class OpenAIServer:
    """One model on a server of this kind.

    name: as requests have it. model: as the server has it. key: None where it needs none.
    variable: where a key would be looked for, for the message when one is wanted.
    """

    def __init__(self, name: str, model: str, base_url: str, key: Key | None, variable: str) -> None:
        library = require("openai", extra="llm")
        self.name = name
        self.place = shown(base_url)
        own = urlsplit(base_url).hostname == _OWN_HOST
        # OpenAI's newer models want the new name of the limit; most other servers know the old one only
        self.lacks: frozenset[Feature] = frozenset({"max_tokens" if own else "max_completion_tokens"})
        self._model = model
        self._hide = hiding(key, base_url)
        headers: dict[str, Any] = {} if key is not None else {"Authorization": library.Omit()}
        if not own:
            headers |= {name: library.Omit() for name in _FOR_OPENAI_ALONE}
            headers |= {name: library.Omit() for name in headers_of_environment("OPENAI_CUSTOM_HEADERS")}
        client = library.AsyncOpenAI(
            api_key="none" if key is None else key.reveal(),
            base_url=base_url,
            max_retries=0,
            timeout=None,
            http_client=http_client(base_url),
        )
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
        fields: dict[Feature, dict[str, Any]] = {
            "max_tokens": {"max_tokens": request.max_tokens},
            "max_completion_tokens": {"max_completion_tokens": request.max_tokens},
            "stream": {"stream": True},
        }
        if attempt.offers("stream"):
            fields["usage"] = {"stream_options": {"include_usage": True}}
        if attempt.n > 1:
            fields["n"] = {"n": attempt.n}
        if request.temperature is not None:
            fields["temperature"] = {"temperature": request.temperature}
        if attempt.seed is not None:
            fields["seed"] = {"seed": attempt.seed}
        if request.stop:
            fields["stop"] = {"stop": list(request.stop)}
        if request.schema is not None:
            schema = {"name": "answer", "schema": dict(request.schema), "strict": True}
            fields["schema"] = {"response_format": {"type": "json_schema", "json_schema": schema}}
        body: dict[str, Any] = {"model": self._model, "messages": [m.to_json() for m in request.messages]}
        for feature, field in fields.items():
            if attempt.offers(feature):
                body |= field
        return {**request.options, **body}

    async def close(self) -> None:
        await self._wire.close()


class _Gathered(Gathered):
    def event(self, data: Mapping[str, Any]) -> None:
        self._take(data, "delta")

    def whole(self, data: Mapping[str, Any]) -> None:
        self._take(data, "message")

    def _take(self, data: Mapping[str, Any], part: str) -> None:
        choices = data.get("choices")
        for position, choice in enumerate(choices if isinstance(choices, list) else ()):
            if not isinstance(choice, dict) or not isinstance(choice.get(part), dict):
                continue
            said = choice[part]
            refusal = text_of(said.get("refusal"))
            unseen = "".join(text_of(said.get(name)) for name in _THOUGHTS)
            number = choice.get("index", position) if part == "delta" else position
            one = self.add(number, text_of(said.get("content")) + refusal, unseen)
            one.refused = one.refused or bool(refusal)
            finish = finish_of(choice.get("finish_reason")) or ("other" if part == "message" else None)
            if finish is not None:
                one.finish = "refusal" if one.refused else finish
        self.name(data.get("model"))
        told = mapping_of(data.get("usage"))
        cached = mapping_of(told.get("prompt_tokens_details")).get("cached_tokens")
        usage = usage_of(told.get("prompt_tokens"), told.get("completion_tokens"), cached)
        self.answer.usage = usage or self.answer.usage

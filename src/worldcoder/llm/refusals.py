"""What a server means when it answers with a status of HTTP instead of a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from worldcoder.errors import LLMError
from worldcoder.llm.errors import NoCredit, PromptTooLong, Rejected, Unavailable, UnknownModel, WrongKey
from worldcoder.llm.server import Failure, Feature


@dataclass(frozen=True)
class Refusal:
    """Who refuses, for the messages.

    place: the server. path: what is asked of it. model: as it is called there. variable: where the key comes
    from. keyed: whether a key is sent.
    """

    place: str
    path: str
    model: str
    variable: str
    keyed: bool


_FIELDS: dict[str, Feature] = {
    "response_format": "schema",
    "output_config": "schema",
    "n": "n",
    "seed": "seed",
    "stop": "stop",
    "stop_sequences": "stop",
    "temperature": "temperature",
    "stream_options": "usage",
    "stream": "stream",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_completion_tokens",
}
"""What a field of the body is for."""

_SAID: dict[Feature, str] = {
    "schema": r"response_format|output_config|json_schema|\bschema\b|\bgrammar\b",
    "n": r"(['\"`])n\1|\bn (must|should|is|has|can)\b|\bn ?[=>]|\bn_\w+|(many|multiple|only one|number of) choice",
    "seed": r"\bseed\b",
    "stop": r"(['\"`])stop\1|\bstop.sequences?\b",
    "temperature": r"\btemperature\b",
    "usage": r"stream_options|include_usage",
    "stream": r"\bstream(ing)?\b",
    "max_tokens": r"\bmax_tokens\b",
    "max_completion_tokens": r"\bmax_completion_tokens\b",
}
"""How messages speak of it."""

_NO_MODEL = r"\bmodel\b.{0,120}\b(not (be )?found|not exist|is not (a )?valid)\b"
_NO_MODEL_EITHER = r"\b(no such|unknown|invalid|not a valid) model\b|model_not_found"
_TOO_LONG = (
    r"context.?(length|window|size)|maximum context|(prompt|input) is too long|too many (input )?tokens"
)
_BAD_KEY = r"api.?key.{0,30}(not valid|invalid|incorrect|expired)|(invalid|incorrect|expired).{0,10}api.?key"
_NO_CREDIT = r"insufficient.(quota|credit|funds|balance)|exceeded your current quota|credit balance"

_WORKED_ON = frozenset({504, 524})
"""Where a gateway gave up waiting; the server behind it may have gone on."""


def blamed(detail: Mapping[str, Any], text: str, sent: Mapping[str, Any]) -> frozenset[Feature]:
    """Which features of a body a server complains about."""
    there = {feature for name, feature in _FIELDS.items() if name in sent}
    parameter = str(detail.get("param") or "").partition(".")[0].partition("[")[0]
    if parameter in _FIELDS:
        return frozenset({_FIELDS[parameter]} & there)
    named = {feature for feature in get_args(Feature) if re.search(_SAID[feature], text, re.IGNORECASE)}
    if "usage" in named:  # its name has "stream" in it
        named.discard("stream")
    return frozenset(named & there)


def refused(
    by: Refusal,
    status: int,
    detail: Mapping[str, Any],
    text: str,
    sent: Mapping[str, Any],
    *,
    wait: float | None = None,
) -> Failure:
    """What an answer with this status means. detail: what it says, as JSON. text: the same in words."""
    said = f"{text} {detail.get('code') or ''} {detail.get('type') or ''}"

    def final(error: LLMError) -> Failure:
        return Failure("final", error, status=status)

    def says(*patterns: str) -> bool:
        return any(re.search(pattern, said, re.IGNORECASE | re.DOTALL) for pattern in patterns)

    told = f"(HTTP {status}): {text}"
    if status == 401 and not by.keyed:
        return final(WrongKey(f"{by.place} wants a key: set {by.variable} (HTTP 401)"))
    if status == 401 or (status in (400, 403) and by.keyed and says(_BAD_KEY)):
        return final(WrongKey(f"{by.place} refuses the key in {by.variable} (HTTP {status})"))
    if status == 402 or (status in (400, 403, 429) and says(_NO_CREDIT)):
        return final(NoCredit(f"{by.place} says that there is no credit left {told}"))
    if status == 403:
        return final(WrongKey(f"{by.place} refuses access to {by.model}; check {by.variable} {told}"))
    if (status == 404 and says(r"\bmodel\b")) or (
        status in (400, 404, 422) and says(_NO_MODEL, _NO_MODEL_EITHER)
    ):
        return final(UnknownModel(f"{by.place} does not know the model {by.model} {told}"))
    if status < 400 or status in (404, 405, 410):
        where = f"{by.place}{by.path} (HTTP {status})"
        return final(Unavailable(f"there is nothing to ask at {where}; check the base URL"))
    if status == 413 or (status in (400, 422) and says(_TOO_LONG)):
        return final(PromptTooLong(f"the request is too long for {by.model} at {by.place} {told}"))
    blame = blamed(detail, text, sent)
    if status in (408, 409, 425, 429) or (status >= 500 and status != 501):
        error = Unavailable(f"{by.place} does not answer {told}")
        paid = status in _WORKED_ON
        return Failure("busy", error, paid=paid, retry_after=wait, blamed=blame, status=status)
    return Failure(
        "rejected", Rejected(f"{by.place} does not take the request {told}"), blamed=blame, status=status
    )

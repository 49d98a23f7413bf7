"""Frames: a mark, a length and that much JSON. What a worker writes is read as if an enemy had written it."""

from __future__ import annotations

import json
import os
import re
from typing import Any, NoReturn

from worldcoder.sandbox.failures import Failure

MARK = b"WCF1"
HEADER = len(MARK) + 4
DEEPEST = 100
"""How deep a value may be nested, and one or two levels of the frame itself."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_SQUARE = bytes.maketrans(b"{}", b"[]")

_encode = json.JSONEncoder(
    separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
).encode


def pack(value: Any) -> bytes:
    """A value as one frame. Raises TypeError, ValueError or RecursionError where it is not JSON."""
    data = _encode(value).encode("utf-8", "replace")  # half a surrogate pair becomes a question mark
    return MARK + len(data).to_bytes(4, "big") + data


class Misread(Exception):
    """What was read is no answer, or too much of one."""

    def __init__(self, failure: Failure, detail: str) -> None:
        super().__init__(failure, detail)
        self.failure = failure
        self.detail = detail


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0.0:
        raise ValueError("a number is too large")
    return number


_decode = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant).decode


def unpack(data: bytes) -> Any:
    """The value of a frame's JSON, read strictly. Raises Misread for whatever is wrong with it."""
    try:
        value = _decode(data.decode("utf-8"))
        if data.count(b"\\u") and _has_half_pairs(value):
            raise ValueError("half a surrogate pair")
    except (ValueError, RecursionError, MemoryError) as error:
        raise Misread(
            Failure.GARBAGE, f"what it wrote is not JSON: {error or type(error).__name__}"
        ) from None
    if _is_deeper(data, DEEPEST):
        raise Misread(Failure.GARBAGE, f"what it wrote is nested deeper than {DEEPEST} levels")
    return value


def _has_half_pairs(value: Any) -> bool:
    try:
        _encode(value).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _is_deeper(data: bytes, deepest: int) -> bool:
    """Whether JSON, known to be well formed, is nested deeper: at the speed of C."""
    if data.count(b"[") + data.count(b"{") <= deepest:
        return False
    brackets = _STRING.sub(b"", data).translate(_SQUARE, _NOT_BRACKETS)
    for _ in range(deepest):  # each round takes the innermost level away
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


class Reader:
    """Cuts a stream of bytes into the values of its frames.

    frame_bytes: the longest frame; None where the writer is trusted, then nothing is checked.
    taken: how many bytes came since this was last set to 0; held against `reply_bytes`.
    """

    def __init__(self, frame_bytes: int | None = None, reply_bytes: int | None = None) -> None:
        self._buffer = bytearray()
        self._frame_bytes = frame_bytes
        self._reply_bytes = reply_bytes
        self.taken = 0

    def feed(self, data: bytes) -> None:
        """Take bytes in. Raises Misread where they are too many."""
        self._buffer += data
        self.taken += len(data)
        if self._reply_bytes is not None and self.taken > self._reply_bytes:
            raise Misread(Failure.FLOOD, f"it wrote more than {self._reply_bytes} bytes")

    def next(self) -> list[Any] | None:
        """The next frame's value, which is always a list; None if it is not there as a whole."""
        buffer = self._buffer
        if len(buffer) < HEADER and self._frame_bytes is None:
            return None
        if self._frame_bytes is not None and not MARK.startswith(bytes(buffer[:4])):
            raise Misread(Failure.GARBAGE, f"what it wrote is no frame: {bytes(buffer[:20])!r}")
        if len(buffer) < HEADER:
            return None
        length = int.from_bytes(buffer[4:HEADER], "big")
        if self._frame_bytes is not None and length > self._frame_bytes:
            raise Misread(
                Failure.FLOOD, f"it wrote a frame of {length} bytes; {self._frame_bytes} are allowed"
            )
        if len(buffer) < HEADER + length:
            return None
        data = bytes(buffer[HEADER : HEADER + length])
        del buffer[: HEADER + length]
        value = json.loads(data) if self._frame_bytes is None else unpack(data)
        if not isinstance(value, list):
            raise Misread(Failure.GARBAGE, "what it wrote is no list")
        return value

    @property
    def empty(self) -> bool:
        """Whether nothing is left over."""
        return not self._buffer


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes to a descriptor that waits."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def read_value(descriptor: int) -> Any:
    """The next value from a descriptor that waits and a writer that is trusted; raises EOFError at the end."""
    header = _read_exactly(descriptor, HEADER)
    return json.loads(_read_exactly(descriptor, int.from_bytes(header[4:], "big")))


def _read_exactly(descriptor: int, count: int) -> bytes:
    data = os.read(descriptor, count)
    if len(data) == count:
        return data
    parts = [data]
    count -= len(data)
    while count:
        if not parts[-1]:
            raise EOFError
        parts.append(os.read(descriptor, count))
        count -= len(parts[-1])
    return b"".join(parts)

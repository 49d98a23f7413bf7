"""Frames are read as if an enemy had written them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from worldcoder.sandbox.failures import Failure, one_line
from worldcoder.sandbox.frames import DEEPEST, MARK, Misread, Reader, pack, unpack


def frame(data: bytes) -> bytes:
    return MARK + len(data).to_bytes(4, "big") + data


def read(data: bytes, step: int = 7) -> list[Any]:
    reader = Reader(1000, 10_000)
    found = []
    for start in range(0, len(data), step):
        reader.feed(data[start : start + step])
        while (value := reader.next()) is not None:
            found.append(value)
    assert reader.empty
    return found


@pytest.mark.parametrize("value", [[], [1, 2.5, None, True, "é𝄞\x00\n"], [{"a": {"b": [[]]}}], [10**30]])
def test_what_is_packed_is_read(value: Any) -> None:
    assert read(pack(value) + pack([1]), step=1) == [value, [1]]
    assert read(pack(value) + pack([1]), step=10**6) == [value, [1]]


def test_half_a_surrogate_pair_is_not_packed() -> None:
    assert read(pack(["a\ud800b"])) == [["a?b"]]


@pytest.mark.parametrize("value", [{1, 2}, [float("nan")], [float("inf")], b"bytes"])
def test_what_is_not_json_is_not_packed(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        pack(value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[1",
        b"[NaN]",
        b"[Infinity]",
        b"[-Infinity]",
        b"[1e999]",
        b'["\\ud800"]',
        b'["\\uDFFF and so on"]',
        b'["\xff"]',
        b'["\xed\xa0\x80"]',
        b"[1] [2]",
        b"[" * 200_000 + b"]" * 200_000,
        b"[" * 200 + b"]" * 200,
        b'{"[[[":[[' * (DEEPEST // 3 + 1) + b"]]}" * (DEEPEST // 3 + 1),
        b"[" + b"9" * 10_000 + b"]",
        b"\x80\x04N.",
    ],
    ids=lambda data: repr(data[:20]),
)
def test_bad_json_is_garbage(data: bytes) -> None:
    with pytest.raises(Misread) as caught:
        unpack(data)
    assert caught.value.failure is Failure.GARBAGE


def test_brackets_in_texts_are_not_depth() -> None:
    value = ['[[["\\' * 500, {"}]": '\\"}}}' * 100}, *[[[]]] * 300]
    assert unpack(json.dumps(value).encode()) == value
    deep: list[Any] = []
    for _ in range(DEEPEST - 1):
        deep = [deep, "["]
    assert unpack(json.dumps(deep).encode()) == deep


def test_surrogate_pairs_are_text() -> None:
    assert unpack(b'["\\ud834\\udd1e \\u0000"]') == ["𝄞 \x00"]


@pytest.mark.parametrize(
    ("data", "failure"),
    [
        (b"hello", Failure.GARBAGE),
        (b"\x00", Failure.GARBAGE),
        (b"WCF2", Failure.GARBAGE),
        (MARK + b"\xff\xff\xff\xff", Failure.FLOOD),
        (MARK + (1001).to_bytes(4, "big"), Failure.FLOOD),
        (frame(b"[1]") * 2000, Failure.FLOOD),
        (frame(b"5"), Failure.GARBAGE),
        (frame(b'{"a":1}'), Failure.GARBAGE),
    ],
)
def test_bad_frames(data: bytes, failure: Failure) -> None:
    with pytest.raises(Misread) as caught:
        read(data)
    assert caught.value.failure is failure


def test_a_beginning_is_waited_for() -> None:
    reader = Reader(1000, 1000)
    for byte in pack([1])[:-1]:
        reader.feed(bytes([byte]))
        assert reader.next() is None
    assert not reader.empty


def test_a_line_about_anything() -> None:
    assert one_line("a\n\tb\x1b[31m c") == "a b?[31m c"
    assert len(one_line("x" * 10**6)) == 300

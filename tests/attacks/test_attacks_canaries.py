"""Whatever an attack could reach is noticed."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from worldcoder.attacks.canaries import KEY, SIGNALS, Canaries, new_token


@pytest.fixture
def canaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Canaries]:
    monkeypatch.setenv(KEY, new_token())
    folder = tmp_path / "canaries"
    folder.mkdir()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    made = Canaries(folder)
    made.watch()
    yield made
    made.close()
    for number, handler in before.items():
        signal.signal(number, handler)


def test_nothing_happened(canaries: Canaries) -> None:
    assert canaries.reached("") == []
    assert canaries.reached("an answer") == []


def test_no_token_is_told(canaries: Canaries) -> None:
    told = json.dumps(canaries.told())
    assert len(set(canaries.tokens.values())) >= 7
    assert not any(token in told for token in canaries.tokens.values() if token)


def test_a_token_that_comes_back(canaries: Canaries) -> None:
    for name, token in canaries.tokens.items():
        assert canaries.reached(f'"x{token}y"') == [name]


def test_connections_and_datagrams(canaries: Canaries) -> None:
    told = canaries.told()
    with socket.create_connection(("127.0.0.1", told["tcp"])), socket.socket(socket.AF_UNIX) as unix:
        unix.connect(told["unix"])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.sendto(b"x", ("127.0.0.1", told["udp"]))
        found = canaries.reached("")
    assert found == ["a connection by TCP", "a connection by a unix socket", "a datagram by UDP"]
    assert canaries.reached("") == []


def test_files(canaries: Canaries) -> None:
    run = canaries.run
    for act, what in (
        (lambda: canaries.file.write_text("hello"), "the file log changed"),
        (lambda: canaries.file.unlink(), "the file log is gone"),
        (lambda: (run / "new").write_text(""), "the file new appeared"),
        (lambda: (run / "new").mkdir(), "the file new appeared"),
        (lambda: (run / "new").symlink_to("/"), "the file new appeared"),
        (lambda: canaries.file.chmod(0o600), "the file log changed"),
        (lambda: os.utime(canaries.file), "the file log changed"),
        (lambda: canaries.tmp.write_text(""), f"the file {canaries.tmp.name} appeared"),
        (lambda: canaries.secret.chmod(0o644), "the file secret changed"),
    ):
        canaries.watch()
        act()
        assert what in canaries.reached("")
        canaries.watch()
        assert canaries.reached("") == [], "what was left is taken away"


def test_signals_and_memory(canaries: Canaries) -> None:
    os.kill(os.getpid(), signal.SIGUSR1)
    canaries._writable.value = b"other"
    found = canaries.reached("")
    assert f"signal {int(signal.SIGUSR1)} to the parent" in found and "the parent's memory changed" in found


def test_a_descriptor(canaries: Canaries) -> None:
    os.write(canaries.inheritable, b"x")
    assert canaries.reached("") == ["a descriptor that was the parent's"]

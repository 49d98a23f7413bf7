"""A key of the user's cannot be read, nothing can be sent, nothing outside changes: by no way that is known."""

from __future__ import annotations

import pytest

from worldcoder.attacks import Kind, Report
from worldcoder.attacks.case import Ran

READS_KEYS = {
    "environment": "as any library would",
    "environment-in-c": "as C holds it",
    "environment-on-the-stack": "where the kernel laid it",
    "walk-for-keys": "in any object there is",
    "walk-frames": "in the frames of the caller",
    "own-environ": "by /proc, its own",
    "own-environ-of-template": "by /proc, where it was forked",
    "parent-environ": "by /proc, the parent's",
    "parent-environ-without-filter": "the same, with less before it",
    "parent-memory": "in the parent's memory",
    "parent-memory-file": "in the parent's memory, as a file",
    "read-secret": "in a file of the owner's",
    "read-public": "in a file of everybody's",
    "kernel-keyring": "in the kernel",
    "descriptor-of-the-parent": "in what the parent has open",
}
SENDS = {
    "tcp", "tcp-without-filter", "udp", "raw-socket", "unix-socket", "abstract-socket", "netlink", "io-uring",
    "inherited-descriptors", "32-bit-socket", "message-queue", "shared-segment", "memory-file",
}  # fmt: skip
CHANGES = {
    "create-file", "append", "truncate", "unlink", "rename", "hard-link", "symbolic-link", "make-folder",
    "change-mode", "change-time", "write-tmp", "write-shared-memory", "write-proc-of-the-parent",
}  # fmt: skip


@pytest.fixture(params=["as it is", "as an ordinary user"])
def rans(request: pytest.FixtureRequest) -> dict[str, Ran]:
    """What came of the attacks, by name."""
    name = "report" if request.param == "as it is" else "user_report"
    report: Report = request.getfixturevalue(name)
    return {ran.case.name: ran for ran in report.rans if ran.applicable}


def only_here(names: set[str], rans: dict[str, Ran]) -> set[str]:
    """Of some names, those that say something on this machine; on Linux nearly all."""
    here = names & rans.keys()
    assert len(here) >= len(names) / 2
    return here


def test_a_key_cannot_be_read(rans: dict[str, Ran]) -> None:
    for name in only_here(set(READS_KEYS), rans):
        ran = rans[name]
        assert ran.held and not ran.reached, f"{READS_KEYS[name]}: {ran.happened}"
    for ran in rans.values():
        assert not any("key" in what or "output" in what for what in ran.reached), ran.happened


def test_nothing_can_be_sent(rans: dict[str, Ran]) -> None:
    for name in only_here(SENDS, rans) | {n for n, r in rans.items() if r.case.kind is Kind.NETWORK}:
        assert rans[name].held and not rans[name].reached, f"{name}: {rans[name].happened}"


def test_no_file_outside_changes(rans: dict[str, Ran]) -> None:
    for name in only_here(CHANGES, rans) | {n for n, r in rans.items() if r.case.kind is Kind.WRITES}:
        assert rans[name].held and not rans[name].reached, f"{name}: {rans[name].happened}"
    for ran in rans.values():
        assert not any("file" in what for what in ran.reached), ran.happened


def test_the_key_would_be_read_without_the_layers(control_report: Report) -> None:
    """The same attacks do read it where nothing stops them: they are able to, and it is noticed."""
    key = "the key in the environment"
    stolen = {ran.case.name for ran in control_report.rans if key in ran.reached}
    assert {"environment", "environment-in-c", "walk-for-keys"} <= stolen
    if "landlock" in control_report.layers:
        assert {"own-environ", "parent-environ", "environment-on-the-stack"} <= stolen
    reached = {ran.case.name: " ".join(ran.reached) for ran in control_report.rans}
    assert "connection by TCP" in reached["tcp"] and "datagram" in reached["udp"]
    assert "made appeared" in reached["create-file"] and "log is gone" in reached["unlink"]

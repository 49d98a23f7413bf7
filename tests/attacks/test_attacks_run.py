"""The runner: what it tells, what it survives, and that it leaves nothing behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from worldcoder.attacks import Ending, Ran, Stands, attack, every_case, find_case
from worldcoder.attacks.run import _chunks, attack_each
from worldcoder.attacks.system import children, system_call
from worldcoder.errors import SandboxError
from worldcoder.sandbox import Layer

FEW = [find_case(name) for name in ("udp", "read-public-without-filter", "pickle", "patch-service")]


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of its own for temporary files, into which a worker may go."""
    folder = Path(tempfile.mkdtemp(dir="/tmp", prefix="worldcoder-test-"))
    folder.chmod(0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir()), "something was left behind"
    folder.rmdir()


def test_it_tells_of_each_case_and_leaves_nothing_behind() -> None:
    processes = children(os.getpid())
    told: list[Ran] = []
    report = attack(cases=FEW, progress=told.append)
    assert [ran.case for ran in report.rans] == FEW
    assert {ran.case.name for ran in told} == {case.name for case in FEW}
    assert report.held and report.seconds > 0 and not report.unhealthy
    assert Layer.EXEC in report.layers
    assert children(os.getpid()) == processes


def test_layers_can_be_left_off() -> None:
    report = attack(cases=FEW, off=[Layer.FRAMES])
    assert [ran.case.name for ran in report.failed] == ["pickle"] and not report.held
    assert report.off == {Layer.FRAMES}


def test_no_cases() -> None:
    report = attack(cases=[])
    assert report.held and not report.rans


def test_an_interpreter_that_is_none() -> None:
    for python in ("/bin/false", "/nowhere/python"):
        with pytest.raises(SandboxError, match="a process to be attacked cannot be started"):
            attack(cases=FEW, stands=Stands(python=python))


def test_an_interruption_ends_it() -> None:
    def interrupt(ran: Ran) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attack(cases=FEW, progress=interrupt)


def test_a_parent_that_dies_is_told_and_replaced() -> None:
    """The case kills the parent itself, where nothing would hinder it."""
    killed = list(_killing(every_case()[0].name))
    assert killed[0].ending is Ending.BROKEN and killed[0].reached == ("the parent",)
    assert killed[1].held


def test_what_was_not_sent_is_no_error_when_a_dead_parent_is_let_go() -> None:
    from worldcoder.attacks.run import _Lane

    with _Lane(Stands()) as lane:
        lane._begin()
        assert lane._process is not None and lane._process.stdin is not None
        lane._process.kill()
        lane._process.wait()
        lane._process.stdin.write(b"{}")  # it stays in the buffer


def _killing(name: str) -> list[Ran]:
    from worldcoder.attacks.run import _Lane

    with _Lane(Stands()) as lane:
        first = find_case(name)
        lane._begin()
        assert lane._process is not None
        lane._process.kill()
        return [lane.run(first, frozenset(), True), lane.run(first, frozenset(), True)]


def test_cases_with_the_same_layers_go_together() -> None:
    jobs = [(case, frozenset[Layer]()) for case in every_case()]
    chunks = list(_chunks(jobs))
    assert sorted(case.name for chunk in chunks for case, _ in chunk) == sorted(c.name for c, _ in jobs)
    for chunk in chunks:
        assert len({case.without for case, _ in chunk}) == 1


def test_each_case_with_layers_of_its_own() -> None:
    udp = find_case("udp")
    report = attack_each([(udp, frozenset()), (find_case("pickle"), frozenset([Layer.FRAMES]))])
    assert [ran.held for ran in report.rans] == [True, False] and report.off == frozenset()


def test_a_system_call_that_is_not_known() -> None:
    with pytest.raises((OSError, KeyError)):
        system_call("no-such-call")

"""An experiment and the programs in it: what locks them, what is recorded of that, and of how they fail."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from scripted import RIGHT, Scripted, loops_at
from test_resume import results

from worldcoder.errors import RunError, SandboxError
from worldcoder.experiment import SYNTHESIZERS, Experiment, resume, run
from worldcoder.programs import Runner
from worldcoder.runs import RunReader, locks
from worldcoder.runs.events import Caution, Event, Failed
from worldcoder.sandbox import Layer, LayerReport, Limits, probe

ROOM = f"{Path(__file__).parent / 'runs' / 'room.py'}:make_env"
SHORT = Experiment(ROOM, max_actions=12)
CORRIDOR = Experiment(
    f"{Path(__file__).parent / 'scripted.py'}:make_env", synthesizer="rules", max_actions=45, polish=5
)


def report(layer: Layer, there: bool, detail: str = "") -> LayerReport:
    return LayerReport(layer, there, False, detail)


EVERYTHING = (report(Layer.SECCOMP, True), report(Layer.LANDLOCK, True))
NO_LANDLOCK = (report(Layer.SECCOMP, True), report(Layer.LANDLOCK, False, "the kernel has none"))
MACOS = (report(Layer.LANDLOCK, False, "only on Linux"), report(Layer.SEATBELT, True))
NOTHING = (report(Layer.SECCOMP, False, "not on win32"), report(Layer.LANDLOCK, False, "not on win32"))


@pytest.mark.parametrize(
    ("layers", "words", "told"),
    [
        (EVERYTHING, "locked", None),
        (MACOS, "locked", None),
        (NO_LANDLOCK, "locked, without Landlock", "the kernel has none"),
        (NOTHING, "none (--unsafe-no-sandbox)", "whatever you can"),
    ],
)
def test_layers_in_words(layers: tuple[LayerReport, ...], words: str, told: str | None) -> None:
    assert locks.in_words(layers) == words
    caution = locks.caution(layers)
    assert caution is None if told is None else caution is not None and told in caution


def test_what_protects_least_is_what_is_said() -> None:
    assert locks.weakest("locked") == locks.weakest(None, "locked") == "locked"
    assert locks.weakest("locked", "locked, without Landlock") == "locked, without Landlock"
    assert locks.weakest(locks.NONE, "locked") == locks.NONE
    assert locks.weakest("of a later version", "locked") == "none"


def events_of(directory: Path, runner: Runner, experiment: Experiment = SHORT) -> list[Event]:
    events: list[Event] = []
    run(experiment, directory, listener=events.append, pictures=False, runner=runner)
    return events


@pytest.fixture
def runner() -> Iterator[Runner]:
    with Runner() as runner:
        yield runner


def test_the_record_says_what_locked_the_programs(tmp_path: Path, runner: Runner) -> None:
    events = events_of(tmp_path / "run", runner)
    expected = locks.in_words(probe())
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["sandbox"] == expected
    with RunReader(tmp_path / "run") as reader:
        assert reader.meta("sandbox") == expected
        assert reader.meta("layers") == {str(r.layer): r.there for r in probe()}
    assert sum(isinstance(e, Caution) for e in events) == (expected != "locked")
    runner.load()  # it was lent, and is not closed


@pytest.mark.parametrize(("layers", "words"), [(NO_LANDLOCK, locks.NO_LANDLOCK), (NOTHING, locks.NONE)])
def test_what_is_missing_is_told_once_and_recorded(
    tmp_path: Path,
    runner: Runner,
    monkeypatch: pytest.MonkeyPatch,
    layers: tuple[LayerReport, ...],
    words: str,
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Runner, "layers", layers)
        events = events_of(tmp_path / "run", runner)
    assert [e.text for e in events if isinstance(e, Caution)] == [locks.caution(layers)]
    # what was begun with less is not made better by what comes later
    again = resume(tmp_path / "run", pictures=False, runner=runner, max_actions=14)
    assert again.sandbox == words and again.real_actions == 14


def test_nothing_is_written_where_programs_cannot_be_locked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worldcoder.sandbox.sandbox.probe", lambda: NOTHING)
    with pytest.raises(SandboxError, match="--unsafe-no-sandbox"):
        run(SHORT, tmp_path / "run", pictures=False)
    assert not (tmp_path / "run").exists()


def test_a_run_leaves_no_process_behind(tmp_path: Path) -> None:
    def children() -> set[str]:
        found = set()
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                pid, _, rest = stat.read_text().partition(" (")
            except OSError:
                continue
            if int(rest.rpartition(") ")[2].split()[1]) == os.getpid():
                found.add(pid)
        return found

    if not Path("/proc").exists():
        pytest.skip("there is no /proc")
    before = children()
    run(SHORT, tmp_path / "whole", pictures=False)
    assert children() <= before
    with pytest.raises(KeyboardInterrupt):
        run(SHORT, tmp_path / "broken", pictures=False, listener=_interrupt)
    assert children() <= before


def _interrupt(event: Event) -> None:
    raise KeyboardInterrupt


@pytest.fixture
def propose(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Scripted]]:
    """Let scripted proposers stand in for the rules; those that were made."""

    def let(*sources: str) -> list[Scripted]:
        made: list[Scripted] = []

        def new(tools: object) -> Scripted:
            made.append(Scripted(*sources))
            return made[-1]

        monkeypatch.setitem(SYNTHESIZERS, "rules", new)
        return made

    return let


@pytest.mark.parametrize("then", [(), (RIGHT,)], ids=["no other", "another"])
def test_faults_of_plans_are_recorded_and_remembered(
    tmp_path: Path, propose: Callable[..., list[Scripted]], then: tuple[str, ...]
) -> None:
    made = propose(loops_at(7), *then)
    events: list[Event] = []
    with Runner(limits=Limits(call_seconds=0.1)) as runner:
        whole = run(CORRIDOR, tmp_path / "whole", listener=events.append, pictures=False, runner=runner)
        with RunReader(tmp_path / "whole") as reader:
            faults = [p.plan.fault for p in reader.plans() if p.plan.fault is not None]
            notes = [note.text for note in reader.notes() if note.what == "failed"]
        first = faults[0]
        assert (first.failing, first.state.one("Walker").x, first.action.name) == ("timeout", 7, "east")
        (failed,) = (e for e in events if isinstance(e, Failed))
        assert failed.program.source == loops_at(7) and "timeout" in failed.what
        assert notes == [f"transition program {failed.program.id}: {failed.what}"]

        cut = replace(CORRIDOR, max_actions=13)
        run(cut, tmp_path / "cut", pictures=False, runner=runner)
        for actions in (14, 17, 25, 45):
            last = resume(tmp_path / "cut", pictures=False, runner=runner, max_actions=actions)
    assert results(tmp_path / "cut") == results(tmp_path / "whole")
    assert last.sandbox == whole.sandbox
    assert [(f.what, f.action) for _, f in made[-1].told] == [(f.what, f.action) for _, f in made[0].told]


def test_runs_of_before_there_was_a_sandbox_can_be_read(tmp_path: Path) -> None:
    run(SHORT, tmp_path / "run", pictures=False)
    file, log = tmp_path / "run" / "summary.json", tmp_path / "run" / "log.sqlite"
    values = json.loads(file.read_text())
    del values["sandbox"]
    file.write_text(json.dumps(values))
    with closing(sqlite3.connect(log)) as connection, connection:
        connection.execute("ALTER TABLE plans DROP COLUMN fault")
        connection.execute("DELETE FROM meta WHERE key IN ('sandbox', 'layers')")
        connection.execute("UPDATE meta SET value = '1' WHERE key = 'format'")
    assert resume(tmp_path / "run").sandbox == "none"
    with RunReader(tmp_path / "run") as reader:
        assert all(recorded.plan.fault is None for recorded in reader.plans())
    with pytest.raises(RunError, match="earlier version"):
        resume(tmp_path / "run", max_actions=30)

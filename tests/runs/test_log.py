"""The log: written in whole transactions, read back as it was."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from worldcoder.errors import RunError
from worldcoder.planning import Plan, Status
from worldcoder.programs import Program
from worldcoder.runs import RunReader
from worldcoder.runs.log import RunLog
from worldcoder.runs.schema import LOG
from worldcoder.world.values import Action, Obj, Ref, State, Transition

ONE = State([Obj("Lamp", x=1, lit=True), Obj("Hand", holds=None)])
TWO = State([Obj("Lamp", x=1, lit=1), Obj("Hand", holds=(1, "a"))])
THREE = State([Obj("Lamp", name="l", x=2.5), Obj("Hand", holds=Ref("l"))])


@pytest.fixture
def log(tmp_path: Path) -> RunLog:
    return RunLog.create(tmp_path, {"config": {"seed": 3}})


def fill(log: RunLog) -> None:
    with log.transaction():
        log.add_episode(1, 7, "shine", ONE, 0)
        log.add_decision(1, 1, 0, Action("turn", (1, None, "x")), "plan", "ε", 0.5, "found", "Lamp lit")
        log.add_transition(
            1, 1, Transition(ONE, "shine", Action("turn"), TWO, 0.1, False), True, {"total": 1.5}
        )
        log.add_transition(2, 1, Transition(TWO, "shine", Action("turn"), THREE, 1.0, True), False, {})
        log.add_decision(2, 1, 2, None, "explore", "", 1.0, None, None)
        program = Program("def transition(s, a):\n    return s\n", "transition", origin="rules", comment="c")
        log.add_program(1, program, "parent", 0.75, 2)
        log.add_plan(1, 1, Plan(Status.FOUND, (Action("turn", (2,)),), (0.1 + 0.2,), 12, 0.5, "bfs"))
        log.add_note(1, 2, "solved", "reward 1")


def test_everything_comes_back_as_it_was(log: RunLog, tmp_path: Path) -> None:
    with closing(log):
        fill(log)
    with RunReader(tmp_path) as reader:
        assert reader.config == {"seed": 3}
        assert reader.stopped is None
        (episode,) = reader.episodes()
        assert (episode.seed, episode.goal, episode.start, episode.after) == (7, "shine", ONE, 0)
        first, second = reader.transitions()
        assert first.transition == Transition(ONE, "shine", Action("turn"), TWO, 0.1, False)
        assert first.truncated and first.seconds == {"total": 1.5}
        assert second.transition.next_state == THREE and second.transition.done
        chosen, again = reader.decisions()
        assert (chosen.action, chosen.note, chosen.guess) == (Action("turn", (1, None, "x")), "ε", "Lamp lit")
        assert again.action is None and again.phi2 is None
        (program,) = reader.programs()
        assert (program.program.parent, program.score, program.after) == ("parent", 0.75, 2)
        assert program.program.source.startswith("def transition")
        (plan,) = reader.plans()
        assert plan.plan.rewards == (0.1 + 0.2,) and plan.plan.actions == (Action("turn", (2,)),)
        (note,) = reader.notes()
        assert (note.what, note.text, note.after) == ("solved", "reward 1", 2)


def test_states_are_stored_once_and_exactly(log: RunLog, tmp_path: Path) -> None:
    with closing(log):
        fill(log)
        with log.transaction():
            log.add_episode(2, 7, "shine", State(reversed(ONE.objects)), 2)
    with closing(sqlite3.connect(tmp_path / LOG)) as connection:
        assert connection.execute("SELECT count(*) FROM states").fetchone() == (3,)
    with RunReader(tmp_path) as reader:
        first = next(reader.transitions()).transition
    kinds = [type(next(o for o in s if o.kind == "Lamp").lit) for s in (first.state, first.next_state)]
    assert kinds == [bool, int]  # equal states, and yet not the same


def test_a_transaction_is_whole_or_absent(log: RunLog, tmp_path: Path) -> None:
    with closing(log):
        with pytest.raises(ZeroDivisionError), log.transaction():
            log.add_episode(1, 7, "shine", ONE, 0)
            1 / 0  # noqa: B018
        with RunReader(tmp_path) as reader:
            assert list(reader.episodes()) == []
        fill(log)  # and the log still works


def test_it_can_be_read_while_it_is_written(log: RunLog, tmp_path: Path) -> None:
    with closing(log), RunReader(tmp_path) as reader:
        assert list(reader.transitions()) == []
        fill(log)
        assert len(list(reader.transitions())) == 2


def test_a_closed_log_is_one_file(log: RunLog, tmp_path: Path) -> None:
    with closing(log):
        fill(log)
    assert [path.name for path in tmp_path.iterdir()] == [LOG]


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no run's directory"):
        RunReader(tmp_path)
    (tmp_path / LOG).write_text("not a database, but long enough to be taken for one" * 30)
    with pytest.raises(RunError, match="damaged or no log"):
        RunReader(tmp_path)
    (tmp_path / LOG).write_bytes(b"")
    with pytest.raises(RunError, match="damaged or no log"):
        RunReader(tmp_path)


def test_a_log_of_another_format_is_refused(log: RunLog, tmp_path: Path) -> None:
    with closing(log), log.transaction():
        log.set_meta("format", 99)
    with pytest.raises(RunError, match="format 99, this version reads 1"):
        RunReader(tmp_path)


def test_a_second_run_in_one_directory_is_refused(log: RunLog, tmp_path: Path) -> None:
    log.close()
    with pytest.raises(RunError, match="holds a run already"):
        RunLog.create(tmp_path, {})

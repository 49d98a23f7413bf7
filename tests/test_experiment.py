"""An experiment: what it records, how it ends, and what it refuses."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from worldcoder.agent import AgentConfig
from worldcoder.errors import RunError, UsageError, WorldError
from worldcoder.experiment import Experiment, resume, run
from worldcoder.programs.saving import load_metadata, load_model
from worldcoder.runs import RunReader
from worldcoder.runs.events import Acted, Adopted, Began, Event, Solved, Summary

ROOM = f"{Path(__file__).parent / 'runs' / 'room.py'}:make_env"
SHORT = Experiment(ROOM, polish=8)


def without_seconds(summary: Summary) -> dict[str, Any]:
    values = summary.to_json()
    return {key: value for key, value in values.items() if key not in ("seconds", "model")}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Summary, list[Event]]:
    directory, events = tmp_path_factory.mktemp("runs") / "room", []
    return directory, run(SHORT, directory, listener=events.append, pictures=False), events


def test_the_summary_says_what_came_of_it(finished: tuple[Path, Summary, list[Event]]) -> None:
    directory, summary, _ = finished
    written = json.loads((directory / "summary.json").read_text())
    assert written == summary.to_json()
    assert written["environment"] == ROOM and written["synthesizer"] == "rules" and written["seed"] == 0
    assert written["solved"] is True and written["stopped"] in ("solved", "converged")
    assert written["phi1"] == 1.0 and written["phi2"] == "found"
    assert (written["model_calls"], written["tokens"], written["usd"]) == (0, 0, 0.0)
    assert 10 < written["actions_to_model"] <= written["real_actions"]
    assert set(written["seconds"]) == {"total", "acting", "synthesis", "planning"}
    assert Path(written["model"]) == directory / "model"


def test_the_log_agrees_with_the_summary(finished: tuple[Path, Summary, list[Event]]) -> None:
    directory, summary, _ = finished
    with RunReader(directory) as reader:
        transitions = [t.transition for t in reader.transitions()]
        assert len(transitions) == summary.real_actions
        assert len(list(reader.episodes())) == summary.episodes
        solved = [i for i, t in enumerate(transitions, 1) if t.done and t.reward > 0]
        assert solved[0] == summary.actions_to_solve and len(solved) == summary.successes
        chosen = [d.action for d in reader.decisions() if d.action is not None]
        assert chosen == [t.action for t in transitions]
        programs = list(reader.programs())
        assert programs[-1].after == summary.actions_to_model
        assert all(
            t.next_state == following.state or t.done for t, following in itertools.pairwise(transitions)
        )
        assert reader.stopped == summary.stopped
        assert Experiment.from_json(reader.config) == SHORT


def test_the_model_is_saved(finished: tuple[Path, Summary, list[Event]]) -> None:
    directory, summary, _ = finished
    model = load_model(directory)
    assert model.transition.lines == summary.transition_lines
    assert load_metadata(directory)["environment"] == ROOM


def test_a_listener_is_told(finished: tuple[Path, Summary, list[Event]]) -> None:
    _, summary, events = finished
    assert isinstance(events[0], Began) and events[0].glyphs is not None
    acted = [e for e in events if isinstance(e, Acted)]
    assert [e.progress.actions for e in acted] == list(range(1, summary.real_actions + 1))
    assert sum(isinstance(e, Solved) for e in events) == 1
    assert any(isinstance(e, Adopted) and e.program.kind == "transition" for e in events)


@pytest.mark.parametrize(
    ("changes", "stopped", "measure", "limit"),
    [
        ({"max_actions": 7}, "actions", "real_actions", 7),
        ({"max_actions": 0}, "actions", "real_actions", 0),
        ({"max_episodes": 2, "polish": 1000}, "episodes", "episodes", 2),
        ({"max_episodes": 0}, "episodes", "episodes", 0),
        ({"polish": 0}, "solved", "successes", 1),
    ],
)
def test_budgets_are_hard(
    tmp_path: Path, changes: dict[str, Any], stopped: str, measure: str, limit: int
) -> None:
    summary = run(replace(SHORT, **changes), tmp_path, pictures=False)
    assert summary.stopped == stopped
    assert getattr(summary, measure) == limit
    assert (summary.model is None) == (not (tmp_path / "model").exists())


def test_seconds_end_a_run_in_the_middle_of_a_step(tmp_path: Path) -> None:
    slow = replace(SHORT, options={"slow": 60.0}, max_seconds=0.3)
    summary = run(slow, tmp_path, pictures=False)
    assert summary.stopped == "seconds" and summary.seconds["total"] < 10


def test_levels_are_the_same_or_the_next(tmp_path: Path) -> None:
    for levels, expected in (("same", [5, 5, 5]), ("next", [5, 6, 7])):
        short = Experiment(ROOM, options={"limit": 4}, seed=5, max_episodes=3, levels=levels)  # type: ignore[arg-type]
        run(short, tmp_path / levels, pictures=False)
        with RunReader(tmp_path / levels) as reader:
            assert [episode.seed for episode in reader.episodes()] == expected


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Experiment(ROOM, seed=-1), "seed: expected 0 to"),
        (lambda: Experiment(ROOM, max_actions=-1), "max_actions: expected 0 or more, got -1"),
        (lambda: Experiment(ROOM, max_seconds=float("nan")), "max_seconds: expected 0 or more"),
        (lambda: Experiment(ROOM, max_seconds=float("inf")), "max_seconds: expected 0 or more"),
        (lambda: Experiment(ROOM, max_episodes=-2), "max_episodes"),
        (lambda: Experiment(ROOM, polish=-2), "polish"),
        (lambda: Experiment(ROOM, synthesizer="rule"), "did you mean 'rules'"),
        (lambda: Experiment(ROOM, levels="all"), "expected same or next"),  # type: ignore[arg-type]
        (lambda: Experiment(ROOM, options={"a": object()}), "JSON"),
        (lambda: Experiment(ROOM, agent=AgentConfig(epsilon=1.5)), "epsilon: expected a share from 0 to 1"),
        (lambda: Experiment(ROOM, agent=AgentConfig(min_data=0)), "min_data: expected 1 or more"),
    ],
)
def test_values_that_do_not_fit_are_refused(build: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build()


def test_an_experiment_survives_json() -> None:
    experiment = Experiment(ROOM, options={"size": "7"}, agent=AgentConfig(epsilon=0.1), max_seconds=2.5)
    assert Experiment.from_json(json.loads(json.dumps(experiment.to_json()))) == experiment
    with pytest.raises(RunError, match="another version"):
        Experiment.from_json({"environment": ROOM, "agent": {}, "colour": "red"})


@pytest.mark.parametrize("factory", ["raises", "bad_reset", "nothing_like_it", "NOT_A_FACTORY"])
def test_nothing_is_written_for_an_environment_that_does_not_start(tmp_path: Path, factory: str) -> None:
    with pytest.raises(WorldError) as error:
        run(replace(SHORT, environment=ROOM.replace("make_env", factory)), tmp_path / "run")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "run").exists()


def test_a_world_that_fails_ends_the_run_in_order(tmp_path: Path) -> None:
    failing = replace(SHORT, options={"fails_at": 14}, seed=3)
    with pytest.raises(WorldError, match=r"raised OverflowError: the walls came down$"):
        run(failing, tmp_path, pictures=False)
    written = json.loads((tmp_path / "summary.json").read_text())
    assert written["stopped"] == "error" and "the walls came down" in written["error"]
    assert written["real_actions"] == 13
    assert load_model(tmp_path)


def test_a_world_that_gives_no_state_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match=r"step\(\w+\) gave NoneType as the state, expected a State"):
        run(replace(SHORT, environment=ROOM.replace("make_env", "bad_step")), tmp_path, pictures=False)


def test_a_reward_that_is_no_number_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="expected a finite number"):
        run(replace(SHORT, options={"reward": "nan"}), tmp_path, pictures=False)


def test_a_finished_run_is_left_as_it_is(finished: tuple[Path, Summary, list[Event]]) -> None:
    directory, summary, _ = finished
    before = {p: p.read_bytes() for p in directory.rglob("*") if p.is_file()}
    assert resume(directory).to_json() == summary.to_json()
    assert {p: p.read_bytes() for p in directory.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize(
    ("limits", "stopped"), [({"max_actions": 11}, "actions"), ({"max_episodes": 1}, "episodes")]
)
def test_a_larger_budget_goes_on_as_if_it_had_always_been(
    finished: tuple[Path, Summary, list[Event]], tmp_path: Path, limits: dict[str, int], stopped: str
) -> None:
    assert run(replace(SHORT, **limits), tmp_path, pictures=False).stopped == stopped
    full = {name: getattr(SHORT, name) for name in limits}
    assert without_seconds(resume(tmp_path, pictures=False, **full)) == without_seconds(finished[1])


def test_a_world_that_does_not_repeat_itself_cannot_be_resumed(tmp_path: Path) -> None:
    drifting = Experiment(ROOM, options={"drifts": True}, max_actions=8)
    run(drifting, tmp_path, pictures=False)
    before = (tmp_path / "summary.json").read_bytes()
    with pytest.raises(RunError, match=r"otherwise than recorded.*does not repeat itself"):
        resume(tmp_path, max_actions=20, pictures=False)
    assert (tmp_path / "summary.json").read_bytes() == before


def test_a_run_that_comes_out_otherwise_is_refused(tmp_path: Path) -> None:
    run(Experiment(ROOM, max_actions=20, polish=1000), tmp_path, pictures=False)
    with closing(sqlite3.connect(tmp_path / "log.sqlite")) as connection, connection:
        connection.execute("UPDATE decisions SET note = 'other' WHERE id = 12")
    with pytest.raises(RunError, match=r"action 12: note .*; recorded is: note other"):
        resume(tmp_path, max_actions=30, pictures=False)


def test_what_is_no_run_cannot_be_resumed(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(RunError, match="is no run's directory"):
            resume(path)

"""Experiments with a language model: what they take, and what comes of a run that stops anywhere and goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted_runs import KEY, ROOM, ScriptedServer, results, texts, writer

from worldcoder.agent import AgentConfig
from worldcoder.errors import RunError, UsageError
from worldcoder.experiment import SYNTHESIZERS, Experiment, ModelConfig, rerun, resume, run
from worldcoder.llm.errors import NotRecorded, Unavailable
from worldcoder.llm.store import Outcome, SqliteStore
from worldcoder.programs import Runner
from worldcoder.runs import RunReader
from worldcoder.runs.calls import ModelCalls
from worldcoder.runs.events import Asking, Event, Thinking

from scripted_server import status  # isort: skip

MODEL = ModelConfig("openai/scripted", base_url="http://127.0.0.1:9/v1")
SHORT = Experiment(
    "sokoban", options={"size": 6}, seed=1, max_actions=12, synthesizer="llm", model=MODEL, polish=5
)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def at(server: ScriptedServer, experiment: Experiment = SHORT, **changes: Any) -> Experiment:
    return experiment.changed(base_url=server.url, **changes)


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────


def test_who_writes_where_nothing_is_said() -> None:
    assert Experiment(ROOM).synthesizer == "rules"
    assert Experiment(ROOM, model=MODEL).synthesizer == "hybrid"
    assert set(SYNTHESIZERS) == {"rules", "llm", "hybrid"}


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Experiment(ROOM, synthesizer="llm"), "needs a model"),
        (lambda: Experiment(ROOM, synthesizer="rules", model=MODEL), "asks no language model"),
        (lambda: replace(MODEL, max_calls=0), "max_calls: expected 1 or more, got 0"),
        (lambda: replace(MODEL, in_flight=0), "in_flight"),
        (lambda: replace(MODEL, max_usd=-1.0), "max_usd: expected 0 or more"),
        (lambda: replace(MODEL, max_usd=float("nan")), "max_usd"),
        (lambda: replace(MODEL, temperature=-0.5), "temperature"),
        (lambda: replace(MODEL, c=-1.0), "c: expected"),
        (
            lambda: replace(MODEL, search="depth-first"),
            "expected one of rex, breadth-first, greedy, best-of-n",
        ),
        (lambda: replace(MODEL, base_url=f"http://me:{KEY}@host/v1"), "no name, password or query"),
        (lambda: replace(MODEL, base_url=f"http://host/v1?key={KEY}"), "no name, password or query"),
        (lambda: Experiment(ROOM).changed(max_calls=3), "asks no language model"),
    ],
)
def test_values_that_do_not_fit_are_refused(build: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        build()
    assert KEY not in str(error.value)


def test_an_experiment_survives_json_and_older_ones_are_read() -> None:
    full = replace(MODEL, max_usd=1.5, search="greedy", prompts="mine", temperature=0.5)
    experiment = Experiment(ROOM, model=full)
    assert Experiment.from_json(json.loads(json.dumps(experiment.to_json()))) == experiment
    old = Experiment(ROOM).to_json()
    del old["model"]
    assert Experiment.from_json(old) == Experiment(ROOM)


def test_changes_reach_the_model_and_the_agent() -> None:
    changed = SHORT.changed(max_calls=7, epsilon=0.5, max_actions=3)
    assert changed.model == replace(MODEL, max_calls=7) and changed.max_actions == 3
    assert changed.agent == AgentConfig(epsilon=0.5)


@pytest.mark.parametrize("search", ["rex", "breadth-first", "greedy", "best-of-n"])
def test_searches_are_made_by_name(search: str) -> None:
    import random

    bandit = replace(MODEL, search=search, c=2.0).writing().bandit
    assert bandit is not None
    strategy = bandit(random.Random(0))
    strategy.add("", 0.0)
    assert strategy.ask() == ""


# ── runs ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_killed_at_any_reply_and_resumed_it_pays_for_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runner: Runner
) -> None:
    """One program at a time, so that nothing else is under way when it is killed."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    with ScriptedServer(writer(1)) as server:
        run(at(server, in_flight=1), whole, pictures=False, runner=runner)
        asked = [one.body for one in server.asked]
    assert len(asked) > 6
    with RunReader(whole) as reader:
        assert [r.request.messages[-1].content for r in reader.replies()] == [
            body["messages"][-1]["content"] for body in asked
        ]
    count, left = ModelCalls._count, [0]

    def dying(calls: ModelCalls, outcome: Outcome) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise SystemExit("killed")
        count(calls, outcome)

    monkeypatch.setattr(ModelCalls, "_count", dying)
    with ScriptedServer(writer(1)) as server:
        experiment = at(server, in_flight=1)
        begin: Callable[[], object] = lambda: run(experiment, killed, pictures=False, runner=runner)  # noqa: E731
        for each in (1, 2, 5):
            left[0] = each
            with pytest.raises(SystemExit):
                begin()
            begin = lambda: resume(killed, pictures=False, runner=runner)  # noqa: E731
        left[0] = 0
        resume(killed, pictures=False, runner=runner)
        assert [one.body for one in server.asked] == asked
    assert results(killed) == results(whole)


@pytest.mark.parametrize("limits", [(3, 6), (1, 2, 5), (4, 5, 9)])
def test_with_more_calls_it_goes_on_where_it_ended_and_pays_for_none_twice(
    tmp_path: Path, runner: Runner, limits: tuple[int, ...]
) -> None:
    """Two are in flight, so that the last round before a limit may be half a round."""
    talk = "I would have to think about that."
    with ScriptedServer([talk]) as server:
        run(at(server, max_calls=limits[0]), tmp_path / "run", pictures=False, runner=runner)
        for limit in limits:
            again = resume(tmp_path / "run", max_calls=limit, pictures=False, runner=runner)
            assert (texts(server.asked), again.model_calls, again.stopped) == (limit, limit, "calls")
        with pytest.raises(UsageError, match=rf"was begun with {limits[-1]}, got 2; it can only be raised"):
            resume(tmp_path / "run", max_calls=2, pictures=False, runner=runner)
        assert texts(server.asked) == limits[-1]
    rerun(tmp_path / "run", tmp_path / "again", pictures=False, runner=runner)
    assert results(tmp_path / "again") == results(tmp_path / "run")


def test_a_run_that_solved_its_problems_goes_on_with_more_calls_as_well(
    tmp_path: Path, runner: Runner
) -> None:
    with ScriptedServer(writer(1)) as server:
        first = run(at(server, max_calls=40), tmp_path / "run", pictures=False, runner=runner)
        assert first.stopped == "actions" and first.model_calls is not None
        resume(tmp_path / "run", max_calls=60, max_actions=20, pictures=False, runner=runner)
        longer = server.asked[:]
    with ScriptedServer(writer(1)) as server:
        run(at(server, max_calls=40, max_actions=20), tmp_path / "whole", pictures=False, runner=runner)
        whole = server.asked[:]
    # two are in flight, and either may arrive first
    assert sorted(repr(one.body) for one in whole) == sorted(repr(one.body) for one in longer)


def test_in_a_hybrid_the_limit_of_calls_stays_what_it_was(tmp_path: Path, runner: Runner) -> None:
    with ScriptedServer(["I would have to think about that."]) as server:
        hybrid = Experiment(ROOM, max_actions=11, model=MODEL)
        run(at(server, hybrid, max_calls=2), tmp_path / "run", pictures=False, runner=runner)
        asked = len(server.asked)
        for limit in (1, 3):
            with pytest.raises(
                UsageError, match=f"max_calls: the run was begun with 2, got {limit}; with hybrid"
            ):
                resume(tmp_path / "run", max_calls=limit, max_actions=13, pictures=False, runner=runner)
        assert len(server.asked) == asked
        assert resume(tmp_path / "run", max_calls=2, max_actions=13, runner=runner).real_actions == 13


def test_what_the_log_does_not_have_in_its_middle_is_not_asked(tmp_path: Path, runner: Runner) -> None:
    with ScriptedServer(writer(1)) as server:
        run(at(server), tmp_path / "run", pictures=False, runner=runner)
        before = len(server.asked)
        with SqliteStore(tmp_path / "run" / "log.sqlite") as store:
            store._connection.execute("UPDATE replies SET key = 'another' WHERE id = 2")
            store._connection.commit()
        with pytest.raises(NotRecorded, match="start a new run"):
            resume(tmp_path / "run", max_actions=14, pictures=False, runner=runner)
        assert len(server.asked) == before


def test_a_server_that_is_gone_ends_a_run_that_can_go_on(tmp_path: Path, runner: Runner) -> None:
    final = status(402, "Insufficient credits")
    with ScriptedServer(writer(1, final)) as server:
        with pytest.raises(Exception, match=r"Insufficient|credit"):
            run(at(server), tmp_path / "run", pictures=False, runner=runner)
        summary = json.loads((tmp_path / "run" / "summary.json").read_text())
        assert summary["stopped"] == "error" and summary["real_actions"] == 10
        events: list[Event] = []
        resume(tmp_path / "run", listener=events.append, pictures=False, runner=runner)
        assert texts(server.asked) > 2
    asking = [e for e in events if isinstance(e, Asking)]
    assert asking and asking[0].in_flight == 2, "what is waited for is told, although nothing was done yet"
    assert any(isinstance(e, Thinking) and e.what == "waiting" for e in events)


def test_a_run_without_a_language_model_is_done_again_as_well(tmp_path: Path, runner: Runner) -> None:
    experiment = Experiment(ROOM, polish=5)
    run(experiment, tmp_path / "run", pictures=False, runner=runner)
    rerun(tmp_path / "run", tmp_path / "again", pictures=False, runner=runner)
    assert results(tmp_path / "again") == results(tmp_path / "run")


def test_a_run_that_has_not_ended_is_not_done_again(tmp_path: Path, runner: Runner) -> None:
    def stop(event: Event) -> None:
        raise MemoryError

    with pytest.raises(MemoryError):
        run(Experiment(ROOM), tmp_path / "run", listener=stop, pictures=False, runner=runner)
    with pytest.raises(RunError, match=r"has not ended.*--resume"):
        rerun(tmp_path / "run", tmp_path / "again", runner=runner)
    assert not (tmp_path / "again").exists()


def test_nobody_there_is_said_in_one_line(tmp_path: Path, runner: Runner) -> None:
    with pytest.raises(Unavailable) as error:
        run(SHORT, tmp_path / "run", pictures=False, runner=runner)
    assert "127.0.0.1:9" in str(error.value) and "\n" not in str(error.value)


def test_a_hybrid_asks_only_for_what_rules_do_not_explain(tmp_path: Path, runner: Runner) -> None:
    with ScriptedServer(writer(1)) as server:
        room = Experiment(ROOM, polish=5, max_actions=40, model=MODEL)
        summary = run(at(server, room), tmp_path / "run", pictures=False, runner=runner)
    assert summary.synthesizer == "hybrid" and summary.solved
    assert summary.model_calls == texts(server.asked) == 0 and summary.usd == 0.0

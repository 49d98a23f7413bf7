"""Curricula with a language model: old programs are not asked for again, limits are of the whole, keys nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scripted_runs import KEY, ScriptedServer, texts, writer

from worldcoder.curriculum import learn_curriculum, read, resume_curriculum
from worldcoder.experiment import Experiment, ModelConfig, run
from worldcoder.programs import Runner

STAGES = """
[every]
polish = 5
max_actions = 14

[[stage]]
environment = "sokoban"
options = { size = 6 }

[[stage]]
environment = "sokoban"
options = { size = 7 }
seed = 3
"""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "stages.toml").write_text(STAGES)
    return tmp_path / "stages.toml"


def experiment(server: ScriptedServer) -> Experiment:
    model = ModelConfig("openai/scripted", base_url=server.url, in_flight=1)
    return Experiment(
        "sokoban", options={"size": 6}, seed=1, max_actions=14, synthesizer="llm", model=model, polish=5
    )


def test_nothing_is_asked_while_the_old_programs_hold(tmp_path: Path, runner: Runner) -> None:
    """The rules' model explains the next level as well, so that a language model has nothing to write."""
    base = Experiment("sokoban", options={"size": 6})
    assert run(base, tmp_path / "rules", pictures=False, runner=runner).solved
    with ScriptedServer(writer(1)) as server:
        summary = run(
            experiment(server), tmp_path / "run", pictures=False, runner=runner, known=tmp_path / "rules"
        )
        assert not server.asked
    assert summary.model_calls == 0 and summary.regressions == 0
    assert summary.programs == 0 and summary.phi1 == 1.0


def test_killed_by_a_limit_and_gone_on_with_it_asks_nothing_twice(
    file: Path, tmp_path: Path, runner: Runner
) -> None:
    with ScriptedServer(writer(1)) as server:
        whole = learn_curriculum(
            read(file), experiment(server), tmp_path / "whole", pictures=False, runner=runner
        )
        asked = texts(server.asked)
    assert asked > 0 and whole.stopped == "done"
    assert whole.total("model_calls") == asked
    with ScriptedServer(writer(1)) as server:
        cut = learn_curriculum(
            read(file),
            experiment(server),
            tmp_path / "cut",
            limits={"max_actions": 12},
            pictures=False,
            runner=runner,
        )
        assert cut.stopped == "actions" and cut.total("real_actions") == 12
        resume_curriculum(tmp_path / "cut", max_actions=1000, pictures=False, runner=runner)
        assert texts(server.asked) == asked
    both = [json.loads((tmp_path / name / "summary.json").read_text()) for name in ("whole", "cut")]
    for summary in both:
        for part in (summary, *summary["stages"]):
            part.pop("seconds")
        summary.pop("model")
    assert both[0] == both[1]


def test_tokens_are_limited_in_all(file: Path, tmp_path: Path, runner: Runner) -> None:
    with ScriptedServer(writer(1)) as server:
        base = experiment(server)
        summary = learn_curriculum(
            read(file), base, tmp_path / "run", limits={"max_tokens": 7000}, pictures=False, runner=runner
        )
    assert summary.stopped == "tokens" and summary.total("tokens") <= 7000
    for path in (tmp_path / "run").rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()

"""`worldcoder learn --synthesizer llm` as a user calls it, over loopback: a writer with mistakes, on twenty seeds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scripted_runs import KEY, ScriptedServer, learn_with, texts, writer

from worldcoder.cli import main

from learning import LEVELS  # isort: skip
from sokoban_writer import Payment, Physics  # isort: skip

LLM = ("--synthesizer", "llm", "--levels", "next")


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Small levels, in a working directory of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (tmp_path / "levels.txt").write_text(LEVELS)
    return "sokoban:levels.txt"


def learned(directory: Path) -> tuple[dict[str, Any], str, list[str]]:
    """The summary of a run, and the programs of its model: of transitions, of rewards."""
    programs = {path.name: path.read_text() for path in (directory / "model").glob("*.py")}
    transition = programs.pop("transition.py")
    return json.loads((directory / "summary.json").read_text()), transition, list(programs.values())


@pytest.mark.parametrize("seed", range(20))
def test_it_converges_by_repair(seed: int, world: str, tmp_path: Path) -> None:
    with ScriptedServer(writer(seed)) as server:
        command = learn_with(server, world, *LLM, "--seed", seed, "--out", "run", "--polish", 60, "-q")
        assert main(command) == 0
    summary, transition, rewards = learned(tmp_path / "run")
    assert summary["solved"] and (summary["phi1"], summary["phi2"]) == (1.0, "found")
    assert summary["model_calls"] == texts(server.asked)
    assert Physics.of(transition) == Physics(), "it is exact: none of the writer's mistakes is left"
    assert any(Payment.of(reward).done == "all" for reward in rewards)
    assert any("Your program says" in one.prompt for one in server.asked)


@pytest.mark.parametrize("seed", range(3))
def test_blind_it_does_not(seed: int, world: str, tmp_path: Path) -> None:
    with ScriptedServer(writer(seed, blind=True)) as server:
        assert main(learn_with(server, world, *LLM, "--seed", seed, "--out", "run", "-q")) == 0
    summary, transition, _ = learned(tmp_path / "run")
    assert not summary["solved"] and summary["stopped"] == "calls" and texts(server.asked) >= 50
    assert Physics.of(transition) != Physics()

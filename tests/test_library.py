"""Saved models: listed, shown, compared and merged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from worldcoder.cli import main
from worldcoder.errors import ModelFormatError
from worldcoder.experiment import Experiment, run
from worldcoder.library import compare_models, find, merge, summary_of
from worldcoder.programs import Check, Program, Runner, WorldModel, load_knowledge, load_model

RUNS = Path(__file__).parent / "runs"
ROOM, FLAGS = f"{RUNS / 'room.py'}:make_env", RUNS / "flags.py"
SHORT = Experiment(ROOM, polish=5)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with four runs: two of one world, one of a relative, one of a contrary one."""
    folder = tmp_path_factory.mktemp("runs")
    worlds = {
        "one": SHORT,
        "two": replace(SHORT, seed=6),
        "many": Experiment(f"{FLAGS}:make_many", levels="next", solve=3, polish=0),
        "contrary": Experiment(f"{FLAGS}:make_contrary", polish=0),
        "plain": Experiment(f"{FLAGS}:make_field", polish=0),
    }
    for name, experiment in worlds.items():
        run(experiment, folder / name, pictures=False)
    return folder


def test_models_are_found_and_listed(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [path.name for path in find(models)] == ["contrary", "many", "one", "plain", "two"]
    assert find(models / "one" / "model") == [models / "one" / "model"]
    assert main(["models", "list", str(models)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5 and "many" in lines[1] and "2 goals" in lines[1]
    assert main(["models", "list", str(models), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[2]["worlds"] == [ROOM]
    assert main(["models", "list", str(models / "nothing")]) == 1
    assert "is no folder" in capsys.readouterr().err


def test_without_a_command_the_runs_here_are_listed(
    models: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["models"]) == 1 and "runs is no folder" in capsys.readouterr().err
    (tmp_path / "runs").symlink_to(models)
    assert main(["models"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5


def test_one_that_cannot_be_read_hides_no_other(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load_model(models / "one").save(tmp_path / "good")
    load_model(models / "one").save(tmp_path / "bad")
    (tmp_path / "bad" / "model.json").write_text("{")
    assert main(["models", "list", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 1 and "no data" in out and "model.json is not JSON" in err


def test_what_a_model_is_about_is_shown(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = summary_of(models / "many")
    assert said["kinds"]["Walker"] == ["x", "y"] and said["actions"] == ["east", "north", "south", "west"]
    assert set(said["goals"]) == {"walk to the flag", "walk to the tree"}
    assert main(["models", "show", str(models / "many")]) == 0
    out = capsys.readouterr().out
    assert 'goal        "walk to the tree"' in out and "def transition(state, action):" in out


def test_models_of_one_world_agree(models: Path, runner: Runner) -> None:
    one, two = load_knowledge(models / "one"), load_knowledge(models / "two")
    found = compare_models(one, two, runner)
    assert found.agree and found.both == len(one.transitions) + len(two.transitions)
    assert found.difference is None and set(found.goals) == {"walk to the flag"}


def test_where_models_differ_is_said(
    models: Path, runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    found = compare_models(load_knowledge(models / "plain"), load_knowledge(models / "contrary"), runner)
    assert not found.agree and found.only_first and found.only_second
    assert found.difference is not None and "is wrong about" in found.difference
    assert main(["models", "compare", str(models / "plain"), str(models / "contrary")]) == 0
    out = capsys.readouterr().out
    assert "different code" in out and "is wrong about" in out


def test_merged_models_explain_what_each_explained(models: Path, tmp_path: Path, runner: Runner) -> None:
    known = {name: load_knowledge(models / name) for name in ("one", "two", "many")}
    merged = merge(known, runner)
    model = merged.known.model
    assert model is not None and merged.unexplained == 0
    assert set(model.rewards) == {"walk to the flag", "walk to the tree"}
    everything = [t for k in known.values() for t in k.transitions]
    assert runner.check(Check(everything), model.transition, model.rewards) == []
    assert merged.known.transitions == everything


def test_a_merged_model_can_be_gone_on_with(models: Path, tmp_path: Path) -> None:
    out = tmp_path / "merged"
    assert main(["models", "merge", str(models / "one"), str(models / "many"), "--out", str(out)]) == 0
    summary = run(replace(SHORT, seed=9, polish=0), tmp_path / "run", pictures=False, known=out)
    assert summary.solved and summary.regressions == 0 and summary.programs == 0
    assert summary.earlier == sum(len(load_knowledge(models / n).transitions) for n in ("one", "many"))


def test_the_program_that_is_right_is_kept(models: Path, runner: Runner) -> None:
    """Of a model with a wrong program and one with a right one, the right one's is taken as it is."""
    one, two = load_knowledge(models / "one"), load_knowledge(models / "two")
    assert one.model is not None
    still = Program("def transition(state, action):\n    return state\n", "transition")
    wrong = replace(one, model=WorldModel(still, one.model.rewards))
    merged = merge({"wrong": wrong, "two": two}, runner)
    assert merged.transition_of == 1 and merged.unexplained == 0


def test_what_was_learned_twice_counts_once(models: Path, runner: Runner) -> None:
    one = load_knowledge(models / "one")
    merged = merge({"one": one, "again": replace(one)}, runner)
    assert merged.known.episodes == one.episodes


def test_what_does_not_belong_together_is_not_merged(
    models: Path, tmp_path: Path, runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, contrary = load_knowledge(models / "plain"), load_knowledge(models / "contrary")
    with pytest.raises(ModelFormatError, match=r"plain and contrary contradict each other: \w+ led to"):
        merge({"plain": plain, "contrary": contrary}, runner)
    with pytest.raises(ModelFormatError, match="has no data"):
        merge({"plain": plain, "bare": replace(contrary, episodes=())}, runner)
    other = run(
        Experiment(f"{FLAGS}:make_turtle", max_actions=15), tmp_path / "turtle", pictures=False, runner=runner
    )
    assert other.model is not None
    turtle = load_knowledge(tmp_path / "turtle")
    with pytest.raises(ModelFormatError, match="are of different worlds: of the second its actions are"):
        merge({"plain": plain, "turtle": turtle}, runner)
    with pytest.raises(ModelFormatError, match="are of different worlds: of the second its actions are"):
        compare_models(plain, turtle, runner)
    one, taken = str(models / "one"), str(models / "two")
    assert main(["models", "merge", one, "--out", str(tmp_path / "out")]) == 2
    assert main(["models", "merge", one, taken, "--out", taken]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert "two models or more" in errors[0] and "exists already" in errors[1]

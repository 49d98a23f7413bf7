"""A run that begins with a model of before: what is kept, what is mended, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from worldcoder.cli import main
from worldcoder.errors import ModelFormatError, ProgramError
from worldcoder.experiment import Experiment, rerun, resume, run
from worldcoder.programs import Check, Runner, load_knowledge, load_model
from worldcoder.runs import RunReader
from worldcoder.runs.events import Summary

ROOM_FILE = Path(__file__).parent / "runs" / "room.py"
ROOM = f"{ROOM_FILE}:make_env"
FLAGS = Path(__file__).parent / "runs" / "flags.py"
SHORT = Experiment(ROOM, polish=8)
QUICK = ("--no-pictures", "--no-check", "-q")


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Summary]:
    directory = tmp_path_factory.mktemp("runs") / "room"
    return directory, run(SHORT, directory, pictures=False)


def transitions(directory: Path) -> list[object]:
    with RunReader(directory) as reader:
        return [recorded.transition for recorded in reader.transitions()]


def test_a_saved_model_carries_its_data(learned: tuple[Path, Summary]) -> None:
    directory, summary = learned
    known = load_knowledge(directory)
    assert known.model == load_model(directory) and known.worlds == (ROOM,)
    assert known.transitions == transitions(directory)
    assert len(known.episodes) == summary.episodes
    assert known.solved_goals == {"walk to the flag"}


def test_what_is_known_need_not_be_learned_again(learned: tuple[Path, Summary], tmp_path: Path) -> None:
    """In a level that was never seen, of another size: no random actions first, and not a new line of program."""
    directory, before = learned
    other = replace(SHORT, options={"size": 9}, seed=3, polish=0)
    summary = run(other, tmp_path / "next", pictures=False, known=directory)
    assert summary.solved and summary.regressions == 0
    assert summary.earlier == before.real_actions and summary.started_from == str(directory)
    assert summary.starts == summary.starts_with_plan == 2, "those of before count as well"
    assert summary.programs == 0 and summary.actions_to_model == 0
    assert load_model(tmp_path / "next") == load_model(directory)
    with RunReader(tmp_path / "next") as reader:
        assert {d.why for d in reader.decisions()} <= {"plan", "random"}
        assert next(reader.decisions()).why == "plan"
    alone = run(other, tmp_path / "alone", pictures=False)
    assert summary.real_actions < alone.real_actions / 2


def test_only_what_fails_is_written_anew(learned: tuple[Path, Summary], tmp_path: Path) -> None:
    """The same rules under another goal: the reward is learned, the transition program stays as it is."""
    directory, _ = learned
    summary = run(
        Experiment(f"{FLAGS}:make_other", polish=0), tmp_path / "other", pictures=False, known=directory
    )
    old, new = load_model(directory), load_model(tmp_path / "other")
    assert summary.solved and summary.regressions == 0
    assert new.transition == old.transition
    assert new.rewards["walk to the flag"] == old.rewards["walk to the flag"]
    assert set(new.rewards) == {"walk to the flag", "run until you see the flag"}


def test_what_held_before_still_holds_where_the_rules_are_richer(
    learned: tuple[Path, Summary], tmp_path: Path
) -> None:
    """A world with something new in it: the program changes, and explains both worlds."""
    directory, before = learned
    richer = Experiment(f"{FLAGS}:make_ice", polish=40, max_actions=150)
    summary = run(richer, tmp_path / "ice", pictures=False, known=directory)
    assert summary.programs > 0, "the new world has to show something new"
    assert summary.regressions == 0 and summary.phi1 == 1.0
    with Runner() as runner:
        model, earlier = load_model(tmp_path / "ice"), load_knowledge(directory).transitions
        assert len(earlier) == before.real_actions
        assert runner.check(Check(earlier), model.transition, model.rewards) == []


def test_a_model_that_is_wrong_here_is_counted_as_such(learned: tuple[Path, Summary], tmp_path: Path) -> None:
    """Data that contradict the rules of before cannot be explained without a regression, and none is made."""
    directory, _ = learned
    contrary = Experiment(f"{FLAGS}:make_contrary", polish=0, max_actions=30)
    summary = run(contrary, tmp_path / "contrary", pictures=False, known=directory)
    assert summary.regressions == 0
    assert summary.unexplained > 0 and summary.phi1 < 1


def test_the_summary_says_what_the_model_did_not_foresee(
    learned: tuple[Path, Summary], tmp_path: Path
) -> None:
    directory, before = learned
    assert list(before.surprised)[:10] == list(range(1, 11))
    again = run(replace(SHORT, seed=7), tmp_path, pictures=False, known=directory)
    assert len(again.surprised) <= 2
    written = json.loads((tmp_path / "summary.json").read_text())
    assert written == again.to_json()
    assert written["goals"]["walk to the flag"]["solved"] == again.successes


def test_killed_and_resumed_it_ends_as_if_it_had_not_been(
    learned: tuple[Path, Summary], tmp_path: Path
) -> None:
    """What it began with is in its own log: the model it came from may be gone by then."""
    directory, _ = learned
    copy = tmp_path / "copy"
    (copy / "model").mkdir(parents=True)
    for file in (directory / "model").iterdir():
        (copy / "model" / file.name).write_bytes(file.read_bytes())
    other = replace(SHORT, options={"size": 8}, seed=4)
    whole = run(other, tmp_path / "whole", pictures=False, known=copy)
    run(replace(other, max_actions=3), tmp_path / "cut", pictures=False, known=copy)
    for file in (copy / "model").iterdir():
        file.unlink()
    resumed = resume(tmp_path / "cut", pictures=False, max_actions=other.max_actions)
    repeated = rerun(tmp_path / "whole", tmp_path / "again", pictures=False)
    for other_summary in (resumed, repeated):
        assert replace(other_summary, seconds={}, model="") == replace(whole, seconds={}, model="")


def test_a_model_that_somebody_wrote_is_used_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "transition.py").write_text(
        "STEPS = {'north': (0, -1), 'south': (0, 1), 'west': (-1, 0), 'east': (1, 0)}\n\n\n"
        "def transition(state, action):\n"
        "    walker = state.one('Walker')\n"
        "    dx, dy = STEPS[action.name]\n"
        "    if not list(state.at(walker.x + dx, walker.y + dy, kind='Wall')):\n"
        "        walker.x, walker.y = walker.x + dx, walker.y + dy\n"
        "    return state\n"
    )
    (tmp_path / "mine" / "reward.py").write_text(
        "def reward(state, action, next_state):\n"
        "    walker, flag = next_state.one('Walker'), next_state.one('Flag')\n"
        "    won = (walker.x, walker.y) == (flag.x, flag.y)\n"
        "    return (1.0 if won else 0.0), won\n"
    )
    summary = run(replace(SHORT, polish=0), tmp_path / "run", pictures=False, known=tmp_path / "mine")
    assert summary.solved and summary.real_actions < 15
    assert load_model(tmp_path / "run").transition.source == (tmp_path / "mine/transition.py").read_text()


@pytest.mark.parametrize(
    ("factory", "difference"),
    [
        ("make_turtle", "its actions are ahead, turn, those known east, north, south, west"),
        ("make_garden", "its kinds are Bed, Gardener, those known Flag, Walker, Wall"),
        ("make_heavy", "a Walker has weight, x, y; where the model was learned it had x, y"),
    ],
)
def test_a_model_of_another_world_is_refused(
    learned: tuple[Path, Summary], tmp_path: Path, factory: str, difference: str
) -> None:
    with pytest.raises(ModelFormatError) as error:
        run(Experiment(f"{FLAGS}:{factory}"), tmp_path / "run", known=learned[0])
    assert difference in str(error.value) and "another world" in str(error.value)
    assert not (tmp_path / "run").exists()


def test_a_dry_run_refuses_what_a_run_would(
    learned: tuple[Path, Summary], capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["learn", f"{FLAGS}:make_turtle", "--from", str(learned[0]), "--dry-run", "--model", "ollama/x"]
    assert main(command) == 1
    out, errors = capsys.readouterr()
    assert not out and errors.count("\n") == 1 and "is of another world" in errors


def test_bad_models_are_refused_in_one_line(
    learned: tuple[Path, Summary], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken"
    load_model(learned[0]).save(broken)
    (broken / "transition.py").write_text("def transition(state action):\n")
    with pytest.raises(ProgramError, match=r"broken cannot be gone on with: .*; repair it"):
        run(SHORT, tmp_path / "run", known=broken)
    (broken / "data.json").write_text('{"format": 99}')
    with pytest.raises(ModelFormatError, match=r"data.json: .*format 99.*update worldcoder"):
        run(SHORT, tmp_path / "run", known=broken)
    (broken / "data.json").write_text("{}")
    with pytest.raises(ModelFormatError, match=r"not as they were written.*repair it, or delete it"):
        run(SHORT, tmp_path / "run", known=broken)
    assert main(["learn", ROOM, "--from", str(tmp_path / "nothing"), *QUICK]) == 1
    assert main(["learn", "--resume", str(learned[0]), "--from", str(learned[0]), *QUICK]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 2 and "is no folder" in errors[0] and "leave out --from" in errors[1]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command", ["play", "compare"])
def test_a_model_of_another_world_is_not_used(
    learned: tuple[Path, Summary], capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert main([command, str(learned[0]), f"{FLAGS}:make_turtle", "--seeds", "1"]) == 1
    out, errors = capsys.readouterr()
    assert not out and len(errors.splitlines()) == 1
    assert "is of another world" in errors and "use a model that was learned in one of its kind" in errors


def test_several_goals_in_one_run(tmp_path: Path) -> None:
    """Each has its reward program, and a plan is looked for from every start under its goal."""
    many = Experiment(f"{FLAGS}:make_many", levels="next", solve=6, polish=0, max_actions=400)
    summary = run(many, tmp_path / "many", pictures=False)
    assert summary.solved and summary.successes == 6 and summary.phi2 == "found"
    assert summary.starts == summary.starts_with_plan == 6
    assert set(summary.goals) == {"walk to the flag", "walk to the tree"}
    assert set(load_model(tmp_path / "many").rewards) == set(summary.goals)
    counted = summary.goals.values()
    assert sum(g["actions"] or 0 for g in counted) == summary.real_actions
    assert sum(g["solved"] or 0 for g in counted) == 6
    assert sum(g["episodes"] for g in counted) == summary.episodes
    assert all(g["actions"] for g in counted), "no episode is begun that nobody acts in"


def test_the_command_line_says_what_became_of_it(
    learned: tuple[Path, Summary], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory, before = learned
    out = ["--out", str(tmp_path / "next"), "--no-pictures", "--no-check", "--polish", "5"]
    assert main(["learn", ROOM, "--from", str(directory), "--seed", "2", *out]) == 0
    text = capsys.readouterr().out
    assert f"no regression, of its {before.real_actions} transitions all that held still hold" in text
    assert "new program" not in text

"""Curricula: what a file may say, what comes of one, and what becomes of one that is killed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from test_resume import actions_so_far as actions_of_run

from worldcoder.cli import main
from worldcoder.curriculum import CourseSummary, learn_curriculum, read, resume_curriculum, shipped
from worldcoder.errors import RunError, UnknownEnvironment, UsageError
from worldcoder.experiment import Experiment
from worldcoder.programs import Runner, load_knowledge, load_model

RUNS = Path(__file__).parents[1] / "runs"
ROOM, FLAGS = f"{RUNS / 'room.py'}:make_env", RUNS / "flags.py"

THREE = f"""
[every]
polish = 5
max_actions = 150

[[stage]]
environment = "{ROOM}"

[[stage]]
environment = "{ROOM}"
options = {{ size = 8, slow = 0.01 }}
levels = "next"
solve = 2

[[stage]]
environment = "{FLAGS}:make_many"
levels = "next"
solve = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "three.toml"
    path.write_text(THREE)
    return path


@pytest.fixture(scope="module")
def runner() -> Any:
    with Runner() as runner:
        yield runner


def worldcoder(*arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-W", "error", "-m", "worldcoder", "learn", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def results(directory: Path) -> Mapping[str, Any]:
    """All that does not depend on time and place."""
    summary = json.loads((directory / "summary.json").read_text())
    for part in (summary, *summary["stages"]):
        part.pop("seconds")
    assert Path(summary.pop("model")) == directory / "model"
    model = {path.name: path.read_text() for path in (directory / "model").iterdir()}
    return {"summary": summary, "model": model, "files": sorted(p.name for p in directory.iterdir())}


# ── what comes of one ────────────────────────────────────────────────────────────────────────────────────


def test_each_stage_begins_with_what_was_learned(file: Path, tmp_path: Path, runner: Runner) -> None:
    plan = read(file)
    summary = learn_curriculum(plan, Experiment(ROOM), tmp_path / "run", pictures=False, runner=runner)
    written = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert written == json.loads(json.dumps(summary.to_json()))
    assert written["solved"] and written["stopped"] == "done" and written["regressions"] == 0
    first, second, third = written["stages"]
    assert [s["environment"] for s in written["stages"]] == [s.environment for s in plan.stages]
    assert first["earlier"] == 0 and second["earlier"] == first["real_actions"]
    assert third["earlier"] == first["real_actions"] + second["real_actions"]
    assert second["surprises"] < first["surprises"] / 2
    assert written["real_actions"] == sum(s["real_actions"] for s in written["stages"])
    assert (second["successes"], third["successes"]) == (2, 3)
    known = load_knowledge(tmp_path / "run")
    assert len(known.transitions) == written["real_actions"]
    assert load_model(tmp_path / "run") == load_model(tmp_path / "run" / third["runs"][0])
    assert CourseSummary.from_json(written, tmp_path / "run") == summary


def test_limits_are_those_of_the_whole(file: Path, tmp_path: Path, runner: Runner) -> None:
    plan, base = read(file), Experiment(ROOM)
    whole = learn_curriculum(plan, base, tmp_path / "whole", pictures=False, runner=runner)
    first = whole.stages[0]["real_actions"]
    for limit, begun in ((first, 1), (first + 4, 2), (0, 0)):
        directory = tmp_path / str(limit)
        cut = learn_curriculum(
            plan, base, directory, limits={"max_actions": limit}, pictures=False, runner=runner
        )
        assert cut.stopped == "actions" and cut.total("real_actions") == limit
        assert sum(stage["visits"] for stage in cut.stages) == begun
        resume_curriculum(directory, pictures=False, runner=runner, max_actions=1000)
        expected, found = results(tmp_path / "whole"), results(directory)
        assert found == expected


def actions_so_far(directory: Path) -> int:
    return sum(actions_of_run(log.parent) for log in directory.glob("*/log.sqlite"))


def test_killed_at_any_point_it_goes_on_as_if_it_had_not_been(file: Path, tmp_path: Path) -> None:
    options = ("--no-pictures", "-q")
    process = worldcoder("--curriculum", file, "--out", tmp_path / "whole", *options)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()
    total = actions_so_far(tmp_path / "whole")
    killed, rng, kills = tmp_path / "killed", random.Random(time.time_ns()), 0
    for point in sorted(rng.randrange(total) for _ in range(6)):
        begun = (killed / "curriculum.json").exists()
        how = ("--resume", killed) if begun else ("--curriculum", file, "--out", killed)
        process = worldcoder(*how, *options)
        while process.poll() is None and actions_so_far(killed) < point:
            time.sleep(0.01)
        process.kill()
        process.communicate()
        kills += process.returncode != 0
    assert kills >= 3, "most runs were to be killed, not to end"
    process = worldcoder("--resume", killed, *options)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()
    assert results(killed) == results(tmp_path / "whole")


def test_the_command_line_shows_the_stages(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ("--out", str(tmp_path / "run"), "--no-pictures")
    assert main(["learn", "--curriculum", str(file), *out]) == 0
    text = capsys.readouterr().out
    assert "run 3, stage 3 of 3" in text and "3 of 3 stages solved in " in text
    assert "regressions none" in text and "every stage had its turn" in text
    assert main(["learn", "--resume", str(tmp_path / "run"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["environments_solved"] == 3
    assert main(["show", str(tmp_path / "run")]) == 0
    shown = capsys.readouterr().out
    assert "def transition(state, action):" in shown and "stages solved" in shown


def test_every_curriculum_that_comes_along_can_be_learned() -> None:
    pytest.importorskip("minigrid")
    from worldcoder.curriculum.plan import check

    assert "minigrid" in shipped()
    for name in shipped():
        check(read(name), Experiment("sokoban"))
    worlds = [stage.environment.split(":")[1].split("-")[0] for stage in read("minigrid").stages]
    assert worlds == ["Empty", "DoorKey", "Unlock", "Fetch", "UnlockPickup", "BlockedUnlockPickup"]


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no stage"),
        ("stage = 3", "there is no stage"),
        ("[[stage]]\n", "stage 1: expected environment"),
        ("[[stage]]\nenvironment = 3", "stage 1: expected environment"),
        ('[[stage]]\nenvironment = "sokoban"\nmax_action = 3', "did you mean 'max_actions'"),
        ('[[stage]]\nenvironment = "sokoban"\nmax_actions = "3"', "stage 1: max_actions: got '3'"),
        ('[[stage]]\nenvironment = "sokoban"\nmax_actions = -3', "stage 1: max_actions: expected 0 or more"),
        ('[[stage]]\nenvironment = "sokoban"\nsolve = 1.5', "stage 1: solve: got 1.5"),
        ('[[stage]]\nenvironment = "sokoban"\nlevels = "all"', "stage 1: levels: expected same or next"),
        ('order = "random"\n[[stage]]\nenvironment = "sokoban"', "order: expected given or progress"),
        ('practice = 0\n[[stage]]\nenvironment = "sokoban"', "practice: expected 1 or more"),
        ('[every]\nsolves = 1\n[[stage]]\nenvironment = "sokoban"', "did you mean 'solve'"),
        ("[[stage]\n", "is no curriculum in TOML"),
    ],
)
def test_files_that_are_none_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(UsageError) as error:
        read(tmp_path / "bad.toml")
    assert message in str(error.value) and "bad.toml" in str(error.value) and "\n" not in str(error.value)


def test_names_that_nothing_has_are_refused_before_anything_is_done(
    tmp_path: Path, runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(
        UsageError, match=r"called 'minigird' \(did you mean 'minigrid'\?\); there are: minigrid"
    ):
        read("minigird")
    (tmp_path / "late.toml").write_text(THREE.replace("flags.py:make_many", "flags.py:make_none"))
    with pytest.raises(UnknownEnvironment, match=r"late: stage 3: .*make_none"):
        learn_curriculum(read(tmp_path / "late.toml"), Experiment(ROOM), tmp_path / "run", runner=runner)
    assert not (tmp_path / "run").exists()
    for arguments in (
        ["--curriculum", "minigrid", "sokoban"],
        ["--order", "progress"],
        ["--curriculum", "minigrid", "--order", "random"],
        ["--curriculum", "minigrid", "--max-usd", "3"],
        ["--curriculum", "minigrid", "--option", "size=9"],
    ):
        assert main(["learn", *arguments]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert [line.startswith("error: ") for line in errors] == [True] * 5


def test_what_holds_a_curriculum_is_not_begun_anew(file: Path, tmp_path: Path, runner: Runner) -> None:
    limits = {"max_actions": 0}
    learn_curriculum(read(file), Experiment(ROOM), tmp_path / "run", limits=limits, runner=runner)
    with pytest.raises(RunError, match="go on with it by --resume"):
        learn_curriculum(read(file), Experiment(ROOM), tmp_path / "run", runner=runner)
    assert main(["learn", "--resume", str(tmp_path / "run"), "--seed", "3"]) == 2
    (tmp_path / "run" / "curriculum.json").write_text("{}")
    with pytest.raises(RunError, match="cannot be read"):
        resume_curriculum(tmp_path / "run", runner=runner)

"""The command line: what it prints, how it ends, and what it says to input that does not fit."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from worldcoder.cli import main
from worldcoder.cli.arguments import parse_options, parse_seeds
from worldcoder.cli.learning import _conclusion
from worldcoder.errors import UsageError
from worldcoder.runs.events import Summary

ROOM_FILE = Path(__file__).parent / "runs" / "room.py"
ROOM = f"{ROOM_FILE}:make_env"
QUICK = ("--polish", "5", "--no-pictures", "--no-check")
COMMANDS = ("learn", "play", "compare", "envs", "show")


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The directory of a finished run."""
    directory = tmp_path_factory.mktemp("runs") / "room"
    assert main(["learn", ROOM, "--out", str(directory), "-q", *QUICK]) == 0
    return str(directory)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test has a working directory of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def worldcoder(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "worldcoder", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


# ── what it prints ───────────────────────────────────────────────────────────────────────────────────────


def test_learn_tells_what_happens_line_by_line(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    assert main(["learn", ROOM, "--polish", "5", "--no-pictures"]) == 0
    out = capsys.readouterr().out
    assert re.match(r'\S+room.py:make_env · 6×6 · seed 0 · goal "walk to the flag"\n', out)
    assert re.search(r"10   new program: \d+ lines, explains 100 % of 10 transitions \(φ1\)", out)
    assert re.search(r"\nsolved after \d+ actions in [\d.]+ s, no language model\n", out)
    assert re.search(r"checked     exact on [\d,]+ of [\d,]+ tests", out)
    assert re.search(r"model       \d+ lines of Python: runs/room-make_env-0/model/transition.py\n", out)
    assert "worldcoder show runs/room-make_env-0 " in out
    assert (here / "runs/room-make_env-0/summary.json").exists()


def test_learn_says_when_it_was_not_solved(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", ROOM, "--max-actions", "4", *QUICK]) == 0
    out = capsys.readouterr().out
    assert "not solved after 4 actions" in out and "the actions allowed are used up" in out
    assert "none yet: there is too little to learn from" in out


def test_learn_with_json_prints_the_summary_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", ROOM, "--out", "run", "--json", *QUICK]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) == json.loads(Path("run/summary.json").read_text())
    assert captured.err == ""


def test_quiet_prints_nothing(capsys: pytest.CaptureFixture[str], learned: str) -> None:
    assert main(["learn", ROOM, "-q", *QUICK]) == 0
    assert main(["play", learned, ROOM, "--seeds", "1", "-q"]) == 0
    assert main(["compare", learned, ROOM, "--seeds", "1", "-q", "--tests", "20"]) == 0
    assert capsys.readouterr() == ("", "")


def test_options_reach_environment_and_agent(capsys: pytest.CaptureFixture[str]) -> None:
    given = [
        "--epsilon",
        "0.5",
        "--min-data",
        "12",
        "--no-optimism",
        "--levels",
        "next",
        "--max-episodes",
        "9",
    ]
    assert main(["learn", ROOM, "-o", "size=5", "--seed", "4", "--json", "--out", "run", *given, *QUICK]) == 0
    assert json.loads(capsys.readouterr().out)["options"] == {"size": "5"}
    assert main(["show", "run", "--json"]) == 0
    config = json.loads(capsys.readouterr().out)["history"]["config"]
    assert config["agent"]["epsilon"] == 0.5 and config["agent"]["min_data"] == 12
    assert config["agent"]["optimism"] is False
    assert (config["levels"], config["seed"], config["max_episodes"]) == ("next", 4, 9)


def test_a_finished_run_is_not_resumed(capsys: pytest.CaptureFixture[str], learned: str) -> None:
    assert main(["learn", "--resume", learned]) == 0
    assert "is finished (solved, " in capsys.readouterr().out
    assert main(["learn", "--resume", learned, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["solved"] is True


def test_resume_goes_on_with_a_larger_budget(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", ROOM, "--out", "run", "--max-actions", "11", "-q", *QUICK]) == 0
    assert main(["learn", "--resume", "run", "--max-actions", "200", "--no-check", "--no-pictures"]) == 0
    out = capsys.readouterr().out
    assert "resumed     after 11 actions" in out and "solved after" in out


def test_play(capsys: pytest.CaptureFixture[str], learned: str) -> None:
    assert main(["play", learned, ROOM, "--seeds", "1-3"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"seed 1 +solved in \d+ actions?, return 1\n", out)
    assert re.search(r"\nsolved 3 of 3 in [\d.]+ s; mean return 1.00, mean length [\d.]+\n$", out)
    assert main(["play", f"{learned}/model", ROOM, "--seeds", "1,3", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert (values["episodes"], values["solved"], values["mean_return"]) == (2, 2, 1.0)
    assert values["mean_length"] > 0 and values["seconds"] > 0


def test_play_can_be_watched(capsys: pytest.CaptureFixture[str], learned: str) -> None:
    assert main(["play", learned, ROOM, "--seeds", "1", "--watch"]) == 0
    out = capsys.readouterr().out
    assert 'seed 1 · "walk to the flag" · step 0\n######\n' in out and "@" in out


def test_play_uses_the_program_as_it_was_edited(capsys: pytest.CaptureFixture[str], learned: str) -> None:
    assert main(["play", learned, ROOM, "--seeds", "1", "--json"]) == 0
    capsys.readouterr()
    Path("edited").mkdir()
    Path("edited/transition.py").write_text("def transition(state, action):\n    return state\n")
    Path("edited/reward.py").write_text((Path(learned) / "model/reward.py").read_text())
    assert main(["play", "edited", ROOM, "--seeds", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["solved"] == 0


def test_compare(capsys: pytest.CaptureFixture[str], learned: str) -> None:
    assert main(["compare", learned, ROOM, "--seeds", "1-3", "--tests", "200"]) == 0
    assert re.match(r"exact on [\d,]+ of [\d,]+ tests \(", capsys.readouterr().out)
    assert main(["compare", learned, ROOM, "--seeds", "1-3", "--tests", "200", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert {"tested", "exact", "contexts", "contexts_exact", "mismatches"} <= set(values)


def test_compare_shows_what_is_wrong(capsys: pytest.CaptureFixture[str], learned: str) -> None:
    Path("wrong").mkdir()
    Path("wrong/transition.py").write_text("def transition(state, action):\n    return state\n")
    assert main(["compare", "wrong", ROOM, "--seeds", "1", "--tests", "50"]) == 0
    out = capsys.readouterr().out
    wrong = re.findall(
        r"\n  wrong       (\d+) × (\w+): predicted no change, observed Walker: ([xy] [+-]1)", out
    )
    assert wrong and len({line[1:] for line in wrong}) == len(wrong)
    assert re.search(r"\n    such as   \w+: Walker.*observed Walker at \(\d, \d\): [xy] \d → \d", out)


def test_envs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["envs"]) == 0
    out = capsys.readouterr().out
    assert "sokoban[:FILE[#LEVEL]]" in out and "minigrid:ID" in out
    assert main(["envs", "sokoban"]) == 0
    assert "--option boxes=...  int (default 2)" in capsys.readouterr().out
    assert main(["envs", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert {"name", "description", "usage", "example", "options"} == set(entries[0])
    assert main(["envs", ROOM, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["description"] == "Walk to the flag."


def test_show_a_run(capsys: pytest.CaptureFixture[str], learned: str) -> None:
    assert main(["show", learned]) == 0
    out = capsys.readouterr().out
    assert "def transition(state, action):" in out and 'reward for "walk to the flag"' in out
    assert re.search(r"acted +\d+ actions, \d+ episodes? in ", out)
    assert re.search(r"10 +transition [0-9a-f]{12}, \d+ lines, φ1 100 %", out)
    assert "solved: reward 1" in out
    assert main(["show", learned, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["summary"]["solved"] and values["history"]["programs"][0]["kind"] == "transition"


def broken_run(learned: str, transition: str) -> str:
    """A copy of a run, in which the transition program is another."""
    copied = Path("broken").absolute()
    shutil.copytree(learned, copied)
    (copied / "model/transition.py").write_text(f"def transition(state, action):\n    {transition}\n")
    return str(copied)


def test_show_lists_what_is_not_explained(capsys: pytest.CaptureFixture[str], learned: str) -> None:
    assert main(["show", learned]) == 0
    assert "not explained" not in capsys.readouterr().out
    run = broken_run(learned, "return state")
    assert main(["show", run]) == 0
    out = capsys.readouterr().out
    assert re.search(r"── not explained · \d+ of \d+ transitions ─+\n", out)
    assert re.search(
        r"\n +\d+      (north|south|east|west): predicted no change, observed Walker at \(\d, \d\): [xy] \d → \d",
        out,
    )
    assert "a program fails" not in out
    assert main(["show", run, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["unexplained"]
    assert sum(sort["count"] for sort in found["each"]) == found["count"] > 0


@pytest.mark.parametrize(
    ("transition", "said"), [("state.one('Door')", "expected exactly one Door"), ("return (", "not Python")]
)
def test_show_says_how_a_program_fails(
    capsys: pytest.CaptureFixture[str], learned: str, transition: str, said: str
) -> None:
    assert main(["show", broken_run(learned, transition)]) == 0
    out = capsys.readouterr().out
    assert re.search(rf"\n  in \d+ of them a program fails, first: .*{said}", out)


SUMMARY = Summary(
    environment="a.py:make",
    options={},
    synthesizer="rules",
    seed=0,
    goal="win",
    solved=True,
    stopped="converged",
    episodes=2,
    real_actions=99,
    actions_to_solve=39,
    actions_to_model=10,
    phi1=1.0,
    phi2="found",
    wrong_guesses=0,
    successes=1,
    programs=1,
    program_lines=2,
    transition_lines=2,
    model="run/model",
    seconds={"total": 2.0},
    version="0",
    directory=Path("run"),
)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "solved after 39 actions in 2.0 s"),
        (
            {"phi1": 0.0, "phi2": "unreachable", "unexplained": 99, "program_error": "KeyError: 'x'"},
            "reached once, not yet understood, after 39 actions in 2.0 s",
        ),
        (
            {"phi1": 0.5, "phi2": "budget", "unexplained": 1, "successes": 3},
            "reached 3 times, not yet understood, first after 39 actions",
        ),
        ({"phi2": "budget"}, "reached once, no plan is known yet, after 39 actions"),
        ({"phi2": None, "model": None, "phi1": 0.0}, "reached once, not yet understood, after 39 actions"),
        ({"solved": False, "successes": 0}, "not solved after 99 actions"),
    ],
)
def test_luck_is_not_called_solved(changes: dict[str, Any], said: str) -> None:
    first, *rest = _conclusion(replace(SUMMARY, **changes), check=False)
    text = "\n".join(rest)
    assert first.startswith(said)
    missing = changes.get("unexplained", 0)
    are = "1 transition is" if missing == 1 else f"{missing} transitions are"
    assert (f"  unexplained {are} not; look at: worldcoder show run" in text) == bool(missing)
    assert ("  error       KeyError: 'x'" in text) == ("program_error" in changes)


def test_show_a_model(capsys: pytest.CaptureFixture[str], learned: str) -> None:
    assert main(["show", f"{learned}/model"]) == 0
    out = capsys.readouterr().out
    assert "def transition" in out and "the run" not in out


def test_show_a_run_without_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", ROOM, "--out", "run", "--max-actions", "3", "-q", *QUICK]) == 0
    assert main(["show", "run"]) == 0
    assert "no model yet" in capsys.readouterr().out


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_help(capsys: pytest.CaptureFixture[str], command: tuple[str, ...]) -> None:
    for flag in ("--help", "-h"):
        assert main([*command, flag]) == 0
        assert "Usage: worldcoder" in capsys.readouterr().out


def test_without_arguments_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in COMMANDS)


def test_help_and_version_start_fast() -> None:
    """Nothing heavy is imported before a command needs it."""
    program = (
        "import sys\n"
        "from worldcoder.cli import main\n"
        "assert main([sys.argv[1]]) == 0\n"
        "heavy = ('matplotlib', 'numpy', 'gymnasium', 'minigrid', 'PIL', 'worldcoder.synthesis',\n"
        "         'worldcoder.agent', 'sqlite3')\n"
        "assert not [name for name in heavy if name in sys.modules]\n"
    )
    for flag in ("--version", "--help"):
        result = subprocess.run([sys.executable, "-c", program, flag], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
    assert re.fullmatch(r"worldcoder \d+\.\d+\S*\n", worldcoder("--version").stdout)


# ── a terminal, and a reader that goes away ──────────────────────────────────────────────────────────────


def test_on_a_terminal_the_level_is_drawn(here: Path) -> None:
    leader, follower = pty.openpty()
    arguments = ("learn", ROOM, "--out", str(here / "run"), "--option", "slow=0.02", *QUICK)
    process = subprocess.Popen(
        [sys.executable, "-m", "worldcoder", *arguments],
        stdout=follower,
        stderr=follower,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"},
    )
    os.close(follower)
    seen, until = b"", time.monotonic() + 60
    while time.monotonic() < until:
        if select.select([leader], [], [], 0.2)[0]:
            try:
                part = os.read(leader, 65536)
            except OSError:
                break
            if not part:
                break
            seen += part
        elif process.poll() is not None:
            break
    os.close(leader)
    assert process.wait(timeout=10) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    assert "    ######" in text and "@" in text
    assert re.search(r"acting      \d+ actions?, 1 episode", text)
    assert "solved after" in text


@pytest.mark.parametrize("command", [("show",), ("envs",), ("learn",)])
def test_a_reader_that_goes_away_is_no_error(here: Path, learned: str, command: tuple[str, ...]) -> None:
    argument = {"show": learned, "envs": "sokoban", "learn": ROOM}[command[0]]
    more = ("--option", "slow=0.05", "--no-check", "--no-pictures") if command[0] == "learn" else ()
    process = subprocess.Popen(
        [sys.executable, "-m", "worldcoder", *command, argument, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait(timeout=60)


# ── what does not fit ────────────────────────────────────────────────────────────────────────────────────

LEARN, MODEL = ("learn", ROOM), "MODEL"

BAD = [
    # usage: exit code 2
    (("lern",), 2, "No such command 'lern'"),
    (("learn", "sokoban", "--sed", "3"), 2, "No such option"),
    (("learn",), 2, "which environment"),
    (("learn", "sokobann"), 2, "did you mean 'sokoban'"),
    (("learn", "no_such_file.py:make_env"), 2, "no_such_file.py"),
    (("learn", f"{ROOM_FILE}:make_en"), 2, "did you mean 'make_env'"),
    (("learn", f"{ROOM_FILE}"), 2, "expected FILE.py:FACTORY, as in"),
    ((*LEARN, "--seed", "three"), 2, "--seed"),
    ((*LEARN, "--seed", "-1"), 2, "seed: expected 0 to"),
    ((*LEARN, "--max-actions", "-5"), 2, "max_actions: expected 0 or more, got -5"),
    ((*LEARN, "--max-seconds", "-0.5"), 2, "max_seconds: expected 0 or more"),
    ((*LEARN, "--max-episodes", "-1"), 2, "max_episodes: expected 0 or more"),
    ((*LEARN, "--polish", "-1"), 2, "polish: expected 0 or more"),
    ((*LEARN, "--epsilon", "2"), 2, "epsilon: expected a share"),
    ((*LEARN, "--min-data", "0"), 2, "min_data: expected 1 or more"),
    ((*LEARN, "--levels", "all"), 2, "expected same or next"),
    ((*LEARN, "--option", "size"), 2, "expected name=value"),
    ((*LEARN, "--option", "size=5", "--option", "size=6"), 2, "given twice"),
    ((*LEARN, "--resume", "run"), 2, "leave out"),
    (("learn", "--resume", "run", "--seed", "1"), 2, "leave out --seed"),
    (("learn", "--resume", "run", "--out", "other"), 2, "leave out --out"),
    (("play",), 2, "Missing argument"),
    (("play", MODEL), 2, "Missing argument"),
    (("play", MODEL, "sokobann"), 2, "did you mean 'sokoban'"),
    (("play", MODEL, ROOM, "--seeds", "5-1"), 2, "ends before it begins"),
    (("play", MODEL, ROOM, "--seeds", "a"), 2, "expected numbers and ranges"),
    (("play", MODEL, ROOM, "--max-steps", "0"), 2, "max-steps"),
    (("play", MODEL, ROOM, "--nodes", "-1"), 2, "nodes"),
    (("compare", MODEL), 2, "Missing argument"),
    (("compare", MODEL, ROOM, "--seeds", ""), 2, "expected numbers and ranges"),
    (("compare", MODEL, ROOM, "--tests", "0"), 2, "tests"),
    (("compare", MODEL, ROOM, "--seconds", "-1"), 2, "seconds"),
    (("compare", MODEL, "nothing:here"), 2, "nothing"),
    (("envs", "sokobann"), 2, "did you mean 'sokoban'"),
    (("show",), 2, "Missing argument"),
    # failures: exit code 1
    (("learn", f"{ROOM_FILE}:raises"), 1, "the factory raised RuntimeError: no such room"),
    (("learn", f"{ROOM_FILE}:bad_reset"), 1, "ZeroDivisionError"),
    (("learn", f"{ROOM_FILE}:NOT_A_FACTORY"), 1, "expected NOT_A_FACTORY to be a function, got int"),
    (("learn", "broken.py:make_env"), 1, "SyntaxError on line 1"),
    (("learn", "sokoban:bad.xsb"), 1, "bad.xsb"),
    (("learn", "sokoban:missing.xsb"), 1, "missing.xsb"),
    ((*LEARN, "--option", "colour=red"), 1, "no option 'colour'"),
    ((*LEARN, "--option", "size=big"), 1, "expected int"),
    ((*LEARN, "--option", "fails_at=1"), 1, "raised OverflowError: the walls came down"),
    ((*LEARN, "--out", "file"), 1, "file is a file"),
    ((*LEARN, "--out", "file/below"), 1, "cannot make file/below"),
    ((*LEARN, "--out", "full"), 1, "full is not empty"),
    ((*LEARN, "--out", "/proc/run"), 1, "cannot make /proc/run"),
    (("learn", "--resume", "full"), 1, "full is no run's directory"),
    (("learn", "--resume", "missing"), 1, "missing is no run's directory"),
    (("learn", "--resume", "damaged"), 1, "damaged or no log of a run"),
    (("play", "missing", ROOM), 1, "missing is no folder"),
    (("play", "full", ROOM), 1, "full holds no model"),
    (("play", "syntax", ROOM), 1, "not Python"),
    (("play", "json", ROOM), 1, "model.json is not JSON"),
    (("play", MODEL, f"{ROOM_FILE}:raises"), 1, "no such room"),
    (("play", MODEL, ROOM, "--option", "size=big"), 1, "expected int"),
    (("compare", "missing", ROOM), 1, "missing is no folder"),
    (("compare", "syntax", ROOM, "--seeds", "1"), 1, "not Python"),
    (("compare", MODEL, f"{ROOM_FILE}:raises"), 1, "no such room"),
    (("show", "missing"), 1, "missing is no folder"),
    (("show", "full"), 1, "full holds no model"),
    (("show", "file"), 1, "file is no folder"),
    (("show", "damaged"), 1, "damaged"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), BAD, ids=[" ".join(map(str, b[0])) for b in BAD])
def test_bad_input_is_one_line(
    capsys: pytest.CaptureFixture[str],
    here: Path,
    learned: str,
    arguments: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    (here / "file").write_text("not a folder")
    (here / "broken.py").write_text("def make_env(:\n")
    (here / "bad.xsb").write_text("#####\n#@?.#\n#####\n")
    for name, file, text in (
        ("full", "notes.txt", "mine"),
        ("damaged", "log.sqlite", "no log" * 300),
        ("syntax", "transition.py", "def transition(state, action:\n"),
        ("json", "transition.py", "def transition(state, action):\n    return state\n"),
        ("json", "model.json", "{"),
    ):
        (here / name).mkdir(exist_ok=True)
        (here / name / file).write_text(text)
    before = sorted(here.rglob("*"))
    given = [learned if a is MODEL else a for a in arguments]
    assert main(given) == code
    captured = capsys.readouterr()
    assert captured.out == "" or "fails_at=1" in arguments
    error = captured.err
    assert error.startswith("error: ") and error.count("\n") == 1 and "Traceback" not in error
    assert message in error
    if "fails_at=1" not in arguments:
        assert [p for p in sorted(here.rglob("*")) if "__pycache__" not in p.parts] == before


def odd(command: str, model: str, form: str) -> list[str]:
    world = [f"{ROOM_FILE}:odd", "--option", f"form={form}"]
    return {
        "learn": ["learn", *world, "--polish", "5", "--no-pictures"],
        "play": ["play", model, *world, "--seeds", "1-3"],
        "compare": ["compare", model, *world, "--seeds", "1", "--tests", "20"],
    }[command]


@pytest.mark.parametrize("command", ["learn", "play", "compare"])
@pytest.mark.parametrize("form", ["plain", "list"])
def test_plain_tuples_will_do(
    capsys: pytest.CaptureFixture[str], learned: str, command: str, form: str
) -> None:
    assert main(odd(command, learned, form)) == 0
    out = capsys.readouterr().out
    assert "exact on " in out or "solved 3 of 3" in out


@pytest.mark.parametrize("command", ["learn", "play", "compare"])
@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("state", "reset gave a State, expected Start(state, goal)"),
        ("three", "gave a tuple of 3, expected Step(state, reward, done, truncated)"),
        ("info", "gave {} as truncated, expected True or False"),
        ("text", "gave '1' as the reward, expected a finite number"),
        ("none", "gave None, expected Step(state, reward, done, truncated)"),
    ],
)
def test_what_an_environment_returns_wrongly_is_one_line(
    capsys: pytest.CaptureFixture[str], learned: str, command: str, form: str, said: str
) -> None:
    assert main(odd(command, learned, form)) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: {ROOM_FILE}:odd: ") and error.count("\n") == 1
    assert said in error and "; return " in error


def test_debug_shows_where(capsys: pytest.CaptureFixture[str]) -> None:
    result = worldcoder("learn", f"{ROOM_FILE}:raises", "--debug")
    assert result.returncode == 1
    assert "Traceback" in result.stderr and "no such room" in result.stderr


def test_a_full_disk_is_one_line_and_can_be_resumed(here: Path) -> None:
    """A limit on the size of files stands in for a full disk."""
    program = (
        "import resource, signal, sys\n"
        "from worldcoder.cli import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))\n"
        "sys.exit(main(sys.argv[2:]))\n"
    )

    def limited(size: int, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", program, str(size), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    tiny = limited(8_000, "learn", ROOM, "--out", "tiny", "-q", *QUICK)
    assert tiny.returncode == 1 and tiny.stderr.startswith("error: cannot ") and tiny.stderr.count("\n") == 1
    assert not Path("tiny").exists()
    small = limited(120_000, "learn", ROOM, "--out", "small", "-q", *QUICK)
    assert (
        small.returncode == 1 and small.stderr.startswith("error: cannot ") and small.stderr.count("\n") == 1
    )
    assert main(["learn", ROOM, "--out", "whole", "-q", *QUICK]) == 0
    assert main(["learn", "--resume", "small", "-q", "--no-check", "--no-pictures"]) == 0
    ends = [json.loads(Path(name, "summary.json").read_text()) for name in ("small", "whole")]
    for end in ends:
        del end["seconds"], end["model"]
    assert ends[0] == ends[1]


@pytest.mark.parametrize(
    ("text", "seeds"), [("1-4", [1, 2, 3, 4]), ("3", [3]), ("1,4, 7-9 ,8", [1, 4, 7, 8, 9]), ("0", [0])]
)
def test_seeds(text: str, seeds: list[int]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize(
    "text", ["", ",", "a", "1-", "-3", "1--3", "5-1", "1 2", "1.5", "0-9999999999", "１"]
)
def test_bad_seeds(text: str) -> None:
    with pytest.raises(UsageError, match="--seeds"):
        parse_seeds(text)


def test_option_pairs() -> None:
    assert parse_options(["a=1", "b=x=y", "c="]) == {"a": "1", "b": "x=y", "c": ""}
    for bad in ("a", "=1", ""):
        with pytest.raises(UsageError, match="name=value"):
            parse_options([bad])

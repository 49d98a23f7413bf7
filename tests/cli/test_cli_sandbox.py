"""The command line and how programs are locked up: what it says of that, refuses, and leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from worldcoder.cli import main
from worldcoder.runs import locks
from worldcoder.sandbox import Layer, LayerReport, probe

ROOM_FILE = Path(__file__).parents[1] / "runs" / "room.py"
ROOM = f"{ROOM_FILE}:make_env"

TRANSITION = """
WAYS = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}


def transition(state, action):
    walker = state.one("Walker")
    x, y = walker.x + WAYS[action.name][0], walker.y + WAYS[action.name][1]
    if not state.at(x, y, "Wall"):
        walker.x, walker.y = x, y
    return state
"""
REWARD = """
def reward(state, action, next_state):
    walker = next_state.one("Walker")
    there = bool(next_state.at(walker.x, walker.y, "Flag"))
    return float(there), there
"""
HANGS = TRANSITION.replace("    walker =", "    while True:\n        pass\n    walker =")
LEAVES = TRANSITION.replace("    walker =", "    import os\n    os._exit(3)\n    walker =")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test has a working directory of its own, with a right model in it."""
    monkeypatch.chdir(tmp_path)
    save("right", TRANSITION)
    return tmp_path


def save(name: str, transition: str) -> None:
    """A model in a folder."""
    Path(name).mkdir()
    Path(name, "transition.py").write_text(transition)
    Path(name, "reward.py").write_text(REWARD)


def commands() -> dict[str, list[str]]:
    """Every command that runs programs and needs them run."""
    return {
        "learn": ["learn", ROOM, "--out", "run", "--max-actions", "12", "--polish", "0", "--no-pictures"],
        "play": ["play", "right", ROOM, "--seeds", "1-2"],
        "compare": ["compare", "right", ROOM, "--seeds", "1", "--tests", "20"],
    }


Machine = Callable[..., None]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Makes this machine one that has not all layers."""

    def be(*missing: Layer, detail: str = "this machine is too old") -> None:
        def found() -> tuple[LayerReport, ...]:
            return tuple(replace(r, there=False, detail=detail) if r.layer in missing else r for r in probe())

        monkeypatch.setattr("worldcoder.sandbox.sandbox.probe", found)

    return be


LOCKS = (Layer.SECCOMP, Layer.LANDLOCK, Layer.SEATBELT)


@pytest.mark.parametrize("command", ["learn", "play", "compare"])
def test_without_a_lock_nothing_is_run(
    capsys: pytest.CaptureFixture[str], machine: Machine, command: str
) -> None:
    machine(*LOCKS)
    assert main(commands()[command]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ") and err.count("\n") == 1
    assert "this machine is too old" in err and "--unsafe-no-sandbox" in err
    assert not Path("run").exists()


@pytest.mark.parametrize("command", ["learn", "play", "compare"])
def test_the_unsafe_flag_runs_them_and_says_so(
    capsys: pytest.CaptureFixture[str], machine: Machine, command: str
) -> None:
    machine(*LOCKS)
    assert main([*commands()[command], "--unsafe-no-sandbox"]) == 0
    out, err = capsys.readouterr()
    assert out.count("  sandbox     none: programs could do whatever you can (--unsafe-no-sandbox)\n") == 1
    assert err.startswith("caution: ") and err.count("\n") == 1 and "whatever you can" in err
    assert "caution" not in out


@pytest.mark.parametrize("command", ["learn", "play", "compare"])
def test_json_says_what_there_was(capsys: pytest.CaptureFixture[str], machine: Machine, command: str) -> None:
    given = [*commands()[command], "--json"]
    assert main(given) == 0
    assert json.loads(capsys.readouterr().out)["sandbox"] == locks.in_words(probe())
    machine(*LOCKS)
    if command == "learn":
        given[given.index("run")] = "another"
    assert main([*given, "--unsafe-no-sandbox"]) == 0
    assert json.loads(capsys.readouterr().out)["sandbox"] == locks.NONE


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has Landlock")
@pytest.mark.parametrize("command", ["learn", "play", "compare"])
def test_without_landlock_it_goes_on_and_says_so_once(
    capsys: pytest.CaptureFixture[str], machine: Machine, command: str
) -> None:
    machine(Layer.LANDLOCK, detail="the kernel has none")
    assert main(commands()[command]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("caution: ") and err.count("\n") == 1
    assert "without Landlock (the kernel has none)" in err and "worldcoder doctor" in err
    assert "caution" not in out and "sandbox" not in out
    if command == "play":
        assert main([*commands()[command], "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["sandbox"] == locks.NO_LANDLOCK


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str], machine: Machine) -> None:
    machine(*LOCKS)
    for command in commands().values():
        assert main([*command, "-q", "--unsafe-no-sandbox"]) == 0
    assert capsys.readouterr() == ("", "")


def test_with_every_lock_there_is_nothing_to_say(capsys: pytest.CaptureFixture[str]) -> None:
    if locks.in_words(probe()) != locks.LOCKED:
        pytest.skip("this machine has not every lock")
    for command in commands().values():
        assert main([*command, "--unsafe-no-sandbox"]) == 0
        out, err = capsys.readouterr()
        assert err == "" and "sandbox" not in out


def test_a_program_can_be_read_where_it_cannot_be_run(
    capsys: pytest.CaptureFixture[str], machine: Machine
) -> None:
    assert main([*commands()["learn"], "-q"]) == 0
    assert main(["show", "run", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["sandbox"] == locks.in_words(probe()) and values["not_run"] is None
    machine(*LOCKS)
    assert main(["show", "run"]) == 0
    out, err = capsys.readouterr()
    assert "def transition(state, action):" in out and err == ""
    assert "── not held against what was recorded: " in out and "this machine is too old" in out
    assert main(["show", "run", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["unexplained"] is None and "this machine is too old" in values["not_run"]
    assert main(["show", "run", "--json", "--unsafe-no-sandbox"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["unexplained"]["count"] == 0 and json.loads(out)["sandbox"] == locks.NONE
    assert err.startswith("caution: ")


def test_a_run_that_was_not_locked_is_shown_as_such(
    capsys: pytest.CaptureFixture[str], machine: Machine
) -> None:
    machine(*LOCKS)
    assert main([*commands()["learn"], "-q", "--unsafe-no-sandbox"]) == 0
    assert json.loads(Path("run/summary.json").read_text())["sandbox"] == locks.NONE
    assert main(["show", "run"]) == 0
    assert "  sandbox     none: programs could do whatever you can" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["learn", "play", "compare", "show"])
def test_the_flag_is_in_the_help(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert main([command, "--help"]) == 0
    assert "--unsafe-no-sandbox" in capsys.readouterr().out


# ── programs that fail badly ─────────────────────────────────────────────────────────────────────────────


def test_a_program_that_ends_its_interpreter_ends_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    save("leaves", LEAVES)
    assert main(["play", "leaves", ROOM, "--seeds", "1"]) == 0
    out = capsys.readouterr().out
    assert "not solved: a program of the model fails badly (crash: it ended with exit code 3)" in out
    assert main(["compare", "leaves", ROOM, "--seeds", "1", "--tests", "20"]) == 0
    out = capsys.readouterr().out
    assert "exact on 0 of 20 tests" in out and "crash: it ended with exit code 3" in out


def test_show_says_how_a_program_fails_badly(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*commands()["learn"], "-q"]) == 0
    Path("run/model/transition.py").write_text(LEAVES)
    assert main(["show", "run"]) == 0
    out = capsys.readouterr().out
    assert "a program fails, first: " in out and "exit code 3" in out
    assert "crash: it ended with exit code 3" in out


# ── Ctrl-C ───────────────────────────────────────────────────────────────────────────────────────────────


def descendants(pid: int) -> Iterator[int]:
    """Every process below one; needs /proc."""
    for child in _children_of().get(pid, ()):
        yield child
        yield from descendants(child)


def _children_of() -> dict[int, list[int]]:
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(entry.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has just ended
            continue
        below.setdefault(parent, []).append(int(entry.parent.name))
    return below


def running(pid: int) -> bool:
    """Whether a process is there, and more than a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("command", "model", "more"),
    [
        ("play", "right", ["--seeds", "1-90000"]),
        ("play", "hangs", []),
        ("compare", "right", ["--tests", "1000000", "--option", "slow=0.01"]),
        ("compare", "hangs", []),
    ],
    ids=["play acting", "play planning", "compare gathering", "compare testing"],
)
def test_ctrl_c_leaves_nothing_behind(command: str, model: str, more: list[str]) -> None:
    save("hangs", HANGS)
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "worldcoder", command, model, ROOM, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    below: set[int] = set()
    until = time.monotonic() + 60
    while len(below) < 2 and process.poll() is None and time.monotonic() < until:  # a template and a worker
        time.sleep(0.05)
        below = set(descendants(process.pid))
    time.sleep(0.3)
    below |= set(descendants(process.pid))
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, (out, err)
    assert "Traceback" not in err and "Error" not in err
    assert "solved" in out if command == "play" else err == "interrupted\n"
    until = time.monotonic() + 10
    while any(map(running, below)) and time.monotonic() < until:
        time.sleep(0.05)
    assert len(below) >= 2 and not [pid for pid in below if running(pid)]

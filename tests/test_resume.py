"""A run that is killed at any point and resumed ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from worldcoder.programs.saving import load_model

ROOM = f"{Path(__file__).parent / 'runs' / 'room.py'}:make_env"
TABLES = {
    "states": "id, json",
    "episodes": "*",
    "transitions": "id, episode, state, action, next_state, reward, done, truncated",
    "decisions": "*",
    "programs": "*",
    "plans": "id, after, status, method, nodes, actions, rewards, fault",
    "notes": "*",
}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends signals")


def start(*arguments: object, hash_seed: int = 0) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-W", "error", "-m", "worldcoder", "learn", *map(str, arguments)]
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(*arguments: object, code: int = 0, hash_seed: int = 0) -> bytes:
    process = start(*arguments, hash_seed=hash_seed)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == code, errors.decode()
    return out


def actions_so_far(directory: Path) -> int:
    with suppress(sqlite3.Error):
        address = f"file:{directory / 'log.sqlite'}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM transitions").fetchone()[0])
    return 0


def wait_for(process: subprocess.Popen[bytes], directory: Path, actions: int) -> None:
    while process.poll() is None and actions_so_far(directory) < actions:
        time.sleep(0.01)


def results(directory: Path) -> Mapping[str, Any]:
    """All that does not depend on time and place."""
    with closing(sqlite3.connect(directory / "log.sqlite")) as connection:
        tables = {
            name: connection.execute(f"SELECT {columns} FROM {name} ORDER BY id").fetchall()
            for name, columns in TABLES.items()
        }
    summary = json.loads((directory / "summary.json").read_text())
    assert Path(summary.pop("model")) == directory / "model"
    del summary["seconds"]
    model = {path.name: path.read_text() for path in (directory / "model").iterdir()}
    return {
        **tables,
        "summary": summary,
        "model": model,
        "files": sorted(p.name for p in directory.iterdir()),
    }


@pytest.mark.parametrize(
    "experiment",
    [
        pytest.param((ROOM, "--option", "slow=0.01", "--seed", 5, "--polish", 40), id="small"),
        pytest.param(("sokoban", "--seed", 0, "--polish", 15), id="sokoban"),
    ],
)
def test_killed_at_ten_random_points(tmp_path: Path, experiment: tuple[object, ...]) -> None:
    arguments = (*experiment, "--no-check", "--no-pictures", "-q")
    began = time.monotonic()
    finish(*arguments, "--out", tmp_path / "whole")
    usual = time.monotonic() - began
    total = actions_so_far(tmp_path / "whole")

    rng = random.Random(time.time_ns())
    killed = tmp_path / "killed"
    points = [*sorted(rng.randrange(total) for _ in range(9)), total]
    survived = 0
    for number, point in enumerate(points):
        again = ("--resume", killed) if (killed / "log.sqlite").exists() else (*experiment, "--out", killed)
        process = start(*again, "--no-check", "--no-pictures", "-q", hash_seed=number)
        wait_for(process, killed, point)
        time.sleep(rng.random() * usual / 10)
        process.kill()
        process.communicate()
        survived += process.returncode == 0
    assert survived <= len(points) // 2, "most runs were to be killed, not to end"
    finish("--resume", killed, "--no-check", "--no-pictures", "-q")
    assert results(killed) == results(tmp_path / "whole")


def test_killed_at_the_very_beginning(tmp_path: Path) -> None:
    """Where there is nothing to resume yet, the run can be begun again in the same directory."""
    ended = ("--no-check", "--no-pictures", "-q")
    for number in range(6):
        directory = tmp_path / str(number)
        process = start(ROOM, "--out", directory, *ended)
        while not directory.exists():
            time.sleep(0.0005)
        time.sleep(0.002 * number)
        process.kill()
        process.communicate()
        begun = (directory / "log.sqlite").exists()
        finish(*(("--resume", directory) if begun else (ROOM, "--out", directory)), *ended)
    assert results(tmp_path / "0") == results(tmp_path / "5")


def test_ctrl_c_ends_in_order_and_can_be_resumed(tmp_path: Path) -> None:
    experiment = (ROOM, "--seed", 5, "--polish", 30, "--no-check", "--no-pictures")
    finish(*experiment, "--out", tmp_path / "whole", "--option", "slow=0.03")
    directory = tmp_path / "run"
    process = start(*experiment, "--out", directory, "--option", "slow=0.03")
    wait_for(process, directory, 14)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    assert process.returncode == 130 and not errors
    assert f"worldcoder learn --resume {directory}" in out.decode()
    summary = json.loads((directory / "summary.json").read_text())
    assert summary["stopped"] == "interrupted" and summary["real_actions"] >= 14
    assert load_model(directory)
    finish("--resume", directory, "--no-check", "--no-pictures")
    assert results(directory) == results(tmp_path / "whole")


def test_terminate_ends_in_order_too(tmp_path: Path) -> None:
    process = start(ROOM, "--option", "slow=0.1", "--out", tmp_path, "-q", "--no-pictures")
    wait_for(process, tmp_path, 3)
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 143
    assert json.loads((tmp_path / "summary.json").read_text())["stopped"] == "terminated"


def test_a_second_ctrl_c_kills() -> None:
    program = (
        "import sys, time\n"
        "from worldcoder.runs.interruption import Interrupter\n"
        "with Interrupter():\n"
        "    print('ready', flush=True)\n"
        "    for _ in range(600): time.sleep(0.1)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == -signal.SIGINT
    process.stdout.close()


def test_a_run_in_progress_cannot_be_resumed_a_second_time(tmp_path: Path) -> None:
    process = start(ROOM, "--option", "slow=0.2", "--out", tmp_path, "-q", "--no-pictures")
    try:
        wait_for(process, tmp_path, 1)
        other = start("--resume", tmp_path)
        _, errors = other.communicate(timeout=60)
        assert other.returncode == 1 and b"in use by another process" in errors
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("environment", ["sokoban", ROOM])
def test_the_same_seed_gives_the_same_run(tmp_path: Path, environment: str) -> None:
    """Whatever the order in which Python keeps its sets."""
    common = (environment, "--seed", 1, "--polish", 5, "--no-check", "--no-pictures", "-q")
    for hash_seed in (1, 2):
        finish(*common, "--out", tmp_path / str(hash_seed), hash_seed=hash_seed)
    assert results(tmp_path / "1") == results(tmp_path / "2")

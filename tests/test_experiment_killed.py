"""A run whose workers are killed from outside, again and again, ends as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from test_resume import ROOM, results

from worldcoder.experiment import Experiment, run

pytestmark = pytest.mark.skipif(
    not list(Path("/proc/self/task").glob("*/children")), reason="finds processes in /proc"
)

KILLS = 100


def children(pid: int) -> list[int]:
    """The processes that a process has started and that are not over."""
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, file.read_text().split())
    return sorted(found)


def workers() -> list[int]:
    """Those that run programs: children of the children of this process."""
    with suppress(OSError):
        return [worker for child in children(os.getpid()) for worker in children(child)]
    return []


class Killer(threading.Thread):
    """Kills one worker after the other. killed: how many there were."""

    def __init__(self, times: int, pause: float, seed: int) -> None:
        super().__init__()
        self.killed = 0
        self._times = times
        self._pause = pause
        self._rng = random.Random(seed)
        self._ended = threading.Event()

    def run(self) -> None:
        while self.killed < self._times and not self._ended.wait(self._rng.expovariate(1 / self._pause)):
            alive = workers()
            if alive:
                with suppress(ProcessLookupError):
                    os.kill(self._rng.choice(alive), signal.SIGKILL)
                    self.killed += 1

    def end(self) -> None:
        self._ended.set()
        self.join()


@contextmanager
def killing(times: int, pause: float, seed: int) -> Iterator[Killer]:
    killer = Killer(times, pause, seed)
    killer.start()
    try:
        yield killer
    finally:
        killer.end()


@pytest.mark.parametrize(
    "experiment",
    [
        pytest.param(Experiment("sokoban", polish=20), id="sokoban"),
        pytest.param(Experiment(ROOM, seed=5, options={"slow": 0.01}, polish=60), id="small"),
    ],
)
def test_killed_a_hundred_times(tmp_path: Path, experiment: Experiment) -> None:
    began = time.monotonic()
    undisturbed = run(experiment, tmp_path / "whole", pictures=False)
    usual = time.monotonic() - began
    seed = time.time_ns()
    with killing(KILLS, usual / 400, seed) as killer:
        summary = run(experiment, tmp_path / "killed", pictures=False)
    assert results(tmp_path / "killed") == results(tmp_path / "whole"), f"seed {seed}"
    assert summary.solved and summary.stopped == undisturbed.stopped
    assert killer.killed == KILLS

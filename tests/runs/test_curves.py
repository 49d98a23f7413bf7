"""Learning curves: they are drawn, they show the run, and they leave no trace in the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from recorded import SOLVING, kitchen_episode, record, sokoban_episode

from worldcoder.errors import RunError
from worldcoder.runs.curves import plot_curves


def test_a_run_is_drawn(tmp_path: Path) -> None:
    path = plot_curves(record(tmp_path, "sokoban", [sokoban_episode("up", "up"), sokoban_episode(*SOLVING)]))
    assert path == tmp_path / "curves.png"
    with Image.open(path) as picture:
        assert picture.size == (1050, 672)
        colours = {colour[:3] for _, colour in picture.convert("RGB").getcolors(1 << 24)}
    assert {(0x2E, 0x86, 0xAB), (0xE4, 0x57, 0x2E), (0x3D, 0x99, 0x70), (0x8E, 0x5A, 0xA9)} <= colours


def test_other_runs_are_other_pictures(tmp_path: Path) -> None:
    def drawn(name: str, *episodes: tuple[str, ...]) -> bytes:
        folder = record(tmp_path / name, "sokoban", [sokoban_episode(*actions) for actions in episodes])
        with Image.open(plot_curves(folder)) as picture:
            return picture.tobytes()

    assert drawn("a", SOLVING) == drawn("b", SOLVING)
    assert drawn("c", ("up", "up"), SOLVING) != drawn("d", SOLVING, ("up", "up"))


def test_a_run_that_has_hardly_begun(tmp_path: Path) -> None:
    assert plot_curves(record(tmp_path / "a", "sokoban", [])).is_file()
    assert plot_curves(record(tmp_path / "b", "sokoban", [sokoban_episode()])).is_file()
    assert plot_curves(record(tmp_path / "c", "kitchen", [kitchen_episode()], truncated=True)).is_file()


def test_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no run's directory"):
        plot_curves(tmp_path)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (record(tmp_path, "sokoban", [sokoban_episode("up")]) / "curves.png").mkdir()
    with pytest.raises(RunError, match="cannot write"):
        plot_curves(tmp_path)


def test_pyplot_is_left_alone(tmp_path: Path) -> None:
    """Its global state would be shared with, and opened windows for, the program that calls this."""
    record(tmp_path, "sokoban", [sokoban_episode("up")])
    code = (
        "import sys; from worldcoder.runs.curves import plot_curves; plot_curves(sys.argv[1]);"
        " sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 0

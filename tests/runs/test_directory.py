"""The directory of a run: a new one each time, written by one process at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldcoder.errors import RunError
from worldcoder.programs import Program, WorldModel
from worldcoder.runs import RunDirectory, new_directory
from worldcoder.runs.schema import LOG

MODEL = WorldModel(Program("def transition(state, action):\n    return state\n", "transition"), {})


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("sokoban", "sokoban-3"),
        ("minigrid:DoorKey-5x5", "minigrid-DoorKey-5x5-3"),
        ("path/to/room.py:make_env", "room-make_env-3"),
        ("sokoban:levels/a b.xsb#7", "sokoban-a-b.xsb-7-3"),
    ],
)
def test_a_new_directory_is_named_after_environment_and_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert new_directory(None, spec, 3).path == Path("runs") / name
    assert new_directory(None, spec, 3).path == Path("runs") / f"{name}-2"


def test_an_empty_directory_is_taken_and_a_full_one_is_not(tmp_path: Path) -> None:
    assert new_directory(tmp_path, "e", 0).path == tmp_path
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RunError, match="is not empty; choose another --out"):
        new_directory(tmp_path, "e", 0)
    (tmp_path / LOG).touch()
    with pytest.raises(RunError, match="--resume"):
        new_directory(tmp_path, "e", 0)


def test_a_file_is_no_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "runs"
    file.touch()
    for path in (file, file / "below"):
        with pytest.raises(RunError, match="choose another --out"):
            new_directory(path, "e", 0)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunError, match="choose another --out"):
        new_directory(None, "e", 0)


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with RunDirectory(tmp_path), pytest.raises(RunError, match="in use"), RunDirectory(tmp_path):
        pass
    with RunDirectory(tmp_path):
        pass


def test_a_summary_is_replaced_as_a_whole(tmp_path: Path) -> None:
    folder = RunDirectory(tmp_path)
    folder.write_summary({"a": 1})
    with pytest.raises(TypeError):
        folder.write_summary({"a": object()})
    assert folder.read_summary() == {"a": 1}
    folder.summary.write_text("{")
    with pytest.raises(RunError, match="cannot be read"):
        folder.read_summary()


def test_what_was_left_half_written_is_removed(tmp_path: Path) -> None:
    folder = RunDirectory(tmp_path)
    folder.write_model(MODEL, {})
    (tmp_path / ".model.x1y2").mkdir()
    (tmp_path / ".model.x1y2" / "transition.py").touch()
    (tmp_path / ".summary.json.new").touch()
    folder.tidy()
    assert [path.name for path in tmp_path.iterdir()] == ["model"]

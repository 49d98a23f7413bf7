"""Saving and loading: what comes back, what people edit, what is refused and how."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from worldcoder.errors import ModelFormatError
from worldcoder.programs import ANY_GOAL, Program, WorldModel, load_metadata, load_model
from worldcoder.world import Action, Obj, State

MOVE = """
def transition(state, action):
    for o in state.all("Dot"):
        o.x += int(action.name)
    return state
"""
REACH = """
def reward(state, action, next_state):
    won = next_state.one("Dot").x == 3
    return (1.0 if won else 0.0), won
"""
START = State([Obj("Dot", x=0, y=0)])


def model(*goals: str) -> WorldModel:
    return WorldModel(
        Program(MOVE, "transition", origin="rules"), {g: Program(REACH, "reward", g) for g in goals}
    )


@pytest.mark.parametrize("goals", [(), ("win",), ("win", "lose"), ("../etc", 'a "quoted" goal')])
def test_what_was_saved_comes_back(tmp_path: Path, goals: tuple[str, ...]) -> None:
    folder = model(*goals).save(tmp_path / "deep" / "model", metadata={"steps": 3})
    assert load_model(folder) == model(*goals)
    assert load_metadata(folder) == {"steps": 3}
    assert {f.suffix for f in folder.iterdir()} <= {".py", ".json"}
    assert [p.name for p in folder.parent.iterdir()] == ["model"]


def test_a_run_directory_is_accepted(tmp_path: Path) -> None:
    model("win").save(tmp_path / "model")
    assert load_model(tmp_path) == model("win")


def test_saving_again_replaces_the_whole(tmp_path: Path) -> None:
    model("win", "lose").save(tmp_path / "model")
    model("win").save(tmp_path / "model")
    assert sorted(p.name for p in (tmp_path / "model").iterdir()) == [
        "model.json",
        "reward.py",
        "transition.py",
    ]
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_an_edit_of_the_file_is_used(tmp_path: Path) -> None:
    folder = model("win").save(tmp_path / "model")
    (folder / "transition.py").write_text(MOVE.replace("int(action.name)", "2 * int(action.name)"))
    prediction = load_model(folder).predict(START, Action("1"), "win")
    assert prediction.state == State([Obj("Dot", x=2, y=0)])


def test_two_files_by_hand_are_enough(tmp_path: Path) -> None:
    (tmp_path / "transition.py").write_text(MOVE)
    assert load_model(tmp_path).rewards == {}
    (tmp_path / "reward.py").write_text(REACH)
    loaded = load_model(tmp_path)
    assert set(loaded.rewards) == {ANY_GOAL}
    assert loaded.predict(START, Action("3"), "whatever").done


def test_a_goal_that_is_not_known(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match="no reward program for the goal 'x'; it has: 'a', 'b'"):
        model("a", "b").predict(START, Action("1"), "x")
    with pytest.raises(ModelFormatError, match="name one of"):
        model("a", "b").predict(START, Action("1"))
    assert model("a").predict(START, Action("3")).done


def test_bad_folders(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match="is no folder"):
        load_model(tmp_path / "nothing")
    with pytest.raises(ModelFormatError, match="holds no model"):
        load_model(tmp_path)
    folder = model("win").save(tmp_path / "model")
    good = json.loads((folder / "model.json").read_text())
    for bad, message in [
        ("{", "is not JSON"),
        ("[]", "expected an object"),
        (json.dumps(good | {"format": 99}), "this version reads 1"),
        (json.dumps(good | {"goals": ["win"]}), "maps each goal"),
        (json.dumps(good | {"goals": {"win": {"file": "../x.py"}}}), "names no .py file"),
        (json.dumps(good | {"goals": {"win": 3}}), "names no .py file"),
        (json.dumps(good | {"goals": {"win": "gone.py"}}), "is missing"),
        (json.dumps(good | {"transition": 3}), "expected an object"),
    ]:
        (folder / "model.json").write_text(bad)
        with pytest.raises(ModelFormatError, match=message) as caught:
            load_model(folder)
        assert "\n" not in str(caught.value)
    (folder / "transition.py").unlink()
    with pytest.raises(ModelFormatError, match=r"no transition\.py"):
        load_model(folder)


def test_nothing_else_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("x")
    with pytest.raises(ModelFormatError, match="choose another folder"):
        model("win").save(tmp_path)
    assert (tmp_path / "precious.txt").exists()


def test_metadata_that_is_not_json_leaves_the_old_model(tmp_path: Path) -> None:
    model("win").save(tmp_path / "model")
    with pytest.raises(ModelFormatError, match="not JSON"):
        model("a", "b").save(tmp_path / "model", metadata={"x": object()})
    assert load_model(tmp_path) == model("win")

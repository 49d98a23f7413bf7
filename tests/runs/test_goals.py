"""What is said of a goal that is empty, in another language, or about what is not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from worldcoder.cli import main
from worldcoder.experiment import Experiment, run
from worldcoder.runs import RunReader
from worldcoder.runs.goals import unclear
from worldcoder.world import Action, Obj, State, Transition

FLAGS = Path(__file__).with_name("flags.py")
ACTIONS = [Action("take"), Action("move_on")]
START = State([Obj("Robot", x=0, y=0), Obj("SmallBox", color="red", lid="shut", x=1, y=1)])
ELSEWHERE = [
    State(
        [Obj("Robot", x=0, y=0), Obj("SmallBox", color="green", lid="open", x=1, y=1), Obj("Lamp", x=3, y=3)]
    )
]


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        ("take the small red box", None),
        ("move on", None),
        ("find a red thing", None),
        ("", "the goal is empty"),
        ("  ", "the goal is empty"),
        ("拿起红色的箱子", "no word of the goal"),
        ("ota laatikko", "no word of the goal"),
        ("win", 'goal "win" names anything here'),
        ("light the lamp", "speaks of Lamp, and there is none here"),
        ("take the small green box", "speaks of SmallBox and of green, and there is no such SmallBox here"),
        ("small boxes with an open lid", None),
    ],
)
def test_what_is_unclear_is_said(goal: str, said: str | None) -> None:
    opened = State([START.objects[0], START.objects[1].replace(lid="open")])
    seen = Transition(START, "go", Action("take"), opened, 0.0, False)
    found = unclear(goal, START, ACTIONS, ELSEWHERE, [seen])
    assert found is None if said is None else found is not None and said in found
    assert found is None or "\n" not in found


def test_without_anything_known_only_what_is_here_counts() -> None:
    assert unclear("take the red box from the small robot", START, ACTIONS) is None
    assert unclear("light the lamp", START, ACTIONS) is not None


@pytest.mark.parametrize(
    ("factory", "part"), [("make_silent", "the goal is empty"), ("make_foreign", "no word")]
)
def test_a_run_says_it_once_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], factory: str, part: str
) -> None:
    arguments = ["learn", f"{FLAGS}:{factory}", "--no-pictures", "--no-check", "--polish", "5"]
    assert main([*arguments, "--out", str(tmp_path / "run"), "--max-actions", "120"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  goal        ")]
    assert len(lines) == 1 and part in lines[0]
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    (goal,) = summary["goals"].values()
    assert part in goal["unclear"] and summary["solved"]
    with RunReader(tmp_path / "run") as reader:
        assert [note.what for note in reader.notes()].count("unclear") == 1


def test_a_thing_known_from_before_that_is_not_here(tmp_path: Path) -> None:
    run(Experiment(f"{FLAGS}:make_field", polish=0), tmp_path / "first", pictures=False)
    bare = Experiment(f"{FLAGS}:make_bare", polish=0, max_actions=10)
    summary = run(bare, tmp_path / "second", pictures=False, known=tmp_path / "first")
    assert summary.goals["walk to the tree"]["unclear"] == (
        'the goal "walk to the tree" speaks of Tree, and there is none here'
    )

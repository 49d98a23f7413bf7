"""Teachers: where the next visit goes."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

from worldcoder.curriculum import (
    ByProgress,
    InOrder,
    Teacher,
    Visit,
    learn_curriculum,
    read,
    resume_curriculum,
)
from worldcoder.experiment import Experiment
from worldcoder.programs import Runner, load_knowledge

RUNS = Path(__file__).parents[1] / "runs"


def visit(teacher: Teacher, how: dict[int, Visit]) -> int | None:
    """One visit, which goes as it is said for its stage."""
    stage = teacher.ask()
    if stage is not None:
        teacher.tell(stage, how[stage])
    return stage


def went(share: float, *, solved: bool, changed: bool = False) -> Visit:
    return Visit(solved, tuple(n / 30 < share for n in range(30)), changed)


def test_in_order_each_has_its_turn_once() -> None:
    teacher = InOrder(3)
    bad = went(0.0, solved=False)
    assert [visit(teacher, dict.fromkeys(range(3), bad)) for _ in range(4)] == [0, 1, 2, None]
    assert teacher.ended == "done"


def test_by_progress_each_is_tried_and_then_what_progresses() -> None:
    teacher = ByProgress(3, random.Random(0), chance=0.0, visits=40)
    same = went(0.5, solved=True)
    visits = [teacher.ask()]
    for n in range(12):
        stage = visits[-1]
        assert stage is not None
        better = went(min(0.9, 0.1 * n), solved=True, changed=True)
        teacher.tell(stage, better if stage == 1 else same)
        visits.append(teacher.ask())
    assert visits[:3] == [0, 1, 2], "each once, in order"
    assert Counter(visits[5:12])[1] >= 5, "then mostly where the share foreseen grows"


def test_what_is_mastered_is_skipped() -> None:
    teacher = ByProgress(3, random.Random(0))
    how = dict.fromkeys(range(3), went(1.0, solved=True))
    visits = [visit(teacher, how) for _ in range(7)]
    assert visits[:3] == [0, 1, 2] and sorted(visits[3:6], key=str) == [0, 1, 2]
    assert visits[6] is None and teacher.ended == "mastered"
    surprised = dict.fromkeys(range(3), went(0.8, solved=True))
    teacher = ByProgress(3, random.Random(0), visits=8)
    assert None not in [visit(teacher, surprised) for _ in range(8)]


def test_what_is_hopeless_rests_until_something_was_learned_elsewhere() -> None:
    teacher = ByProgress(2, random.Random(0), chance=0.0)
    stuck, learning = went(0.5, solved=False), went(0.4, solved=True, changed=True)
    teacher.tell(0, stuck)
    assert teacher.ask() == 1
    teacher.tell(0, stuck)  # twice the same: no progress
    teacher.tell(1, went(0.4, solved=True))
    assert teacher.ask() == 1, "nothing has changed: the first one rests"
    teacher.tell(1, learning)
    for _ in range(2):
        teacher.tell(1, went(1.0, solved=True))
    assert teacher.ask() == 0, "the model is another one now"
    teacher.tell(0, stuck)
    assert teacher.ask() is None and teacher.ended == "hopeless"


def test_visits_are_limited() -> None:
    teacher = ByProgress(2, random.Random(0), visits=3)
    how = dict.fromkeys(range(2), went(0.5, solved=True))
    assert [visit(teacher, how) is None for _ in range(4)] == [False, False, False, True]
    assert teacher.ended == "visits"


def test_a_curriculum_by_progress(tmp_path: Path) -> None:
    """One that is mastered early, one that can never be solved: neither is practised to the end."""
    room, flags = RUNS / "room.py", RUNS / "flags.py"
    (tmp_path / "mixed.toml").write_text(
        f'order = "progress"\npractice = 40\nvisits = 12\n[every]\npolish = 5\n'
        f'[[stage]]\nenvironment = "{room}:make_env"\n'
        f'[[stage]]\nenvironment = "{flags}:make_hopeless"\n'
        f'[[stage]]\nenvironment = "{flags}:make_field"\n'
    )
    plan, base = read(tmp_path / "mixed.toml"), Experiment(f"{room}:make_env")
    with Runner() as runner:
        summary = learn_curriculum(plan, base, tmp_path / "run", pictures=False, runner=runner)
        first, hopeless, last = summary.stages
        assert first["solved"] and last["solved"] and not hopeless["solved"]
        assert summary.stopped == "hopeless"
        assert summary.total("regressions") == 0
        assert sum(stage["visits"] for stage in summary.stages) < 12
        cut = learn_curriculum(
            plan, base, tmp_path / "cut", limits={"max_actions": 70}, pictures=False, runner=runner
        )
        assert cut.stopped == "actions"
        resume_curriculum(tmp_path / "cut", pictures=False, runner=runner, max_actions=10_000)
    both = [json.loads((tmp_path / name / "summary.json").read_text()) for name in ("run", "cut")]
    assert [s["runs"] for s in both[0]["stages"]] == [s["runs"] for s in both[1]["stages"]]


def test_what_cannot_be_understood_is_not_handed_on(tmp_path: Path, runner: Runner) -> None:
    """Its data would be in the way of everything that is learned later."""
    room, flags = RUNS / "room.py", RUNS / "flags.py"
    (tmp_path / "noisy.toml").write_text(
        f'order = "progress"\npractice = 25\nvisits = 3\n[every]\npolish = 5\n'
        f'[[stage]]\nenvironment = "{flags}:make_noisy"\n'
        f'[[stage]]\nenvironment = "{room}:make_env"\n'
        f'[[stage]]\nenvironment = "{flags}:make_field"\n'
    )
    plan, base = read(tmp_path / "noisy.toml"), Experiment(f"{room}:make_env")
    summary = learn_curriculum(plan, base, tmp_path / "run", pictures=False, runner=runner)
    noisy, first, second = summary.stages
    assert not noisy["solved"] and noisy["phi1"] < 1
    assert first["solved"] and first["phi1"] == 1.0 and first["earlier"] == 0
    assert second["solved"] and second["phi1"] == 1.0 and second["earlier"] == first["real_actions"]
    assert load_knowledge(tmp_path / "run").worlds == (f"{room}:make_env", f"{flags}:make_field")

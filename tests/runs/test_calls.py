"""What a run keeps of its language model: replies in the log, where it was cut off, what follows from a limit."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from worldcoder.errors import BudgetReached, LLMError
from worldcoder.llm.budget import Budget, Limits
from worldcoder.llm.errors import NotRecorded, WrongKey
from worldcoder.llm.store import SqliteStore
from worldcoder.llm.values import FREE, Cost, Message, Reply, Request, Spent, Usage
from worldcoder.programs import Program
from worldcoder.runs import RunReader
from worldcoder.runs.calls import Kept, ModelCalls
from worldcoder.runs.clock import Clock
from worldcoder.runs.events import Asking
from worldcoder.runs.interruption import Interrupter, Interruption
from worldcoder.runs.log import RunLog
from worldcoder.runs.phases import Cut, Phases


def request(text: str, n: int = 1) -> Request:
    return Request("scripted", (Message("user", text),), n=n)


def reply(text: str, usage: Usage | None = Usage(3, 4), usd: float | None = 0.5) -> Reply:  # noqa: B008 - frozen
    return Reply((text,), ("stop",), usage=usage, spent=Spent(1, 7, Cost(usd)))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[RunLog]:
    with closing(RunLog.create(tmp_path, {"config": {}})) as log:
        yield log


# ── in the log ───────────────────────────────────────────────────────────────────────────────────────────


def test_replies_are_read_back_and_copied(log: RunLog, tmp_path: Path) -> None:
    failed = WrongKey("no")
    with SqliteStore(log.path) as store:
        store.add(request("a"), 0, reply("A"))
        with log.transaction():  # whatever else is being written
            log.set_meta("x", 1)
        store.add(request("b"), 0, failed)
    with RunReader(tmp_path) as reader:
        first, second = reader.replies()
        rows = reader.reply_rows()
    assert (first.request, first.outcome, first.occurrence) == (request("a"), reply("A"), 0)
    assert isinstance(second.outcome, WrongKey) and str(second.outcome) == "no"
    (tmp_path / "other").mkdir()
    with closing(RunLog.create(tmp_path / "other", {"config": {}})) as other, other.transaction():
        other.add_replies(rows)
    with RunReader(tmp_path / "other") as reader:
        assert reader.reply_rows() == rows


def test_logs_without_a_table_of_replies_have_none(log: RunLog, tmp_path: Path) -> None:
    log._execute("DROP TABLE replies")
    with RunReader(tmp_path) as reader:
        assert list(reader.replies()) == []


def test_what_followed_from_a_limit_is_taken_back(log: RunLog, tmp_path: Path) -> None:
    program = Program("def transition(state, action):\n    return state\n", "transition")
    with log.transaction():
        for index in (1, 2, 3):
            log.add_program(index, program, None, 0.5, index)
            log.add_note(index, index, "solved", "")
    with log.transaction():
        log.forget({"programs": 1, "notes": 3})
    with RunReader(tmp_path) as reader:
        assert [p.index for p in reader.programs()] == [1]
        assert [n.index for n in reader.notes()] == [1, 2, 3]


class Client:
    """Answers everything, and counts."""

    name = "scripted"

    def __init__(self) -> None:
        self.asked = 0

    async def complete(self, request: Request, *, budget: object = None) -> Reply:
        self.asked += 1
        return reply("new")

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("allowed", [True, False])
def test_what_is_not_in_the_log_is_asked_only_at_its_end(log: RunLog, allowed: bool) -> None:
    with SqliteStore(log.path) as store:
        store.add(request("one\ntwo"), 0, reply("A"))
        kept = Kept(Client(), store, lambda: allowed)
        known = kept.recall(kept.place(request("one\ntwo")))
        assert known is not None and known.outcome == reply("A")
        if allowed:
            assert kept.recall(kept.place(request("one\nthree"))) is None
        else:
            with pytest.raises(NotRecorded, match=r"(?s)start a new run.*\n-two\n\+three"):
                kept.recall(kept.place(request("one\nthree")))


# ── asking ───────────────────────────────────────────────────────────────────────────────────────────────


class Model:
    """Stands for `LanguageModel`."""

    name = "scripted"

    def __init__(self, *outcomes: Reply | LLMError | BaseException) -> None:
        self.spent = Spent(0, 0, FREE)
        self.asked: list[Request] = []
        self.budget = Budget(Limits(max_tokens=1_000))
        self.left: list[int | None] = []
        self._outcomes = list(outcomes)

    def ask_all(
        self, requests: Iterable[Request], *, budget: Budget
    ) -> Iterator[tuple[int, Reply | LLMError]]:
        self.left.append(budget.remaining().calls)
        assert budget.remaining().tokens == 1_000, "it is a part of the model's"
        for number, one in enumerate(requests):
            self.asked.append(one)
            outcome = self._outcomes.pop(0)
            if isinstance(outcome, Reply):
                self.spent += outcome.spent
            elif not isinstance(outcome, LLMError):
                raise outcome
            yield number, outcome


def calls(model: Model, **more: Any) -> tuple[ModelCalls, list[Asking], Clock]:
    told: list[Asking] = []
    clock = Clock(waits=True)
    settings: dict[str, Any] = {"problem": lambda: 5, "in_vain": lambda: None, "used_up": lambda: None}
    asking = ModelCalls(model, clock=clock, listen=told.append, most=50, **{**settings, **more})  # type: ignore[arg-type]
    return asking, told, clock


def test_it_is_counted_timed_and_told() -> None:
    model = Model(reply("a"), reply("b"))
    asking, told, clock = calls(model)
    assert [n for n, _ in asking.ask_all([request("x", 2), request("y")])] == [0, 1]
    assert [(e.in_flight, e.calls, e.most, e.tokens, e.usd) for e in told] == [
        (3, 5, 50, 0, 0.0),
        (1, 7, 50, 7, 0.5),
        (0, 8, 50, 14, 1.0),
    ]
    assert asking.spent() == {
        "language_model": "scripted",
        "model_calls": 2,
        "tokens": 14,
        "tokens_in": 6,
        "tokens_out": 8,
        "usd": 1.0,
    }
    assert model.left == [45], "what is left of the problem's calls holds for what is asked again as well"
    assert asking.replies == 2 and clock.seconds()["waiting"] >= 0
    assert "waiting" not in Clock().seconds()


def test_what_is_unknown_is_not_nothing() -> None:
    asking, _, _ = calls(Model(reply("a"), reply("b", usage=None, usd=None), reply("c")))
    list(asking.ask_all([request("x"), request("y"), request("z")]))
    spent = asking.spent()
    assert (spent["tokens_in"], spent["tokens_out"], spent["usd"]) == (None, None, None)
    assert spent["tokens"] == 21


def test_after_a_limit_nothing_is_asked() -> None:
    model = Model()
    asking, told, _ = calls(model, used_up=lambda: "usd")
    outcomes = [outcome for _, outcome in asking.ask_all([request("x"), request("y")])]
    assert all(isinstance(o, BudgetReached) and o.which == "usd" for o in outcomes) and len(outcomes) == 2
    assert not model.asked and not told


def test_it_is_known_that_a_run_was_cut_off_while_it_waited() -> None:
    asking, _, _ = calls(Model(reply("a"), Interruption("interrupted")))
    with pytest.raises(Interruption):
        list(asking.ask_all([request("x"), request("y")]))
    assert asking.cut_off and asking.replies == 1


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
def test_what_is_done_as_a_whole_is_not_interrupted() -> None:
    done = []
    with (
        Interrupter() as interrupter,
        pytest.raises(Interruption, match="interrupted"),
        interrupter.allowed(),
    ):
        with interrupter.held():
            signal.raise_signal(signal.SIGINT)
            done.append("all of it")
        done.append("what comes after it")
    assert done == ["all of it"]
    with Interrupter() as interrupter, interrupter.held():
        signal.raise_signal(signal.SIGINT)  # nothing was allowed before: it takes effect later
    assert interrupter.reason == "interrupted"


# ── where a run was cut off ──────────────────────────────────────────────────────────────────────────────


def test_a_repeated_run_ends_where_the_first_one_was_cut_off() -> None:
    here = {"actions": 0}

    def where(reason: str, phase: str) -> Cut:
        return Cut(reason, here["actions"], 1, phase, 3)

    cut = Cut("seconds", 2, 1, "observe", 3)
    assert Cut.from_json(json.loads(json.dumps(cut.to_json()))) == cut and Cut.from_json(None) is None
    marked: list[int] = []
    phases = Phases(where, nullcontext, lambda: marked.append(here["actions"]), cut)
    passed = []
    with pytest.raises(Interruption) as ended:
        for actions in range(5):
            here["actions"] = actions
            for phase in ("act", "observe"):
                with phases(phase):
                    passed.append((actions, phase))
    assert ended.value.reason == "seconds" and passed[-1] == (2, "act") and len(marked) == 6
    phases.in_vain()  # it was not waiting


def test_a_run_that_was_cut_off_waiting_is_repeated_up_to_the_reply_that_never_came() -> None:
    cut = Cut("interrupted", 2, 1, "observe", 3, asking=True)
    there = {"actions": 1}
    phases = Phases(lambda r, p: Cut(r, there["actions"], 1, p, 4), nullcontext, lambda: None, cut)
    with phases("observe"):
        phases.in_vain()
    there["actions"] = 2
    with phases("observe"), pytest.raises(Interruption, match="interrupted"):
        phases.in_vain()
    assert replace(cut, asking=False) != cut

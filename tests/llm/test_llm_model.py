"""A model for callers without an event loop: several requests in flight, Ctrl-C, kills, the order of answers."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llm_worlds import ENVIRONMENT, ask, opened
from scripted_server import Asked, Behaviour, Script, ScriptedServer, hang, say, status

from worldcoder.errors import RunError
from worldcoder.llm import (
    Budget,
    BudgetReached,
    LanguageModel,
    Limits,
    LLMError,
    MemoryStore,
    Recorded,
    Rejected,
    Replaying,
    Reply,
    SqliteStore,
    Store,
    WrongKey,
)

HERE = Path(__file__).parent


def model_of(
    server: ScriptedServer, *, store: Store | None = None, budget: Budget | None = None, **settings: Any
) -> LanguageModel:
    """A model on a scripted server."""
    client = opened(server, **settings)
    return LanguageModel(client if store is None else Recorded(client, store), budget=budget)


def text_of(outcome: Reply | LLMError) -> str:
    return outcome.texts[0] if isinstance(outcome, Reply) else type(outcome).__name__


def test_asking() -> None:
    with ScriptedServer([say("hello"), status(401)]) as server, model_of(server) as model:
        assert model.name == "openai/test"
        assert model.ask(ask()).texts == ("hello",)
        with pytest.raises(WrongKey):
            model.ask(ask())
        assert model.spent.tokens == 18


def test_answers_are_taken_as_they_come() -> None:
    pauses = {"slow": 0.6, "quick": 0.0, "middling": 0.3}

    def script(asked: Asked) -> Behaviour:
        return status(400, "no") if asked.prompt == "bad" else say(asked.prompt, pause=pauses[asked.prompt])

    with ScriptedServer(script) as server, model_of(server) as model:
        model.ask(ask("quick"))  # so that the library is ready
        requests = [ask(prompt) for prompt in ("slow", "middling", "bad", "quick")]
        found = list(model.ask_all(requests))
        assert server.most_at_once >= 2
    assert [number for number, _ in found][2:] == [1, 0]
    assert {number: text_of(outcome) for number, outcome in found} == {
        0: "slow",
        1: "middling",
        2: "Rejected",
        3: "quick",
    }
    assert isinstance(dict(found)[2], Rejected)
    assert list(model.ask_all([])) == []


def test_requests_are_added_while_others_are_under_way() -> None:
    with ScriptedServer(lambda asked: say(asked.prompt)) as server, model_of(server) as model:
        with model.flight() as flight:
            tickets = [flight.add(ask(f"{i}")) for i in range(3)]
            seen = []
            while flight:
                _, outcome = flight.take()
                seen.append(text_of(outcome))
                if len(seen) < 8:
                    tickets.append(flight.add(ask(f"{len(tickets)}")))
            with pytest.raises(LookupError):
                flight.take()
        assert tickets == list(range(10))
        assert sorted(map(int, seen)) == tickets
        assert model.spent.calls == 10


def test_a_budget_holds_with_several_in_flight() -> None:
    budget = Budget(Limits(max_calls=5))
    with ScriptedServer(lambda asked: say("x")) as server, model_of(server, budget=budget) as model:
        found = [text_of(outcome) for _, outcome in model.ask_all(ask(f"{i}") for i in range(12))]
        assert sorted(found) == ["BudgetReached"] * 7 + ["x"] * 5
        with pytest.raises(BudgetReached):
            model.ask(ask("one more"))
        assert budget.remaining().calls == 0
    assert len(server.asked) == 5


def test_each_problem_has_a_budget_within_the_whole() -> None:
    whole = Budget(Limits(max_calls=5))
    with ScriptedServer(lambda asked: say("x")) as server, model_of(server, budget=whole) as model:
        for expected in (3, 2):
            part = Budget(Limits(max_calls=3), within=model.budget)
            found = [text_of(o) for _, o in model.ask_all((ask(f"{i}") for i in range(4)), budget=part)]
            assert found.count("x") == expected


def test_what_is_still_in_flight_is_given_up() -> None:
    def script(asked: Asked) -> Behaviour:
        return say("quick") if asked.prompt == "quick" else hang()

    budget = Budget()
    with ScriptedServer(script) as server, model_of(server, budget=budget) as model:
        model.ask(ask("quick"))
        answers = model.ask_all([ask("slow"), ask("quick"), ask("slow too")])
        assert next(answers)[0] == 1
        answers.close()  # type: ignore[attr-defined]
        assert budget.spent.calls in (3, 4), "what was under way may be paid for, what waited is not"
        assert not budget.spent.exact
        assert model.ask(ask("quick")).texts == ("quick",), "the model can be asked on"


def test_closing_ends_the_thread_and_what_is_in_flight() -> None:
    before = threading.active_count()
    with ScriptedServer([hang()]) as server:
        model = model_of(server)
        with model.flight() as flight:
            flight.add(ask())
            time.sleep(0.1)
            began = time.monotonic()
            model.close()
            assert time.monotonic() - began < 4
            with pytest.raises(RuntimeError, match="closed"):
                flight.take()
        model.close()
        with pytest.raises(RuntimeError, match="closed"):
            model.ask(ask())
    assert threading.active_count() == before


def test_a_model_that_was_never_asked_is_closed_too() -> None:
    with ScriptedServer([hang()]) as server:
        model_of(server).close()


def test_a_record_that_cannot_be_written_is_no_error_of_the_model(tmp_path: Path) -> None:
    full = "CREATE TABLE replies (id, key, occurrence, request, reply TEXT CHECK (0), error)"
    with SqliteStore(tmp_path / "log.sqlite") as store:
        store._connection.execute("DROP TABLE replies")
        store._connection.execute(full)
        written = pytest.raises(RunError, match="cannot write replies")
        with ScriptedServer([say("x")]) as server, model_of(server, store=store) as model, written:
            model.ask(ask())


# ── the order of answers ─────────────────────────────────────────────────────────────────────────────────


def decide(model: LanguageModel, seed: int, most: int = 14) -> Iterator[tuple[int, str]]:
    """Somebody whose every question depends on the answers before, with three in flight."""
    rng = random.Random(seed)
    history = ""
    with model.flight() as flight:
        for _ in range(3):
            flight.add(ask(f"root {rng.randrange(2)}"))
        while flight:
            ticket, outcome = flight.take()
            yield ticket, text_of(outcome)
            history = f"{history}{text_of(outcome)},"
            most -= 1
            if most > 0:
                flight.add(ask(f"after {history} {rng.randrange(3)}"))


def unsteady(asked: Asked) -> Behaviour:
    """Answers that differ each time, after pauses that differ each time, and failures."""
    if asked.number % 7 == 5:
        return status(400, f"not {asked.number}")
    return say(f"answer {asked.number}", pause=random.Random(asked.number * 31).uniform(0, 0.06))


@pytest.mark.parametrize("seed", range(3))
def test_a_replay_takes_the_same_answers_in_the_same_order(seed: int) -> None:
    store = MemoryStore()
    with ScriptedServer(unsteady) as server:
        with model_of(server, store=store) as model:
            first = list(decide(model, seed))
            spent = model.spent
        asked = len(server.asked)
        with model_of(server, store=store) as model:
            assert list(decide(model, seed)) == first
        assert len(server.asked) == asked
    assert len(first) == 16
    with LanguageModel(Replaying(store)) as model:
        assert list(decide(model, seed)) == first
        assert model.spent == spent


@pytest.mark.parametrize("kept", [0, 1, 4, 9, 15])
def test_a_resume_takes_what_is_recorded_in_order_and_asks_on(kept: int) -> None:
    """The record ends anywhere; what was handed out before is handed out again, in the same order."""
    store = MemoryStore()
    with ScriptedServer(unsteady) as server:
        with model_of(server, store=store) as model:
            first = list(decide(model, 1))
        del store._entries[kept:]
        asked = len(server.asked)
        with model_of(server, store=store) as model:
            again = list(decide(model, 1))
        assert again[:kept] == first[:kept]
        assert len(server.asked) == asked + 16 - kept
    with LanguageModel(Replaying(store)) as model:
        assert list(decide(model, 1)) == again


# ── Ctrl-C and kills ─────────────────────────────────────────────────────────────────────────────────────

CHILD = """
import gc, os, signal, sys, threading, time
sys.path.insert(0, {here!r})
from llm_worlds import ENVIRONMENT, ask
from worldcoder.llm import LanguageModel, Recorded, SqliteStore, open_client

signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the tests were started with
store = SqliteStore(sys.argv[2])
client = open_client("openai/test", base_url=sys.argv[1], environment=ENVIRONMENT)
"""


def child(code: str, server: ScriptedServer, record: Path) -> subprocess.Popen[str]:
    """A program of its own, in which every warning is an error."""
    text = CHILD.format(here=str(HERE)) + textwrap.dedent(code)
    command = [sys.executable, "-W", "error", "-c", text, server.url, str(record)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_gives_up_what_is_in_flight_and_closes_cleanly(tmp_path: Path) -> None:
    """While an answer is waited for, while several are, and while somebody does something else meanwhile."""
    code = """
    def one(model):
        model.ask(ask("wait"))

    def several(model):
        list(model.ask_all([ask("wait"), ask("wait"), ask("wait")]))

    def meanwhile(model):
        with model.flight() as flight:
            flight.add(ask("wait"))
            time.sleep(30)

    with LanguageModel(Recorded(client, store)) as model:
        for way in (one, several, meanwhile):
            try:
                print(model.ask(ask(f"before {way.__name__}")).texts[0], flush=True)
                way(model)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
    store.close()
    gc.collect()
    print("threads:", threading.active_count())
    """

    def script(asked: Asked) -> Behaviour:
        return hang() if asked.prompt == "wait" else say(asked.prompt)

    with ScriptedServer(script) as server:
        process = child(code, server, tmp_path / "log.sqlite")
        assert process.stdout is not None
        for way, asked in (("one", 2), ("several", 6), ("meanwhile", 8)):
            assert process.stdout.readline() == f"before {way}\n"
            while len(server.asked) < asked:
                time.sleep(0.01)
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            assert time.monotonic() - began < 4
        out, err = process.communicate(timeout=20)
    assert (out, err, process.returncode) == ("threads: 1\n", "", 0)


def test_a_process_that_is_killed_between_a_reply_and_its_use_does_not_pay_twice(tmp_path: Path) -> None:
    """It dies as soon as the reply is stored, before anybody has taken it."""
    code = """
    model = LanguageModel(Recorded(client, store))
    flight = model.flight().__enter__()
    flight.add(ask("dear"))
    while store.find(ask("dear").key, 0) is None:
        time.sleep(0.005)
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    """
    record = tmp_path / "log.sqlite"
    with ScriptedServer(lambda asked: say(f"{asked.prompt} {asked.number}")) as server:
        killed = child(code, server, record)
        killed.communicate(timeout=60)
        assert killed.returncode != 0
        assert len(server.asked) == 1
        with SqliteStore(record) as store, model_of(server, store=store) as model:
            assert model.ask(ask("dear")).texts == ("dear 0",)
            assert (model.budget.spent.tokens, len(server.asked)) == (18, 1), (
                "it counts, and is not asked again"
            )
            assert model.ask(ask("new")).texts == ("new 1",)


def test_the_script_of_a_server_may_be_a_list_of_texts() -> None:
    script: Script = ["one", "two"]
    with ScriptedServer(script) as server, model_of(server) as model:
        assert [model.ask(ask(f"{i}")).texts[0] for i in range(3)] == ["one", "two", "two"]
    assert ENVIRONMENT["OPENAI_API_KEY"] in str(server.asked[0].authorization)

"""`worldcoder learn --model`: against a server that does what a script says, over real sockets."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from scripted_runs import (
    KEY,
    QUICK,
    SOKOBAN,
    Asked,
    ScriptedServer,
    learn_with,
    results,
    say,
    texts,
    writer,
)

from worldcoder.cli import main
from worldcoder.cli.models import asking
from worldcoder.cli.progress import Lines, Screen
from worldcoder.experiment import Experiment, ModelConfig, rerun, resume, run
from worldcoder.llm.patience import Patience
from worldcoder.llm.prices import Price
from worldcoder.llm.values import Cost, Usage
from worldcoder.runs.events import Asking, Began
from worldcoder.world.values import Obj, State

from scripted_server import (  # isort: skip
    Behaviour,
    busy,
    hang,
    invalid_json,
    no_choices,
    reset,
    stops_short,
    wrong_key,
    wrong_type,
)

SEED = 1
FEW = ("--max-actions", "12")
TALK = "I think the program has to look at what is ahead before it moves. Shall I write it?"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory of its own, and a key."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return tmp_path


@dataclass(frozen=True)
class Learned:
    """A run that converged. out: what it printed. asked: what the server saw."""

    directory: Path
    out: str
    asked: list[Asked]


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Learned]:
    directory = tmp_path_factory.mktemp("runs") / "whole"
    with ScriptedServer(writer(SEED)) as server:
        command = learn_with(server, *SOKOBAN, "--synthesizer", "llm", "--seed", SEED, "--out", directory)
        done = worldcoder(*command)
        assert done.returncode == 0, done.stderr
        yield Learned(directory, done.stdout + done.stderr, server.asked)


def worldcoder(*arguments: str, key: str | None = KEY, code: str = "") -> subprocess.CompletedProcess[str]:
    """In a process of its own. code: what it executes before."""
    return subprocess.run(
        [*command_of(code), *arguments], env=environment(key), capture_output=True, text=True, timeout=120
    )


def command_of(code: str = "") -> list[str]:
    run = "import sys; from worldcoder.cli import main; sys.exit(main())"
    return [sys.executable, "-W", "error", "-c", f"{code}\n{run}"]


def environment(key: str | None) -> dict[str, str]:
    values = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    return values if key is None else {**values, "OPENAI_API_KEY": key}


def summary_of(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((directory / "summary.json").read_text())
    return found


def assert_no_key(directory: Path, *told: str) -> None:
    files = [path for path in directory.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert KEY.encode() not in path.read_bytes(), path
    assert not any(KEY in text for text in told)


# ── a run from begin to end ──────────────────────────────────────────────────────────────────────────────


def test_it_learns_by_repair(learned: Learned) -> None:
    summary = summary_of(learned.directory)
    assert summary["solved"] and summary["phi1"] == 1.0 and summary["phi2"] == "found"
    assert summary["synthesizer"] == "llm" and summary["language_model"] == "openai/scripted"
    assert summary["model_calls"] == texts(learned.asked) > 3
    assert summary["tokens_in"] == 11 * len(learned.asked) and summary["usd"] is None
    assert summary["tokens"] >= summary["tokens_in"] + summary["tokens_out"]
    assert 0 < summary["seconds"]["waiting"] <= summary["seconds"]["total"]
    repairs = [one for one in learned.asked if one.prompt.startswith("This transition program")]
    assert repairs and all("def transition" in one.prompt for one in repairs)


def test_what_it_prints(learned: Learned) -> None:
    assert re.search(r"asking openai/scripted: 2 in flight, 0 of 50 calls, 0 tokens, \$0\.00", learned.out)
    calls, out = texts(learned.asked), learned.out
    assert re.search(
        rf"  asked       openai/scripted: {calls} calls, [\d,]+ tokens \(.*\), cost unknown\n", out
    )
    shown = worldcoder("show", str(learned.directory), key=None)
    assert f"  asked       openai/scripted: {calls} calls" in shown.stdout


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (
            Asking("openai/gpt-5-mini", 3, 12, 50, 41_234, 0.12),
            "asking openai/gpt-5-mini: 3 in flight, 12 of 50 calls, 41k tokens, $0.12",
        ),
        (
            Asking("ollama/x", 1, 0, 1, 1_234_567, None),
            "asking ollama/x: 1 in flight, 0 of 1 call, 1.2M tokens, cost unknown",
        ),
    ],
)
def test_what_is_said_while_it_is_waited_for(event: Asking, words: str) -> None:
    assert asking(event) == words
    lines: list[str] = []
    show = Lines(lines.append)
    for _ in range(5):
        show(event)
    assert [line.strip() for line in lines] == [words], "seldom, where lines stay"
    screen = Screen()
    screen(Began(Path(), "w", 0, State([Obj("Lamp", x=1, y=1)]), "shine", None))
    screen(event)
    assert f"  now         {words}" in list(screen.lines())


def test_a_key_is_sent_and_never_told(learned: Learned) -> None:
    assert {one.authorization for one in learned.asked} == {f"Bearer {KEY}"}
    assert not any(KEY in json.dumps(one.body) for one in learned.asked)
    assert_no_key(learned.directory, learned.out)


def test_replay_needs_neither_key_nor_network_and_is_the_same(learned: Learned, here: Path) -> None:
    before = len(learned.asked)
    done = worldcoder("learn", "--replay", str(learned.directory), "--out", "again", *QUICK[:2], key=None)
    assert done.returncode == 0, done.stderr
    assert len(learned.asked) == before
    assert results(here / "again") == results(learned.directory)


def test_a_prompt_without_a_recorded_reply_is_an_error_that_shows_the_difference(
    learned: Learned, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "mine").mkdir()
    (here / "mine" / "transition.txt").write_text("Write a program, please.\n\n{{steps}}\n")
    code = main(["learn", "--replay", str(learned.directory), "--prompts", "mine", "--out", "other", "-q"])
    error = capsys.readouterr().err
    assert code == 1 and error.startswith(
        "error: there is no reply to this request in the record; it differs"
    )
    assert "\n-Write the transition program" in error and "\n+Write a program, please." in error


def test_killed_between_a_reply_and_its_use_it_is_not_paid_for_twice(here: Path) -> None:
    die = """
import os, signal
from worldcoder.llm.store import SqliteStore
add = SqliteStore.add
def killed(*arguments):
    add(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
SqliteStore.add = killed
"""
    with ScriptedServer(writer(SEED)) as server:
        command = learn_with(
            server, *SOKOBAN, "--synthesizer", "llm", "--seed", SEED, "--out", "killed", *FEW
        )
        assert worldcoder(*command, code=die).returncode == -signal.SIGKILL
        assert len(server.asked) == 1
        assert main(["learn", "--resume", "killed", "-q", *QUICK[:2]]) == 0
        assert len(server.asked) > 3
    summary = summary_of(here / "killed")
    assert summary["model_calls"] == texts(server.asked) and summary["stopped"] == "actions"


# ── what goes wrong ──────────────────────────────────────────────────────────────────────────────────────


def test_a_wrong_key_is_one_clear_error_and_the_right_one_goes_on(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer(writer(SEED, wrong_key())) as server:
        assert main(learn_with(server, *SOKOBAN, "--synthesizer", "llm", "--out", "run", *FEW)) == 1
        told = capfd.readouterr()
        assert re.fullmatch(r"error: .*OPENAI_API_KEY.*\n", told.err) and len(server.asked) == 1
        assert summary_of(here / "run")["stopped"] == "error"
        assert_no_key(here / "run", told.out, told.err)
        assert main(["learn", "--resume", "run", "--no-check", "--no-pictures"]) == 0
        assert summary_of(here / "run")["stopped"] == "actions" and len(server.asked) > 1


def test_a_busy_server_and_one_that_breaks_off_are_asked_again(here: Path) -> None:
    with ScriptedServer(writer(SEED, busy(retry_after="0"), reset())) as server:
        assert main(learn_with(server, *SOKOBAN, "--synthesizer", "llm", "--out", "run", *FEW, "-q")) == 0
    summary = summary_of(here / "run")
    assert summary["stopped"] in ("actions", "calls") and summary["model_calls"] >= 3
    assert summary["tokens"] > 4096  # what broke off may have been written to its end


def test_the_clock_runs_out_in_a_request(here: Path) -> None:
    with ScriptedServer([hang()]) as server:
        command = learn_with(server, *SOKOBAN, "--synthesizer", "llm", "--out", "run", "--max-seconds", 3)
        began = time.monotonic()
        assert main([*command, "--min-data", "1", "--max-calls", "2", "-q"]) == 0
        assert time.monotonic() - began < 15 and server.asked
    summary = summary_of(here / "run")
    assert (summary["stopped"], summary["model_calls"], summary["real_actions"]) == ("seconds", 0, 1)
    assert main(["learn", "--replay", "run", "--out", "again", "-q", *QUICK[:2]]) == 0
    assert results(here / "again") == results(here / "run")
    with ScriptedServer(writer(SEED)) as other:
        more = ("--max-seconds", "100", "--base-url", other.url)
        assert main(["learn", "--resume", "run", *more, "-q", *QUICK[:2]]) == 0
        assert texts(other.asked) == 2 and summary_of(here / "run")["model_calls"] == 2


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
def test_ctrl_c_in_a_request_ends_at_once_and_in_order(here: Path) -> None:
    with ScriptedServer([hang()]) as server:
        command = learn_with(server, *SOKOBAN, "--synthesizer", "llm", "--out", "run", "--min-data", 1)
        process = subprocess.Popen([*command_of(), *command], env=environment(KEY), stdout=subprocess.PIPE)
        while not server.asked and process.poll() is None:
            time.sleep(0.02)
        time.sleep(0.1)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == 130 and time.monotonic() - began < 8
    assert summary_of(here / "run")["stopped"] == "interrupted"
    assert_no_key(here / "run")


# ── limits ───────────────────────────────────────────────────────────────────────────────────────────────


def test_calls_of_a_problem_end_a_run_in_order_and_more_go_on(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer([TALK]) as server:
        command = learn_with(server, *SOKOBAN, "--synthesizer", "llm", "--out", "run", "--max-calls", 4)
        assert main(command) == 0
        assert "worldcoder learn --resume run --max-calls MORE" in capsys.readouterr().out
        assert texts(server.asked) == 4
        assert summary_of(here / "run")["stopped"] == "calls"
        assert main(["learn", "--resume", "run", "--no-check", "--no-pictures"]) == 0
        assert "is finished" in capsys.readouterr().out and texts(server.asked) == 4
        assert (
            main(["learn", "--resume", "run", "--max-calls", "6", "--no-check", "--no-pictures", "-q"]) == 0
        )
        assert texts(server.asked) == 6 and summary_of(here / "run")["model_calls"] == 6
    assert main(["learn", "--replay", "run", "--out", "again", "-q", *QUICK[:2]]) == 0
    assert results(here / "again") == results(here / "run")


@pytest.mark.parametrize("bad", [invalid_json(), wrong_type(), no_choices(), reset(), stops_short()])
@pytest.mark.parametrize("in_flight", [1, 2])
def test_what_has_to_be_asked_for_again_counts_as_well(
    here: Path, monkeypatch: pytest.MonkeyPatch, bad: Behaviour, in_flight: int
) -> None:
    """However often a server is asked for a text, the limit of calls holds for what it may have worked on."""
    monkeypatch.setattr(Patience, "pause", lambda *_: 0.0)
    config = ModelConfig("openai/scripted", max_calls=5, in_flight=in_flight)
    with ScriptedServer([bad]) as server:
        model = replace(config, base_url=server.url)
        wanted = Experiment("sokoban", options={"size": 6}, synthesizer="llm", model=model, max_actions=12)
        summary = run(wanted, here / "run", pictures=False)
        assert texts(server.asked) == summary.model_calls and summary.stopped == "calls"
        assert summary.model_calls is not None and 0 < summary.model_calls <= 5
    again = rerun(here / "run", here / "again", pictures=False)
    assert again.model_calls == summary.model_calls
    assert results(here / "again") == results(here / "run")
    with ScriptedServer([TALK]) as server:
        more = resume(here / "run", max_calls=8, base_url=server.url, pictures=False)
        assert more.model_calls == 8 and texts(server.asked) == 8 - summary.model_calls


def test_a_limit_of_calls_that_does_not_fit_what_is_recorded_is_refused_in_one_line(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedServer([TALK]) as server:
        command = learn_with(server, *SOKOBAN, "--synthesizer", "llm", "--out", "run", "--max-calls", 4)
        assert main([*command, "-q"]) == 0
        capsys.readouterr()
        assert main(["learn", "--resume", "run", "--max-calls", "3", "-q"]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "begun with 4, got 3" in error and "start a new run" in error
        assert texts(server.asked) == 4 and summary_of(here / "run")["stopped"] == "calls"


@pytest.mark.parametrize(("limit", "amount", "what"), [("tokens", "18000", "tokens"), ("usd", "0.18", "usd")])
def test_limits_of_the_run_are_never_exceeded(
    here: Path, monkeypatch: pytest.MonkeyPatch, limit: str, amount: str, what: str
) -> None:
    def linear(price: Price, usage: Usage) -> Cost:
        return Cost((usage.tokens_in + usage.tokens_out) * 1e-5)

    monkeypatch.setattr(Price, "of", linear)
    usage = {"prompt_tokens": 2000, "completion_tokens": 1000, "total_tokens": 3000}
    with ScriptedServer([say(TALK, usage=usage)]) as server:
        command = learn_with(
            server, *SOKOBAN, "--synthesizer", "llm", "--out", "run", f"--max-{limit}", amount
        )
        assert main([*command, "-q"]) == 0
    summary = summary_of(here / "run")
    assert summary["stopped"] == what and 0 < summary[what] <= float(amount)
    assert summary["model"] is not None or summary["phi1"] == 0.0
    assert main(["learn", "--replay", "run", "--out", "again", "-q", *QUICK[:2]]) == 0
    assert results(here / "again") == results(here / "run")


def test_what_cannot_be_asked_is_said_before_there_is_a_directory(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "http://127.0.0.1:9/v1"
    monkeypatch.delenv("OPENAI_API_KEY")
    for arguments, code, message in (
        (["--model", "openai/gpt-5-mini"], 1, "no key for openai/gpt-5-mini: set OPENAI_API_KEY"),
        (["--model", "openai/x", "--base-url", url, "--max-usd", "1"], 1, "price of openai/x is not known"),
        (["--model", "ollama/x", "--prompts", "none"], 2, "no such folder of prompts"),
        (["--synthesizer", "llm"], 2, "needs a language model: --model"),
        (["--max-usd", "1"], 2, "--max-usd of which language model?"),
        (["--model", "ollama/x", "--base-url", f"http://me:{KEY}@h/v1"], 2, "the base URL is recorded"),
        (["--replay", "none"], 1, "none is no run's directory"),
        (["--dry-run"], 2, "a dry run shows what a language model is asked first"),
        (["--dry-run", "--model", "ollama/x", "--out", "o"], 2, "--dry-run begins nothing"),
        (["--dry-run", "--model", "ollama/x", "--curriculum", "minigrid"], 2, "leave out minigrid"),
    ):
        assert main(["learn", "sokoban", *arguments]) == code, arguments
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1 and KEY not in error, error
    assert not list(here.iterdir())


def test_a_dry_run_asks_nothing_and_writes_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], learned: Learned
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    command = ["learn", *SOKOBAN, "--seed", str(SEED), "--synthesizer", "llm", "--dry-run"]
    assert main([*command, "--model", "openai/gpt-5-mini"]) == 0
    out = capsys.readouterr().out
    assert learned.asked[0].prompt.rstrip() in out, "the first prompt is the one that a run sends"
    assert re.search(r"one call    at most [\d,]+ tokens \([\d,]+ in, 4,096 out\), \$0\.0\d+\n", out)
    assert re.search(r"50 calls    at most [\d,]+ tokens, \$0\.\d+: one synthesis problem\n", out)
    assert main([*command, "--model", "openai/scripted", "--base-url", "http://127.0.0.1:9/v1"]) == 0
    assert "cost unknown" in capsys.readouterr().out
    assert not list(here.iterdir())

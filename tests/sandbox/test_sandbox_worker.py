"""What a worker answers, and what becomes of one that misbehaves."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from worldcoder.errors import SandboxError
from worldcoder.sandbox import Failure, Limits, Sandbox, Worker, WorkerFailed
from worldcoder.sandbox import sandbox as sandbox_module

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

SERVICE = "sandbox_service:Runner"
LIMITS = Limits(
    call_seconds=0.2,
    silence_seconds=0.8,
    request_seconds=20.0,
    memory=256 << 20,
    frame_bytes=1 << 20,
    reply_bytes=3 << 19,
)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(SERVICE, limits=LIMITS) as made:
        yield made


@pytest.fixture
def worker(sandbox: Sandbox) -> Iterator[Worker]:
    made = sandbox.worker()
    yield made
    made.close()


# ── good answers ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "value", [None, 1, 2.5, "é𝄞", [1, [2, {"a": None}]], {"deep": {"er": []}}, "x" * 900_000]
)
def test_what_is_asked_comes_back(worker: Worker, value: Any) -> None:
    assert worker.request({"echo": value}) == value
    assert worker.alive


def test_a_large_question_is_understood(worker: Worker) -> None:
    assert worker.request("result = " + "1 + " * 1000 + "0 #" + "x" * (5 << 20)) == 1000


def test_many_requests_to_one_worker(worker: Worker) -> None:
    assert [worker.request({"echo": n}) for n in range(300)] == list(range(300))


def test_parts_come_in_order(worker: Worker) -> None:
    parts: list[Any] = []
    assert worker.request("for n in range(50): line.send([n])\nresult = 'end'", on_part=parts.append) == "end"
    assert parts == [[n] for n in range(50)]


def test_questions_are_answered(worker: Worker) -> None:
    asked: list[Any] = []

    def answer(question: Any) -> Any:
        asked.append(question)
        return {"next": question + 1}

    code = "n = 0\nwhile n < 5: n = line.ask(n)['next']\nresult = n"
    assert worker.request(code, answer=answer) == 5
    assert asked == [0, 1, 2, 3, 4]


def test_position_is_private_to_a_request(worker: Worker) -> None:
    assert worker.request("WATCH.position[0] = 3\nresult = WATCH.position[0]") == 3
    assert worker.request("result = WATCH.position[0]") == -1


def test_a_message_that_is_not_json_harms_nobody(worker: Worker) -> None:
    with pytest.raises(TypeError):
        worker.request({"echo": {1, 2}})
    assert worker.request({"echo": 1}) == 1


def test_the_time_of_the_parent_is_not_the_workers(worker: Worker) -> None:
    def slowly(_: Any) -> None:
        time.sleep(0.7)

    assert worker.request("line.send(1)\nresult = 1", on_part=slowly, seconds=0.5) == 1


# ── calls that take too long ─────────────────────────────────────────────────────────────────────────────


def test_a_call_that_takes_too_long_is_interrupted(worker: Worker) -> None:
    assert worker.request({"call": "while True: pass"}) == ["interrupted", True, 1]
    assert worker.request({"call": "result = 5"}) == [5, False, 0]


def test_an_interruption_that_is_swallowed_is_seen(worker: Worker) -> None:
    code = """
try:
    while True:
        sum(range(100))
except BaseException:
    result = "swallowed"
"""
    assert worker.request({"call": code}) == ["swallowed", True, 1]


def test_a_call_that_does_not_let_itself_be_interrupted_ends_the_worker(worker: Worker) -> None:
    code = """
def stubborn():
    while True:
        try:
            while True:
                sum(range(1000))
        except BaseException:
            pass
stubborn()
"""
    with pytest.raises(WorkerFailed) as caught:
        worker.request({"call": code})
    assert caught.value.failure is Failure.TIMEOUT
    assert "one call" in caught.value.detail


def test_work_that_is_long_but_made_of_short_calls_goes_on(worker: Worker) -> None:
    code = """
import time
until = time.process_time() + 1.0
while time.process_time() < until:
    service.called("sum(range(1000))")
result = WATCH.overruns
"""
    assert worker.request(code) == 0  # more than the silence that is allowed, but with signs of life


def test_a_busy_machine_changes_nothing(worker: Worker) -> None:
    """The limit of a call is CPU time: waiting for the processor does not count."""
    stop = threading.Event()

    def suspend() -> None:
        while not stop.is_set():
            os.kill(worker.pid, signal.SIGSTOP)
            time.sleep(0.02)
            os.kill(worker.pid, signal.SIGCONT)
            time.sleep(0.002)

    code = (
        "import time\nuntil = time.process_time() + 0.1\nwhile time.process_time() < until: pass\nresult = 1"
    )
    assert worker.request({"echo": 1}) == 1
    thread = threading.Thread(target=suspend)
    thread.start()
    began = time.monotonic()
    try:
        assert worker.request({"call": code}, seconds=15.0) == [1, False, 0]
    finally:
        stop.set()
        thread.join()
    assert time.monotonic() - began > 0.2


# ── what a worker can do wrong ───────────────────────────────────────────────────────────────────────────

RAW = "import os, gc\nwriting = line._writing\n"

MISDEEDS: list[tuple[str, Failure | None, str]] = [
    ("sum(range(10**13))", Failure.TIMEOUT, "no sign of life"),
    ("result = line.ask", Failure.GARBAGE, "not JSON serializable"),
    ("x = 'x' * (1 << 32)", Failure.MEMORY, "memory"),
    ("x = []\nwhile True: x.append(bytearray(1 << 20))", Failure.MEMORY, "memory"),
    ("import os; os._exit(7)", Failure.CRASH, "exit code 7"),
    ("import os; os._exit(0)", Failure.CRASH, "exit code 0"),
    ("import ctypes; ctypes.string_at(1)", Failure.CRASH, "SIGSEGV"),
    ("import os; os.abort()", Failure.CRASH, "SIG"),
    ("raise SystemExit(3)", Failure.CRASH, "SystemExit"),
    ("raise KeyboardInterrupt", Failure.CRASH, "KeyboardInterrupt"),
    ("1 / 0", Failure.CRASH, "ZeroDivisionError: division by zero"),
    ("def f(): f()\nf()", Failure.CRASH, "RecursionError"),
    (
        "import sys; sys.setrecursionlimit(1 << 30)\nclass A:\n  def __repr__(s): return repr([s])\nrepr(A())",
        None,
        "died|Recursion|memory",
    ),
    ("result = [None]\nfor _ in range(5000): result = [result]", Failure.GARBAGE, "Recursion|deeper"),
    ("result = [None]\nfor _ in range(150): result = [result]", Failure.GARBAGE, "deeper"),
    ("result = float('nan')", Failure.GARBAGE, "nan|NaN|Out of range"),
    ("result = {1, 2}", Failure.GARBAGE, "not JSON serializable"),
    ("line.send(1)", Failure.GARBAGE, "known form"),  # nobody wants parts
    ("line.ask(1)", Failure.GARBAGE, "known form"),  # nobody answers
    ("result = 'x' * (2 << 20)", Failure.FLOOD, "frame of"),
    (RAW + "while True: os.write(writing, b'x' * 4096)", Failure.GARBAGE, "no frame"),
    (RAW + "while True: line.beat(); line._spoke = 0.0", Failure.FLOOD, "more than"),
    (RAW + "os.write(writing, b'hello\\n')", Failure.GARBAGE, "no frame"),
    (RAW + "os.write(writing, b'WCF1\\0\\0\\0\\2[]')", Failure.GARBAGE, "not asked"),
    (RAW + "os.write(writing, b'WCF1\\0\\0\\0\\4[NaN')", Failure.GARBAGE, "not JSON"),
    ("line._request = 'another'\nline.write('done', 5)", Failure.GARBAGE, "not asked"),
    ("line.write('shout', 5)", Failure.GARBAGE, "known form"),
    ("line.write('done')", Failure.GARBAGE, "known form"),
    ("line.write('failed', 'killed', 'no')", Failure.GARBAGE, "known form"),
    ("line.done(1)\nline.done(2)", Failure.GARBAGE, "wrote on|not asked|without being asked"),
    ("import os; os.read(line._reading, 1)", Failure.TIMEOUT, "no sign of life"),
]


@pytest.mark.parametrize(
    ("code", "failure", "detail"), MISDEEDS, ids=[m[0].splitlines()[-1][:40] for m in MISDEEDS]
)
def test_a_misdeed_ends_the_worker_and_nothing_else(
    sandbox: Sandbox, code: str, failure: Failure | None, detail: str
) -> None:
    worker = sandbox.worker()
    with pytest.raises(WorkerFailed, match=detail) as caught:
        # An answer that comes twice may be noticed only when the next question is asked.
        worker.request("WATCH.position[0] = 12\n" + code)
        worker.request({"echo": 1})
    if failure is None:  # how the stack overflows differs between versions of Python
        assert caught.value.failure in (Failure.CRASH, Failure.MEMORY)
    else:
        assert caught.value.failure is failure
    assert caught.value.detail.isprintable()
    assert caught.value.position in (12, -1)
    assert not worker.alive
    with pytest.raises(SandboxError, match="dead"):
        worker.request({"echo": 1})
    worker.close()
    following = sandbox.worker()
    assert following.request({"echo": 1}) == 1
    following.close()


def test_where_it_was_when_it_died(worker: Worker) -> None:
    with pytest.raises(WorkerFailed) as caught:
        worker.request("WATCH.position[0] = 41\nimport os; os._exit(1)")
    assert caught.value.position == 41


def test_the_request_has_its_own_time(worker: Worker) -> None:
    began = time.monotonic()
    with pytest.raises(WorkerFailed) as caught:
        worker.request("while True: service.called('1')", seconds=0.3)
    assert caught.value.failure is Failure.TIMEOUT
    assert "0.3 seconds" in caught.value.detail
    assert 0.3 <= time.monotonic() - began < 2.0


def test_dripping_is_silence(worker: Worker) -> None:
    """Bytes that never become an answer are no sign of life, however long they go on."""
    code = """
import os, time
data = b"WCF1\\x00\\x00\\xff\\xff" + b" " * 60000
for byte in data:
    os.write(line._writing, bytes([byte]))
    until = time.monotonic() + 0.01
    while time.monotonic() < until: pass
"""
    with pytest.raises(WorkerFailed) as caught:
        worker.request("line._busy = True\n" + code)
    assert caught.value.failure is Failure.TIMEOUT


def test_killed_from_outside(worker: Worker) -> None:
    assert worker.request({"echo": 1}) == 1
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerFailed) as caught:
        worker.request({"echo": 1})
    assert caught.value.failure is Failure.KILLED


def test_killed_before_it_was_asked(sandbox: Sandbox) -> None:
    worker = sandbox.worker()
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerFailed) as caught:
        worker.request({"echo": 1})
    assert caught.value.failure is Failure.KILLED


def test_speaking_without_being_asked(worker: Worker) -> None:
    code = "import os\nrequest = line._request\nwriting = line._writing\nline._spoke = 0.0\n"
    code += (
        "class Late:\n    def __del__(self): os.write(writing, b'WCF1\\0\\0\\0\\2[]')\nline.late = Late()\n"
    )
    assert worker.request(code) is None
    with pytest.raises(WorkerFailed) as caught:
        worker.request("del line.late")
    assert caught.value.failure is Failure.GARBAGE


def test_the_life_of_a_worker_has_a_limit() -> None:
    limits = Limits(call_seconds=60.0, silence_seconds=30.0, cpu_seconds=1)
    with Sandbox(SERVICE, limits=limits) as sandbox, pytest.raises(WorkerFailed) as caught:
        sandbox.worker().request({"call": "while True: pass"})
    assert caught.value.failure is Failure.TIMEOUT
    assert "CPU" in caught.value.detail


def test_memory_can_be_watched_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_module, "resident", lambda pid: 300 << 20)
    with Sandbox(SERVICE, limits=LIMITS) as sandbox, pytest.raises(WorkerFailed) as caught:
        sandbox.worker().request("while True: pass")
    assert caught.value.failure is Failure.MEMORY


# ── what the parent does ─────────────────────────────────────────────────────────────────────────────────


def fail(_: Any) -> Any:
    raise LookupError("in the parent")


@pytest.mark.parametrize("arguments", [{"on_part": fail}, {"answer": fail}], ids=["on_part", "answer"])
def test_an_exception_in_the_parent_ends_the_worker(
    worker: Worker, arguments: dict[str, Callable[[Any], Any]]
) -> None:
    code = "line.send(1)" if "on_part" in arguments else "line.ask(1)"
    with pytest.raises(LookupError):
        worker.request(code, **arguments)
    assert not worker.alive
    with pytest.raises(ProcessLookupError):
        os.kill(worker.pid, 0)


def test_an_interruption_of_the_parent_ends_the_worker(worker: Worker) -> None:
    assert worker.request({"echo": 1}) == 1
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        worker.request("while True: service.called('1')")
    assert not worker.alive
    with pytest.raises(ProcessLookupError):
        os.kill(worker.pid, 0)


def test_a_worker_that_is_asked_cannot_be_asked(worker: Worker) -> None:
    with pytest.raises(SandboxError, match="already"):
        worker.request("line.send(1)", on_part=lambda _: worker.request({"echo": 1}))
    assert not worker.alive


def test_a_worker_can_be_closed_while_it_is_asked(worker: Worker) -> None:
    assert worker.request({"echo": 1}) == 1
    threading.Timer(0.1, worker.close).start()
    with pytest.raises(SandboxError, match="closed while"):
        worker.request("while True: service.called('1')")
    worker.close()
    assert not worker.alive

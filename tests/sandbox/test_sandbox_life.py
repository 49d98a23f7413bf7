"""How sandboxes begin and end, and what they do not leave behind."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from worldcoder.errors import SandboxError
from worldcoder.sandbox import Failure, Layer, Limits, Sandbox, Worker, WorkerFailed

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

SERVICE = "sandbox_service:Runner"
ENDLESS = "while True: service.called('1')"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(SERVICE, limits=Limits(memory=256 << 20)) as made:
        yield made


def template_of(worker: Worker) -> int:
    """The process that has forked a worker."""
    code = "import os; from ctypes import CDLL; result = 1"
    assert worker.request(code) == 1
    status = Path(f"/proc/{worker.pid}/stat").read_text(encoding="utf-8")
    return int(status.rpartition(")")[2].split()[1])


def running(pid: int) -> bool:
    """Whether there is such a process, and not only its remains that somebody else has to clear away."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def gone(*pids: int, seconds: float = 5.0) -> bool:
    until = time.monotonic() + seconds
    while any(running(pid) for pid in pids):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def open_descriptors() -> list[str]:
    return sorted(path.name for path in Path("/dev/fd").iterdir())


# ── preparing ────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_prepared_is_there_in_later_workers(sandbox: Sandbox) -> None:
    before = sandbox.worker()
    assert before.request("result = service.prepared") == []
    sandbox.prepare({"a": 1})
    large = "x" * (4 << 20)  # more than fits into a socket: it is handed over without waiting
    sandbox.prepare(large)
    after = sandbox.worker()
    assert after.request("result = [service.prepared[0], len(service.prepared[1])]") == [{"a": 1}, len(large)]
    assert before.request("result = service.prepared") == []
    sandbox.prepare(3)
    assert sandbox.worker().request("result = service.prepared[2]") == 3


def test_what_a_worker_changes_is_its_own(sandbox: Sandbox) -> None:
    assert sandbox.worker().request("service.prepared.append(1)") is None
    assert sandbox.worker().request("result = service.prepared") == []


def test_preparing_what_cannot_be_prepared(sandbox: Sandbox) -> None:
    with pytest.raises(TypeError):
        sandbox.prepare({1, 2})
    sandbox.prepare("bad")
    with pytest.raises(SandboxError, match="ValueError: bad data"):
        sandbox.worker()


@pytest.mark.parametrize(
    ("service", "message"),
    [
        ("sandbox_service:Nothing", "no attribute 'Nothing'"),
        ("worldcoder.nothing:Service", "No module named"),
        ("json:loads", "TypeError"),
    ],
)
def test_a_service_that_cannot_be_made(service: str, message: str) -> None:
    with Sandbox(service) as sandbox, pytest.raises(SandboxError, match=message):
        sandbox.worker()


def test_a_service_that_is_nowhere() -> None:
    with pytest.raises(SandboxError, match="no module 'nowhere'"):
        Sandbox("nowhere.at.all:Service")


# ── ending ───────────────────────────────────────────────────────────────────────────────────────────────


def test_closing_leaves_nothing_behind() -> None:
    with Sandbox(SERVICE) as warm:
        warm.worker().request({"echo": 1})
    before = open_descriptors()
    sandbox = Sandbox(SERVICE)
    workers = [sandbox.worker() for _ in range(4)]
    assert [worker.request({"echo": 1}) for worker in workers[:3]] == [1, 1, 1]
    template = template_of(workers[0])
    workers[1].close()
    workers[1].close()
    pids = [template, *(worker.pid for worker in workers)]
    sandbox.close()
    sandbox.close()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert not any(worker.alive for worker in workers)
    assert open_descriptors() == before
    with pytest.raises(SandboxError, match="closed"):
        sandbox.worker()
    with pytest.raises(SandboxError, match="closed"):
        sandbox.prepare(1)
    with pytest.raises(SandboxError, match="dead"):
        workers[0].request({"echo": 1})


def test_what_nobody_knows_any_more_is_ended() -> None:
    before = open_descriptors()
    sandbox = Sandbox(SERVICE)
    worker = sandbox.worker()
    template, pid = template_of(worker), worker.pid
    del worker
    gc.collect()
    assert gone(pid)
    another = sandbox.worker()
    assert another.request({"echo": 1}) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    another_pid = another.pid
    del sandbox, another
    gc.collect()
    assert gone(template, another_pid)
    assert open_descriptors() == before


SCRIPT = """
import os, signal, sys, threading, time
sys.path.insert(0, {folder!r})
from worldcoder.sandbox import Sandbox
sandbox = Sandbox("sandbox_service:Runner")
worker, idle = sandbox.worker(), sandbox.worker()
worker.request("result = 1")
idle.request("result = 1")
template = open(f"/proc/{{worker.pid}}/stat").read().rpartition(")")[2].split()[1]
print(worker.pid, idle.pid, template, flush=True)
thread = threading.Thread(target=worker.request, args=({endless!r},), daemon=True)
{end}
"""


@pytest.mark.parametrize(
    "end",
    [
        "thread.start(); time.sleep(0.1); os.kill(os.getpid(), signal.SIGKILL)",
        "thread.start(); time.sleep(0.1); os.kill(os.getpid(), signal.SIGTERM)",
        "pass",
        "raise SystemExit(3)",
        "os._exit(0)",
    ],
    ids=["killed", "terminated", "ends", "exits", "exits at once"],
)
def test_nothing_outlives_the_users_process(end: str) -> None:
    script = SCRIPT.format(folder=str(Path(__file__).parent), endless=ENDLESS, end=end)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30)
    pids = [int(word) for word in run.stdout.split()]
    assert len(pids) == 3
    assert gone(*pids)
    assert run.stderr == ""


def test_nothing_outlives_a_template(sandbox: Sandbox) -> None:
    worker, idle = sandbox.worker(), sandbox.worker()
    idle.request({"echo": 1})
    template = template_of(worker)
    threading.Timer(0.1, os.kill, (template, signal.SIGKILL)).start()
    with pytest.raises(WorkerFailed) as caught:
        worker.request("WATCH.position[0] = 5\n" + ENDLESS)
    assert caught.value.failure is Failure.KILLED
    assert caught.value.position == 5
    assert gone(worker.pid, idle.pid)


# ── a template that dies ─────────────────────────────────────────────────────────────────────────────────


def test_a_template_that_was_killed_is_started_again_with_what_was_prepared(sandbox: Sandbox) -> None:
    sandbox.prepare([1])
    for round_ in range(6):
        worker = sandbox.worker()
        assert worker.request("result = service.prepared") == [[1], *([[2]] if round_ else [])]
        os.kill(template_of(worker), signal.SIGKILL)
        assert gone(worker.pid)
        if not round_:
            sandbox.prepare([2])


def test_a_template_that_always_dies_is_an_error() -> None:
    with Sandbox("sandbox_service:Fatal") as sandbox, pytest.raises(SandboxError, match="again and again"):
        sandbox.worker()


def test_workers_killed_at_any_time(sandbox: Sandbox) -> None:
    """Whenever it happens, it is called the same, and the next worker is fine."""
    for n in range(30):
        worker = sandbox.worker()
        killer = threading.Timer(n * 0.0004, os.kill, (worker.pid, signal.SIGKILL))
        killer.start()
        with pytest.raises(WorkerFailed) as caught:
            while True:
                worker.request({"echo": [1] * 100})
        killer.join()
        assert caught.value.failure is Failure.KILLED
    assert sandbox.worker().request({"echo": 1}) == 1


def test_what_the_users_process_does_with_signals_does_not_matter() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF, signal.SIGXCPU])
    try:
        with Sandbox(SERVICE, limits=Limits(call_seconds=0.1)) as sandbox:
            worker = sandbox.worker()
            assert worker.request({"call": "while True: pass"}) == ["interrupted", True, 1]
            with pytest.raises(WorkerFailed, match="exit code 9"):
                worker.request("import os; os._exit(9)")
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGCHLD, before)


def test_without_standard_input_output_and_error() -> None:
    code = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
for n in range(3): os.close(n)
from worldcoder.sandbox import Layer, Sandbox
for off in ([], [Layer.EXEC]):
    with Sandbox("sandbox_service:Runner", off=off) as sandbox:
        assert sandbox.worker().request({{"echo": 1}}) == 1
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=30).returncode == 0


# ── threads and forks ────────────────────────────────────────────────────────────────────────────────────


def test_several_threads_use_one_sandbox(sandbox: Sandbox) -> None:
    answers: list[Any] = []

    def use(number: int) -> None:
        for _ in range(5):
            worker = sandbox.worker()
            answers.append(worker.request({"echo": number}) == number)
            with pytest.raises(WorkerFailed):
                worker.request("import os; os._exit(1)")

    threads = [threading.Thread(target=use, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 20


def test_a_sandbox_can_be_closed_while_a_worker_is_asked(sandbox: Sandbox) -> None:
    worker = sandbox.worker()
    assert worker.request({"echo": 1}) == 1
    threading.Timer(0.1, sandbox.close).start()
    with pytest.raises(SandboxError, match="closed while"):
        worker.request(ENDLESS)


def in_a_fork(check: Any) -> None:
    """Run something in a fork of this process; it must come to True."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a timer's thread may not be quite gone
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if check() else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_a_fork_has_workers_of_its_own(sandbox: Sandbox) -> None:
    sandbox.prepare(7)
    worker = sandbox.worker()
    template = template_of(worker)

    def check() -> bool:
        with pytest.raises(SandboxError, match="belongs"):
            worker.request({"echo": 1})
        worker.close()
        own = sandbox.worker()
        assert own.request("result = service.prepared") == [7]
        assert template_of(own) != template
        sandbox.close()
        return True

    in_a_fork(check)
    assert worker.request({"echo": 1}) == 1
    assert template_of(worker) == template


def test_a_fork_that_closes_or_forgets_harms_nobody(sandbox: Sandbox) -> None:
    worker = sandbox.worker()
    in_a_fork(lambda: sandbox.close() is None)
    in_a_fork(lambda: gc.collect() >= 0)
    assert worker.request({"echo": 1}) == 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interruption_between_question_and_answer_of_the_template(sandbox: Sandbox) -> None:
    """Whatever was being asked, what comes later is not taken for something else, and nothing is left over."""
    sandbox.worker().close()

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    pids = []
    try:
        for n in range(40):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0003 + n * 0.0001)
                worker = sandbox.worker()
                pids.append(worker.pid)
                worker.close()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                continue
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    worker = sandbox.worker()
    assert worker.request({"echo": 1}) == 1
    children = Path(f"/proc/{template_of(worker)}/task/{template_of(worker)}/children")
    gc.collect()
    until = time.monotonic() + 5.0
    while (
        True
    ):  # a worker whose pipe was closed by the interruption ends by itself, and is found when one is made
        sandbox.worker().close()
        left = children.read_text(encoding="utf-8").split()
        if left == [str(worker.pid)] or time.monotonic() > until:
            break
    assert left == [str(worker.pid)]


# ── layers of the parent ─────────────────────────────────────────────────────────────────────────────────


def test_without_a_deadline_nobody_is_ended() -> None:
    limits = Limits(silence_seconds=0.2, request_seconds=0.2)
    code = "import time\nuntil = time.monotonic() + 0.4\nwhile time.monotonic() < until: pass\nresult = 1"
    with Sandbox(SERVICE, limits=limits) as sandbox, pytest.raises(WorkerFailed):
        sandbox.worker().request(code)
    with Sandbox(SERVICE, limits=limits, off=[Layer.DEADLINE]) as sandbox:
        assert sandbox.worker().request(code) == 1


def test_without_frames_everything_is_believed() -> None:
    code = "line._request = 'another'\nline.write('done', 5)\nimport time\nwhile True: pass"
    with Sandbox(SERVICE) as sandbox, pytest.raises(WorkerFailed):
        sandbox.worker().request(code)
    with Sandbox(SERVICE, off=[Layer.FRAMES]) as sandbox:
        assert sandbox.worker().request(code) == 5


def test_without_a_timer_calls_are_not_interrupted() -> None:
    code = (
        "import time\nuntil = time.process_time() + 0.3\nwhile time.process_time() < until: pass\nresult = 1"
    )
    limits = Limits(call_seconds=0.1)
    with Sandbox(SERVICE, limits=limits) as sandbox:
        assert sandbox.worker().request({"call": code}) == ["interrupted", True, 1]
    with Sandbox(SERVICE, limits=limits, off=[Layer.TIMER]) as sandbox:
        assert sandbox.worker().request({"call": code}) == [1, False, 0]


# ── without a lock ───────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def plain() -> Iterator[Sandbox]:
    limits = Limits(call_seconds=0.2, silence_seconds=0.7, frame_bytes=1 << 20)
    with Sandbox(SERVICE, limits=limits, unsafe=True, _plain=True) as made:
        yield made


def test_without_fork_it_refuses() -> None:
    with pytest.raises(SandboxError, match="--unsafe-no-sandbox"):
        Sandbox(SERVICE, _plain=True)


def test_a_plain_worker(plain: Sandbox) -> None:
    plain.prepare({"a": 1})
    worker = plain.worker()
    parts: list[Any] = []
    code = "print('to nobody')\nline.send(1)\nresult = [service.prepared, line.ask(2)]"
    assert worker.request(code, on_part=parts.append, answer=lambda n: n + 1) == [[{"a": 1}], 3]
    assert parts == [1]
    assert worker.request({"echo": "x" * 500_000}) == "x" * 500_000
    assert worker.alive
    assert worker.request({"call": "while True: pass"}) == ["interrupted", True, 1]
    assert worker.request("try: import numpy\nexcept ImportError as e: result = str(e)").startswith(
        "no module"
    )
    worker.close()
    worker.close()
    assert not worker.alive
    with pytest.raises(ProcessLookupError):
        os.kill(worker.pid, 0)
    assert not plain.worker().request("import os; result = 'SOME_KEY' in os.environ")


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("import os; os._exit(3)", Failure.CRASH),
        ("sum(range(10**13))", Failure.TIMEOUT),
        ("import os; os.write(line._writing, b'hello')", Failure.GARBAGE),
        ("import os\nwhile True: os.write(line._writing, b'WCF1\\xff\\xff\\xff\\xff' * 1000)", Failure.FLOOD),
        ("import os; os.close(line._writing); sum(range(10**13))", Failure.GARBAGE),
        ("import os; os.kill(os.getpid(), 9)", Failure.KILLED),
    ],
)
def test_a_plain_worker_that_misbehaves(plain: Sandbox, code: str, failure: Failure) -> None:
    worker = plain.worker()
    with pytest.raises(WorkerFailed) as caught:
        worker.request(code)
    assert caught.value.failure is failure
    assert not worker.alive


def test_a_plain_worker_that_nobody_knows_any_more(plain: Sandbox) -> None:
    worker = plain.worker()
    assert worker.request({"echo": 1}) == 1
    pid = worker.pid
    del worker
    gc.collect()
    assert gone(pid)


def test_a_plain_service_that_cannot_be_made() -> None:
    with (
        Sandbox("sandbox_service:Nothing", unsafe=True, _plain=True) as sandbox,
        pytest.raises(SandboxError, match="no attribute 'Nothing'"),
    ):
        sandbox.worker().request(1)


WINDOWS = """
import os, select, signal, socket, subprocess, sys, threading, tempfile
sys.platform = "win32"
for name in ("resource", "fcntl", "termios", "pwd", "grp"):
    sys.modules[name] = None
for module, names in {
    os: ("fork", "register_at_fork", "memfd_create", "waitpid", "geteuid", "set_blocking"),
    signal: ("setitimer", "ITIMER_PROF", "SIGPROF", "SIGKILL", "SIGCHLD", "pthread_sigmask", "alarm"),
    select: ("poll",),
    socket: ("send_fds", "recv_fds", "AF_UNIX"),
}.items():
    for name in names:
        delattr(module, name)
import worldcoder.sandbox
for name in worldcoder.sandbox.__all__:
    getattr(worldcoder.sandbox, name)
assert not worldcoder.sandbox.locked(worldcoder.sandbox.probe())
try:
    worldcoder.sandbox.Sandbox("json:loads")
except worldcoder.sandbox.sandbox.SandboxError as error:
    assert "--unsafe-no-sandbox" in str(error)
else:
    raise AssertionError
worldcoder.sandbox.Sandbox("json:loads", unsafe=True).close()
"""


def test_the_package_can_be_imported_where_there_is_nothing_of_unix() -> None:
    run = subprocess.run([sys.executable, "-c", WINDOWS], capture_output=True, text=True, timeout=30)
    assert run.stderr == ""
    assert run.returncode == 0

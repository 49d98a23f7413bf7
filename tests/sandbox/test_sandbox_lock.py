"""What a worker cannot do, and what is said of the layers that see to it."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from worldcoder.errors import SandboxError
from worldcoder.sandbox import ALLOWED, Layer, Limits, Sandbox, Worker, WorkerFailed, locked, probe
from worldcoder.sandbox import sandbox as sandbox_module
from worldcoder.sandbox.layers import LayerReport, elsewhere, without

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the lock of Linux")

SERVICE = "sandbox_service:Runner"
LIMITS = Limits(call_seconds=1.0, memory=256 << 20)
LINUX_HAS = {*Layer} - {Layer.SEATBELT}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(SERVICE, limits=LIMITS) as made:
        yield made


@pytest.fixture(scope="module")
def worker(sandbox: Sandbox) -> Worker:
    return sandbox.worker()


def tried(worker: Worker, code: str) -> str:
    """What trying something in a worker comes to: the error's name, or "done"."""
    indented = "\n".join("    " + line for line in code.splitlines())
    return str(
        worker.request(
            f"try:\n{indented}\n    result = 'done'\nexcept BaseException as e: result = type(e).__name__"
        )
    )


# ── what cannot be done ──────────────────────────────────────────────────────────────────────────────────

CALL = "import ctypes\nif ctypes.CDLL(None, use_errno=True).{}: raise OSError(ctypes.get_errno())"

FORBIDDEN = {
    "read a file": "open('/etc/hostname').read()",
    "read itself": "open('/proc/self/environ', 'rb').read()",
    "write a file": "open('/tmp/worldcoder-was-here', 'w')",
    "list a folder": "import os; os.listdir('/')",
    "look at a file": "import os; os.stat('/')",
    "open a connection": "import _socket; _socket.socket()",
    "open a datagram socket": "import _socket; _socket.socket(2, 2)",
    "fork": "import os; os.fork()",
    "start a thread": "import _thread; _thread.start_new_thread(int, ())",
    "execute": "import os; os.execv('/bin/true', ['true'])",
    "kill": "import os; os.kill(os.getpid(), 0)",
    "kill the one that forked it": "import os; os.kill(os.getppid(), 9)",
    "set a handler": "import signal; signal.signal(10, signal.SIG_IGN)",
    "stop the clock": "import signal; signal.setitimer(signal.ITIMER_PROF, 0)",
    "hold signals off": "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF])",
    "raise a limit": "import resource; resource.setrlimit(resource.RLIMIT_CPU, (9999, 9999))",
    "sleep": "import time; time.sleep(0.001)",
    "make a pipe": "import os; os.pipe()",
    "duplicate a descriptor": "import os; os.dup(0)",
    "anonymous file": "import os; os.memfd_create('x')",
    "change the user": "import os; os.setuid(0)",
    "leave the namespace": CALL.format("unshare(0x10000000)"),
    "be dumpable again": CALL.format("prctl(4, 1, 0, 0, 0)"),
    "trace": CALL.format("ptrace(0, 0, 0, 0)"),
    "map executable memory": "import mmap; mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)",
    "make memory executable": (
        "import ctypes, mmap\nm = mmap.mmap(-1, 4096)\n"
        "a = ctypes.addressof(ctypes.c_char.from_buffer(m))\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]\n"
        "if libc.mprotect(a, 4096, 7): raise OSError(ctypes.get_errno())"
    ),
    "shared memory": CALL.format("shmget(0, 4096, 0o1600) < 0"),
    "io_uring": CALL.format("syscall(425, 8, None) < 0"),
    "the other way of calling": CALL.format("syscall(0x40000000 + 39) < 0"),
}


ERRORS = ("PermissionError", "OSError", "RuntimeError", "ValueError")


@linux
@pytest.mark.parametrize("code", FORBIDDEN.values(), ids=FORBIDDEN)
def test_a_worker_cannot(worker: Worker, code: str) -> None:
    assert tried(worker, code) in (*ERRORS, "itimer_error", "ModuleNotFoundError")
    assert worker.request({"echo": 1}) == 1


@linux
def test_nothing_was_written() -> None:
    assert not Path("/tmp/worldcoder-was-here").exists()


@linux
@pytest.mark.parametrize("module", ["resource", "mmap", "_socket", "ctypes", "signal"])
def test_it_is_not_the_import_that_fails(worker: Worker, module: str) -> None:
    """So that the tests above say something about the lock."""
    assert tried(worker, f"import {module}") == "done"


@linux
def test_the_environment_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "canary-a-b-c")
    key = "canary" + "-a-b-c"
    code = """
import ctypes, gc, os
environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
number, found = 0, []
while environ[number]:
    found.append(environ[number].decode())
    number += 1
result = [found, dict(os.environ)]
"""
    with Sandbox(SERVICE) as sandbox:
        c_environment, environment = sandbox.worker().request(code)
    assert key not in str(c_environment) + str(environment)
    assert set(environment) <= {"PYTHONHASHSEED", "LC_ALL", "LC_CTYPE"}
    assert len(c_environment) <= 3
    with Sandbox(SERVICE, off=[Layer.EXEC]) as sandbox:
        assert key in str(sandbox.worker().request(code))


@linux
def test_only_the_pipes_are_open(sandbox: Sandbox) -> None:
    with socket.socket() as held:
        held.set_inheritable(True)
        code = """
import os
result = []
for descriptor in range(3, 100):
    try:
        os.read(descriptor, 0)
    except OSError as error:
        if error.errno != 9: result.append(descriptor)
    else:
        result.append(descriptor)
result = [n for n in result if n not in (line._reading, line._writing)]
"""
        assert sandbox.worker().request(code) == []


@linux
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be another user")
def test_workers_are_users_of_their_own(sandbox: Sandbox) -> None:
    first, second = sandbox.worker(), sandbox.worker()
    assert first.request({"echo": 1}) == second.request({"echo": 1}) == 1
    status = [Path(f"/proc/{w.pid}/status").read_text(encoding="utf-8") for w in (first, second)]
    users = {line for text in status for line in text.splitlines() if line.startswith("Uid:")}
    assert len(users) == 2
    assert not any("\t0" in line for line in users)
    assert all("CapEff:\t0000000000000000" in text and "Groups:\t \n" in text for text in status)


@linux
def test_a_locked_process_says_so(sandbox: Sandbox) -> None:
    worker = sandbox.worker()
    worker.request({"echo": 1})
    status = Path(f"/proc/{worker.pid}/status").read_text(encoding="utf-8")
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status


# ── imports ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("module", ALLOWED)
def test_what_may_be_imported(worker: Worker, module: str) -> None:
    assert tried(worker, f"import {module}") == "done"


@pytest.mark.parametrize("module", ["numpy", "xml.etree", "asyncio", "nothing_at_all", "concurrent.futures"])
def test_what_may_not_be_imported(worker: Worker, module: str) -> None:
    code = f"try: import {module}\nexcept ImportError as e: result = str(e)"
    message = worker.request(code)
    assert "programs may import" in message
    assert "itertools" in message


USES = [
    "import datetime; datetime.datetime.strptime('2020-01-02', '%Y-%m-%d')",
    "import hashlib; [hashlib.new(n) for n in ('md5', 'sha1', 'sha256', 'sha512', 'sha3_256', 'blake2b')]",
    "import uuid; uuid.uuid4(), uuid.uuid5(uuid.NAMESPACE_DNS, 'a')",
    "import secrets; secrets.token_hex()",
    "import random; random.Random(3).random(), random.random(), random.SystemRandom().random()",
    "import traceback; traceback.format_exception(ValueError('x'))",
    "import dataclasses\n@dataclasses.dataclass(order=True)\nclass A:\n    x: int = 0\nA() < A(2)",
    "import decimal, fractions; decimal.Decimal(1) / 3, fractions.Fraction(1, 3)",
    "import statistics; statistics.median([1, 2, 3]), statistics.NormalDist().cdf(1.0)",
    "import re; re.compile(r'(?i)a+[b-d]').match('AAB')",
    "import zlib; zlib.decompress(zlib.compress(b'a' * 1000))",
    "import calendar; calendar.month(2020, 1)",
    "import time; time.time(), time.monotonic(), time.process_time(), time.localtime()",
    "import json, pprint; pprint.pformat(json.loads('[1]'))",
    "import warnings; warnings.warn('x')",
    "import typing, enum\nclass E(enum.Flag):\n    A = enum.auto()\nE.A | E.A",
    "print('x' * 100000)",
    "import sys; print('x', file=sys.stderr)",
    "'\\N{LATIN SMALL LETTER A}'.encode('utf-16').decode('utf-16').encode('latin-1')",
    "import copy, array; copy.deepcopy({'a': array.array('d', [1.0])})",
    "raise_ = [0] * (20 << 20)",
    "import os; os.urandom(8), os.getpid(), os.path.join('a', 'b')",
]


@pytest.mark.parametrize("code", USES, ids=lambda code: code[:30])
def test_what_programs_need_works(worker: Worker, code: str) -> None:
    assert tried(worker, code) == "done"


# ── reports ──────────────────────────────────────────────────────────────────────────────────────────────


def test_every_layer_is_reported_once() -> None:
    assert [report.layer for report in probe()] == [*Layer]
    assert all(layer.stops and "\n" not in layer.stops for layer in Layer)
    assert all(report.detail for report in probe() if not report.there)


@linux
def test_what_there_is_on_linux(sandbox: Sandbox) -> None:
    reports = {report.layer: report for report in sandbox.layers}
    assert {layer for layer, report in reports.items() if report.there} | {
        Layer.LANDLOCK,
        Layer.SECCOMP,
    } == LINUX_HAS
    assert locked(sandbox.layers)


@pytest.mark.parametrize("layer", Layer)
def test_a_layer_can_be_left_out(layer: Layer) -> None:
    with Sandbox(SERVICE, limits=LIMITS, off=[layer]) as sandbox:
        report = next(report for report in sandbox.layers if report.layer is layer)
        assert not report.there
        assert report.detail == "left out"
        assert sandbox.worker().request({"echo": 1}) == 1


@linux
def test_what_layers_left_out_let_through() -> None:
    off = [Layer.SECCOMP, Layer.LANDLOCK]
    with Sandbox(SERVICE, limits=LIMITS, off=off) as sandbox:
        worker = sandbox.worker()
        assert tried(worker, FORBIDDEN["map executable memory"]) == "done"
        assert tried(worker, FORBIDDEN["read a file"]) == "OSError"  # no descriptor is to be had
        assert not locked(sandbox.layers)
    with Sandbox(SERVICE, limits=LIMITS, off=[*off, Layer.FILES]) as sandbox:
        assert tried(sandbox.worker(), "open('/etc/passwd').read()") == "done"
    with Sandbox(SERVICE, limits=LIMITS, off=[Layer.SECCOMP, Layer.FILES]) as sandbox:
        worker = sandbox.worker()
        if any(report.layer is Layer.LANDLOCK and report.there for report in sandbox.layers):
            assert tried(worker, "open('/etc/passwd').read()") == "PermissionError"
    with Sandbox(SERVICE, limits=LIMITS, off=[Layer.NO_NEW_PRIVILEGES]) as sandbox:
        assert not locked(sandbox.layers)
        assert tried(sandbox.worker(), FORBIDDEN["map executable memory"]) == "done"


@linux
def test_without_landlock_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = without(probe(), [Layer.LANDLOCK])
    monkeypatch.setattr(sandbox_module, "probe", lambda: reports)
    with Sandbox(SERVICE, limits=LIMITS) as sandbox:
        assert sandbox.worker().request({"echo": 1}) == 1
        assert locked(sandbox.layers)


def test_without_any_lock_it_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = without(probe(), [Layer.LANDLOCK, Layer.SECCOMP, Layer.SEATBELT])
    monkeypatch.setattr(sandbox_module, "probe", lambda: reports)
    with pytest.raises(SandboxError, match="--unsafe-no-sandbox") as caught:
        Sandbox(SERVICE)
    assert "\n" not in str(caught.value)
    with Sandbox(SERVICE, unsafe=True) as sandbox:
        assert sandbox.worker().request({"echo": 1}) == 1


def test_a_worker_that_cannot_lock_itself_is_an_error() -> None:
    with Sandbox(SERVICE, limits=Limits(memory=1 << 70)) as sandbox:
        worker = sandbox.worker()
        with pytest.raises(SandboxError, match="could not lock itself: OverflowError"):
            worker.request({"echo": 1})
        assert not worker.alive


@linux
def test_a_layer_that_could_not_be_put_on_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    there = tuple(LayerReport(layer, True, True) for layer in Layer)
    monkeypatch.setattr(sandbox_module, "probe", lambda: there)
    expected = pytest.raises(SandboxError, match="the layer 'memory' could not be put on: why")
    with Sandbox(SERVICE) as sandbox, expected:
        sandbox._check({"memory": "why"})
    with Sandbox(SERVICE, unsafe=True) as sandbox:
        sandbox._check({"memory": "why"})


def test_elsewhere_there_is_no_lock() -> None:
    assert [report.layer for report in elsewhere()] == [*Layer]
    assert not locked(elsewhere())


def test_reports_are_values() -> None:
    assert LayerReport(Layer.CPU, True, True) == LayerReport(Layer.CPU, True, True, "")


# ── the filter ───────────────────────────────────────────────────────────────────────────────────────────


@linux
def test_the_tables_of_system_calls() -> None:
    from worldcoder.sandbox import seccomp

    assert {"x86_64", "aarch64"} <= set(seccomp.MACHINES)
    for name, machine in seccomp.MACHINES.items():
        numbers = [*machine.allowed.values(), *machine.mapping.values()]
        assert len(numbers) == len(set(numbers)), name
        assert len(numbers) <= 30
        assert not {"open", "openat", "socket", "clone", "execve", "kill", "ioctl"} & set(machine.allowed)
        assert len(seccomp.program(name)) % 8 == 0


HEADERS = {
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "/usr/include/asm-generic/unistd.h",
}


@linux
@pytest.mark.parametrize("name", HEADERS)
def test_the_numbers_are_those_of_the_kernels_headers(name: str) -> None:
    from worldcoder.sandbox import seccomp

    if not Path(HEADERS[name]).exists():
        pytest.skip("the kernel's headers are not installed")
    words = [line.split() for line in Path(HEADERS[name]).read_text(encoding="utf-8").splitlines()]
    numbers = {
        w[1].removeprefix("__NR_").removeprefix("__NR3264_"): w[2]
        for w in words
        if len(w) == 3 and w[2].isdigit()
    }
    machine = seccomp.MACHINES[name]
    for call, number in {**machine.allowed, **machine.mapping}.items():
        assert numbers[call] == str(number), call


def interpreted(name: str, *, arch: int, number: int, third: int = 0) -> int:
    """What a filter answers to a system call, by a small machine that runs it as the kernel does."""
    import struct

    from worldcoder.sandbox import seccomp

    code = list(struct.iter_unpack("HBBI", seccomp.program(name)))
    data = struct.pack("IIQ", number, arch, 0) + struct.pack("6Q", 0, 0, third, 0, 0, 0)
    held, at = 0, 0
    while True:
        what, yes, no, value = code[at]
        at += 1
        if what == 0x06:
            return int(value)
        if what == 0x20:
            held = struct.unpack_from("I", data, value)[0]
        else:
            true = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[what]
            at += yes if true else no


@linux
@pytest.mark.parametrize("name", ["x86_64", "aarch64", "riscv64"])
def test_what_the_filter_of_each_architecture_answers(name: str) -> None:
    from worldcoder.sandbox import seccomp

    allow, refuse, kill = 0x7FFF0000, 0x00050001, 0x80000000
    machine = seccomp.MACHINES[name]
    for number in range(600):
        expected = refuse
        if number in {*machine.allowed.values(), *machine.mapping.values()}:
            expected = allow
        assert interpreted(name, arch=machine.audit, number=number) == expected, number
        assert interpreted(name, arch=machine.audit ^ 1, number=number) == kill
    for number in machine.mapping.values():
        assert interpreted(name, arch=machine.audit, number=number, third=3) == allow
        for executable in (4, 5, 7, 0x1000004):
            assert interpreted(name, arch=machine.audit, number=number, third=executable) == refuse
    if name == "x86_64":
        assert interpreted(name, arch=machine.audit, number=0x40000000) == refuse


def test_a_failure_is_no_worldcoder_error() -> None:
    from worldcoder.errors import WorldcoderError

    assert not issubclass(WorkerFailed, WorldcoderError)
    assert issubclass(SandboxError, WorldcoderError)

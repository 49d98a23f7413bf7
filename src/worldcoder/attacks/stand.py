"""The process that plays the user's: it holds the keys, makes the sandbox and lets it be attacked.

It is a process of its own, started with a key in its environment, so that an attack that gets through hits
nobody else. It is told cases on its standard input, one line of JSON each, and answers with one line each.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from worldcoder.attacks.canaries import Canaries
from worldcoder.attacks.case import Case, Ending, Kind, Mode, Ran
from worldcoder.attacks.every import find_case
from worldcoder.attacks.programs import Tried, healthy, new_runner, try_program
from worldcoder.attacks.system import adopt_orphans, children, landlock_version, parent_of, running
from worldcoder.programs import Runner
from worldcoder.sandbox import Layer, LayerReport, Limits, Sandbox, Worker, WorkerFailed, probe

SERVICE = "worldcoder.attacks.service:Hostile"
LIMITS = {
    "call_seconds": 0.1,
    "silence_seconds": 0.5,
    "request_seconds": 1.0,
    "memory": 256 << 20,
    "frame_bytes": 1 << 20,
    "reply_bytes": 4 << 20,
}
HUNG_SECONDS = 6.0
"""Longer than any case takes by itself; then nothing held it."""

MOST_SANDBOXES = 3
"""That are kept for the next case with the same layers."""

DETAIL = 300
"""So much is told of how a case ended."""

HEALTHY = "result = 6 * 7"


class Hung(Exception):
    """Nothing ended a case."""


class Stand:
    """Runs cases, one at a time."""

    def __init__(self, folder: Path) -> None:
        adopt_orphans()
        self.canaries = Canaries(folder)
        self.unhealthy: list[str] = []
        self._sandboxes: OrderedDict[tuple[frozenset[Layer], int], Sandbox] = OrderedDict()
        self._runners: dict[frozenset[Layer], Runner] = {}
        self._machine = probe()
        signal.signal(signal.SIGALRM, _hung)

    # ── whether a case says anything here ────────────────────────────────────────────────────────────────

    def missing(self, case: Case) -> str:
        """Why a case says nothing on this machine; empty if it does."""
        if case.system and case.system != sys.platform:
            return f"only on {case.system}"
        if case.machine and case.machine != platform.machine():
            return f"only on {case.machine}"
        if case.held_by and not any(self._there(layer, case.abi) for layer in case.held_by):
            return f"nothing of what would hold it is here: {', '.join(map(self._name(case), case.held_by))}"
        return ""

    def _there(self, layer: Layer, abi: int) -> bool:
        return there(self._machine, layer, abi)

    @staticmethod
    def _name(case: Case) -> Any:
        return lambda layer: f"{layer} {case.abi}" if layer is Layer.LANDLOCK and case.abi > 1 else str(layer)

    # ── one case ─────────────────────────────────────────────────────────────────────────────────────────

    def run(self, case: Case, off: frozenset[Layer], *, twice: bool = True) -> Ran:
        """Let one case loose with these layers off, besides those that the case itself leaves off.

        twice: try again where it only ended otherwise than it should, which may be a busy machine's doing.
        """
        if missing := self.missing(case):
            return Ran(case, off, None, missing=missing)
        for _ in range(2 if twice else 1):
            began = time.monotonic()
            attack = self._attack if case.mode is Mode.RAW else self._try_program
            ending, detail, reached = attack(case, off | case.without)
            ran = Ran(case, off, ending, tuple(reached), detail, time.monotonic() - began)
            if ran.held or ran.reached:
                break
        return ran

    def _attack(self, case: Case, off: frozenset[Layer]) -> tuple[Ending, str, list[str]]:
        sandbox = self._sandbox(off, case.cpu_seconds)
        told: dict[str, Any] = {}
        before = set(children(os.getpid()))
        bystander = sandbox.worker() if case.bystander else None
        if bystander is not None:
            secret = self.canaries.tokens["another worker's memory"]
            told = {
                "bystander": bystander.pid,
                "bystander_address": bystander.request({"keep": secret}),
            }
        worker = sandbox.worker()
        template = told["template"] = parent_of(worker.pid)
        before |= {template}
        self.canaries.watch()
        exchange = _Exchange(worker, told, template if case.orphan else 0)
        exchange.run(case.source)
        if case.then and worker.alive and exchange.ending in (Ending.HARMLESS, Ending.LATE):
            exchange.run(case.then)
        worker.close()
        reached = self.canaries.reached(exchange.replies) + exchange.claims
        if not exchange.detail.isprintable():
            reached.append("a message that cannot be printed")
        if not case.orphan and self.dies(template, 0.02 if case.kind is Kind.OTHERS else 0.0):
            reached.append("the process that makes workers")
        if self._stop_strays(before):
            reached.append("a process that stayed")
        if bystander is not None:
            reached += self._asked(bystander, "another worker")
            bystander.close()
        if case.fresh:
            reached += self._asked(sandbox.worker(), "a later worker", case.fresh, "")
        return exchange.ending, exchange.detail, list(dict.fromkeys(reached))

    def _try_program(self, case: Case, off: frozenset[Layer]) -> tuple[Ending, str, list[str]]:
        runner = self._runner(off)
        before = set(children(os.getpid()))
        self.canaries.watch()
        try:
            with _watchdog(2 * HUNG_SECONDS):
                tried = try_program(runner, case, self.canaries.told(), self.canaries.expected)
        except Hung:
            tried = Tried(Ending.BROKEN, f"nothing ended it for {2 * HUNG_SECONDS:g} seconds", "")
        except Exception as error:
            tried = Tried(Ending.BROKEN, f"{type(error).__name__} in the parent: {error}"[:200], "")
        detail = tried.detail[:DETAIL]
        reached = self.canaries.reached(tried.replies)
        if not detail.isprintable():
            reached.append("a message that cannot be printed")
        if self._stop_strays(before):
            reached.append("a process that stayed")
        if wrong := healthy(runner):
            reached.append(f"a later program ({wrong})")
        return tried.ending, detail, reached

    @staticmethod
    def dies(pid: int, seconds: float) -> bool:
        """Whether a process is dead, or will be in a moment."""
        until = time.monotonic() + seconds
        while running(pid):
            if time.monotonic() >= until:
                return False
            time.sleep(0.002)
        return True

    @staticmethod
    def _asked(worker: Worker, who: str, source: str = HEALTHY, wanted: str = "42") -> list[str]:
        """Whether a worker that is not the attacker is well."""
        try:
            with worker_of(worker), _watchdog():
                answer = worker.request({"source": source})
        except (WorkerFailed, Hung) as error:
            return [f"{who} ({error})"]
        return [] if answer["result"] == wanted and not answer["error"] else [f"{who} ({answer})"]

    @staticmethod
    def _stop_strays(known: set[int]) -> bool:
        """End processes that were left over; whether there were any."""
        found = [pid for pid in children(os.getpid()) if pid not in known]
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        return bool(found)

    # ── sandboxes ────────────────────────────────────────────────────────────────────────────────────────

    def _sandbox(self, off: frozenset[Layer], cpu_seconds: int) -> Sandbox:
        key = (off, cpu_seconds)
        if key not in self._sandboxes:
            while len(self._sandboxes) >= MOST_SANDBOXES:
                self._retire(*self._sandboxes.popitem(last=False))
            limits = Limits(**LIMITS, **({"cpu_seconds": cpu_seconds} if cpu_seconds else {}))  # type: ignore[arg-type]
            # Without no-new-privileges others cannot be put on either, which is else an error.
            sandbox = Sandbox(SERVICE, limits=limits, off=off, unsafe=Layer.NO_NEW_PRIVILEGES in off)
            sandbox.prepare(self.canaries.told())
            self._sandboxes[key] = sandbox
        self._sandboxes.move_to_end(key)
        return self._sandboxes[key]

    def _runner(self, off: frozenset[Layer]) -> Runner:
        if off not in self._runners:
            while self._runners:
                self._runners.popitem()[1].close()
            self._runners[off] = new_runner(off)
            healthy(self._runners[off])  # now its processes are there
        return self._runners[off]

    def _retire(self, key: tuple[frozenset[Layer], int], sandbox: Sandbox) -> None:
        """Close a sandbox; after all those attacks it must still make a healthy worker."""
        with sandbox:
            for what in self._asked(sandbox.worker(), "a worker after all attacks"):
                self.unhealthy.append(f"{what}, without {', '.join(sorted(key[0])) or 'nothing'}")

    def close(self) -> None:
        """Close everything."""
        while self._sandboxes:
            self._retire(*self._sandboxes.popitem(last=False))
        while self._runners:
            self._runners.popitem()[1].close()
        self.canaries.close()


class _Exchange:
    """What a hostile worker is asked, and what comes back."""

    def __init__(self, worker: Worker, told: dict[str, Any], orphaned: int) -> None:
        """orphaned: the process that forked the worker, to be killed once the code runs; or 0."""
        self._worker = worker
        self._told = told
        self._orphaned = orphaned
        self.ending = Ending.HARMLESS
        self.detail = ""
        self.replies = ""
        self.claims: list[str] = []

    def run(self, source: str) -> None:
        """Send a text and see what comes of it."""
        try:
            with _watchdog():
                answer = self._worker.request({"source": source, "told": self._told}, on_part=self._part)
        except WorkerFailed as failed:
            self.ending, self.detail = Ending(failed.failure.value), failed.detail
            self.replies += failed.detail
        except Hung:
            self._worker.close()
            self.ending, self.detail = Ending.BROKEN, f"nothing ended it for {HUNG_SECONDS:g} seconds"
        except Exception as error:
            self._worker.close()
            self.ending, self.detail = Ending.BROKEN, f"{type(error).__name__} in the parent: {error}"[:200]
        else:
            self._answered(answer)

    def _answered(self, answer: Any) -> None:
        self.replies += json.dumps(answer)
        match answer:
            case {"late": bool(late), "error": str(error), "result": str(result)}:
                self.ending = Ending.LATE if late else Ending.HARMLESS
                self.detail = error if error.isprintable() else repr(error)
                if result:
                    self.claims.append(f"it says: {result[:80]!r}")
            case _:
                self.detail = f"another answer: {str(answer)[:80]!r}"

    def _part(self, part: Any) -> None:
        if len(self.replies) < 1 << 20:
            self.replies += json.dumps(part)[:10000]
        if self._orphaned:
            os.kill(self._orphaned, signal.SIGKILL)
            if not Stand.dies(self._worker.pid, 0.5):
                self.claims.append("it lives on")
                os.kill(self._worker.pid, signal.SIGKILL)


@contextmanager
def worker_of(worker: Worker) -> Iterator[Worker]:
    """A worker that is closed in the end."""
    try:
        yield worker
    finally:
        worker.close()


@contextmanager
def _watchdog(seconds: float = HUNG_SECONDS) -> Iterator[None]:
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _hung(number: int, frame: object) -> NoReturn:
    raise Hung


def there(machine: tuple[LayerReport, ...], layer: Layer, abi: int = 1) -> bool:
    """Whether a machine has a layer: for an ordinary user a worker has no user of its own."""
    if layer is Layer.USER and os.geteuid() != 0:
        return False
    if layer is Layer.LANDLOCK and landlock_version() < abi:
        return False
    return any(report.there for report in machine if report.layer is layer)


def main() -> None:
    """Serve until standard input ends. The folder for the canaries is the first argument."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)

    def write(values: dict[str, Any]) -> None:
        replies.write(json.dumps(values).encode() + b"\n")

    stand = Stand(Path(sys.argv[1]))
    write({"layers": [report.layer for report in probe() if there(probe(), report.layer)]})
    for line in requests:
        asked = json.loads(line)
        ran = stand.run(find_case(asked["case"]), frozenset(map(Layer, asked["off"])), twice=asked["twice"])
        write(
            {
                "ending": ran.ending,
                "reached": ran.reached,
                "detail": ran.detail,
                "seconds": ran.seconds,
                "missing": ran.missing,
            }
        )
    stand.close()
    write({"unhealthy": stand.unhealthy})

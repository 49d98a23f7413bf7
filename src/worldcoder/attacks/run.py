"""Runs cases in stands, several at a time, and gathers what came of them."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from worldcoder.attacks.canaries import KEY, new_token
from worldcoder.attacks.case import Case, Ending, Kind, Ran
from worldcoder.attacks.every import every_case
from worldcoder.errors import SandboxError
from worldcoder.sandbox import Layer

SOURCE = Path(__file__).parents[2]
"""The folder that holds the package."""

_START = "import sys; sys.path.append(sys.argv.pop(1)); from worldcoder.attacks.stand import main; main()"
PATIENCE_SECONDS = 30.0
CHUNK = 24
CHUNK_OF_SLOW = 8
"""So many cases with the same layers go to one stand together."""


@dataclass(frozen=True)
class Stands:
    """How the processes that are attacked are started.

    python: the interpreter, at least 3.11; only its standard library is used.
    source: the folder that holds the package, readable by the user.
    user: the number of the user that they run as; None for the present one.
    lanes: how many there are at a time.
    """

    python: str = sys.executable
    source: Path = SOURCE
    user: int | None = None
    lanes: int = 2


@dataclass(frozen=True)
class Report:
    """What came of an attack.

    rans: one entry a case.
    layers: those that the machine has, as the attacked process sees them.
    unhealthy: what was wrong with the sandboxes afterwards.
    """

    rans: tuple[Ran, ...]
    layers: tuple[Layer, ...]
    off: frozenset[Layer]
    unhealthy: tuple[str, ...]
    seconds: float

    @property
    def held(self) -> bool:
        """Whether nothing got through."""
        return not self.failed and not self.unhealthy

    @property
    def failed(self) -> tuple[Ran, ...]:
        """The cases in which something was reached, or that ended otherwise than they should."""
        return tuple(ran for ran in self.rans if ran.applicable and not ran.held)

    @property
    def not_applicable(self) -> tuple[Ran, ...]:
        """The cases that say nothing on this machine."""
        return tuple(ran for ran in self.rans if not ran.applicable)

    def of(self, kind: Kind) -> tuple[Ran, ...]:
        """The cases of one kind."""
        return tuple(ran for ran in self.rans if ran.case.kind is kind)


def attack(
    *,
    cases: Collection[Case] | None = None,
    off: Collection[Layer] = (),
    stands: Stands | None = None,
    progress: Callable[[Ran], None] = lambda ran: None,
) -> Report:
    """Let all cases loose, or some.

    off: layers that are left off, besides those that a case itself leaves off.
    progress: is told of each case when it is over, from several threads, one at a time.
    Raises SandboxError where the attacked processes cannot be started.
    """
    chosen = every_case() if cases is None else tuple(cases)
    return attack_each([(case, frozenset(off)) for case in chosen], stands=stands, progress=progress)


def control(*, cases: Collection[Case] | None = None, stands: Stands | None = None) -> Report:
    """The attack with everything off that would hold each case: now each must get through.

    Cases that need no layer are left out.
    """
    chosen = [case for case in (every_case() if cases is None else cases) if case.held_by]
    return attack_each([(case, frozenset(case.held_by)) for case in chosen], stands=stands, twice=False)


def attack_each(
    jobs: Sequence[tuple[Case, frozenset[Layer]]],
    *,
    stands: Stands | None = None,
    progress: Callable[[Ran], None] = lambda ran: None,
    twice: bool = True,
) -> Report:
    """Let cases loose, each with layers of its own off. twice: see `Stand.run`."""
    began = time.monotonic()
    gathered = _Gathered(jobs, progress)
    given = stands or Stands()
    threads = [
        threading.Thread(target=gathered.work, args=(given, twice), name=f"attack {lane}", daemon=True)
        for lane in range(max(1, min(given.lanes, len(gathered.chunks))))
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:
        gathered.stop()
        for thread in threads:
            thread.join()
        raise
    if gathered.error is not None:
        raise gathered.error
    order = {id(case): number for number, (case, _) in enumerate(jobs)}
    return Report(
        tuple(sorted(gathered.rans, key=lambda ran: order[id(ran.case)])),
        gathered.layers,
        frozenset.intersection(*(off for _, off in jobs)) if jobs else frozenset(),
        tuple(gathered.unhealthy),
        time.monotonic() - began,
    )


def _chunks(jobs: Iterable[tuple[Case, frozenset[Layer]]]) -> Iterator[list[tuple[Case, frozenset[Layer]]]]:
    """Cases that may use the same sandbox, the slow ones first."""
    groups: dict[tuple[bool, frozenset[Layer], int], list[tuple[Case, frozenset[Layer]]]] = {}
    for case, off in jobs:
        slow = case.kind in (Kind.TIME, Kind.PROGRAMS)
        groups.setdefault((slow, off | case.without, case.cpu_seconds), []).append((case, off))
    for key, group in sorted(groups.items(), key=lambda item: (item[0][0], len(item[1])), reverse=True):
        size = CHUNK_OF_SLOW if key[0] else CHUNK
        for start in range(0, len(group), size):
            yield group[start : start + size]


@dataclass
class _Gathered:
    """What the lanes share."""

    jobs: Sequence[tuple[Case, frozenset[Layer]]]
    progress: Callable[[Ran], None]
    rans: list[Ran] = field(default_factory=list)
    unhealthy: list[str] = field(default_factory=list)
    layers: tuple[Layer, ...] = ()
    error: BaseException | None = None

    def __post_init__(self) -> None:
        self.chunks = deque(_chunks(self.jobs))
        self._lock = threading.Lock()
        self._stopped = False

    def stop(self) -> None:
        """Begin nothing more."""
        self._stopped = True

    def work(self, stands: Stands, twice: bool) -> None:
        """One lane: take chunks until there are no more."""
        try:
            with _Lane(stands) as lane:
                while (chunk := self._take()) is not None:
                    for case, off in chunk:
                        if self._stopped:
                            return
                        self._gather(lane.run(case, off, twice))
                lane.finish()
            with self._lock:
                self.layers = lane.layers
                self.unhealthy += lane.unhealthy
        except BaseException as error:
            self.error = error
            self.stop()

    def _take(self) -> list[tuple[Case, frozenset[Layer]]] | None:
        with self._lock:
            return self.chunks.popleft() if self.chunks and not self._stopped else None

    def _gather(self, ran: Ran) -> None:
        with self._lock:
            self.rans.append(ran)
            self.progress(ran)


class _Lost(Exception):
    """A stand is gone, or says nothing."""


class _Lane:
    """One stand after the other: another is started when one was lost to an attack."""

    def __init__(self, stands: Stands) -> None:
        self._stands = stands
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: Path | None = None
        self._errors: IO[bytes] | None = None
        self._read = b""
        self.layers: tuple[Layer, ...] = ()
        self.unhealthy: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def run(self, case: Case, off: frozenset[Layer], twice: bool) -> Ran:
        """Let one case loose."""
        began = time.monotonic()
        if self._process is None:
            self._begin()
        try:
            answer = self._ask({"case": case.name, "off": sorted(off), "twice": twice})
        except _Lost as error:
            self._end()
            return Ran(case, off, Ending.BROKEN, ("the parent",), str(error), time.monotonic() - began)
        ending = None if answer["ending"] is None else Ending(answer["ending"])
        reached = tuple(answer["reached"])
        return Ran(case, off, ending, reached, answer["detail"], answer["seconds"], answer["missing"])

    def finish(self) -> None:
        """Hear what the stand says in the end."""
        if self._process is not None and self._process.stdin is not None:
            _close(self._process.stdin)
            try:
                self.unhealthy += self._answer()["unhealthy"]
            except _Lost as error:
                self.unhealthy.append(f"the parent, in the end: {error}")

    def _begin(self) -> None:
        stands = self._stands
        self._folder = Path(tempfile.mkdtemp(prefix="worldcoder-attacks-"))
        as_user: dict[str, Any] = {}
        if stands.user is not None:
            os.chown(self._folder, stands.user, stands.user)
            as_user = {"user": stands.user, "group": stands.user, "extra_groups": []}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed in `_end`)
        self._read = b""
        command = [stands.python, "-P", "-s", "-S", "-B", "-c", _START, str(stands.source), str(self._folder)]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={KEY: new_token(), "PATH": os.defpath, "LC_ALL": "C.UTF-8"},
                cwd="/",
                start_new_session=True,
                **as_user,
            )
            self.layers = tuple(map(Layer, self._answer()["layers"]))
        except (OSError, _Lost) as error:
            self._end()
            raise SandboxError(f"a process to be attacked cannot be started: {error}") from error

    def _ask(self, values: dict[str, Any]) -> dict[str, Any]:
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(values).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise _Lost("it died") from None
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process is not None and self._process.stdout is not None
        until = time.monotonic() + PATIENCE_SECONDS
        descriptor = self._process.stdout.fileno()
        while b"\n" not in self._read:
            if not select.select([descriptor], [], [], max(0.0, until - time.monotonic()))[0]:
                raise _Lost(f"it said nothing for {PATIENCE_SECONDS:g} seconds")
            data = os.read(descriptor, 1 << 16)
            if not data:
                raise _Lost(f"it died: {self._last_words()}")
            self._read += data
        line, _, self._read = self._read.partition(b"\n")
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            raise _Lost(f"somebody else wrote {line[:80]!r}") from None
        return answer

    def _last_words(self) -> str:
        assert self._errors is not None
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "without a word"

    def _end(self) -> None:
        if self._process is not None:
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    _close(stream)
            try:
                self._process.wait(2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        if self._errors is not None:
            self._errors.close()
            self._errors = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _close(stream: IO[bytes]) -> None:
    """Close a pipe, also one whose other end is gone: what was not sent yet cannot be."""
    with suppress(OSError):
        stream.close()

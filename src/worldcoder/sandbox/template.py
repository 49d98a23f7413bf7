"""The clean process that workers are forked from. It holds nothing of the user's, and is their parent.

It loads everything once, takes data to prepare, forks a worker when it is told to, ends workers and says how
they ended. It never runs a program. When the user's process is gone it ends, and its workers with it.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Collection, Sequence
from typing import Any

from worldcoder.sandbox import child
from worldcoder.sandbox.failures import one_line
from worldcoder.sandbox.frames import Reader, pack, write_all
from worldcoder.sandbox.layers import Layer
from worldcoder.sandbox.limits import Limits
from worldcoder.sandbox.line import Service
from worldcoder.sandbox.modules import load_service

LOOK_SECONDS = 2.0
"""How often to look whether the user's process is still there."""

REMEMBERED = 1000
"""Of how many workers that ended by themselves it is known how."""


def main(settings: dict[str, Any]) -> None:
    """Be a template, in a process of its own."""
    with socket.socket(fileno=settings["control"]) as control:
        run(
            control,
            settings["service"],
            Limits(**settings["limits"]),
            [Layer(name) for name in settings["off"]],
            settings["parent"],
        )


def run(control: socket.socket, service: str, limits: Limits, off: Collection[Layer], parent: int) -> None:
    """Obey until the parent is gone."""
    _forget_signals()
    gc.disable()
    template = _Template(control, limits, off)
    try:
        template.load(service)
        template.obey(parent)
    finally:
        template.end_all()


def _forget_signals() -> None:
    """Handlers and blocked signals come along from whoever started this process; workers rely on the usual."""
    for number in (signal.SIGCHLD, signal.SIGXCPU, signal.SIGPROF, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


class _Template:
    def __init__(self, control: socket.socket, limits: Limits, off: Collection[Layer]) -> None:
        self._control = control
        self._limits = limits
        self._off = off
        self._service: Service | None = None
        self._broken = ""
        self._workers: dict[int, int] = {}  # the process of each, by the number of the command that forked it
        self._ended: dict[int, int] = {}  # how those ended that nobody has asked about

    def load(self, name: str) -> None:
        """Make the service; what goes wrong is said when the first worker is asked for."""
        try:
            self._service = load_service(name)
        except Exception as error:
            self._broken = one_line(f"the service {name} cannot be made: {type(error).__name__}: {error}")
        gc.freeze()

    def obey(self, parent: int) -> None:
        """Do what comes over the control socket until it is closed."""
        reader = Reader()
        descriptors: list[int] = []
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        while True:
            while not poll.poll(LOOK_SECONDS * 1000):
                if os.getppid() != parent:
                    return
            try:
                data, more, _, _ = socket.recv_fds(self._control, 1 << 16, 16)
            except ConnectionError:
                return
            if not data:
                return
            descriptors += more
            reader.feed(data)
            while (command := reader.next()) is not None:
                number, do, count, *arguments = command
                handed, descriptors = descriptors[:count], descriptors[count:]
                answer = self._do(number, do, handed, arguments)
                for descriptor in handed:
                    os.close(descriptor)
                if answer is not None:
                    write_all(self._control.fileno(), pack([number, answer]))

    def _do(self, number: int, do: str, descriptors: Sequence[int], arguments: Sequence[Any]) -> Any:
        if do == "prepare":
            return self._prepare(*descriptors)
        if do == "fork":
            self._look()
            return self._fork(number, *descriptors)
        return self._end(*arguments)

    def _prepare(self, file: int) -> None:
        if self._service is None or self._broken:
            return
        try:
            with open(file, "rb", closefd=False) as stream:
                stream.seek(0)
                self._service.prepare(json.load(stream))
        except Exception as error:
            self._broken = one_line(f"the service cannot prepare: {type(error).__name__}: {error}")
        gc.collect()
        gc.freeze()

    def _look(self) -> None:
        """Let go of workers that have ended by themselves: whoever had them may have been interrupted."""
        for number, pid in [*self._workers.items()]:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                del self._workers[number]
                self._ended[number] = status
        while len(self._ended) > REMEMBERED:
            del self._ended[next(iter(self._ended))]

    def _fork(self, number: int, reading: int, writing: int, page: int) -> dict[str, Any]:
        if self._service is None or self._broken:
            return {"broken": self._broken}
        me = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            return {"broken": f"no process can be started: {error}"}
        if pid == 0:
            child.run(self._service, reading, writing, page, self._limits, self._off, me)
        self._workers[number] = pid
        return {"pid": pid}

    def _end(self, number: int, grace: float) -> dict[str, Any]:
        """End a worker, which has some seconds to end by itself; say how it ended."""
        if number in self._ended:
            return {"code": os.waitstatus_to_exitcode(self._ended.pop(number)), "ours": False}
        pid = self._workers.get(number)
        if pid is None:
            return {"code": None, "ours": False}
        until = time.monotonic() + grace
        ours = False
        while True:
            ended, status = os.waitpid(pid, 0 if ours else os.WNOHANG)
            if ended:
                break
            if time.monotonic() >= until:
                os.kill(pid, signal.SIGKILL)
                ours = True
            else:
                time.sleep(0.0005)
        del self._workers[number]
        return {"code": os.waitstatus_to_exitcode(status), "ours": ours}

    def end_all(self) -> None:
        """End every worker that is left."""
        for number in [*self._workers]:
            self._end(number, 0.0)


def start() -> None:
    """Begin, with the settings from the command line."""
    try:
        settings = json.loads(sys.argv[1])
        del sys.argv[1:]
        main(settings)
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.stderr.flush()
    finally:
        os._exit(0)  # quicker than to end in order; nothing is left to do

"""The layers between a program and the user's machine, and which of them this machine has."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

PLATFORM: str = sys.platform
"""A name of its own, so that a type checker looks at what is done on every platform."""


class Layer(StrEnum):
    """One thing that keeps programs from doing harm."""

    EXEC = "exec"
    DESCRIPTORS = "descriptors"
    USER = "user"
    PARENT_DEATH = "parent death"
    TIMER = "timer"
    MEMORY = "memory"
    CPU = "cpu"
    PROCESSES = "processes"
    FILES = "files"
    NO_NEW_PRIVILEGES = "no new privileges"
    LANDLOCK = "landlock"
    DUMP = "dump"
    SECCOMP = "seccomp"
    SEATBELT = "seatbelt"
    DEADLINE = "deadline"
    FRAMES = "frames"

    @property
    def stops(self) -> str:
        """What it stops, in one phrase."""
        return _STOPS[self]


_STOPS = {
    Layer.EXEC: "reading keys from the environment or the memory of the user's process",
    Layer.DESCRIPTORS: "using files and connections that happen to be open",
    Layer.USER: "acting as root, or on other processes",
    Layer.PARENT_DEATH: "running on when the user's process is gone",
    Layer.TIMER: "one call that never returns",
    Layer.MEMORY: "eating all memory",
    Layer.CPU: "computing for ever",
    Layer.PROCESSES: "starting processes",
    Layer.FILES: "writing to files and opening new ones",
    Layer.NO_NEW_PRIVILEGES: "gaining rights by starting a program that has them",
    Layer.LANDLOCK: "reading and writing files, TCP connections, signals to other processes",
    Layer.DUMP: "being looked into by other processes of the same user, and leaving memory on disk",
    Layer.SECCOMP: "every call of the system but some thirty: files, network, processes, signals, executable memory",
    Layer.SEATBELT: "files, network and processes, by the lock of macOS",
    Layer.DEADLINE: "work that never ends, and silence",
    Layer.FRAMES: "answers that are too long, malformed, or to another question",
}

KERNEL_LOCKS = (Layer.SECCOMP, Layer.LANDLOCK, Layer.SEATBELT)


@dataclass(frozen=True)
class LayerReport:
    """Whether one layer is there.

    needed: whether no program is run where it is missing, unless the user says that it may be.
    detail: why it is missing, or something to know about it.
    """

    layer: Layer
    there: bool
    needed: bool
    detail: str = ""


def locked(reports: Iterable[LayerReport]) -> bool:
    """Whether there is a kernel lock at all."""
    return any(report.there and report.layer in KERNEL_LOCKS for report in reports)


def without(reports: Iterable[LayerReport], off: Iterable[Layer]) -> tuple[LayerReport, ...]:
    """The same reports, with layers left out on purpose."""
    out = {*off}
    return tuple(replace(r, there=False, detail="left out") if r.layer in out else r for r in reports)


def probe() -> tuple[LayerReport, ...]:
    """What this machine has. Asks the kernel and changes nothing."""
    if PLATFORM == "linux":
        return _on_linux()
    if PLATFORM == "darwin":
        return _on_macos()
    return elsewhere()


ANYWHERE = (Layer.EXEC, Layer.DEADLINE, Layer.FRAMES)
POSIX = (Layer.DESCRIPTORS, Layer.TIMER, Layer.CPU, Layer.PROCESSES, Layer.FILES)


def _on_linux() -> tuple[LayerReport, ...]:
    from worldcoder.sandbox import linux, seccomp

    abi = linux.landlock_abi()
    lacking = seccomp.lacking()
    always = (*ANYWHERE, *POSIX, Layer.PARENT_DEATH, Layer.MEMORY, Layer.NO_NEW_PRIVILEGES, Layer.DUMP)
    root = os.geteuid() == 0
    return _ordered(
        *(LayerReport(layer, True, True) for layer in always),
        LayerReport(Layer.USER, True, True, "a user of its own for each worker" if root else "not root"),
        LayerReport(
            Layer.LANDLOCK,
            abi > 0,
            False,
            f"ABI {abi}" if abi > 0 else "the kernel has none, or it is disabled",
        ),
        LayerReport(Layer.SECCOMP, not lacking, abi <= 0, lacking),
        _not_here(Layer.SEATBELT, "only on macOS"),
    )


def _on_macos() -> tuple[LayerReport, ...]:
    from worldcoder.sandbox import macos

    lacking = macos.lacking()
    return _ordered(
        *(LayerReport(layer, True, True) for layer in (*ANYWHERE, *POSIX)),
        LayerReport(
            Layer.USER, True, True, "a user of its own for each worker" if os.geteuid() == 0 else "not root"
        ),
        LayerReport(Layer.MEMORY, True, True, "watched from outside"),
        LayerReport(Layer.SEATBELT, not lacking, True, lacking),
        *(_not_here(layer, "only on Linux") for layer in _LINUX_ONLY),
    )


_LINUX_ONLY = (Layer.PARENT_DEATH, Layer.NO_NEW_PRIVILEGES, Layer.LANDLOCK, Layer.DUMP, Layer.SECCOMP)


def elsewhere() -> tuple[LayerReport, ...]:
    """What there is on a system without fork."""
    missing = [layer for layer in Layer if layer not in ANYWHERE]
    return _ordered(
        *(LayerReport(layer, True, True) for layer in ANYWHERE),
        *(_not_here(layer, f"not on {PLATFORM}") for layer in missing),
    )


def _not_here(layer: Layer, detail: str) -> LayerReport:
    return LayerReport(layer, False, False, detail)


def _ordered(*reports: LayerReport) -> tuple[LayerReport, ...]:
    order = list(Layer)
    return tuple(sorted(reports, key=lambda report: order.index(report.layer)))

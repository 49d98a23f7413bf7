"""The lock that a worker puts on itself, layer by layer, before it reads its first request."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Collection

from worldcoder.sandbox.layers import PLATFORM, Layer
from worldcoder.sandbox.limits import Limits

if PLATFORM == "linux":
    from worldcoder.sandbox import linux, seccomp
if PLATFORM == "darwin":
    from worldcoder.sandbox import macos

Lock = Callable[[], str | None]


def lock(kept: Collection[int], limits: Limits, off: Collection[Layer], parent: int) -> dict[str, str]:
    """Put every layer on this process that the platform has and that is not `off`.

    kept: the open descriptors to keep, besides 0 to 2.
    Returns the layers that could not be put on, each with why.
    """
    missing = {}
    for layer, put in _locks(kept, limits, parent):
        if layer in off:
            continue
        try:
            put()
        except (OSError, ValueError) as error:
            missing[str(layer)] = str(error)
    return missing


def _locks(kept: Collection[int], limits: Limits, parent: int) -> list[tuple[Layer, Lock]]:
    """In an order in which none stands in the way of a later one."""
    first: list[tuple[Layer, Lock]] = [(Layer.DESCRIPTORS, lambda: close_all_but(kept))]
    limited: list[tuple[Layer, Lock]] = [
        (Layer.CPU, lambda: _limit(resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1)),
        (Layer.PROCESSES, lambda: _limit(resource.RLIMIT_NPROC, 0)),
    ]
    if PLATFORM == "linux":
        return [
            *first,
            (Layer.USER, linux.become_nobody),
            (Layer.PARENT_DEATH, lambda: linux.die_with_parent(parent)),  # changing the user forgets it
            (Layer.MEMORY, lambda: _limit(resource.RLIMIT_AS, _address_space() + limits.memory)),
            *limited,
            (Layer.NO_NEW_PRIVILEGES, linux.no_new_privileges),  # without it the next ones are refused
            (Layer.LANDLOCK, linux.landlock),
            (Layer.FILES, _no_files),  # Landlock needs one descriptor, for a moment
            (Layer.DUMP, linux.no_dumps),
            (Layer.SECCOMP, seccomp.install),
        ]
    return [
        *first,
        (Layer.USER, _become_nobody),
        *limited,
        (Layer.SEATBELT, macos.install),
        (Layer.FILES, _no_files),
    ]


def close_all_but(kept: Collection[int]) -> None:
    """Close every descriptor but 0 to 2 and these."""
    start = 3
    for descriptor in sorted(kept):
        os.closerange(start, descriptor)
        start = descriptor + 1
    os.closerange(start, _highest())


def _highest() -> int:
    try:
        return max(int(name) for name in os.listdir("/dev/fd")) + 1  # noqa: PTH208
    except (OSError, ValueError):
        return os.sysconf("SC_OPEN_MAX")


def _address_space() -> int:
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
        return int(file.read().split()[0]) * resource.getpagesize()


def _limit(what: int, soft: int, hard: int | None = None) -> None:
    """Set a limit, and never above the one that is there."""
    _, highest = resource.getrlimit(what)
    wanted = (soft, soft if hard is None else hard)
    if highest != resource.RLIM_INFINITY:
        wanted = (min(wanted[0], highest), min(wanted[1], highest))
    resource.setrlimit(what, wanted)


def _no_files() -> None:
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, 0)


def _become_nobody() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)

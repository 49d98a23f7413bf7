"""What attacks and canaries need of the kernel and Python does not offer: system calls by name, keys, processes."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from contextlib import suppress
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)

_MACHINES = ("x86_64", "aarch64")
_NUMBERS = {
    "add_key": (248, 217), "bpf": (321, 280), "clone3": (435, 435), "execveat": (322, 281),
    "fanotify_init": (300, 262), "inotify_add_watch": (254, 27), "inotify_init1": (294, 26),
    "io_uring_setup": (425, 425), "kcmp": (312, 272), "keyctl": (250, 219),
    "landlock_create_ruleset": (444, 444), "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "mount": (165, 40), "mq_open": (240, 180), "mq_unlink": (241, 181), "msgctl": (71, 187),
    "msgget": (68, 186), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "openat2": (437, 437), "perf_event_open": (298, 241), "personality": (135, 92),
    "pidfd_getfd": (438, 438), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424),
    "prctl": (157, 167), "prlimit64": (302, 261), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "ptrace": (101, 117), "rt_sigqueueinfo": (129, 138),
    "setns": (308, 268), "shmat": (30, 196), "shmctl": (31, 195), "shmget": (29, 194),
    "syslog": (103, 116), "tgkill": (234, 131), "timer_create": (222, 107), "unshare": (272, 97),
    "userfaultfd": (323, 282),
}  # fmt: skip

IPC_PRIVATE, IPC_RMID = 0, 0
KEYCTL_JOIN_SESSION_KEYRING, KEYCTL_SETPERM, SESSION_KEYRING = 1, 5, -3
PR_SET_CHILD_SUBREAPER = 36
LANDLOCK_CREATE_RULESET_VERSION = 1


def number(name: str) -> int:
    """A system call's number on this machine; OSError where it is not known."""
    if sys.platform != "linux" or platform.machine() not in _MACHINES:
        raise OSError(f"the number of {name} is not known on {sys.platform} {platform.machine()}")
    return _NUMBERS[name][_MACHINES.index(platform.machine())]


def system_call(name: str | int, *arguments: object) -> int:
    """A system call by name or number; raises OSError as Python does."""
    LIBC.syscall.restype = ctypes.c_long
    given = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = int(LIBC.syscall(ctypes.c_long(number(name) if isinstance(name, str) else name), *given))
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def landlock_version() -> int:
    """The version of Landlock; 0 if there is none."""
    try:
        return system_call("landlock_create_ruleset", None, 0, LANDLOCK_CREATE_RULESET_VERSION)
    except OSError:
        return 0


def own_session_keyring() -> None:
    """Have a keyring apart from the user's, where there are such."""
    with suppress(OSError):
        system_call("keyctl", KEYCTL_JOIN_SESSION_KEYRING, None)


def kernel_key(text: str) -> int:
    """Put a text into the kernel's keyring of the session, where children find it; 0 where there is no such thing."""
    try:
        secret = text.encode()
        key = system_call("add_key", b"user", b"worldcoder-canary", secret, len(secret), SESSION_KEYRING)
        system_call("keyctl", KEYCTL_SETPERM, key, 0x3F3F3F3F)
        return key
    except OSError:
        return 0


def shared_memory(text: str) -> int:
    """A text in a System V segment that anybody may read; -1 where there is none.

    It is marked as deleted at once, so that it goes with this process; on Linux it can be found until then.
    """
    try:
        segment = system_call("shmget", IPC_PRIVATE, 4096, 0o644)
        address = system_call("shmat", segment, None, 0)
        system_call("shmctl", segment, IPC_RMID, None)
    except OSError:
        return -1
    ctypes.memmove(address, text.encode(), len(text))
    return segment


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent dies, so that none is lost from sight."""
    with suppress(OSError):
        system_call("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def parent_of(pid: int) -> int:
    """The parent of a process; 0 if it is gone."""
    try:
        return int(_status(pid)[1])
    except (OSError, IndexError):
        return 0


def running(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return _status(pid)[0] not in "ZX"
    except (OSError, IndexError):
        return False


def children(pid: int) -> list[int]:
    """The children of a process that have not ended."""
    try:
        threads = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        threads = []
    if threads:
        found = [int(child) for text in threads for child in text.split()]
        return [child for child in found if running(child)]
    every = (int(entry.name) for entry in Path("/proc").glob("[0-9]*"))
    return [child for child in every if parent_of(child) == pid and running(child)]


def _status(pid: int) -> list[str]:
    """State, parent and so on; the name before them may hold anything."""
    return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()

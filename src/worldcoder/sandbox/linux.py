"""The locks of Linux that a process puts on itself."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import sys

_libc = ctypes.CDLL(None, use_errno=True)
_prctl = _libc.prctl
_prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NO_NEW_PRIVS = 38

FIRST_UID = 1_879_048_192
"""Users with these numbers are nobody's by systemd's table; the process's own number is added."""

NOBODY = 65534
CAP_KILL = 1 << 5


def prctl(option: int, argument: int, more: int = 0) -> None:
    """Raises OSError where it fails."""
    if _prctl(option, argument, more, 0, 0) == -1:
        raise _error("prctl")


def syscall(number: int, *arguments: int | ctypes.Array[ctypes.c_char] | None) -> int:
    """A system call by its number; -1 where it fails, see `ctypes.get_errno`."""
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return int(_syscall(ctypes.c_long(number), *converted))


def _error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


# ── user ─────────────────────────────────────────────────────────────────────────────────────────────────


def become_nobody() -> str:
    """If root: a user that nobody else is, without any rights. Returns how it went."""
    if os.geteuid() != 0 and os.getuid() != 0:
        return "not root"
    if not _may_kill_others():
        _drop_rights()  # whoever forked this process could not end it if it were another user's
        return "still root, but without rights: root may not end other users' processes here"
    with contextlib.suppress(OSError):  # not allowed in some user namespaces, where groups are harmless
        os.setgroups([])
    for uid in (FIRST_UID + os.getpid(), NOBODY):
        try:
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
        except OSError:
            continue  # a user namespace that does not know this number
        return f"user {uid}"
    _drop_rights()
    return "still root, but without rights: no other user can be had here"


def _may_kill_others() -> bool:
    data = _capabilities()
    _libc.capget(_header(), data)
    return bool(data[0] & CAP_KILL)


def _drop_rights() -> None:
    if _libc.capset(_header(), _capabilities()) != 0:
        raise _error("capset")


def _header() -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * 2)(0x20080522, 0)


def _capabilities() -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice 32 of them


# ── parent death, privileges, dumps ──────────────────────────────────────────────────────────────────────


def die_with_parent(parent: int) -> None:
    """Be killed when the parent dies. To be done after the user is changed, which forgets it."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise OSError(errno.ESRCH, "the parent is gone already")


def no_new_privileges() -> None:
    """Never gain rights again."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def no_dumps() -> None:
    """Leave no memory on disk, and let no process of the same user look inside."""
    prctl(PR_SET_DUMPABLE, 0)


# ── landlock ─────────────────────────────────────────────────────────────────────────────────────────────

# These numbers are the same on every architecture.
LANDLOCK_CREATE_RULESET = 444
LANDLOCK_RESTRICT_SELF = 446


def landlock_abi() -> int:
    """The version of Landlock; 0 where there is none."""
    return max(0, syscall(LANDLOCK_CREATE_RULESET, None, 0, 1))


def landlock() -> str:
    """Deny everything that this version of Landlock can deny. Returns the version."""
    abi = landlock_abi()
    if abi == 0:
        raise _error("landlock")
    files = 0x1FFF | (0x2000 if abi >= 2 else 0) | (0x4000 if abi >= 3 else 0) | (0x8000 if abi >= 5 else 0)
    tcp = 3 if abi >= 4 else 0
    scopes = 3 if abi >= 6 else 0
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    attributes = b"".join(word.to_bytes(8, sys.byteorder) for word in (files, tcp, scopes))
    ruleset = syscall(LANDLOCK_CREATE_RULESET, ctypes.create_string_buffer(attributes), size, 0)
    if ruleset == -1:
        raise _error("landlock")
    try:
        if syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0) == -1:
            raise _error("landlock")
    finally:
        os.close(ruleset)
    return f"ABI {abi}"

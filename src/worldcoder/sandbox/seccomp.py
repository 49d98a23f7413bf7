"""The filter of system calls: what is not in a short table is answered with "not permitted"."""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import sys
from dataclasses import dataclass

from worldcoder.sandbox import linux


@dataclass(frozen=True)
class Machine:
    """What the kernel calls an architecture, and the numbers of its system calls.

    allowed: number of each call that a worker may make.
    mapping: the calls that map memory; refused where the memory could be executed.
    foreign: numbers from here on belong to another way of calling (x32).
    """

    audit: int
    allowed: dict[str, int]
    mapping: dict[str, int]
    foreign: int | None = None


_X86_64 = Machine(
    audit=0xC000003E,
    allowed={
        "read": 0, "write": 1, "munmap": 11, "brk": 12, "rt_sigreturn": 15, "sched_yield": 24, "mremap": 25,
        "madvise": 28, "getpid": 39, "exit": 60, "gettimeofday": 96, "times": 100, "gettid": 186, "time": 201,
        "futex": 202, "restart_syscall": 219, "clock_gettime": 228, "clock_getres": 229, "exit_group": 231,
        "getrandom": 318,
    },
    mapping={"mmap": 9, "mprotect": 10},
    foreign=0x40000000,
)  # fmt: skip

_GENERIC = {
    "read": 63, "write": 64, "munmap": 215, "brk": 214, "rt_sigreturn": 139, "sched_yield": 124,
    "mremap": 216, "madvise": 233, "getpid": 172, "exit": 93, "gettimeofday": 169, "times": 153, "gettid": 178,
    "futex": 98, "restart_syscall": 128, "clock_gettime": 113, "clock_getres": 114, "exit_group": 94,
    "getrandom": 278,
}  # fmt: skip
_GENERIC_MAPPING = {"mmap": 222, "mprotect": 226}

MACHINES = {
    "x86_64": _X86_64,
    "aarch64": Machine(0xC00000B7, _GENERIC, _GENERIC_MAPPING),
    "riscv64": Machine(0xC00000F3, _GENERIC, _GENERIC_MAPPING),
}
"""By the name that uname gives."""

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _THIRD_ARGUMENT = 0, 4, 32  # where they are in what the filter sees
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050001, 0x80000000  # refused with EPERM
_PROT_EXEC = 4

_SET_SECCOMP, _FILTER = 22, 2
_SECCOMP_CALL = {"x86_64": 317, "aarch64": 277, "riscv64": 277}
_NO_MITIGATION = 4


def machine() -> str:
    """The architecture that this process runs as; it may be narrower than the machine's."""
    name = platform.machine()
    return name if struct.calcsize("P") == 8 else f"{name} with 32 bits"


def lacking() -> str:
    """Why there is no filter for this process; empty where there is."""
    if machine() not in MACHINES:
        return f"no table of system calls for {machine()}"
    # Without a filter at all, a kernel that knows filters complains of the address.
    try:
        linux.prctl(_SET_SECCOMP, _FILTER, 0)
    except OSError as error:
        if error.errno == errno.EFAULT:
            return ""
    return "the kernel has none, or it is forbidden here"


def program(name: str) -> bytes:
    """The filter of an architecture, for the kernel."""
    kind = MACHINES[name]
    code = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, kind.audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if kind.foreign is not None:
        code += [(_JUMP_AT_LEAST, 0, 1, kind.foreign), (_RETURN, 0, 0, _REFUSE)]
    for number in kind.allowed.values():
        code += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    for number in kind.mapping.values():
        code += [
            (_JUMP_EQUAL, 0, 4, number),
            (_LOAD, 0, 0, _THIRD_ARGUMENT + (4 if sys.byteorder == "big" else 0)),
            (_JUMP_BITS, 0, 1, _PROT_EXEC),
            (_RETURN, 0, 0, _REFUSE),
            (_RETURN, 0, 0, _ALLOW),
        ]
    code.append((_RETURN, 0, 0, _REFUSE))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)


def install() -> None:
    """Put the filter on this process, for ever. Raises OSError where it cannot be had."""
    code = program(machine())
    held = ctypes.create_string_buffer(code, len(code))
    described = struct.pack("HP", len(code) // 8, ctypes.addressof(held))
    argument = ctypes.create_string_buffer(described, len(described))
    # Older kernels slow filtered processes down against a leak between parts of one process. There is
    # nothing to leak in this one, so that is declined where the kernel lets it be.
    if linux.syscall(_SECCOMP_CALL[machine()], 1, _NO_MITIGATION, argument) == 0:
        return
    linux.prctl(_SET_SECCOMP, _FILTER, ctypes.addressof(argument))

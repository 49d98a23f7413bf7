"""The lock of macOS. Written from its documentation and never yet run there."""

from __future__ import annotations

import ctypes

_PROFILE = b"(version 1)(deny default)"
_TASK_INFO = 4
_TASK_INFO_BYTES = 96


def lacking() -> str:
    """Why there is no lock; empty where there is."""
    return "" if hasattr(ctypes.CDLL(None), "sandbox_init") else "the system has no sandbox_init"


def install() -> None:
    """Deny everything, for ever. Raises OSError where that fails."""
    message = ctypes.c_char_p()
    result = ctypes.CDLL(None).sandbox_init(_PROFILE, ctypes.c_uint64(0), ctypes.byref(message))
    if result != 0:
        raise OSError(0, f"sandbox_init: {(message.value or b'it failed').decode('utf-8', 'replace')}")


def resident(pid: int) -> int:
    """How many bytes of memory a process holds; 0 if that is unknown."""
    info = ctypes.create_string_buffer(_TASK_INFO_BYTES)
    got = ctypes.CDLL(None).proc_pidinfo(pid, _TASK_INFO, ctypes.c_uint64(0), info, _TASK_INFO_BYTES)
    return int.from_bytes(bytes(info)[8:16], "little") if got == _TASK_INFO_BYTES else 0

"""The service that runs hostile code: it gives it everything that an attacker could wish for.

More is loaded than for programs (ctypes, sockets, subprocesses), and code can be native: the lock must hold
whatever runs behind it, not because a module is hard to come by.
"""

from __future__ import annotations

import array
import collections
import ctypes
import errno
import fcntl
import functools
import gc
import itertools
import json
import math
import mmap
import operator
import os
import pickle
import platform
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import types
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from worldcoder.attacks.system import LIBC, system_call
from worldcoder.sandbox import OUTSIDE, WATCH, CallTimeout, Line
from worldcoder.sandbox.frames import MARK, write_all

_MODULES = (
    array, collections, ctypes, errno, fcntl, functools, gc, itertools, json, math, mmap,
    operator, os, pickle, platform, re, resource, select, signal, socket, struct, subprocess, sys, threading,
    time, types,
)  # fmt: skip

LONGEST = 4000
"""So much of what an attack found is told."""

_INT80 = bytes.fromhex("53 89f8 89f3 4887ca cd80 5b c3")
"""A function of four numbers that makes a system call by the 32-bit way: number, and three arguments."""


class Hostile:
    """Runs texts, see `handle`."""

    def __init__(self) -> None:
        self._told: dict[str, Any] = {}
        self._int80 = _native(_INT80) if platform.machine() == "x86_64" else None
        socket.getaddrinfo("127.0.0.1", 80)  # loads what names are looked up with
        self.truth = 42

    def prepare(self, data: Any) -> None:
        """Where the canaries are."""
        self._told = data

    def handle(self, request: Any, line: Line) -> Any:
        """Run the text of a request, or keep a secret; tell the text's error and what it left in `result`.

        A text finds: target, what is known of the canaries; say, which sends something at once; the modules
        above; call, a system call by name; found, the tokens in something; walk, every object that can be
        reached; raw, which writes to the parent what no Line would, and framed, reply, failure and request to
        make it.
        """
        if "keep" in request:
            self._kept = ctypes.create_string_buffer(request["keep"].encode())
            return ctypes.addressof(self._kept)
        target = SimpleNamespace(**self._told, **request.get("told", {}))
        namespace: dict[str, Any] = {module.__name__: module for module in _MODULES}
        namespace |= {
            "target": target,
            "say": line.send,
            "line": line,
            "service": self,
            "WATCH": WATCH,
            "LIBC": LIBC,
            "call": system_call,
            "found": functools.partial(_found, target.pattern),
            "walk": _walk,
            "raw": functools.partial(write_all, line._writing),
            "framed": _framed,
            "reply": functools.partial(_reply, line),
            "failure": lambda kind, text: _framed(json.dumps([line._request, "failed", kind, text]).encode()),
            "request": lambda: line._request,
            "int80": self._int80,
            "clock": time.monotonic,
        }
        error = ""
        late = False
        code = compile(request["source"], "<attack>", "exec")
        WATCH.ticks = 0
        try:
            exec(code, namespace)
        except MemoryError:
            raise
        except CallTimeout:
            late = True
        except BaseException as caught:
            error = f"{type(caught).__name__}: {caught}"[:LONGEST]
        finally:
            WATCH.ticks = OUTSIDE
        result = namespace.get("result")
        return {"late": late or WATCH.over, "error": error, "result": str(result)[:LONGEST] if result else ""}

    def honest(self) -> int:
        """What a worker that was not tampered with says."""
        return self.truth


def _native(code: bytes) -> Any:
    """Machine code as a function, made before the lock as if an attacker had found it lying about."""
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return None
    page.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int)(address)
    function.page = page  # type: ignore[attr-defined]  # it must live as long
    return function


def _found(pattern: str, what: Any) -> list[str]:
    """The tokens in anything."""
    text = what.decode("latin-1") if isinstance(what, bytes | bytearray) else str(what)
    return re.findall(pattern, text)


def _walk() -> Iterator[Any]:
    """Every object that the collector knows, and what these refer to."""
    gc.unfreeze()
    for known in gc.get_objects():
        yield known
        for other in gc.get_referents(known):
            if not gc.is_tracked(other):
                yield other
                yield from gc.get_referents(other)


def _framed(data: bytes) -> bytes:
    """Any bytes, with the head of a frame."""
    return MARK + len(data).to_bytes(4, "big") + data


def _reply(line: Line, word: Any, data: bytes) -> bytes:
    """A frame of the request that is being answered, with a value that need not be JSON."""
    return _framed(json.dumps([line._request, word]).encode()[:-1] + b", " + data + b"]")

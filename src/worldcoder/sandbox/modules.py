"""The modules that programs may import: loaded before the lock, because after it no file can be opened."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from worldcoder.sandbox.line import Service

ALLOWED = (
    "abc", "array", "bisect", "calendar", "cmath", "collections", "collections.abc", "contextlib", "copy",
    "dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "graphlib", "hashlib", "heapq",
    "itertools", "json", "math", "numbers", "operator", "os", "pprint", "queue", "random", "re", "secrets",
    "statistics", "string", "struct", "sys", "textwrap", "time", "traceback", "types", "typing", "uuid",
    "warnings", "weakref", "zlib",
)  # fmt: skip
"""What programs may import. `os` and `sys` are there anyway, and harmless behind the lock."""

_LATER = (
    "_strptime", "encodings.ascii", "encodings.latin_1", "encodings.utf_16", "encodings.utf_32",
    "encodings.utf_8", "linecache", "tokenize", "unicodedata",
)  # fmt: skip
"""What the modules above import only when they need it."""

_LATER_IF_THERE = ("_blake2", "_md5", "_sha1", "_sha2", "_sha256", "_sha3", "_sha512")


def preload() -> None:
    """Load everything that programs may import, and what that will load later."""
    for name in (*ALLOWED, *_LATER):
        importlib.import_module(name)
    for name in _LATER_IF_THERE:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # another version of Python has it under another name
    hashlib = sys.modules["hashlib"]
    hashlib.new("sha256").digest()  # OpenSSL reads its configuration on first use
    hashlib.new("md5", usedforsecurity=False).digest()


class Refusal:
    """The last finder of modules: says which ones programs may import."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Never finds anything."""
        if name.startswith(("encodings.", "_")) or path is not None:
            return None  # asked for by the standard library itself, which copes without
        raise ModuleNotFoundError(
            f"no module {name!r} here; programs may import {', '.join(ALLOWED)}", name=name
        )


def close_imports() -> None:
    """From now on only what is loaded can be imported."""
    sys.path.clear()
    sys.path_hooks.clear()
    sys.path_importer_cache.clear()
    sys.meta_path[:] = [Refusal()]


def load_service(name: str) -> Service:
    """The service called "package.module:Class", with all that programs may import; then imports close."""
    module, _, attribute = name.partition(":")
    service: Service = getattr(importlib.import_module(module), attribute)()
    preload()
    close_imports()
    return service

"""What an attack may touch, and by which it is noticed: sockets that listen, secrets, a folder that is watched.

All of it belongs to the process that makes the sandbox. The worker is told addresses and paths, never a token:
a token that comes back was stolen.
"""

from __future__ import annotations

import ctypes
import os
import re
import resource
import secrets
import shutil
import signal
import socket
import stat
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path
from typing import Any

from worldcoder.attacks.system import kernel_key, own_session_keyring, shared_memory

KEY = "WORLDCODER_CANARY_API_KEY"
"""The variable of the environment that holds a token, as a user's key would be held."""

TOKEN = re.compile(r"canary-[0-9a-f]{32}")
SIGNALS = (signal.SIGUSR1, signal.SIGUSR2)


def new_token() -> str:
    """A secret that can be recognised and that nobody can guess."""
    return f"canary-{secrets.token_hex(16)}"


class Canaries:
    """Everything that an attack may touch; `reached` says what was.

    folder: an empty folder of this process's own. Files that anybody may change are put into it.
    The token in the environment must be there from the start of the process: a process that sets a variable
    itself does not show it in /proc.
    """

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o755)
        self.folder = folder
        self.tokens = {"the key in the environment": os.environ.get(KEY, "")}
        self.expected = self.tokens["an expected output"] = new_token()
        self._files()
        self._sockets()
        self._memory()
        self._signals: list[int] = []
        for number in SIGNALS:
            signal.signal(number, lambda got, _: self._signals.append(got))
        self._before: dict[str, Any] = {}

    def _files(self) -> None:
        self.secret = self._secret_file("secret", 0o600)
        self.public = self._secret_file("public", 0o644)
        self.run = self.folder / "run"
        self.run.mkdir()
        self.run.chmod(0o777)
        self.file = self.run / "log"
        self.file.write_text("unchanged\n")
        self.file.chmod(0o666)
        modules = self.folder / "modules"
        modules.mkdir(mode=0o755)
        token = self._token("a module that is not the program's")
        (modules / "canary_module.py").write_text(f"TOKEN = {token!r}\n")
        self.library = _copied(modules, *_libraries())
        self.root_chmod = ""
        if os.geteuid() == 0:
            self.root_chmod = _copied(modules, shutil.which("chmod"))
            Path(self.root_chmod).chmod(0o4755)
        unique = self.folder.name.replace(".", "-")
        self.tmp = Path("/tmp") / f"worldcoder-canary-{unique}"
        self.shm = Path("/dev/shm") / f"worldcoder-canary-{unique}"

    def _token(self, name: str) -> str:
        self.tokens[name] = new_token()
        return self.tokens[name]

    def _secret_file(self, name: str, mode: int) -> Path:
        path = self.folder / name
        path.write_text(self._token(f"the {name} file") + "\n")
        path.chmod(mode)
        return path

    def _sockets(self) -> None:
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.listening = {"TCP": self.tcp}
        self.unix = str(self.run / "socket")
        self.listening["a unix socket"] = self._listen(self.unix)
        Path(self.unix).chmod(0o777)
        self.abstract = ""
        if os.uname().sysname == "Linux":
            self.abstract = f"\0worldcoder-canary-{secrets.token_hex(4)}"
            self.listening["an abstract unix socket"] = self._listen(self.abstract)
        for listener in (*self.listening.values(), self.udp):
            listener.setblocking(False)
        self.inherited, write = os.pipe()
        os.set_blocking(self.inherited, False)
        os.set_blocking(write, False)
        os.set_inheritable(write, True)
        self.inheritable = write

    @staticmethod
    def _listen(address: str) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(address)
        listener.listen()
        return listener

    def _memory(self) -> None:
        self._buffer = ctypes.create_string_buffer(self._token("the parent's memory").encode())
        self._writable = ctypes.create_string_buffer(b"unchanged")
        own_session_keyring()
        self.key = kernel_key(self._token("a key in the kernel's keyring"))
        self._token("another worker's memory")
        self.segment = shared_memory(self._token("the parent's shared memory"))

    # ── what the worker is told ──────────────────────────────────────────────────────────────────────────

    def told(self) -> dict[str, Any]:
        """Where everything is: no token among it."""
        return {
            "parent": os.getpid(),
            "pattern": TOKEN.pattern,
            "key_name": KEY,
            "secret": str(self.secret),
            "public": str(self.public),
            "run": str(self.run),
            "file": str(self.file),
            "modules": str(self.folder / "modules"),
            "library": self.library,
            "root_chmod": self.root_chmod,
            "tmp": str(self.tmp),
            "shm": str(self.shm),
            "tcp": self.tcp.getsockname()[1],
            "udp": self.udp.getsockname()[1],
            "unix": self.unix,
            "abstract": self.abstract,
            "address": ctypes.addressof(self._buffer),
            "writable": ctypes.addressof(self._writable),
            "length": len(self._buffer.value),
            "kernel_key": self.key,
            "segment": self.segment,
        }

    # ── what was reached ─────────────────────────────────────────────────────────────────────────────────

    def watch(self) -> None:
        """From now on."""
        self._drain()
        self._signals.clear()
        self._before = self._state()

    def reached(self, replies: str) -> list[str]:
        """What happened since `watch`, in words. replies: everything that came back, as one text."""
        found = [name for name, token in self.tokens.items() if token and token in replies]
        found += self._drain()
        found += [f"signal {number} to the parent" for number in self._signals]
        after = self._state()
        for what in sorted({*self._before, *after}):
            old, new = self._before.get(what), after.get(what)
            if old != new:
                found.append(
                    f"{what} {'appeared' if old is None else 'is gone' if new is None else 'changed'}"
                )
        self._restore()
        return found

    def _drain(self) -> list[str]:
        found = []
        for name, listener in self.listening.items():
            with suppress(BlockingIOError):
                while True:
                    listener.accept()[0].close()
                    found.append(f"a connection by {name}")
        with suppress(BlockingIOError):
            while self.udp.recv(4096):
                found.append("a datagram by UDP")
        with suppress(BlockingIOError):
            while os.read(self.inherited, 65536):
                found.append("a descriptor that was the parent's")
        return list(dict.fromkeys(found))

    def _state(self) -> dict[str, Any]:
        """Everything that must not change."""
        state: dict[str, Any] = {"the parent's memory": self._writable.value}
        for path in (*sorted(self.folder.rglob("*")), self.tmp, self.shm):
            with suppress(OSError):
                status = path.lstat()
                parts = (status.st_mode, status.st_uid, status.st_size, status.st_mtime_ns, status.st_ino)
                content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
                state[f"the file {path.name}"] = (*parts, content, _attributes(path))
        state["the parent's limits"] = resource.getrlimit(resource.RLIMIT_CORE)
        state["the parent's priority"] = os.getpriority(os.PRIO_PROCESS, 0)
        if hasattr(os, "sched_getaffinity"):
            state["the parent's processors"] = os.sched_getaffinity(0)
        return state

    def _restore(self) -> None:
        """Take away what an attack left, so that the next one is noticed as well."""
        self._writable.value = b"unchanged"
        for path in (self.tmp, self.shm):
            path.unlink(missing_ok=True)
        keep = {self.file, Path(self.unix)}
        for path in self.run.iterdir():
            if path not in keep:
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        if _written(self.file) != "unchanged\n":
            self.file.unlink(missing_ok=True)
            self.file.write_text("unchanged\n")
        self.file.chmod(0o666)
        self.secret.chmod(0o600)
        with suppress(OSError):
            os.removexattr(self.file, "user.canary")
        if not Path(self.unix).exists():
            self.listening["a unix socket"].close()
            self.listening["a unix socket"] = self._listen(self.unix)
            self.listening["a unix socket"].setblocking(False)
        Path(self.unix).chmod(0o777)

    def close(self) -> None:
        """Give everything back; the folder is its maker's."""
        for listener in (*self.listening.values(), self.udp):
            listener.close()
        for descriptor in (self.inherited, self.inheritable):
            os.close(descriptor)
        for path in (self.tmp, self.shm):
            path.unlink(missing_ok=True)


def _libraries() -> list[str]:
    """Libraries that are not loaded, one at least on most machines."""
    folder = Path(sysconfig.get_path("platstdlib")) / "lib-dynload"
    return [
        str(path) for path in sorted(folder.glob("*.so")) if path.name.partition(".")[0] not in sys.modules
    ]


def _copied(folder: Path, *paths: str | None) -> str:
    """A copy of the first of some files, open to all; empty if there is none."""
    for path in paths:
        if path is not None:
            copy = shutil.copy(path, folder)
            Path(copy).chmod(0o755)
            return str(copy)
    return ""


def _attributes(path: Path) -> tuple[str, ...]:
    try:
        return tuple(os.listxattr(path, follow_symlinks=False))
    except (AttributeError, OSError):
        return ()


def _written(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""

"""Starting a process that has nothing of the user's, and the memory that processes share."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import IO, Any

from worldcoder.errors import SandboxError

_START = """
import json, sys
sys.path += json.loads(sys.argv[1])["folders"]
from worldcoder.sandbox.{module} import start
start()
"""

# -I would do the same and more, but ignores the seed of hashes. It is fixed so that runs repeat.
_FLAGS = ("-P", "-s", "-S", "-B")
_ENVIRONMENT = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}
_KEPT_ON_WINDOWS = ("SYSTEMROOT",)  # without it no process starts there


def launch(
    module: str,
    service: str,
    settings: Mapping[str, Any],
    *,
    kept: Collection[int] = (),
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
    stderr: int | IO[bytes] = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Start a module of this package in a clean process of its own session."""
    if not sys.executable:
        raise SandboxError(
            "it is not known where Python is (sys.executable), so that no sandbox can be started"
        )
    folders = {str(Path(__file__).parents[2]): None, _folder(service): None}
    argument = json.dumps({"service": service, "folders": [*folders], "parent": os.getpid(), **settings})
    windows = sys.platform == "win32"
    environment = {name: os.environ[name] for name in _KEPT_ON_WINDOWS if windows and name in os.environ}
    try:
        return subprocess.Popen(
            [sys.executable, *_FLAGS, "-c", _START.format(module=module), argument],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            bufsize=0,
            env={**_ENVIRONMENT, **environment},
            cwd=None if windows else "/",
            pass_fds=() if windows else [*kept],
            start_new_session=not windows,  # Ctrl-C at the terminal is for the user's process alone
        )
    except OSError as error:
        raise SandboxError(f"the sandbox cannot be started: {error}") from error


def _folder(service: str) -> str:
    """The folder that holds the package of a service."""
    package = service.partition(":")[0].partition(".")[0]
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise SandboxError(f"there is no module {package!r} for the service {service}")
    path = Path(found.origin).resolve()
    return str(path.parents[1] if found.submodule_search_locations else path.parent)


def shared_file(content: bytes = b"", *, size: int | None = None) -> int:
    """The descriptor of a file that has no name: to share memory, or more than fits into a message."""
    if sys.platform.startswith("linux"):
        descriptor = os.memfd_create("worldcoder")
    else:
        descriptor, path = tempfile.mkstemp()
        Path(path).unlink()
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    if size is not None:
        os.ftruncate(descriptor, size)
    return descriptor

"""Attacks that several tests look at: made once, also where tests run in several processes."""

from __future__ import annotations

import fcntl
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from worldcoder.attacks import Case, Kind, Report, Stands, attack, control, every_case
from worldcoder.attacks.run import SOURCE
from worldcoder.attacks.system import landlock_version
from worldcoder.sandbox import Layer

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
NOBODY = 65534


def once(name: str, factory: pytest.TempPathFactory, make: Callable[[], Report]) -> Report:
    """What `make` returns, made by the first test process that asks."""
    folder = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = folder / f"{name}.pickle"
        if not made.exists():
            made.write_bytes(pickle.dumps(make()))
        report: Report = pickle.loads(made.read_bytes())
        return report


def everything(factory: pytest.TempPathFactory) -> Report:
    """All attacks, with every layer on."""
    return once("everything", factory, attack)


def everything_as_user(factory: pytest.TempPathFactory) -> Report:
    """All attacks, by root as an ordinary user."""
    if not ROOT:
        return everything(factory)
    return once("everything-as-user", factory, lambda: attack(stands=as_ordinary_user()))


def controlled(factory: pytest.TempPathFactory) -> Report:
    """All attacks, each with everything off that would hold it."""
    return once("controlled", factory, lambda: control(stands=Stands(lanes=3)))


def controlled_as_user(factory: pytest.TempPathFactory) -> Report:
    """The same by root as an ordinary user, with a few cases for each layer."""
    if not ROOT:
        return controlled(factory)
    layers = everything_as_user(factory).layers
    found: dict[Layer, list[Case]] = {}
    for case in sorted(every_case(), key=lambda case: case.kind is Kind.TIME):  # these take longer
        if (layer := shown_by(case, layers)) and not case.optional:
            found.setdefault(layer, []).append(case)
    chosen = [case for cases in found.values() for case in cases[:2]]
    return once("controlled-as-user", factory, lambda: control(cases=chosen, stands=as_ordinary_user()))


def shown_by(case: Case, layers: tuple[Layer, ...]) -> Layer | None:
    """The layer that alone holds a case where these are there; None if there are several, or none."""
    holding = [
        layer
        for layer in case.held_by
        if layer in layers and (layer is not Layer.LANDLOCK or landlock_version() >= case.abi)
    ]
    return holding[0] if len(holding) == 1 else None


@cache
def as_ordinary_user() -> Stands:
    """How root starts what is attacked as somebody else; skips the test where that is not possible."""
    for python in dict.fromkeys((sys.executable, "/usr/bin/python3", "/usr/local/bin/python3")):
        if _usable(python):
            return Stands(python, _readable_source(), NOBODY)
    pytest.skip(
        "no Python that an ordinary user could start: neither this one nor the system's, from 3.11 on"
    )


def _usable(python: str) -> bool:
    code = "import sys, ctypes, socket, resource; sys.exit(sys.version_info < (3, 11))"
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    try:
        return (
            subprocess.run([python, "-S", "-c", code], cwd="/", capture_output=True, **user).returncode == 0
        )
    except OSError:
        return False


def _readable_source() -> Path:
    """A copy of the package that everybody can read; removed when the tests end."""
    folder = Path(tempfile.mkdtemp(prefix="worldcoder-source-"))
    shutil.copytree(
        SOURCE / "worldcoder", folder / "worldcoder", ignore=shutil.ignore_patterns("__pycache__")
    )
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    _copies.append(folder)
    return folder


_copies: list[Path] = []


def remove_copies() -> None:
    """Remove what `as_ordinary_user` made."""
    for folder in _copies:
        shutil.rmtree(folder, ignore_errors=True)

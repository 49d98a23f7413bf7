"""One directory a run: where its files are, and how they are written."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from worldcoder.errors import RunError
from worldcoder.programs import Episode, WorldModel
from worldcoder.runs.schema import LOG, UNBORN

if sys.platform != "win32":
    import fcntl

LOCK = ".lock"
COURSE = "curriculum.json"
"""What is learned in a curriculum, whose directory holds those of its runs."""


class RunDirectory:
    """The files of a run. `with` holds it, so that no second process writes to it.

    log.sqlite, model/, summary.json; curves and the replay are added when the run ends.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock: IO[bytes] | None = None

    @property
    def log(self) -> Path:
        """The log, SQLite."""
        return self.path / LOG

    @property
    def model(self) -> Path:
        """The folder of the saved model."""
        return self.path / "model"

    @property
    def summary(self) -> Path:
        """The results, JSON."""
        return self.path / "summary.json"

    def __enter__(self) -> RunDirectory:
        try:
            self._lock = (self.path / LOCK).open("ab")
        except OSError as error:
            raise RunError(
                f"cannot write into {self.path}: {error.strerror}; choose another folder"
            ) from None
        if sys.platform != "win32":
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self._lock.close()
                raise RunError(f"{self.path} is in use by another process; wait for it, or stop it") from None
        return self

    def __exit__(self, *exc: object) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Replace summary.json as a whole. Raises RunError where that fails."""
        self.write_json(self.summary, summary)

    def write_json(self, path: Path, values: Mapping[str, Any]) -> None:
        """Replace a file as a whole. Raises RunError where that fails."""
        text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
        new = path.with_name(f".{path.name}.new")
        try:
            with new.open("w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        except OSError as error:
            raise _unwritable(path, error) from error

    def read_summary(self) -> dict[str, Any]:
        """What summary.json holds. Raises RunError where it is missing or broken."""
        try:
            summary = json.loads(self.summary.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise RunError(f"{self.path} has no summary.json; go on with the run (--resume)") from None
        except (OSError, ValueError) as error:
            raise RunError(f"{self.summary} cannot be read: {error}; go on with the run (--resume)") from None
        if not isinstance(summary, dict):
            raise RunError(f"{self.summary} holds {type(summary).__name__}, expected an object")
        return summary

    def write_model(
        self, model: WorldModel, metadata: Mapping[str, Any], episodes: Sequence[Episode] = ()
    ) -> None:
        """Replace the saved model as a whole, with its data. Raises RunError where that fails."""
        try:
            model.save(self.model, metadata, episodes=episodes)
        except OSError as error:
            raise _unwritable(self.model, error) from error

    def tidy(self) -> None:
        """Remove what a process that was killed left half-written."""
        for left in (*self.path.glob(".model.*"), *self.path.glob(".*.json.new")):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> RunError:
    return RunError(f"cannot write {path}: {error.strerror or error}; make room or permit it, then --resume")


def new_directory(path: str | Path | None, environment: str, seed: int) -> RunDirectory:
    """Make the directory of a new run; None finds an unused name, as in runs/sokoban-0.

    Raises RunError for one that holds something, or that cannot be made.
    """
    if path is None:
        return _unused(Path("runs"), f"{short_name(environment)}-{seed}")
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = not all(_left_over(file) for file in folder.iterdir())
    except FileExistsError:
        raise RunError(f"{folder} is a file; choose another --out") from None
    except OSError as error:
        raise RunError(f"cannot make {folder}: {error.strerror or error}; choose another --out") from None
    if taken and ((folder / LOG).exists() or (folder / COURSE).exists()):
        raise RunError(f"{folder} holds a run; go on with it by --resume {folder}, or choose another --out")
    if taken:
        raise RunError(f"{folder} is not empty; choose another --out")
    return RunDirectory(folder)


def short_name(environment: str) -> str:
    """A spec as part of a folder's name: `path/to/room.py:make_env` becomes room-make_env."""
    parts = [part.rpartition("/")[2].removesuffix(".py") for part in environment.split(":")]
    return re.sub(r"[^\w.-]+", "-", "-".join(parts)).strip("-.") or "run"


def discard(folder: RunDirectory) -> None:
    """Take back a run that could not begin."""
    with suppress(OSError):
        for file in filter(_left_over, tuple(folder.path.iterdir())):
            file.unlink()
        folder.path.rmdir()


def _left_over(file: Path) -> bool:
    """Whether a file is what remains of a run that did not come to begin."""
    return file.name in (LOCK, f".{COURSE}.new") or file.name.startswith(UNBORN)


def _unused(parent: Path, name: str) -> RunDirectory:
    number = 1
    while True:
        folder = parent / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if not folder.exists():  # `parent` is a file
                raise RunError(f"{parent} is a file; choose another --out") from None
            number += 1
        except OSError as error:
            raise RunError(f"cannot make {folder}: {error.strerror or error}; choose another --out") from None
        else:
            return RunDirectory(folder)

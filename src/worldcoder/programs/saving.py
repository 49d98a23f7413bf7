"""A saved model is a folder of ordinary files that people read and edit.

    transition.py   the transition program
    reward.py       the reward program; reward_1.py, reward_2.py, ... where there are several goals
    model.json      format version, which file serves which goal, who wrote what, free metadata
    data.json       what it was learned from, for whoever goes on with it; may be missing (see `knowledge.py`)

The programs in the files are what is used: edit one, and the model has changed. Without model.json, reward.py
serves every goal.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from worldcoder.errors import ModelFormatError
from worldcoder.planning.parts import Order, checked
from worldcoder.programs.knowledge import Episode, Knowledge
from worldcoder.programs.model import WorldModel
from worldcoder.programs.program import Program
from worldcoder.programs.running import ANY_GOAL

FORMAT = 1


DATA = "data.json"


def save_model(
    model: WorldModel,
    folder: str | Path,
    metadata: Mapping[str, Any] | None = None,
    *,
    episodes: Sequence[Episode] = (),
) -> Path:
    """Write a model; returns its folder. A model that stands there already is replaced as a whole.

    metadata: anything JSON can hold; `load_metadata` gives it back. episodes: what it was learned from, which
    `load_knowledge` gives back with it.
    Raises ModelFormatError if the folder holds something else than a model, or for metadata that is not JSON.
    """
    folder = Path(folder)
    if folder.exists() and not (folder.is_dir() and (_is_model(folder) or not any(folder.iterdir()))):
        raise ModelFormatError(f"{folder} exists and is no saved model; choose another folder")
    single = len(model.rewards) == 1
    names = {g: "reward.py" if single else f"reward_{i}.py" for i, g in enumerate(model.rewards, 1)}
    description = {
        "format": FORMAT,
        "transition": _origin(model.transition),
        "goals": {
            goal: {"file": names[goal], **_origin(p), **_order(p)} for goal, p in model.rewards.items()
        },
        "metadata": dict(metadata or {}),
    }
    try:
        text = json.dumps(description, indent=2, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise ModelFormatError(f"the metadata is not JSON: {error}") from None

    folder.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        new.chmod(0o755)
        files = {"transition.py": model.transition.source, "model.json": text + "\n"}
        files |= {names[goal]: program.source for goal, program in model.rewards.items()}
        if episodes:
            data = Knowledge(model, tuple(episodes)).data_to_json()
            files[DATA] = json.dumps(data, ensure_ascii=False) + "\n"
        for name, content in files.items():
            with (new / name).open("w", encoding="utf-8", newline="\n") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        _replace(new, folder)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    return folder


def _replace(new: Path, folder: Path) -> None:
    """Put a finished folder in the place of an old one; the old one is whole until the new one stands."""
    if not folder.exists():
        new.replace(folder)
        return
    old = new.with_name(new.name + ".old")
    folder.replace(old)
    try:
        new.replace(folder)
    except BaseException:
        old.replace(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _origin(program: Program) -> dict[str, Any]:
    return {"origin": program.origin, "parent": program.parent, "comment": program.comment}


def _order(program: Program) -> dict[str, Any]:
    return {"order": [list(before) for before in program.order]} if program.order else {}


def _is_model(folder: Path) -> bool:
    return (folder / "transition.py").is_file()


def load_model(path: str | Path) -> WorldModel:
    """A saved model, from its folder or from the directory of the run that learned it.

    Raises ModelFormatError for a folder that holds no model, or one that cannot be read. The programs are not
    run: whether they work is seen when they are used.
    """
    folder = _folder(Path(path))
    description = _description(folder)
    transition = Program(
        _read(folder / "transition.py"), "transition", **_known(folder, description.get("transition", {}))
    )
    rewards: dict[str, Program] = {}
    goals = description.get("goals")
    if goals is None and (folder / "reward.py").is_file():
        goals = {ANY_GOAL: {"file": "reward.py"}}
    if goals is not None and not isinstance(goals, dict):
        raise ModelFormatError(f"{folder / 'model.json'}: goals maps each goal to its file, got {goals!r}")
    for goal, entry in (goals or {}).items():
        name = entry if isinstance(entry, str) else entry.get("file") if isinstance(entry, dict) else None
        if not isinstance(name, str) or Path(name).name != name or not name.endswith(".py"):
            raise ModelFormatError(
                f"{folder / 'model.json'}: the goal {goal!r} names no .py file of this folder, got {entry!r}"
            )
        known = _known(folder, entry) if isinstance(entry, dict) else {}
        if isinstance(entry, dict) and entry.get("order"):
            known["order"] = _checked_order(folder, goal, entry["order"])
        rewards[goal] = Program(_read(folder / name), "reward", goal, **known)
    return WorldModel(transition, rewards)


def load_knowledge(path: str | Path) -> Knowledge:
    """A saved model and what it was learned from. Arguments and errors as of `load_model`."""
    model, file = load_model(path), _folder(Path(path)) / DATA
    if not file.exists():
        return Knowledge(model)
    try:
        return Knowledge.data_from_json(json.loads(_read(file)), model)
    except ModelFormatError as error:
        raise ModelFormatError(f"{file}: {error}; repair it, or delete it to go on without") from None
    except ValueError as error:
        raise ModelFormatError(f"{file} is not JSON: {error}; repair it, or delete it") from None


def load_metadata(path: str | Path) -> dict[str, Any]:
    """What `save` was given as metadata; empty for a model without any. Raises as `load_model`."""
    metadata = _description(_folder(Path(path))).get("metadata", {})
    return metadata if isinstance(metadata, dict) else {}


def _folder(path: Path) -> Path:
    if path.is_file() and path.name in ("transition.py", "model.json"):
        path = path.parent
    if not path.is_dir():
        raise ModelFormatError(f"{path} is no folder; give a saved model's folder or a run's directory")
    for folder in (path, path / "model"):
        if _is_model(folder):
            return folder
    if (path / "model.json").is_file() or (path / "reward.py").is_file():
        raise ModelFormatError(f"{path} has no transition.py; a saved model needs one")
    raise ModelFormatError(f"{path} holds no model: neither transition.py nor model/transition.py is there")


def _description(folder: Path) -> dict[str, Any]:
    file = folder / "model.json"
    if not file.exists():
        return {}
    try:
        description = json.loads(_read(file))
    except ValueError as error:
        raise ModelFormatError(f"{file} is not JSON: {error}; repair or delete it") from None
    if not isinstance(description, dict):
        raise ModelFormatError(f"{file} holds {type(description).__name__}, expected an object")
    if description.get("format") != FORMAT:
        raise ModelFormatError(
            f"{file} has format {description.get('format')!r}, this version reads {FORMAT}; update worldcoder"
        )
    return description


def _known(folder: Path, entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise ModelFormatError(f"{folder / 'model.json'}: expected an object about a program, got {entry!r}")
    return {k: entry[k] for k in ("origin", "parent", "comment") if isinstance(entry.get(k), str)}


def _checked_order(folder: Path, goal: str, order: Any) -> Order:
    try:
        return checked(order)
    except (TypeError, ValueError) as error:
        raise ModelFormatError(f"{folder / 'model.json'}: the goal {goal!r}: {error}") from None


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ModelFormatError(f"{file} is missing; put it back, or take it out of model.json") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ModelFormatError(f"{file} cannot be read: {error}") from None

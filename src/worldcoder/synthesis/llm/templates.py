"""Prompts as plain text files, which a folder of the user's own can override one by one.

In a template `{{name}}` stands for a value. Lines between `{{#name}}` and `{{/name}}`, each on a line of its own,
are there only where the value is not empty; between `{{^name}}` and `{{/name}}` only where it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path

from worldcoder.errors import UsageError

VALUES: Mapping[str, tuple[str, ...]] = {
    "system": ("modules",),
    "transition": ("actions", "steps", "hints", "remark"),
    "reward": ("goal", "actions", "steps", "hints", "remark", "unrewarded"),
    "repair": (
        "kind",
        "signature",
        "goal",
        "program",
        "wrong",
        "total",
        "steps",
        "hints",
        "remark",
        "unrewarded",
    ),
    "plan": ("goal", "transition", "reward", "start", "proved", "nodes", "steps", "hints", "remark"),
    "goal": ("goal", "others", "actions", "steps", "hints", "remark", "unrewarded"),
    "simplify": ("kind", "signature", "goal", "program", "total"),
}
"""The templates, and the values that each may use."""

_MARK = re.compile(r"\{\{([#/^]?)\s*(.*?)\s*\}\}")


class Templates:
    """The templates of a folder, and those of the package for what is not in it.

    Raises UsageError for a folder that is not there, a file in it that is no template, and a template with a
    placeholder that has no value or a part that does not end.
    """

    def __init__(self, folder: Path | str | None = None) -> None:
        self._texts = {name: _shipped(name) for name in VALUES}
        if folder is not None:
            self._texts.update(_own(Path(folder)))

    def fill(self, name: str, values: Mapping[str, str]) -> str:
        """A template with its values in place."""
        text = self._texts[name]
        assert values.keys() == set(VALUES[name]), (name, values.keys() ^ set(VALUES[name]))
        chosen = re.sub(r"\n{3,}", "\n\n", "\n".join(_chosen(text.splitlines(), values)))
        return _MARK.sub(lambda mark: values[mark[2]].strip("\n"), chosen).strip() + "\n"


def _chosen(lines: Iterable[str], values: Mapping[str, str]) -> Iterable[str]:
    """The lines that are there with these values."""
    shown: list[bool] = []
    for line in lines:
        mark = _MARK.fullmatch(line.strip())
        if mark is not None and mark[1] == "/":
            shown.pop()
        elif mark is not None and mark[1]:
            shown.append(bool(values[mark[2]].strip()) == (mark[1] == "#"))
        elif all(shown):
            yield line


def _shipped(name: str) -> str:
    return resources.files(__package__).joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8")


def _own(folder: Path) -> dict[str, str]:
    """The templates of a user's folder."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder of prompts")
    texts = {}
    for path in sorted(folder.glob("*.txt")):
        if path.stem not in VALUES:
            known = ", ".join(f"{name}.txt" for name in VALUES)
            raise UsageError(f"{path}: no prompt has this name; there are: {known}")
        text = path.read_text(encoding="utf-8")
        check(text, path.stem, str(path))
        texts[path.stem] = text
    return texts


def check(text: str, name: str, where: str) -> None:
    """Raise UsageError where a template cannot be filled; the message names what is unknown."""
    known, opened = VALUES[name], list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        for mark in _MARK.finditer(line):
            sign, value = mark[1], mark[2]
            if value not in known:
                raise UsageError(
                    f"{where}, line {number}: unknown placeholder {mark[0]}; there are: {', '.join(known)}"
                )
            if sign and line.strip() != mark[0]:
                raise UsageError(f"{where}, line {number}: {mark[0]} has to stand on a line of its own")
            if sign == "/" and (not opened or opened.pop() != value):
                raise UsageError(f"{where}, line {number}: {mark[0]} ends a part that did not begin")
            if sign in ("#", "^"):
                opened.append(value)
    if opened:
        raise UsageError(f"{where}: the part {{{{#{opened[-1]}}}}} does not end")

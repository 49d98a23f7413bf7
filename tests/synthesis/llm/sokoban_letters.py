"""Reads prompts as a language model has to: from their text alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

Place = tuple[int, int]

_STEP = re.compile(r"^Step \d+, (?:in scene (?P<scene>\w+), )?with$", re.MULTILINE)
_ROW = re.compile(r"^  (?P<kind>\w+) \(x, y\): (?P<places>.*)$", re.MULTILINE)
_PLACE = re.compile(r"\((-?\d+), (-?\d+)\)")
_MOVE = re.compile(r"(?P<kind>\w+) at \((?P<x>-?\d+), (?P<y>-?\d+)\): (?P<change>[^;]*)")


@dataclass
class ShownStep:
    """One step of a prompt: what there was, what was done, what happened, and what the program said of it."""

    things: dict[str, list[Place]]
    action: str
    happened: str
    said: str = ""
    reward: float | None = None
    ends: bool = False
    after: dict[str, list[Place]] = field(default_factory=dict)


@dataclass
class Letter:
    """A prompt that was read."""

    text: str
    steps: list[ShownStep]
    programs: list[str]

    @property
    def wrong(self) -> list[ShownStep]:
        return [step for step in self.steps if step.said]


def read_letter(text: str) -> Letter:
    scenes = {
        name: _rows(body) for name, body in re.findall(r"^Scene (\w+):\n((?:  .*\n)+)", text, re.MULTILINE)
    }
    steps = []
    for part in re.split(r"\n\n+", text):
        head = _STEP.search(part)
        if head is None:
            continue
        things = {**scenes.get(head["scene"] or "", {}), **_rows(part)}
        happened = _line(part, "What happened")
        step = ShownStep(things, _line(part, "Action"), happened, _line(part, "Your program says"))
        gave = re.search(r"^What it gave: reward (\S+), the episode (ends|goes on)", part, re.MULTILINE)
        if gave is not None:
            step.reward, step.ends = float(gave[1]), gave[2] == "ends"
        step.after = changed(things, happened)
        steps.append(step)
    programs = re.findall(r"```python\n(.*?)\n```", text, re.DOTALL)
    return Letter(text, steps, programs)


def _line(part: str, name: str) -> str:
    found = re.search(rf"^{name}: (.*)$", part, re.MULTILINE)
    return "" if found is None else found[1]


def _rows(text: str) -> dict[str, list[Place]]:
    return {
        row["kind"]: [(int(x), int(y)) for x, y in _PLACE.findall(row["places"])]
        for row in _ROW.finditer(text)
    }


def changed(things: dict[str, list[Place]], words: str) -> dict[str, list[Place]]:
    """What there is after a change that is told in words."""
    after = {kind: list(places) for kind, places in things.items()}
    for move in _MOVE.finditer(words):
        old = int(move["x"]), int(move["y"])
        new = dict(zip("xy", old, strict=True))
        for axis, value in re.findall(r"([xy]) -?\d+ → (-?\d+)", move["change"]):
            new[axis] = int(value)
        after[move["kind"]][after[move["kind"]].index(old)] = (new["x"], new["y"])
    return after

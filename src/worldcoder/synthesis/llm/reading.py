"""From a language model's reply to a program's text: whatever it looks like, there is a defined outcome.

Nothing is run here: a reply is only parsed. Of the code that counts, what the wanted function uses is kept, and
all else (tests, prints, demonstrations) is left out, so that nothing but the program runs where it is loaded.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from worldcoder.programs.program import PARAMETERS, Kind
from worldcoder.synthesis.llm.trimming import Module, parse, trimmed

MOST = 200_000
"""Characters of a reply that are read; no program of ours is as long."""


class Outcome(StrEnum):
    """What a reply was."""

    CODE = "code"
    """A program."""
    RENAMED = "renamed"
    """A program whose function had another name; it was given the right one."""
    UNCHANGED = "unchanged"
    """The program that was to be changed."""
    NO_CODE = "no code"
    REFUSED = "refused"
    CUT_OFF = "cut off"
    """It ended in the middle of the program."""
    NOT_PYTHON = "not Python"
    NO_FUNCTION = "no function"
    """Code, but neither the wanted function nor one that could be meant."""
    WRONG_PARAMETERS = "wrong parameters"
    TOO_LONG = "too long"

    @property
    def usable(self) -> bool:
        """Whether there is a program that is worth running."""
        return self in (Outcome.CODE, Outcome.RENAMED)


@dataclass(frozen=True)
class Reading:
    """What was found in a reply. source: the program, where there is one. note: what was wrong, for its writer."""

    outcome: Outcome
    source: str | None = None
    note: str = ""


@dataclass(frozen=True)
class _Block:
    """A piece of code of a reply. closed: whether it was seen to end. fenced: whether it is marked as code."""

    text: str
    closed: bool = True
    fenced: bool = True


def read_reply(text: str, kind: Kind, *, finish: str = "stop", old: str | None = None) -> Reading:
    """The program of a kind in a reply. finish: how the reply ended. old: the program it was to change."""
    if len(text) > MOST:
        note = f"Your reply had {len(text):,} characters; a program has a few thousand."
        return Reading(Outcome.TOO_LONG, note=note)
    said, unfinished = _without_thoughts(text.replace("\ufeff", ""))
    blocks = _blocks(said)
    if finish == "refusal" or (not any(b.fenced for b in blocks) and _REFUSAL.search(said) is not None):
        return Reading(
            Outcome.REFUSED, note="You declined to write the program. It is only a small simulation."
        )
    cut = finish == "length" or unfinished
    readings = [_read_block(block, blocks, kind, cut and block is blocks[-1]) for block in blocks]
    best = _best([r for r in readings if r is not None])
    if best is None:
        if cut:
            return Reading(Outcome.CUT_OFF, note=_CUT_NOTE)
        note = f"Your reply held no Python code that defines {_signature(kind)}."
        return Reading(Outcome.NO_CODE, note=note)
    if best.source is not None and old is not None and _same(best.source, old):
        note = (
            "You returned the program as it was. Change it so that the steps that are shown come out right."
        )
        return Reading(Outcome.UNCHANGED, note=note)
    return best


_CUT_NOTE = (
    "Your reply was cut off before the program ended. Write a shorter one, with little or nothing around it."
)
_REFUSAL = re.compile(
    r"\b(?:I(?:'|’)?m sorry|I am sorry|I can(?:'|’|no)t|I cannot|I(?:'|’)m (?:unable|not able)|I am (?:unable|not able)"
    r"|I won(?:'|’)t|I must decline|as an AI)\b",
    re.IGNORECASE,
)


def _best(readings: Sequence[Reading]) -> Reading | None:
    """The last block that has the wanted function; else the last one meant to; else the last that says anything."""
    for wanted in (
        (Outcome.CODE,),
        (Outcome.RENAMED,),
        (Outcome.CUT_OFF,),
        (Outcome.NOT_PYTHON,),
        (Outcome.WRONG_PARAMETERS,),
        (Outcome.NO_FUNCTION,),
    ):
        for reading in reversed(readings):
            if reading.outcome in wanted:
                return reading
    return None


def _read_block(block: _Block, blocks: Sequence[_Block], kind: Kind, cut: bool) -> Reading | None:
    """What one block says; None where it is no code at all."""
    module, problem = parse(block.text)
    ended = module is None  # if there is a program all the same, something follows it that is cut off
    defines = (
        re.search(rf"^[ \t]*(?:async\s+)?def\s+{kind}\b|^{kind}\s*=", block.text, re.MULTILINE) is not None
    )
    if module is None:
        whole = None if block.closed and not cut else _up_to_the_cut(block.text)
        if whole is None or kind not in whole.names:
            if not block.closed or cut:
                return Reading(Outcome.CUT_OFF, note=_CUT_NOTE) if defines or block.fenced else None
            note = f"Your code is not Python: {problem}."
            return Reading(Outcome.NOT_PYTHON, note=note) if defines or block.fenced else None
        module = whole
    name: str = kind
    note, outcome = "", Outcome.CODE
    if kind not in module.names:
        other = module.only_function(PARAMETERS[kind])
        if other is None:
            if not block.fenced:
                return None
            return Reading(Outcome.NO_FUNCTION, note=f"Your code defines no function {_signature(kind)}.")
        name, outcome = other, Outcome.RENAMED
        note = f"Call the function {kind}; you called it {other}."
    elif not module.takes(kind, PARAMETERS[kind]):
        note = f"Your function {kind} takes other arguments; it has to be {_signature(kind)}."
        return Reading(Outcome.WRONG_PARAMETERS, note=note)
    elif (cut or not block.closed) and not ended and _ends_inside(block.text, module, name):
        return Reading(Outcome.CUT_OFF, note=_CUT_NOTE)
    others = [m for b in blocks if b is not block and (m := parse(b.text)[0]) is not None]
    source = trimmed(module, name, others)
    if name != kind:
        source = f"{source}\n\n{kind} = {name}\n"
    return Reading(outcome, source, note)


def _ends_inside(text: str, module: Module, name: str) -> bool:
    """Whether code that is not finished may lack the end of a function: nothing at its margin follows."""
    return module.names[name] >= len(module.body) - 1 and "return" not in text.rstrip().rpartition("\n")[2]


def _up_to_the_cut(text: str) -> Module | None:
    """The statements before the one at the margin that is not finished."""
    lines = text.splitlines()
    for end in range(len(lines) - 1, 0, -1):
        if lines[end] and not lines[end][0].isspace() and not lines[end].startswith(("#", ")", "]", "}")):
            module, _ = parse("\n".join(lines[:end]))
            if module is not None:
                return module
    return None


def _signature(kind: Kind) -> str:
    return "transition(state, action)" if kind == "transition" else "reward(state, action, next_state)"


def _same(one: str, other: str) -> bool:
    """Whether two programs are the same but for comments and layout."""
    first, second = parse(one)[0], parse(other)[0]
    if first is None or second is None:
        return one.strip() == other.strip()
    return _shape(first) == _shape(second)


def _shape(module: Module) -> str:
    for node in ast.walk(module.tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and len(body) > 1:
                del body[0]
    return ast.dump(module.tree)


# ── where the code is ────────────────────────────────────────────────────────────────────────────────────

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(r"<(?:think|thinking|reasoning)>.*", re.DOTALL | re.IGNORECASE)
_CLOSE = re.compile(r".*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^(?P<indent>[ \t>]*)(?P<fence>`{3,}|~{3,})(?P<info>[^`\n]*)$")


def _without_thoughts(text: str) -> tuple[str, bool]:
    """The reply without what the model thought aloud; whether it ended while it did."""
    said = _CLOSE.sub("", _THOUGHT.sub("", text), count=1)
    rest = _OPEN.sub("", said)
    return rest, rest != said


def _blocks(text: str) -> list[_Block]:
    """The marked blocks of a reply; where there are none, what looks like code in it."""
    found: list[_Block] = []
    inside: list[str] | None = None
    fence = indent = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if inside is None:
            if mark is not None:
                inside, fence, indent = [], mark["fence"], mark["indent"]
        elif mark is not None and mark["fence"].startswith(fence) and not mark["info"].strip():
            found.append(_Block("\n".join(inside)))
            inside = None
        else:
            inside.append(line.removeprefix(indent))
    if inside is not None:
        found.append(_Block("\n".join(inside), closed=False))
    found = [block for block in found if block.text.strip()]
    return found or _bare(text)


_CODE_LINE = re.compile(
    r"^(?:async def |def |class |import |from \w+(?:\.\w+)* import |@\w|[A-Za-z_][\w, ]*(?::[^=]*)?= *\S)"
)


def _bare(text: str) -> list[_Block]:
    """Code without marks around it: from a line that looks like it on, as far as it can be parsed."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if _CODE_LINE.match(line)]
    for start in starts[:20]:
        for end in _ends(lines, start):
            module, _ = parse("\n".join(lines[start:end]))
            if module is not None and module.functions:
                return [_Block("\n".join(lines[start:end]), closed=end < len(lines), fenced=False)]
    if any(line.startswith("def ") for line in lines):
        first = next(i for i, line in enumerate(lines) if line.startswith("def "))
        return [_Block("\n".join(lines[first:]), closed=False, fenced=False)]
    return []


def _ends(lines: Sequence[str], start: int) -> list[int]:
    """Where code may end: at the end of the text, or before a line at the margin."""
    margins = [i for i in range(start + 1, len(lines)) if lines[i] and not lines[i][0].isspace()]
    return [len(lines), *reversed(margins)][:60]

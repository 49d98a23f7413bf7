"""The tables of where actions and values head, as Python, and how a program looks up where the avatar does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from worldcoder.synthesis.rules.statistics import Vector, Verb
from worldcoder.synthesis.rules.vocabulary import Vocabulary


def table_text(table: Mapping[Any, Any]) -> str:
    """A dict in a fixed order."""
    rows = sorted(table.items(), key=lambda item: repr(item[0]))
    return "{" + ", ".join(f"{key!r}: {value!r}" for key, value in rows) + "}"


def steps_text(steps: Mapping[Verb, Vector]) -> tuple[str, str]:
    """The table of where actions head, and the expression that looks an action up in it."""
    if all(isinstance(verb, str) for verb in steps):
        return table_text(steps), "STEPS.get(action.name)"
    keys = {(verb,) if isinstance(verb, str) else verb: vector for verb, vector in steps.items()}
    return table_text(keys), "STEPS.get((action.name, *action.args))"


def step_code(vocabulary: Vocabulary, facing: str) -> str:
    """The expression for where the avatar heads; facing: the one that reads the attribute that says so, if any does."""
    step = steps_text(vocabulary.steps)[1]
    if vocabulary.facing is not None:
        return f"FACING.get({facing})"
    return step if vocabulary.remembers is None else f"{step} or FACING.get({facing})"


def heading_attribute(vocabulary: Vocabulary) -> str | None:
    """The attribute that says where the avatar heads, or headed last."""
    return vocabulary.facing if vocabulary.facing is not None else vocabulary.remembers


def step_tables(vocabulary: Vocabulary, text: str) -> list[str]:
    """The tables that a program uses to look it up."""
    tables = []
    if "FACING" in text:
        by = heading_attribute(vocabulary)
        table = vocabulary.facings if vocabulary.facing is not None else vocabulary.remembered
        tables.append(f"FACING = {table_text(table)}  # where {vocabulary.avatar} heads, by its {by}")
    if "STEPS" in text:
        tables.append(f"STEPS = {steps_text(vocabulary.steps)[0]}  # where an action heads")
    return tables

"""Options and arguments that several commands have, and how commands write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

EnvironmentArgument = Annotated[
    str,
    typer.Argument(
        metavar="ENV", help="An environment: a name as in `worldcoder envs`, or your own, FILE.py:FACTORY."
    ),
]
ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A saved model's folder, or the directory of a run.")
]
OptionOption = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the environment; repeatable."),
]
SeedsOption = Annotated[str, typer.Option("--seeds", metavar="SEEDS", help="Levels: 1-20, 3 or 1,4,7-9.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]
UnsafeOption = Annotated[
    bool,
    typer.Option(
        "--unsafe-no-sandbox",
        help="Run programs even where they cannot be locked up. They can then do whatever you can.",
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]


def write(line: str) -> None:
    """A line of results."""
    typer.echo(line)


def warn(line: str) -> None:
    """A line that is no result."""
    typer.echo(line, err=True)


def ignore(line: str) -> None:
    """Where nothing but errors is wanted."""


def write_json(values: Any) -> None:
    """Results as JSON."""
    typer.echo(json.dumps(values, indent=2, ensure_ascii=False))

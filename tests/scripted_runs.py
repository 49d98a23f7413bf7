"""Runs whose language model is a script on loopback, for the tests of experiments and of the command line."""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
for folder in ("llm", "synthesis/llm"):
    if str(HERE / folder) not in sys.path:
        sys.path.append(str(HERE / folder))

from scripted_model import without_steps  # noqa: E402
from scripted_server import Asked, Behaviour, Script, ScriptedServer, say  # noqa: E402
from sokoban_writer import SokobanWriter  # noqa: E402

KEY = "sk-canary-0f9d8c7b6a5e4d3c2b1a"
"""A key that must not be found anywhere."""
ROOM = f"{HERE / 'runs' / 'room.py'}:make_env"
SOKOBAN = ("sokoban", "--option", "size=6")
QUICK = ("--no-check", "--no-pictures", "--polish", "5")
TABLES = {
    "states": "id, json",
    "episodes": "*",
    "transitions": "id, episode, state, action, next_state, reward, done, truncated",
    "decisions": "*",
    "programs": "*",
    "plans": "id, after, status, method, nodes, actions, rewards, fault",
    "notes": "*",
    "replies": "id, key, occurrence, request",
}


def writer(seed: int, *before: Behaviour, blind: bool = False) -> Callable[[Asked], Behaviour]:
    """A script: after these behaviours somebody who writes programs for Sokoban, with mistakes.

    blind: whether the steps in prompts are kept from them.
    """
    write, lock, first = SokobanWriter(seed), threading.Lock(), list(before)

    def script(asked: Asked) -> Behaviour:
        with lock:
            if first:
                return first.pop(0)
            prompt = without_steps(asked.prompt) if blind else asked.prompt
            return say(*(write(prompt) for _ in range(asked.n)))

    return script


def learn_with(server: ScriptedServer, *more: object) -> list[str]:
    """The command line of a run that asks a server, without an environment."""
    return ["learn", "--model", "openai/scripted", "--base-url", server.url, *QUICK, *map(str, more)]


def texts(asked: list[Asked]) -> int:
    """How many programs were asked for."""
    return sum(one.n for one in asked)


def results(directory: Path) -> dict[str, Any]:
    """All that two runs of one experiment have in common."""
    summary = json.loads((directory / "summary.json").read_text())
    for name in ("seconds", "model"):
        del summary[name]
    with closing(sqlite3.connect(directory / "log.sqlite")) as connection:
        rows = {
            table: connection.execute(f"SELECT {columns} FROM {table} ORDER BY id").fetchall()
            for table, columns in TABLES.items()
        }
    model = {p.name: p.read_text() for p in sorted((directory / "model").glob("*.py"))}
    return {"summary": summary, "model": model, **rows}


__all__ = [
    "KEY",
    "QUICK",
    "ROOM",
    "SOKOBAN",
    "Asked",
    "Behaviour",
    "Script",
    "ScriptedServer",
    "learn_with",
    "results",
    "say",
    "texts",
    "writer",
]

"""`worldcoder envs` and `worldcoder show`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from worldcoder.cli.models import asked
from worldcoder.cli.running import running, sandbox_of, unlocked
from worldcoder.cli.unexplained import unexplained, unexplained_text
from worldcoder.cli.words import PHI2, STOPPED, count, duration, reached, share
from worldcoder.curriculum import CourseSummary, is_course
from worldcoder.envs import describe, entries
from worldcoder.errors import ModelFormatError, SandboxError
from worldcoder.programs import WorldModel
from worldcoder.programs.saving import load_metadata, load_model
from worldcoder.runs.directory import RunDirectory
from worldcoder.runs.reader import RunReader, is_run

Write = Callable[[str], None]


# ── envs ─────────────────────────────────────────────────────────────────────────────────────────────────


def environments(name: str | None) -> list[dict[str, Any]]:
    """What there is to say about every environment, or about one."""
    found = entries() if name is None else (describe(name),)
    return [
        {
            "name": entry.name,
            "description": entry.description,
            "usage": entry.usage,
            "example": entry.example,
            "options": [
                {
                    "name": option.name,
                    "type": option.type,
                    "default": option.default if _plain(option.default) else str(option.default),
                    "required": option.required,
                    "choices": list(option.choices),
                }
                for option in entry.options
            ],
        }
        for entry in found
    ]


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def environments_text(found: Sequence[dict[str, Any]], *, details: bool) -> Iterator[str]:
    """The same in lines."""
    width = max(len(entry["usage"]) for entry in found)
    for entry in found:
        yield f"{entry['usage']:<{width}}  {entry['description']}"
        if details:
            yield from _options_text(entry["options"])
            yield f"try: worldcoder learn {entry['example']}"
    if not details:
        own = "your own: a function that returns an object with reset, step and actions"
        yield f"{'FILE.py:FACTORY':<{width}}  {own}"
        yield "options of one: worldcoder envs NAME"


def _options_text(options: Sequence[dict[str, Any]]) -> Iterator[str]:
    if not options:
        yield "  no options"
    for option in options:
        default = "required" if option["required"] else f"default {option['default']}"
        yield f"  --option {option['name']}=...  {option['type']} ({default})"


# ── show ─────────────────────────────────────────────────────────────────────────────────────────────────


def shown(path: Path, *, unsafe: bool, warn: Write) -> dict[str, Any]:
    """What `show` shows of a run's directory or a model's folder.

    unexplained: what the model does not reproduce, for which it is run. sandbox: what kept it from doing harm
    then; where it could not be run safely both are None, and `not_run` says why.
    """
    values: dict[str, Any] = dict.fromkeys(
        ("model", "summary", "history", "unexplained", "sandbox", "not_run")
    )
    values["path"] = str(path)
    run = is_run(path)
    if is_course(path):
        values["curriculum"] = RunDirectory(path).read_summary()
    model = None
    try:
        model = load_model(path)
    except ModelFormatError:
        if not (run or is_course(path)) or (path / "model").exists():
            raise
    else:
        values["model"] = model_values(model)
        values["metadata"] = load_metadata(path)
    if run:
        folder = RunDirectory(path)
        values["summary"] = folder.read_summary() if folder.summary.exists() else None
        values["history"] = _history(path)
        if model is not None:
            with RunReader(path) as reader:
                transitions = [recorded.transition for recorded in reader.transitions()]
            try:
                with running(unsafe=unsafe, warn=warn) as runner:
                    values["unexplained"] = unexplained(model, transitions, runner)
                    values["sandbox"] = sandbox_of(runner)
            except SandboxError as error:  # to read a program is no reason to run it
                values["not_run"] = str(error)
    return values


def model_values(model: WorldModel) -> dict[str, Any]:
    """The programs of a model."""
    return {
        "transition": {"source": model.transition.source, "lines": model.transition.lines},
        "rewards": [
            {"goal": goal, "source": program.source, "lines": program.lines}
            for goal, program in model.rewards.items()
        ],
    }


def _history(path: Path) -> dict[str, Any]:
    with RunReader(path) as reader:
        programs = [
            {
                "id": p.program.id,
                "kind": p.program.kind,
                "goal": p.program.goal,
                "parent": p.program.parent,
                "origin": p.program.origin,
                "lines": p.program.lines,
                "phi1": p.score,
                "after": p.after,
            }
            for p in reader.programs()
        ]
        notes = [{"what": n.what, "text": n.text, "after": n.after} for n in reader.notes()]
        why: dict[str, int] = {}
        for decision in reader.decisions():
            why[decision.why] = why.get(decision.why, 0) + 1
        plans = [p.plan for p in reader.plans()]
        return {
            "config": reader.config,
            "stopped": reader.stopped,
            "actions": sum(1 for _ in reader.transitions()),
            "episodes": sum(1 for _ in reader.episodes()),
            "decisions": why,
            "plans": {
                "searches": len(plans),
                "found": sum(p.found for p in plans),
                "nodes": sum(p.nodes for p in plans),
            },
            "programs": programs,
            "notes": notes,
        }


def write_shown(values: dict[str, Any], write: Write) -> None:
    """The same for people: the programs in colour on a terminal, plain elsewhere."""
    model = values["model"]
    if model is None:
        write("no model yet: there was too little to learn from")
    else:
        write_programs(model, write)
    if values.get("curriculum") is not None:
        from worldcoder.cli.courses import conclusion

        for line in conclusion(CourseSummary.from_json(values["curriculum"], Path(values["path"]))):
            write(line)
    if values["history"] is not None:
        for line in _history_text(values["history"], values["summary"] or {}):
            write(line)
    for line in unexplained_text(values["unexplained"] or {"count": 0}):
        write(line)
    if values["not_run"]:
        write(f"── not held against what was recorded: {values['not_run']}")


def write_programs(model: dict[str, Any], write: Write) -> None:
    """The programs of a model, one after the other."""
    _write_source("transition.py", model["transition"], write)
    for reward in model["rewards"]:
        title = "reward" if reward["goal"] == "*" else f'reward for "{reward["goal"]}"'
        _write_source(title, reward, write)


def _write_source(title: str, program: dict[str, Any], write: Write) -> None:
    write(f"── {title} · {count(program['lines'], 'line')} " + "─" * max(4, 60 - len(title)))
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.syntax import Syntax

        Console().print(Syntax(program["source"], "python", background_color="default", word_wrap=True))
    else:
        write(program["source"].rstrip())
    write("")


def _history_text(history: dict[str, Any], summary: dict[str, Any]) -> Iterator[str]:
    config = history["config"]
    yield "── the run " + "─" * 56
    yield f"{config.get('environment')} · seed {config.get('seed')} · {config.get('synthesizer')}"
    stopped = history["stopped"]
    state = "goes on, or was killed" if stopped is None else STOPPED.get(stopped, stopped)
    seconds = summary.get("seconds", {}).get("total")
    spent = "" if seconds is None else f" in {duration(seconds)}"
    acted = f"{count(history['actions'], 'action')}, {count(history['episodes'], 'episode')}"
    yield f"  acted       {acted}{spent}; {state}"
    why = ", ".join(f"{name} {n:,}" for name, n in sorted(history["decisions"].items()))
    yield f"  because     {why or 'nothing yet'}"
    plans = history["plans"]
    searches = "1 search" if plans["searches"] == 1 else f"{plans['searches']:,} searches"
    yield f"  planning    {searches}, {plans['found']:,} found; {plans['nodes']:,} nodes"
    yield from unlocked(summary.get("sandbox", ""))
    yield from asked(summary)
    if summary:
        phi2 = PHI2.get(summary.get("phi2") or "", "not known")
        yield f"  explains    {share(summary['phi1'])} (φ1); {phi2} (φ2)"
        by_luck = reached(summary.get("successes", 0), summary["phi1"], summary.get("phi2"))
        if by_luck:
            yield f"  goal        {by_luck}"
    rows: list[tuple[int, int, str]] = []
    for n, p in enumerate(history["programs"]):
        parent = f" from {p['parent']}" if p["parent"] else ""
        text = f"{p['kind']:<10} {p['id']}{parent}, {count(p['lines'], 'line')}, φ1 {share(p['phi1'])}"
        rows.append((p["after"], n, text))
    words = {"refuted": "wrong guess: ", "solved": "solved: "}
    for n, note in enumerate(history["notes"], len(rows)):
        rows.append((note["after"], n, words.get(note["what"], note["what"] + ": ") + note["text"]))
    if rows:
        yield "  after action"
    for after, _, text in sorted(rows):
        yield f"  {after:>6}      {text}"

"""What holds everywhere in the package: who imports whom, what is known of worlds, how modules look."""

from __future__ import annotations

import ast
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import worldcoder
from worldcoder.envs import Environment, describe, make, names

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/worldcoder"


def _name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


MODULES = {_name(path): path for path in sorted(SOURCE.rglob("*.py"))}

MAY_IMPORT = {
    "errors": "",
    "world": "errors",
    "envs": "errors world",
    "testing": "errors world envs",
    "sandbox": "errors",
    "planning": "errors world",
    "programs": "errors world planning sandbox",
    "llm": "errors",
    "synthesis": "errors world planning programs llm",
    "exploration": "errors world planning programs synthesis",
    "searching": "errors world planning programs synthesis exploration",
    "agent_values": "errors world",
    "quests": "errors world planning programs synthesis exploration searching",
    "agent": "errors world planning programs synthesis exploration searching quests agent_values",
    "comparison": "errors world envs planning programs",
    "playing": "errors world envs planning programs",
    "runs": "errors world envs sandbox planning programs llm synthesis agent",
    "proposers": "errors world planning programs llm synthesis",
    "configuration": "errors world envs planning programs llm synthesis agent proposers",
    "experiment": "errors world envs sandbox planning programs llm synthesis agent runs proposers configuration",
    "curriculum": "errors world envs programs runs configuration experiment",
    "library": "errors world programs synthesis",
    "dry_run": "errors world envs planning programs llm synthesis agent runs proposers configuration",
    "baselines": "errors world envs planning programs synthesis agent",
    "viewer": "errors world runs",
    "attacks": "errors world planning sandbox programs",
}
"""Each part of the package, and the parts that it may know."""

KNOWS_ALL = {"__main__", "cli", "worldcoder"}
"""The command line, and the package itself, which hands out what is asked for."""

LONGEST = 450


def part(module: str) -> str:
    """The folder or module directly below the package."""
    return module.split(".")[1] if "." in module else module


def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def imported(module: str) -> Iterator[str]:
    """Every module of the package that a module imports, anywhere in it."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            base = node.module or ""
            yield from (f"{base}.{a.name}" if f"{base}.{a.name}" in MODULES else base for a in node.names)


def test_every_part_is_known_here() -> None:
    assert {part(m) for m in MODULES} <= set(MAY_IMPORT) | KNOWS_ALL


@pytest.mark.parametrize("module", MODULES)
def test_lower_parts_know_nothing_of_higher_ones(module: str) -> None:
    own = part(module)
    if own in KNOWS_ALL:
        return
    allowed = {own, *MAY_IMPORT[own].split()}
    for other in imported(module):
        if other.split(".")[0] == "worldcoder":
            assert part(other) in allowed, f"{module} imports {other}"


def test_programs_run_in_one_place_only() -> None:
    """What runs programs is imported by nobody, and nothing else executes text."""
    inside = "worldcoder.programs.inside"
    for module, path in MODULES.items():
        if module.startswith(inside):
            continue
        assert not [other for other in imported(module) if other.startswith(inside)], module
        called = {
            node.func.id
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not called & {"exec", "eval", "compile"} or module in EXECUTES, module


EXECUTES = {
    "worldcoder.attacks.service": "runs the attacks, inside a locked worker",
    "worldcoder.envs.factories": "imports the file of somebody's own environment, as that somebody asked",
}
"""Other modules that execute text, and why."""


def test_the_table_itself_has_no_circles() -> None:
    done: set[str] = set()
    while len(done) < len(MAY_IMPORT):
        ready = {p for p, allowed in MAY_IMPORT.items() if p not in done and set(allowed.split()) <= done}
        assert ready, f"a circle among {set(MAY_IMPORT) - done}"
        done |= ready


# ── nothing in synthesis, planning, programs or agent knows a world ──────────────────────────────────────

IGNORANT = ("synthesis", "planning", "programs", "exploration", "agent", "agent_values")

OTHER_MEANINGS = {
    "state": "a part of a prediction, next to reward and done; doors of MiniGrid have an attribute so called",
    "done": "the same; an action of MiniGrid is so called",
    "dir": "a built-in function of Python; an attribute of MiniGrid's agent is so called",
}
"""Names of worlds that mean something else here."""

MORE_WORLDS = (
    "minigrid:BlockedUnlockPickup",
    "minigrid:LavaGapS5",
    "minigrid:PutNear-6x6-N2",
    "minigrid:BabyAI-BossLevel-v0",
)


@cache
def names_of_worlds() -> frozenset[str]:
    """Kinds, attributes, text values, actions and their arguments, of every registered world and example."""
    pytest.importorskip("minigrid")
    files = [p for p in (ROOT / "examples").glob("*.py") if "def make_env" in p.read_text(encoding="utf-8")]
    examples = [f"{path}:make_env" for path in files]
    found: set[str] = set()
    for spec in (*(describe(name).example for name in names()), *MORE_WORLDS, *examples):
        environment = make(spec)
        for seed in range(3):
            found |= names_in_episode(environment, seed)
        found |= set(getattr(environment, "glyphs", ()))
    return frozenset(found - {"x", "y"})


def names_in_episode(environment: Environment, seed: int) -> set[str]:
    rng = random.Random(seed)
    found: set[str] = set()
    state, _ = environment.reset(seed)
    for _ in range(60):
        for o in state:
            found |= {o.kind, *o.attributes} | ({o.name} if o.name else set())
            found |= {v for v in o.attributes.values() if isinstance(v, str)}
        actions = environment.actions(state)
        found |= {word for a in actions for word in (a.name, *a.args) if isinstance(word, str)}
        state, _, done, truncated = environment.step(rng.choice(actions))
        if done or truncated:
            break
    return found


def literals(module: str) -> Iterator[tuple[int, str]]:
    """Every text in the code, with its line; docstrings are not code."""
    nodes = list(ast.walk(tree(module)))
    bodies = (body for node in nodes if isinstance(body := getattr(node, "body", None), list))
    documentation = {id(s.value) for body in bodies for s in body if isinstance(s, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.lineno, node.value


def test_names_of_worlds_are_found() -> None:
    found = names_of_worlds()
    assert {"Player", "Box", "Agent", "carrying", "locked", "forward", "up", "jewel", "Hole"} <= found


@pytest.mark.parametrize("module", [m for m in MODULES if part(m) in IGNORANT])
def test_no_name_of_a_world_is_in_the_code(module: str) -> None:
    """Neither as a text of its own, nor in a text that is code: quoted, or after a dot."""
    for line, text in literals(module):
        quoted = set(re.findall(r"'([^'\n]*)'|\"([^\"\n]*)\"|\.(\w+)\b", text))
        candidates = {text, *(word for groups in quoted for word in groups if word)}
        capitals = set(re.findall(r"\b[A-Z]\w+\b", text)) & {n for n in names_of_worlds() if n[:1].isupper()}
        known = (candidates & names_of_worlds() | capitals) - set(OTHER_MEANINGS)
        assert not known, f"{module}, line {line}: {sorted(known)} in {text!r}"


# ── the shape of the code ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("module", MODULES)
def test_modules_can_be_read_in_one_sitting(module: str) -> None:
    assert len(MODULES[module].read_text(encoding="utf-8").splitlines()) <= LONGEST


@pytest.mark.parametrize("module", [m for m in MODULES if part(m) != "cli"])
def test_nothing_is_printed(module: str) -> None:
    for node in ast.walk(tree(module)):
        assert not (isinstance(node, ast.Name) and node.id == "print"), f"{module}, line {node.lineno}"


@pytest.mark.parametrize("module", MODULES)
def test_nothing_random_is_global(module: str) -> None:
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "random":
            assert node.attr == "Random", f"{module}, line {node.lineno}: give a random.Random"


@pytest.mark.parametrize("module", MODULES)
def test_what_is_public_is_documented(module: str) -> None:
    root = tree(module)
    if not MODULES[module].read_text(encoding="utf-8").strip():
        return
    assert ast.get_docstring(root), f"{module} has no docstring"
    for node in root.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            if any("overload" in ast.unparse(decorator) for decorator in node.decorator_list):
                continue
            assert ast.get_docstring(node), f"{module}.{node.name} has no docstring"


def test_what_the_package_offers() -> None:
    assert worldcoder.__all__ == [
        "Action", "Budget", "Comparison", "Environment", "Experiment", "Goal", "Limits", "ModelConfig", "Obj", "Plan",
        "Played", "Prediction", "Program", "Ref", "Runner", "SandboxError", "Simulation", "Start", "State", "Status",
        "Step", "Summary", "Transition", "WorldModel", "WorldcoderError", "compare", "draw", "from_gymnasium",
        "load_model", "make", "play", "register", "rerun", "resume", "run",
    ]  # fmt: skip
    assert all(getattr(worldcoder, name) is not None for name in worldcoder.__all__)
    assert dir(worldcoder) == worldcoder.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        worldcoder.nothing  # noqa: B018


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys, worldcoder; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert {name for name in loaded if name.split(".")[0] == "worldcoder"} == {"worldcoder"}
    assert not loaded & {"dataclasses", "typer", "rich", "sqlite3", "PIL", "matplotlib", "gymnasium"}


def test_every_command_is_documented() -> None:
    from worldcoder.cli.app import app

    text = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")))
    commands = [command.name for command in app.registered_commands]
    assert len(commands) >= 5
    for name in commands:
        assert f"worldcoder {name}" in text, f"`worldcoder {name}` is not in README.md or docs/"

"""A program's text without what its function does not need, by its syntax tree alone."""

from __future__ import annotations

import ast
import builtins
import symtable
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

_BUILT_IN = frozenset(dir(builtins))


@dataclass(frozen=True)
class Module:
    """Python text that parses. names: what its statements at the margin define, each with the last that does."""

    text: str
    tree: ast.Module

    @property
    def body(self) -> list[ast.stmt]:
        return self.tree.body

    @cached_property
    def names(self) -> dict[str, int]:
        return {name: i for i, statement in enumerate(self.body) for name in bound_by(statement)}

    @cached_property
    def uses(self) -> list[set[str]]:
        """The names from outside that each statement at the margin reads."""
        return [used_by(statement) for statement in self.body]

    @property
    def functions(self) -> list[ast.FunctionDef]:
        return [s for s in self.body if isinstance(s, ast.FunctionDef)]

    def only_function(self, parameters: int) -> str | None:
        """The one function that takes so many arguments and that no other one calls; None where that is unclear."""
        called = {
            n.id for f in self.functions for n in ast.walk(f) if isinstance(n, ast.Name) and n.id != f.name
        }
        free = [f.name for f in self.functions if f.name not in called and _takes(f.args, parameters)]
        return free[0] if len(set(free)) == 1 else None

    def takes(self, name: str, parameters: int) -> bool:
        """Whether a function can be called with so many arguments, as far as the text tells."""
        statement = self.body[self.names[name]]
        if isinstance(statement, ast.FunctionDef):
            return _takes(statement.args, parameters)
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda):
            return _takes(statement.value.args, parameters)
        return not isinstance(statement, ast.AsyncFunctionDef | ast.ClassDef)


def _takes(arguments: ast.arguments, parameters: int) -> bool:
    places = [*arguments.posonlyargs, *arguments.args]
    needed = len(places) - len(arguments.defaults)
    keywords = sum(default is None for default in arguments.kw_defaults)
    return (
        needed <= parameters and (parameters <= len(places) or arguments.vararg is not None) and not keywords
    )


def parse(text: str) -> tuple[Module | None, str]:
    """The text as Python, or why it is none. Tabs, a common indent and a prompt's `>>>` are mended."""
    problem = ""
    for attempt in _attempts(text):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return Module(attempt, ast.parse(attempt)), ""
        except SyntaxError as error:
            problem = problem or f"{error.msg}, line {error.lineno} ({(error.text or '').strip():.80})"
        except (ValueError, RecursionError, MemoryError) as error:
            problem = problem or f"it cannot be parsed ({type(error).__name__})"
    return None, problem


def _attempts(text: str) -> Iterator[str]:
    text = text.replace("\r\n", "\n").replace("\u00a0", " ")
    yield text
    flush = textwrap.dedent(text).strip("\n")
    if flush != text:
        yield flush
    if "\t" in text:
        for width in (4, 8):
            yield "\n".join(_untabbed(line, width) for line in flush.splitlines())
    if text.lstrip().startswith(">>> "):
        yield "\n".join(
            line[4:]
            for line in text.splitlines()
            if line.startswith((">>> ", "... ")) or line in (">>>", "...")
        )


def _untabbed(line: str, width: int) -> str:
    code = line.lstrip(" \t")
    return line[: len(line) - len(code)].expandtabs(width) + code


# ── what a function needs ────────────────────────────────────────────────────────────────────────────────


def bound_by(statement: ast.stmt) -> list[str]:
    """The names that a statement at the margin defines or changes."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    found = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            found.append(node.id)
        elif isinstance(node, ast.alias):
            found.append((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append(node.name)
        elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            found.extend(_root(node))
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        found.extend(_root(statement.value.func) if isinstance(statement.value.func, ast.Attribute) else ())
    return found


def _root(node: ast.expr) -> list[str]:
    """The name that a chain of attributes and subscripts begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return [node.id] if isinstance(node, ast.Name) else []


def used_by(node: ast.stmt | ast.expr) -> set[str]:
    """The names from outside that a piece of code reads; what its functions call by their own names is inside."""
    text = ast.unparse(node)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _outer(symtable.symtable(text, "<reply>", "exec"), top=True)
        except SyntaxError:  # such as a `return` that stands outside of functions
            return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _outer(table: symtable.SymbolTable, *, top: bool = False) -> set[str]:
    found = {s.get_name() for s in table.get_symbols() if (s.is_referenced() if top else s.is_global())}
    return found.union(*map(_outer, table.get_children()))


def _is_demonstration(statement: ast.stmt, uses: set[str], wanted: str) -> bool:
    """Whether a statement only runs the program: it has no place in it."""
    if isinstance(statement, ast.Assert | ast.Raise | ast.Delete):
        return True
    if isinstance(statement, ast.If) and "__name__" in used_by(statement.test):
        return True
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name | ast.Lambda):
        return False  # another name for the function, or the function itself
    return wanted in uses and wanted not in bound_by(statement)


def trimmed(module: Module, wanted: str, others: Sequence[Module] = ()) -> str:
    """The text with only what the wanted function needs. others: other pieces, which may define what it lacks."""
    kept, lacking = _needed(module, {wanted}, wanted)
    parts = [text_of(module, kept)]
    for other in reversed(others):
        there = lacking & other.names.keys()
        if there:
            kept, more = _needed(other, there, wanted)
            parts.insert(0, text_of(other, kept))
            lacking = (lacking - there) | more
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _needed(module: Module, wanted: set[str], main: str) -> tuple[list[int], set[str]]:
    """The statements that define what is wanted and what these use, in order; and the names that nothing defines."""
    names, kept = set(wanted), dict[int, None]()
    imports_of_all = False
    grown = True
    while grown:
        grown = False
        for i, statement in enumerate(module.body):
            if i in kept or _is_demonstration(statement, module.uses[i], main):
                continue
            everything = isinstance(statement, ast.ImportFrom) and (
                statement.names[0].name == "*" or statement.module == "__future__"
            )
            imports_of_all = imports_of_all or everything
            if everything or names.intersection(bound_by(statement)):
                kept[i] = None
                names |= module.uses[i]
                grown = True
    defined = {name for i in kept for name in bound_by(module.body[i])}
    lacking = set() if imports_of_all else names - defined - _BUILT_IN
    return sorted(kept), lacking


def text_of(module: Module, kept: Sequence[int]) -> str:
    """The lines of some statements, with the comments right above them; a blank line or two before functions."""
    lines = module.text.splitlines()
    taken, parts = 0, list[str]()
    for i in kept:
        statement = module.body[i]
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(d.lineno for d in decorators)]) - 1
        end = statement.end_lineno or statement.lineno
        if first < taken or _shares_a_line(module, i):
            parts.append(ast.unparse(statement))
            continue
        while first > taken and lines[first - 1].startswith("#"):
            first -= 1
        text = "\n".join(line.rstrip() for line in lines[first:end])
        block = isinstance(statement, ast.FunctionDef | ast.ClassDef)
        parts.append(f"\n\n{text}" if block and parts else text)
        taken = end
    return "\n".join(parts)


def _shares_a_line(module: Module, i: int) -> bool:
    """Whether another statement stands on a line of this one."""
    body = module.body
    before = i > 0 and (body[i - 1].end_lineno or 0) >= body[i].lineno
    return before or (i + 1 < len(body) and body[i + 1].lineno <= (body[i].end_lineno or 0))

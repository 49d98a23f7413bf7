"""Program text, and the function it defines."""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType
from typing import Any, Literal

from worldcoder.errors import ProgramError

Kind = Literal["transition", "reward"]

PARAMETERS: dict[Kind, int] = {"transition": 2, "reward": 3}
"""How many arguments each kind of program takes: (state, action) and (state, action, next_state)."""


@dataclass(frozen=True)
class Program:
    """The text of one program, and where it came from.

    source: Python that defines a function named like `kind`.
    goal: the goal that a reward program is for; None for a transition program.
    origin: who wrote it ("rules", "user", a model's name).
    parent: the id of the program it was made from, if any.
    """

    source: str
    kind: Kind
    goal: str | None = None
    origin: str = "user"
    parent: str | None = None
    comment: str = field(default="", compare=False)

    @property
    def id(self) -> str:
        """A short name for the text: equal texts of one kind have equal ids."""
        return hashlib.sha256(f"{self.kind}\0{self.goal}\0{self.source}".encode()).hexdigest()[:12]

    @property
    def lines(self) -> int:
        """Lines of code, without blank lines and comments."""
        stripped = [line.strip() for line in self.source.splitlines()]
        return sum(bool(line) and not line.startswith("#") for line in stripped)

    def load(self) -> Callable[..., Any]:
        """Run the text and return its function; raises ProgramError, with the line, if that fails."""
        return load_function(self.source, self.kind)


def load_function(source: str, name: str) -> Callable[..., Any]:
    """The function called `name` that the text defines, in a namespace of its own.

    Raises ProgramError with the line for a syntax error, an exception while the text runs, or no such
    function.
    """
    return load_namespace(source, name)[name]  # type: ignore[no-any-return]


def load_namespace(source: str, name: str) -> dict[str, Any]:
    """Everything the text defines, of which `name` must be a function; raises as `load_function`."""
    label = f"<{name} program {abs(hash(source)):x}>"
    try:
        code = _compiled(source, label)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise ProgramError(f"the {name} program is not Python: {error.args[0]}, line {line}") from None
    linecache.cache[label] = (len(source), None, source.splitlines(keepends=True), label)
    namespace: dict[str, Any] = {"__name__": f"worldcoder_{name}"}
    try:
        exec(code, namespace)
    except Exception as error:
        raise ProgramError(f"the {name} program fails when it is loaded: {describe(error)}") from None
    if not callable(namespace.get(name)):
        raise ProgramError(f"the {name} program defines no function {name}(); add one")
    return namespace


@lru_cache(maxsize=256)
def _compiled(source: str, label: str) -> CodeType:
    return compile(source, label, "exec")


def describe(error: BaseException) -> str:
    """An exception of a program in one line: type, message, and the program's line it came from."""
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith("<"):
            line = trace.tb_lineno
        trace = trace.tb_next
    text = str(error) if isinstance(error, ProgramError) else f"{type(error).__name__}: {error}"
    return f"{text} (line {line})" if line is not None else text

"""From a program's text to its function. Runs the text: only ever inside a locked worker."""

from __future__ import annotations

import linecache
from functools import lru_cache
from types import CodeType
from typing import Any

from worldcoder.errors import ProgramError
from worldcoder.sandbox.watch import OUTSIDE, WATCH, CallTimeout

PATIENCE = 3
"""Calls in one request that may take too long; then the request is given up."""


class GivenUp(BaseException):
    """Too many calls took too long. No program's `except Exception` stops it."""


def load_namespace(source: str, name: str) -> dict[str, Any]:
    """Everything the text defines, of which `name` must be a function.

    Raises ProgramError with the line for a syntax error, whatever goes wrong while the text runs, or no such
    function.
    """
    label = f"<{name} program {abs(hash(source)):x}>"
    try:
        code = _compiled(source, label)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise ProgramError(f"the {name} program is not Python: {error.args[0]}, line {line}") from None
    except (RecursionError, MemoryError) as error:
        raise ProgramError(f"the {name} program is too deeply nested: {type(error).__name__}") from None
    linecache.cache[label] = (len(source), None, source.splitlines(keepends=True), label)
    namespace: dict[str, Any] = {"__name__": f"worldcoder_{name}"}
    WATCH.ticks = 0
    try:
        exec(code, namespace)
    except BaseException as error:
        raise failed(error, name, "fails when it is loaded") from None
    finally:
        WATCH.ticks = OUTSIDE
    if WATCH.over:
        raise failed(CallTimeout(), name, "fails when it is loaded")
    if not callable(namespace.get(name)):
        raise ProgramError(f"the {name} program defines no function {name}(); add one")
    return namespace


@lru_cache(maxsize=256)
def _compiled(source: str, label: str) -> CodeType:
    return compile(source, label, "exec")


def failed(error: BaseException, name: str, how: str = "failed") -> ProgramError:
    """What a program raised, as an error that says which program, what and where.

    Raises GivenUp where this was one call too many that took too long.
    """
    if WATCH.over or isinstance(error, CallTimeout):
        WATCH.over = False
        if WATCH.overruns >= PATIENCE:
            raise GivenUp from None
        return ProgramError(f"the {name} program {how}: it took too long", "timeout")
    if isinstance(error, MemoryError):
        return ProgramError(f"the {name} program {how}: it took too much memory", "memory")
    if type(error) is ProgramError:
        return ProgramError(describe(error), error.failing)
    return ProgramError(f"the {name} program {how}: {describe(error)}")


def describe(error: BaseException) -> str:
    """An exception of a program in one line: type, message, and the program's line it came from."""
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith("<"):
            line = trace.tb_lineno
        trace = trace.tb_next
    try:
        text = str(error) if isinstance(error, ProgramError) else f"{type(error).__name__}: {error}"
    except BaseException as other:  # of an exception of the program's own
        text = f"{type(error).__name__}, whose text cannot be had ({type(other).__name__})"
    return f"{text} (line {line})" if line is not None else text

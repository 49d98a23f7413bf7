"""Runs a command and turns whatever goes wrong into one line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import typer

from worldcoder.cli.app import app
from worldcoder.errors import UnknownEnvironment, UsageError, WorldcoderError
from worldcoder.llm.errors import NotRecorded

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code.

    That is 0, 1 for a failure, 2 for arguments that do not fit, 130 for Ctrl-C.
    arguments: without the program's name; None takes those of the process.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    try:
        code = app(given or ["--help"], prog_name="worldcoder", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else OK
    except BrokenPipeError:
        return _nobody_reads()
    except (KeyboardInterrupt, typer.Abort):
        return _say("interrupted", INTERRUPTED)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else FAILED
    except Exception as error:
        if debug and not hasattr(error, "format_message"):
            raise
        return _say(*_explain(error), more=_difference(error))


def _explain(error: Exception) -> tuple[str, int]:
    """An error as one line, and its exit code."""
    if hasattr(error, "format_message"):  # the parser's own
        return f"{error.format_message()} (see --help)", USAGE
    if isinstance(error, UsageError | UnknownEnvironment):
        return str(error), USAGE
    if isinstance(error, NotRecorded):
        return str(error).partition("\n")[0], FAILED
    if isinstance(error, WorldcoderError):
        return str(error), FAILED
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}", FAILED
    return f"unexpected {type(error).__name__}: {error}; --debug shows where", FAILED


def _difference(error: Exception) -> str:
    """What can only be shown on more than one line: how a prompt differs from the one that is recorded."""
    return str(error).partition("\n")[2] if isinstance(error, NotRecorded) else ""


def _say(message: str, code: int, *, more: str = "") -> int:
    line = " ".join(message.split())
    with suppress(OSError):
        sys.stderr.write(f"error: {line}\n" if code != INTERRUPTED else f"{line}\n")
        if more:
            sys.stderr.write(f"{more}\n")
    return code


def _nobody_reads() -> int:
    """The reader of our output is gone, as after `| head`: nothing to complain about."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    return OK

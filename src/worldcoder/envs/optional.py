"""Packages that only some environments need."""

from __future__ import annotations

import contextlib
import importlib
import io
from types import ModuleType

from worldcoder.errors import WorldError


def require(module: str, *, extra: str) -> ModuleType:
    """Import a module; raises WorldError with the command that installs it where it is missing."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # some greet on import
            return importlib.import_module(module)
    except ImportError as error:
        raise WorldError(
            f"{module} cannot be imported ({error}); install it with: pip install 'worldcoder[{extra}]'"
        ) from error

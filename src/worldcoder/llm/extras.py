"""Packages that only those need who ask a language model."""

from __future__ import annotations

import importlib
from typing import Any

from worldcoder.llm.errors import MissingExtra


def require(module: str, *, extra: str) -> Any:
    """Import a package; raises MissingExtra with the command that installs it where it is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"{module} cannot be imported ({error}); install it with: pip install 'worldcoder[{extra}]'"
        ) from error

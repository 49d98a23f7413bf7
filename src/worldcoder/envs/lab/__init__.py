"""The lab: ten small worlds, each with one idea of its own and its rules in full at the top of its file.

    worldcoder learn lab:kitchen

All are deterministic and fully observed; every seed has a level of its own, and every level can be solved.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from worldcoder.envs import factories
from worldcoder.envs.contract import Environment
from worldcoder.errors import UnknownEnvironment

_NAMES = (
    "belts", "ice", "kitchen", "patrol", "railway", "rows", "shop", "stones", "teleport", "twins",
)  # fmt: skip

WORLDS: Mapping[str, str] = MappingProxyType({name: f"{__name__}.{name}:make_env" for name in _NAMES})
"""The factory of each world, by its name."""


def make_env(name: str | None = None, /, **options: Any) -> Environment:
    """Ten small worlds with rules of their own, each in one short file to read.

    name: one of WORLDS. options: those of that world.

    Raises UnknownEnvironment for a name that is none of them.
    """
    if name is None or name not in WORLDS:
        guess = factories.suggestion(name or "", WORLDS)
        said = f"there is no world {name!r}{guess}" if name else "expected a world after the colon"
        raise UnknownEnvironment(f"lab: {said}; there are: {', '.join(WORLDS)}")
    module, _, attribute = WORLDS[name].partition(":")
    factory = getattr(importlib.import_module(module), attribute)
    return factories.call(f"lab:{name}", factory, None, options)

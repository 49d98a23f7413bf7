"""Runs a service, and the programs that the service calls, in processes that can do no harm.

    with Sandbox("package.module:Class") as sandbox:
        worker = sandbox.worker()
        print(worker.request({"what": "to do"}))

It knows nothing of programs, planning or worlds. Everything listed in `__all__` can be had from here; it is
imported when it is asked for, because the process that forks workers needs only a part of it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worldcoder.sandbox.failures import Failure, WorkerFailed
    from worldcoder.sandbox.layers import Layer, LayerReport, locked, probe
    from worldcoder.sandbox.limits import Limits
    from worldcoder.sandbox.line import Line, Service
    from worldcoder.sandbox.modules import ALLOWED
    from worldcoder.sandbox.sandbox import Sandbox
    from worldcoder.sandbox.watch import OUTSIDE, WATCH, CallTimeout, Watch
    from worldcoder.sandbox.worker import Worker

__all__ = [
    "ALLOWED",
    "OUTSIDE",
    "WATCH",
    "CallTimeout",
    "Failure",
    "Layer",
    "LayerReport",
    "Limits",
    "Line",
    "Sandbox",
    "Service",
    "Watch",
    "Worker",
    "WorkerFailed",
    "locked",
    "probe",
]

_FROM = {
    "worldcoder.sandbox.failures": ("Failure", "WorkerFailed"),
    "worldcoder.sandbox.layers": ("Layer", "LayerReport", "locked", "probe"),
    "worldcoder.sandbox.limits": ("Limits",),
    "worldcoder.sandbox.line": ("Line", "Service"),
    "worldcoder.sandbox.modules": ("ALLOWED",),
    "worldcoder.sandbox.sandbox": ("Sandbox",),
    "worldcoder.sandbox.watch": ("OUTSIDE", "WATCH", "CallTimeout", "Watch"),
    "worldcoder.sandbox.worker": ("Worker",),
}
_HOME = {name: module for module, names in _FROM.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name not in _HOME:
        raise AttributeError(f"module 'worldcoder.sandbox' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

"""Learns how a world works by acting in it, and writes what it learned as a Python program.

    import worldcoder

    summary = worldcoder.run(worldcoder.Experiment("sokoban"), "runs/mine")
    model = worldcoder.load_model("runs/mine")
    print(model.transition.source)

Everything listed in `__all__` can be had from here; it is imported when it is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worldcoder.comparison import Comparison, compare
    from worldcoder.envs import Environment, Start, Step, make, register
    from worldcoder.envs.gymnasium import from_gymnasium
    from worldcoder.errors import SandboxError, WorldcoderError
    from worldcoder.experiment import Experiment, ModelConfig, rerun, resume, run
    from worldcoder.planning import Budget, Plan, Status
    from worldcoder.playing import Played, play
    from worldcoder.programs import Prediction, Program, Runner, Simulation, WorldModel, load_model
    from worldcoder.runs.events import Summary
    from worldcoder.sandbox import Limits
    from worldcoder.world import Action, Goal, Obj, Ref, State, Transition
    from worldcoder.world.drawing import draw

__all__ = [
    "Action",
    "Budget",
    "Comparison",
    "Environment",
    "Experiment",
    "Goal",
    "Limits",
    "ModelConfig",
    "Obj",
    "Plan",
    "Played",
    "Prediction",
    "Program",
    "Ref",
    "Runner",
    "SandboxError",
    "Simulation",
    "Start",
    "State",
    "Status",
    "Step",
    "Summary",
    "Transition",
    "WorldModel",
    "WorldcoderError",
    "compare",
    "draw",
    "from_gymnasium",
    "load_model",
    "make",
    "play",
    "register",
    "rerun",
    "resume",
    "run",
]

_FROM = {
    "worldcoder.comparison": ("Comparison", "compare"),
    "worldcoder.envs": ("Environment", "Start", "Step", "make", "register"),
    "worldcoder.envs.gymnasium": ("from_gymnasium",),
    "worldcoder.errors": ("SandboxError", "WorldcoderError"),
    "worldcoder.experiment": ("Experiment", "ModelConfig", "rerun", "resume", "run"),
    "worldcoder.planning": ("Budget", "Plan", "Status"),
    "worldcoder.playing": ("Played", "play"),
    "worldcoder.programs": ("Prediction", "Program", "Runner", "Simulation", "WorldModel", "load_model"),
    "worldcoder.runs.events": ("Summary",),
    "worldcoder.sandbox": ("Limits",),
    "worldcoder.world": ("Action", "Goal", "Obj", "Ref", "State", "Transition"),
    "worldcoder.world.drawing": ("draw",),
}
_HOME = {name: module for module, names in _FROM.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import what is asked for: `import worldcoder` alone loads nothing else."""
    if name not in _HOME:
        raise AttributeError(f"module 'worldcoder' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

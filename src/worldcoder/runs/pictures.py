"""The pictures of a run."""

from __future__ import annotations

import importlib

from worldcoder.envs.factories import one_line
from worldcoder.runs.directory import RunDirectory
from worldcoder.runs.events import Caution, Listener, Thinking


def draw_all(folder: RunDirectory, listener: Listener) -> None:
    """Curves and replay. A run is not lost if they fail."""
    listener(Thinking("drawing"))
    for module, function in (("curves", "plot_curves"), ("replay", "save_replay")):
        try:
            getattr(importlib.import_module(f"worldcoder.runs.{module}"), function)(folder.path)
        except Exception as error:
            listener(Caution(f"no {module} were drawn: {one_line(error)}"))

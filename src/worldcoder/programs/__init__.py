"""Programs: their text, the world model they make up, saving and loading, the check against recorded data."""

from worldcoder.programs.check import Check, Mismatch
from worldcoder.programs.knowledge import Episode, Knowledge
from worldcoder.programs.model import WorldModel
from worldcoder.programs.prediction import Actions, Fault, Prediction
from worldcoder.programs.program import Program
from worldcoder.programs.running import ANY_GOAL, Runner, default_runner
from worldcoder.programs.saving import load_knowledge, load_metadata, load_model, save_model
from worldcoder.programs.simulation import Simulation

__all__ = [
    "ANY_GOAL",
    "Actions",
    "Check",
    "Episode",
    "Fault",
    "Knowledge",
    "Mismatch",
    "Prediction",
    "Program",
    "Runner",
    "Simulation",
    "WorldModel",
    "default_runner",
    "load_knowledge",
    "load_metadata",
    "load_model",
    "save_model",
]

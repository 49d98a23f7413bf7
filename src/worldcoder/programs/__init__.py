"""Programs: their text, the world model they make up, saving and loading, the check against recorded data."""

from worldcoder.programs.check import Check, Mismatch, check_pure
from worldcoder.programs.functions import RewardFunction, TransitionFunction
from worldcoder.programs.model import ANY_GOAL, WorldModel
from worldcoder.programs.program import Program
from worldcoder.programs.saving import load_metadata, load_model, save_model
from worldcoder.programs.simulator import Actions, Prediction, Simulator

__all__ = [
    "ANY_GOAL",
    "Actions",
    "Check",
    "Mismatch",
    "Prediction",
    "Program",
    "RewardFunction",
    "Simulator",
    "TransitionFunction",
    "WorldModel",
    "check_pure",
    "load_metadata",
    "load_model",
    "save_model",
]

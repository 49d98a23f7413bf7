"""Environments: the contract, the registry, and one file for each adapter."""

from worldcoder.envs.contract import Environment, Start, Step
from worldcoder.envs.registry import Entry, describe, entries, make, names, register

__all__ = ["Entry", "Environment", "Start", "Step", "describe", "entries", "make", "names", "register"]

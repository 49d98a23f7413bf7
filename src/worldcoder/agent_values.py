"""What an agent is set up with, what it decides, and what it counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from worldcoder.world.values import Action

Why = Literal["random", "plan", "guess", "explore"]


@dataclass(frozen=True)
class AgentConfig:
    """How the agent behaves. The defaults are the paper's where it has one.

    epsilon: share of random actions while not all is explained. min_data: transitions before the first synthesis.
    optimism: whether rewards are invented before any was seen (φ2).
    plan_nodes: nodes a search may generate. guess_nodes: the same, for each invented reward.
    explore_nodes: predicted states looked at in search of something to learn.
    patience: how much dearer (in nats) than the cheapest guess another may be and still go before exploring.
    """

    epsilon: float = 0.05
    min_data: int = 10
    optimism: bool = True
    plan_nodes: int = 200_000
    guess_nodes: int = 20_000
    explore_nodes: int = 250
    patience: float = 1.5


@dataclass(frozen=True)
class Decision:
    """What the agent does next, and why. action None: nothing is left to do here, begin again."""

    action: Action | None
    why: Why
    note: str = ""


@dataclass
class Counts:
    """What the agent has done so far. surprises: steps of which its model did not say what they led to."""

    actions: int = 0
    episodes: int = 0
    successes: int = 0
    wrong_guesses: int = 0
    surprises: int = 0


@dataclass
class Timer:
    """A stopwatch that does nothing; an experiment puts a real one in its place."""

    seconds: float = field(default=0.0)

    def __enter__(self) -> Timer:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

"""What is run: an experiment, as a value that is recorded and read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Literal

from worldcoder.agent import AgentConfig
from worldcoder.envs.factories import suggestion
from worldcoder.errors import RunError, UsageError
from worldcoder.proposers import ASKING, SYNTHESIZERS, ModelConfig


@dataclass(frozen=True)
class Experiment:
    """What is run.

    environment: a spec as `worldcoder.envs.make` takes it; options: of its factory.
    seed: of the level and of everything random.
    model: the language model that is asked; None for none.
    synthesizer: who writes the programs: "rules", "llm", or "hybrid", which is both; where it is left out, "hybrid"
    with a model and "rules" without.
    agent: how the agent behaves.
    max_actions, max_seconds, max_episodes: the run ends in order when one is reached; None for no limit.
    Where it ends by `max_seconds` depends on the machine; everything else does not.
    solve: episodes that have to end with a reward; until then the agent goes for it. With levels "next" they are
    different levels, and goals where the world has many.
    polish: actions after that, in which the agent explores where its hypotheses disagree.
    levels: "same": each episode is the level of `seed`; "next": each has a new one: seed, seed + 1, ...

    Raises UsageError for values that do not fit.
    """

    environment: str
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    synthesizer: str = ""
    agent: AgentConfig = field(default_factory=AgentConfig)
    max_actions: int | None = 1000
    max_seconds: float | None = None
    max_episodes: int | None = None
    solve: int = 1
    polish: int = 60
    levels: Literal["same", "next"] = "same"
    model: ModelConfig | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))
        try:
            json.dumps(dict(self.options))
        except (TypeError, ValueError) as error:
            raise UsageError(f"options are recorded as JSON, which cannot hold these: {error}") from None
        if not 0 <= self.seed < 2**31:
            raise UsageError(f"seed: expected 0 to {2**31 - 1}, got {self.seed}")
        for name in ("max_actions", "max_seconds", "max_episodes", "polish"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise UsageError(f"{name}: expected 0 or more, got {value}")
        if self.solve < 1:
            raise UsageError(f"solve: expected 1 or more, got {self.solve}")
        if not 0 <= self.agent.epsilon <= 1:
            raise UsageError(f"epsilon: expected a share from 0 to 1, got {self.agent.epsilon}")
        if self.agent.min_data < 1:
            raise UsageError(f"min_data: expected 1 or more, got {self.agent.min_data}")
        if not self.synthesizer:
            object.__setattr__(self, "synthesizer", "rules" if self.model is None else "hybrid")
        if self.synthesizer not in SYNTHESIZERS:
            known = ", ".join(SYNTHESIZERS)
            guess = suggestion(self.synthesizer, SYNTHESIZERS)
            raise UsageError(f"no synthesizer is called {self.synthesizer!r}{guess}; there are: {known}")
        if self.synthesizer in ASKING and self.model is None:
            raise UsageError(f"the synthesizer {self.synthesizer} needs a model, as in openai/gpt-5-mini")
        if self.synthesizer not in ASKING and self.model is not None:
            raise UsageError(
                f"the synthesizer {self.synthesizer} asks no language model: leave one of them out"
            )
        if self.levels not in ("same", "next"):
            raise UsageError(f"levels: expected same or next, got {self.levels!r}")

    def level(self, episode: int) -> int:
        """The seed of an episode, counted from 0."""
        return self.seed + (episode if self.levels == "next" else 0)

    def going_on(self, **limits: Any) -> Experiment:
        """With other limits from where a run of it stopped, so that what is recorded comes out as it did.

        Raises UsageError for a number of calls with which it would not.
        """
        changed = self.changed(**limits)
        before, now = self.model, changed.model
        if before is None or now is None or before.max_calls == now.max_calls:
            return changed
        begun = f"max_calls: the run was begun with {before.max_calls}, got {now.max_calls}"
        if self.synthesizer != "llm":
            raise UsageError(
                f"{begun}; with {self.synthesizer} it cannot be changed, as the run went on where a problem was "
                f"given up: resume without it, or start a new run"
            )
        if now.max_calls < before.max_calls:
            raise UsageError(f"{begun}; it can only be raised: resume without it, or start a new run")
        return replace(changed, model=replace(now, stages=(*before.stages, before.max_calls)))

    def to_json(self) -> dict[str, Any]:
        """Plain values; undone by `from_json`."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        model = None if self.model is None else self.model.to_json()
        return {**values, "options": dict(self.options), "agent": asdict(self.agent), "model": model}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Experiment:
        """The experiment that `to_json` wrote. Raises RunError for anything else."""
        try:
            model = values.get("model")
            read = {"agent": AgentConfig(**values["agent"]), "model": model and ModelConfig(**model)}
            return cls(**{**values, **read})
        except (TypeError, KeyError, UsageError) as error:
            raise RunError(f"the configuration of the run is of another version: {error}") from None

    def changed(self, **changes: Any) -> Experiment:
        """With other values, those of its model and its agent included. Raises UsageError."""
        model, agent = self.model, self.agent
        of_model = {f.name: changes.pop(f.name) for f in fields(ModelConfig) if f.name in changes}
        of_agent = {f.name: changes.pop(f.name) for f in fields(AgentConfig) if f.name in changes}
        if of_model and model is None:
            raise UsageError(f"{next(iter(of_model))}: the run asks no language model")
        model = model and replace(model, **of_model)
        return replace(self, **{"model": model, "agent": replace(agent, **of_agent), **changes})

"""Who writes the programs of a run, by name: rules, a language model, or both; and how a language model is set up.

config = ModelConfig("openai/gpt-5-mini", max_usd=2.0)
client = opened(config)                              # says what is missing, before anything is done
proposer = SYNTHESIZERS["hybrid"](Tools(runner, rng, asker, config))
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from worldcoder.errors import Limited, UsageError
from worldcoder.programs import ANY_GOAL, Knowledge, Runner
from worldcoder.synthesis.bandit import STRATEGIES, Bandit, C, rex
from worldcoder.synthesis.proposer import Proposer

if TYPE_CHECKING:
    from worldcoder.llm import Limits, ServerClient
    from worldcoder.synthesis.llm.search import Asker, Search, Writing


@dataclass(frozen=True)
class ModelConfig:
    """Which language model is asked, how, and for how much.

    name: as in openai/gpt-5-mini or ollama/qwen3; base_url: of another server that speaks as OpenAI's does.
    max_calls: programs that are asked for until one synthesis problem is given up (the paper's 50).
    max_tokens, max_usd: for the whole run, in and out; None for no limit.
    prompts: a folder of templates that take the place of the package's.
    search: what chooses the program to refine: "rex", "breadth-first", "greedy" or "best-of-n"; c: the C of REx.
    temperature: None leaves it to the server. in_flight: programs asked for at once.
    prompt_tokens, reply_tokens: the most that a prompt and an answer may have.
    stages: what max_calls was before a run went on with more; what is asked for at once ends there, as it did then.

    All of it is recorded; a key is never part of it: keys come from the environment.
    Raises UsageError for values that do not fit.
    """

    name: str
    base_url: str | None = None
    max_calls: int = 50
    max_tokens: int | None = None
    max_usd: float | None = None
    prompts: str | None = None
    temperature: float | None = None
    search: str = "rex"
    c: float = C
    in_flight: int = 2
    prompt_tokens: int = 8_000
    reply_tokens: int = 4_096
    stages: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "stages", tuple(self.stages))
        if self.base_url is not None:
            _check_address(self.base_url)
        for name, least in (("max_calls", 1), ("in_flight", 1), ("prompt_tokens", 1), ("reply_tokens", 1)):
            if getattr(self, name) < least:
                raise UsageError(f"{name}: expected {least} or more, got {getattr(self, name)}")
        for name in ("max_tokens", "max_usd", "temperature", "c"):
            value = getattr(self, name)
            if value is not None and not (value >= 0 and math.isfinite(value)):
                raise UsageError(f"{name}: expected 0 or more, got {value}")
        if self.search not in STRATEGIES:
            raise UsageError(f"search: expected one of {', '.join(STRATEGIES)}, got {self.search!r}")

    def to_json(self) -> dict[str, Any]:
        """Plain values; undone by calling the class with them."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def limits(self, max_seconds: float | None) -> Limits:
        """What may be spent in the whole run."""
        from worldcoder.llm import Limits

        return Limits(max_tokens=self.max_tokens, max_usd=self.max_usd, max_seconds=max_seconds)

    def writing(self) -> Writing:
        """How one synthesis problem is worked on."""
        from worldcoder.synthesis.llm.search import Writing

        bandit: Callable[[random.Random], Bandit] = STRATEGIES[self.search]
        return Writing(
            max_calls=self.max_calls,
            in_flight=self.in_flight,
            prompt_tokens=self.prompt_tokens,
            reply_tokens=self.reply_tokens,
            temperature=self.temperature,
            bandit=partial(rex, c=self.c) if self.search == "rex" else bandit,
            stages=self.stages,
        )


def _check_address(base_url: str) -> None:
    """An address is recorded and shown, so that there must be nothing secret in it."""
    try:
        parts = urlsplit(base_url)
        secret = "@" in parts.netloc or bool(parts.query)
    except ValueError:
        return  # whoever opens it says what is wrong with it
    if secret:
        raise UsageError(
            "the base URL is recorded, so there can be no name, password or query in it; "
            "set the key in the environment"
        )


@dataclass(frozen=True)
class Tools:
    """What proposers are made with.

    runner: runs programs. rng: everything random in proposing, apart from the agent's, whose actions would depend
    on how often a model was asked otherwise. asker, config: the language model; None without one.
    """

    runner: Runner
    rng: random.Random
    asker: Asker | None = None
    config: ModelConfig | None = None


def _rules(tools: Tools) -> Proposer:
    from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer

    return RulesSynthesizer()


def _llm(tools: Tools) -> Proposer:
    from worldcoder.synthesis.llm.synthesizer import LanguageModelSynthesizer

    asker, config = _asking(tools)
    writing = config.writing()
    return LanguageModelSynthesizer(
        asker, runner=tools.runner, rng=tools.rng, writing=writing, prompts=config.prompts
    )


def _hybrid(tools: Tools) -> Proposer:
    from worldcoder.synthesis.hybrid import HybridSynthesizer

    asker, config = _asking(tools)
    writing = config.writing()
    return HybridSynthesizer(
        asker, runner=tools.runner, rng=tools.rng, writing=writing, prompts=config.prompts
    )


def _asking(tools: Tools) -> tuple[Asker, ModelConfig]:
    assert tools.asker is not None and tools.config is not None  # an experiment sees to it
    return tools.asker, tools.config


SYNTHESIZERS: dict[str, Callable[[Tools], Proposer]] = {"rules": _rules, "llm": _llm, "hybrid": _hybrid}
"""Those who write programs, by name."""

ASKING = ("llm", "hybrid")
"""Those of them that need a language model."""


def opened(config: ModelConfig, environment: Mapping[str, str] | None = None) -> ServerClient:
    """A client for a model; nothing is sent yet. environment: where keys are, in the place of the process's.

    Raises UsageError and LLMError for what would fail at the first request: no key, no package, no such
    provider, a limit of costs where the price is not known, prompts that are none.
    """
    from worldcoder.llm import Budget, open_client
    from worldcoder.synthesis.llm.templates import Templates

    Templates(config.prompts)
    client = open_client(
        config.name, base_url=config.base_url, in_flight=config.in_flight, environment=environment
    )
    Budget(config.limits(None)).check(price_known=client.price.known, model=client.name)
    return client


# ── what a proposer has asked for ────────────────────────────────────────────────────────────────────────


def searches(proposer: Proposer) -> list[Search]:
    """The synthesis problems for which a language model is asked; none where none is."""
    from worldcoder.synthesis.hybrid import HybridSynthesizer
    from worldcoder.synthesis.llm.synthesizer import LanguageModelSynthesizer

    llm = proposer.llm if isinstance(proposer, HybridSynthesizer) else proposer
    if not isinstance(llm, LanguageModelSynthesizer):
        return []
    return [llm.transitions, *llm.rewards.values()]


def offer(proposer: Proposer, known: Knowledge) -> None:
    """What was learned before, to a proposer that can refine it: programs among which a language model may choose."""
    from worldcoder.synthesis.hybrid import HybridSynthesizer
    from worldcoder.synthesis.llm.synthesizer import LanguageModelSynthesizer

    llm = proposer.llm if isinstance(proposer, HybridSynthesizer) else proposer
    if known.model is None or not isinstance(llm, LanguageModelSynthesizer):
        return
    llm.transitions.offer(known.model.transition)
    for goal, program in known.model.rewards.items():
        if goal != ANY_GOAL:
            llm.offered_reward(goal, program)


def calls_for_problem(proposer: Proposer) -> int:
    """Programs that were asked for in the problem that is being worked on: the one with something in flight."""
    for search in searches(proposer):
        if any(arm.pending for arm in search.bandit.arms.values()):
            return search.spent_on_problem
    return 0


def used_up(proposer: Proposer) -> Limited | None:
    """The limit that ends a run: one of the whole run's, or "calls".

    A problem whose calls are used up ends a run only where nobody else writes programs. Rules go on with what
    they have, and the model is asked again when there are more data.
    """
    for search in searches(proposer):
        if search.out is not None:
            return search.out
        if proposer.name == "llm" and search.exhausted:
            return "calls"
    return None

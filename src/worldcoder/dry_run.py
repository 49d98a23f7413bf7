"""What a run would ask its language model first, and what that costs: nothing is asked, and nothing is written."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from worldcoder.agent import Agent
from worldcoder.configuration import Experiment
from worldcoder.envs import make
from worldcoder.envs.guarded import GuardedWorld
from worldcoder.errors import UsageError
from worldcoder.llm.opening import price_of
from worldcoder.llm.store import Outcome
from worldcoder.llm.tokens import count_prompt
from worldcoder.llm.values import Request, Usage
from worldcoder.programs import Knowledge, Runner
from worldcoder.proposers import SYNTHESIZERS, Tools, offer
from worldcoder.runs.handing_on import check_known
from worldcoder.synthesis.hybrid import HybridSynthesizer
from worldcoder.synthesis.llm.synthesizer import LanguageModelSynthesizer
from worldcoder.world.values import Transition


@dataclass(frozen=True)
class Preview:
    """The first request of a run.

    actions: taken before it. needed: whether it would be made then; rules may explain everything so far.
    tokens_in, tokens_out: the most that one call may take. usd: what that costs; None where it is not known.
    max_calls: how many there may be in one synthesis problem.
    """

    request: Request
    actions: int
    needed: bool
    tokens_in: int
    tokens_out: int
    usd: float | None
    max_calls: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        tokens, calls = self.tokens_in + self.tokens_out, self.max_calls
        for_all = {"tokens": tokens * calls, "usd": None if self.usd is None else self.usd * calls}
        return {
            "request": self.request.to_json(),
            "actions": self.actions,
            "needed": self.needed,
            "per_call": {"tokens_in": self.tokens_in, "tokens_out": self.tokens_out, "usd": self.usd},
            "max_calls": calls,
            "for_max_calls": for_all,
        }


class _Asked(Exception):
    """The first request."""

    def __init__(self, request: Request) -> None:
        super().__init__()
        self.request = request


class _Nobody:
    """Is asked, and answers nothing."""

    def __init__(self, name: str) -> None:
        self.name = name

    def ask_all(self, requests: Iterable[Request]) -> Iterator[tuple[int, Outcome]]:
        raise _Asked(next(iter(requests)))


def preview(
    experiment: Experiment, runner: Runner, known: Knowledge | None = None, named: str = "the model"
) -> Preview:
    """Act until there are data, and see what is asked then.

    known: what the run would begin with, and how it is named. It needs no key. Raises UsageError for an experiment
    without a language model, and what `run` raises.
    """
    if experiment.model is None:
        raise UsageError(
            "a dry run shows what a language model is asked first: name one, as in openai/gpt-5-mini"
        )
    config, world = (
        experiment.model,
        GuardedWorld(make(experiment.environment, **experiment.options), experiment.environment),
    )
    price = price_of(config.name, base_url=config.base_url)
    rng = random.Random(f"{experiment.seed} synthesis")
    proposer = SYNTHESIZERS[experiment.synthesizer](Tools(runner, rng, _Nobody(config.name), config))
    agent = Agent(
        proposer,
        config=experiment.agent,
        rng=random.Random(experiment.seed),
        actions=world.actions,
        runner=runner,
    )
    request, needed = None, True
    try:
        if known is not None:
            state = world.reset(experiment.level(0)).state
            check_known(known, named, experiment.environment, state, world.actions(state), runner)
            agent.inherit(known)
            offer(proposer, known)
        _act(experiment, agent, world)
    except _Asked as asked:
        request = asked.request
    if request is None:
        llm = proposer.llm if isinstance(proposer, HybridSynthesizer) else proposer
        assert isinstance(llm, LanguageModelSynthesizer)
        messages = llm.prompter.transition(llm.seen, "")
        request, needed = Request(config.name, messages, max_tokens=config.reply_tokens), False
    one = replace(request, n=1)
    usage = Usage(count_prompt(one), one.max_tokens)
    cost = price.of(usage).usd
    return Preview(
        request, agent.counts.actions, needed, usage.tokens_in, usage.tokens_out, cost, config.max_calls
    )


def _act(experiment: Experiment, agent: Agent, world: GuardedWorld) -> None:
    """Episodes until there are data, as a run has them."""
    for episode in count():
        state, goal = world.reset(experiment.level(episode))
        agent.begin(state, goal)
        while True:
            if agent.counts.actions >= experiment.agent.min_data:
                return
            action = agent.act(state).action
            if action is None:
                break
            step = world.step(action)
            agent.observe(Transition(state, goal, action, step.state, step.reward, step.done))
            state = step.state
            if step.done or step.truncated:
                break

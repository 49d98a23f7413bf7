"""The synthesizer behind the real facade: budgets of a run, and replies from a record."""

from __future__ import annotations

import random

from test_llm_optimism import AT_FLAG, GOAL, RIGHT, Hall, block, reward

from worldcoder.agent import Agent
from worldcoder.llm import Budget, LanguageModel, Limits, MemoryStore, Recorded, Reply, Request, Spent, Store
from worldcoder.programs import Runner
from worldcoder.synthesis.llm.search import Asker
from worldcoder.synthesis.llm.synthesizer import LanguageModelSynthesizer
from worldcoder.world import Transition


class Client:
    """Answers at once, counting."""

    name = "scripted/writer"

    def __init__(self) -> None:
        self.calls = 0

    async def complete(self, request: Request, *, budget: Budget | None = None) -> Reply:
        reservation = await budget.reserve(Spent(request.n)) if budget is not None else None
        self.calls += request.n
        prompt = request.messages[-1].content
        wrong = f"Sorry, this is attempt {self.calls}:\n" if self.calls < 3 else ""
        text = wrong or block(RIGHT if "transition program" in prompt.split("\n")[0] else reward(AT_FLAG))
        spent = Spent(request.n)
        if reservation is not None:
            reservation.settle(spent)
        return Reply((text,) * request.n, ("stop",) * request.n, spent=spent)

    async def close(self) -> None:
        """Nothing is open."""


def learn(model: LanguageModel, runner: Runner) -> tuple[list[str], LanguageModelSynthesizer]:
    asker: Asker = model
    proposer = LanguageModelSynthesizer(asker, runner=runner, rng=random.Random(0))
    world = Hall()
    agent = Agent(proposer, rng=random.Random(1), actions=world.actions, runner=runner)
    state, goal = world.reset(0)
    agent.begin(state, goal)
    done = []
    for _ in range(60):
        action = agent.act(state).action
        if action is None or agent.counts.successes:
            break
        step = world.step(action)
        agent.observe(Transition(state, goal, action, step.state, step.reward, step.done))
        state = world.reset(0).state if step.done else step.state
        if step.done:
            agent.begin(state, goal)
        done.append(action.name)
    return done, proposer


def test_what_is_recorded_is_replayed_without_a_call(runner: Runner) -> None:
    store: Store = MemoryStore()
    clients = [Client(), Client()]
    found = []
    for client in clients:
        with LanguageModel(Recorded(client, store)) as model:
            found.append(learn(model, runner))
    assert clients[0].calls > 2 and clients[1].calls == 0
    assert found[0][0] == found[1][0]
    assert found[0][1].rewards[GOAL].solved


def test_the_limit_of_the_run_is_kept(runner: Runner) -> None:
    client = Client()
    with LanguageModel(client, budget=Budget(Limits(max_calls=3))) as model:
        _, proposer = learn(model, runner)
    assert client.calls <= 3 and proposer.exhausted
    assert proposer.transitions.out == "calls"

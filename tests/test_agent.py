"""The agent in real worlds, and in worlds made to mislead it."""

from __future__ import annotations

import random

import pytest

from worldcoder.agent import Agent, AgentConfig
from worldcoder.envs import Environment, Start, Step, make
from worldcoder.programs import Check, default_runner
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer
from worldcoder.world import Action, Obj, State, Transition


def act_in(
    world: Environment, *, seed: int, most: int, config: AgentConfig | None = None
) -> tuple[Agent, list[str]]:
    """The bare loop, until the goal is reached; the agent and why it did what it did."""
    agent = Agent(
        RulesSynthesizer(), config=config or AgentConfig(), rng=random.Random(seed), actions=world.actions
    )
    start = world.reset(seed)
    state, reasons = start.state, []
    agent.begin(state, start.goal)
    while agent.counts.actions < most and not agent.counts.successes:
        decision = agent.act(state)
        reasons.append(decision.why)
        over = decision.action is None
        if decision.action is not None:
            step = world.step(decision.action)
            agent.observe(Transition(state, start.goal, decision.action, step.state, step.reward, step.done))
            state, over = step.state, step.done or step.truncated
        if over and not agent.counts.successes:
            state = world.reset(seed).state
            agent.begin(state, start.goal)
    return agent, reasons


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("sokoban", 200),
        ("minigrid:Empty-5x5", 200),
        ("minigrid:DoorKey-5x5", 400),
        ("minigrid:LavaGapS5", 200),
        ("minigrid:UnlockPickup", 120),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_it_reaches_the_goal_with_an_exact_model_of_what_it_saw(name: str, most: int, seed: int) -> None:
    agent, reasons = act_in(make(name), seed=seed, most=most)
    assert agent.counts.successes == 1
    assert agent.phi1 == 1.0
    assert reasons[: AgentConfig().min_data] == ["random"] * AgentConfig().min_data


def test_without_optimism_it_makes_no_guesses() -> None:
    agent, reasons = act_in(make("sokoban"), seed=0, most=60, config=AgentConfig(optimism=False))
    assert "guess" not in reasons and "explore" in reasons
    assert agent.counts.wrong_guesses == 0


def test_before_enough_data_it_acts_at_random() -> None:
    _, reasons = act_in(make("sokoban"), seed=0, most=30, config=AgentConfig(min_data=30))
    assert set(reasons) == {"random"}


def test_the_same_seed_does_the_same() -> None:
    runs = [act_in(make("sokoban"), seed=3, most=60) for _ in range(2)]
    assert runs[0][1] == runs[1][1]
    assert runs[0][0].model == runs[1][0].model


def reproduced(agent: Agent) -> int:
    """How many transitions the present transition program reproduces, of those before the latest."""
    if agent.model is None:
        return 0
    data = agent.learner.check.transitions
    return len(data) - len(default_runner().check(Check(data), agent.model.transition))


class Corridor:
    """A walker in a corridor; a flag at its end; every `fault`-th step does not do what it should."""

    def __init__(self, fault: int = 0) -> None:
        self.fault = fault
        self.steps = 0

    def reset(self, seed: int) -> Start:
        self.state = State([Obj("Walker", x=0, y=0), Obj("Flag", x=7, y=0)])
        return Start(self.state, "reach the flag")

    def actions(self, state: State) -> list[Action]:
        return [Action("west"), Action("east")]

    def step(self, action: Action) -> Step:
        self.steps += 1
        walker, flag = self.state.one("Walker"), self.state.one("Flag")
        x = max(0, walker.x + (1 if action.name == "east" else -1))
        if self.fault and self.steps % self.fault == 0:
            x = walker.x
        self.state = State([walker.replace(x=x), flag])
        return Step(self.state, 1.0 if x == 7 else 0.0, x == 7, False)


def test_noise_lowers_phi1_and_the_agent_goes_on() -> None:
    agent, _ = act_in(Corridor(fault=9), seed=0, most=300)
    assert agent.counts.successes == 1
    assert 0.5 < agent.phi1 <= 1.0


def test_a_program_that_reproduces_less_is_not_taken() -> None:
    """Whatever the proposer says, the share reproduced never falls on the data it was chosen on."""
    world = Corridor(fault=4)
    few = AgentConfig(
        plan_nodes=2_000, guess_nodes=2_000
    )  # this corridor has no wall: searches for more never end
    agent = Agent(RulesSynthesizer(), config=few, rng=random.Random(0), actions=world.actions)
    state = world.reset(0).state
    agent.begin(state, "reach the flag")
    for _ in range(40):
        action = agent.act(state).action or Action("east")
        step = world.step(action)
        before = reproduced(agent)
        agent.observe(Transition(state, "reach the flag", action, step.state, step.reward, step.done))
        assert reproduced(agent) >= before
        state = world.reset(0).state if step.done else step.state

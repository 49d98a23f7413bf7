"""The agent with programs that misbehave: each is a counterexample, and it goes on."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import pytest
from scripted import (
    ANSWERS_GARBAGE,
    CRASHES,
    EATS_MEMORY,
    EXITS,
    FLAG,
    FLOODS,
    KEEPS_SOMETHING,
    LOOPS,
    RAISES,
    REWARD,
    RIGHT,
    Corridor,
    Scripted,
    loops_at,
)

from worldcoder.agent import Agent, AgentConfig
from worldcoder.programs import Program, Runner
from worldcoder.sandbox import Limits
from worldcoder.synthesis.proposer import Counterexample
from worldcoder.world import Transition

LIMITS = Limits(call_seconds=0.1, silence_seconds=3.0, memory=512 << 20, frame_bytes=1 << 18)

GOAL = "reach the flag"


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(limits=LIMITS) as runner:
        yield runner


def act(agent: Agent, *, most: int, until_solved: bool = True) -> list[str]:
    """The bare loop; why the agent did what it did."""
    world, reasons = Corridor(), []
    state = world.reset(0).state
    agent.begin(state, GOAL)
    while agent.counts.actions < most and not (until_solved and agent.counts.successes):
        decision = agent.act(state)
        reasons.append(decision.why)
        over = decision.action is None
        if decision.action is not None:
            step = world.step(decision.action)
            agent.observe(Transition(state, GOAL, decision.action, step.state, step.reward, step.done))
            state, over = step.state, step.done
        if over:
            state = world.reset(0).state
            agent.begin(state, GOAL)
    return reasons


def agent_with(proposer: Scripted, runner: Runner, *, seed: int = 0) -> Agent:
    config = AgentConfig(epsilon=0.0)
    return Agent(proposer, config=config, rng=random.Random(seed), actions=Corridor().actions, runner=runner)


def told_of(proposer: Scripted, source: str) -> list[Counterexample]:
    return [found for program, found in proposer.told if program.source == source]


BAD = {
    LOOPS: "timeout",
    EATS_MEMORY: "memory",
    CRASHES: "crash",
    FLOODS: "flood",
    KEEPS_SOMETHING: "impure",
    ANSWERS_GARBAGE: "garbage",
    EXITS: "crash",
    RAISES: "error",
}


def test_each_way_to_fail_is_a_counterexample_and_the_agent_goes_on(runner: Runner) -> None:
    proposer = Scripted(*BAD, RIGHT)
    agent = agent_with(proposer, runner)
    act(agent, most=80)
    assert agent.counts.successes == 1 and agent.phi1 == 1.0
    assert agent.model is not None and agent.model.transition.source == RIGHT
    seen = agent.learner.check.transitions
    for source, what in BAD.items():
        found = told_of(proposer, source)
        assert found and found[0].what == what, (what, found)
        assert {f.what for f in found} <= {what, "state"}
        assert all(f.transition in seen for f in found)
        first = found[0].transition
        assert first is not None
        assert (found[0].state, found[0].action, found[0].goal) == (first.state, first.action, GOAL)
        assert found[0].bad == (what != "error")
    assert told_of(proposer, RIGHT) == [] and told_of(proposer, REWARD) == []
    failed = [(program.source, found.what) for program, found in agent.failures]
    assert failed == [(source, what) for source, what in BAD.items() if what != "error"]


@pytest.mark.parametrize("source", [LOOPS, CRASHES, ANSWERS_GARBAGE, "def transition(state, action)\n"])
def test_where_no_program_runs_there_is_no_model_and_the_agent_goes_on(runner: Runner, source: str) -> None:
    proposer = Scripted(source)
    agent = agent_with(proposer, runner)
    assert set(act(agent, most=14, until_solved=False)) == {"random"}
    assert agent.model is None and agent.phi1 == 0.0
    assert {f.what for f in told_of(proposer, source)} <= {"timeout", "crash", "garbage", "error"}


def test_a_loop_in_an_imagined_state_is_told_and_left_out(runner: Runner) -> None:
    proposer = Scripted(loops_at(7), RIGHT)
    agent = agent_with(proposer, runner)
    act(agent, most=80)
    (found,) = {(f.what, f.state, f.action): f for f in told_of(proposer, loops_at(7))}.values()
    assert found.what == "timeout" and found.bad and found.transition is None
    assert found.state is not None and found.state.one("Walker").x == 7
    assert found.action is not None and found.action.name == "east"
    assert agent.counts.successes == 1 and agent.phi1 == 1.0
    assert agent.model is not None and agent.model.transition.source == RIGHT


@pytest.mark.parametrize("fails", ["loops", "exits"])
def test_a_proposer_that_learns_nothing_from_it_does_not_stop_the_agent(runner: Runner, fails: str) -> None:
    """The steps that fail are asked once each, and the world tells the rest."""
    source = loops_at(7)
    if fails == "exits":
        source = source.replace("pass", "__import__('os')._exit(1)")
    proposer = Scripted(source)
    agent = agent_with(proposer, runner)
    began = time.monotonic()
    act(agent, most=50)
    assert time.monotonic() - began < 20
    assert agent.counts.successes == 1, "it explores where it cannot plan"
    imagined = [(f.state, f.action) for f in told_of(proposer, source) if f.transition is None]
    assert imagined and len(set(imagined)) == len(imagined)
    recorded = [f.transition for f in told_of(proposer, source) if f.transition is not None]
    assert all(t.state.one("Walker").x >= 7 for t in recorded)
    assert agent.phi1 == 1 - len(recorded) / agent.counts.actions


def test_a_reward_program_that_fails_is_not_taken_while_there_is_another(runner: Runner) -> None:
    proposer = Scripted(RIGHT)
    agent = agent_with(proposer, runner)
    act(agent, most=15, until_solved=False)
    assert agent.model is not None
    good = agent.model.rewards[GOAL]
    bad = Program("def reward(state, action, next_state):\n    while True: pass\n", "reward", goal=GOAL)
    proposer.reward = bad
    act(agent, most=30, until_solved=False)
    assert agent.model is not None and agent.model.rewards[GOAL] == good
    assert {f.what for p, f in proposer.told if p == bad} == {"timeout"}
    assert agent.phi1 == 1.0


def test_the_flag_is_where_it_should_be() -> None:
    world = Corridor()
    world.reset(0)
    assert [world.step(world.actions(world.state)[1]).done for _ in range(FLAG)][-2:] == [False, True]

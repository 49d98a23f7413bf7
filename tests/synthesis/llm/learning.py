"""An agent that learns Sokoban from a scripted writer, until its model is exact or nothing more is allowed."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from scripted_model import Scripted

from worldcoder.agent import Agent
from worldcoder.envs import Environment, make
from worldcoder.programs import Check, Program, Runner
from worldcoder.synthesis.hybrid import HybridSynthesizer
from worldcoder.synthesis.llm.search import Writing
from worldcoder.synthesis.llm.synthesizer import LanguageModelSynthesizer
from worldcoder.world import Transition

LEVELS = """
; 0
#######
#  .  #
# $$@ #
#  .  #
#     #
#######

; 1
#######
#     #
# .$  #
#@ $. #
#     #
#######

; 2
#######
#.    #
#  $  #
# @$  #
#    .#
#######
"""
"""Small levels in which everything that can happen is a few steps away."""


@dataclass
class Learned:
    """What came of it. exact: the transition program is right about steps of other levels as well."""

    agent: Agent
    proposer: LanguageModelSynthesizer | HybridSynthesizer
    asker: Scripted
    exact: bool
    decisions: list[str]

    @property
    def calls(self) -> int:
        return self.asker.calls


def other_steps(spec: str = "sokoban", steps: int = 400, **options: object) -> Check:
    """Random walks on levels that no test learns."""
    world, rng, check = make(spec, **options), random.Random(0), Check()
    while len(check) < steps:
        state, goal = world.reset(10_000 + len(check))
        for _ in range(40):
            action = rng.choice(list(world.actions(state)))
            step = world.step(action)
            check.add(Transition(state, goal, action, step.state, step.reward, step.done))
            state = step.state
            if step.done or step.truncated:
                break
    return check


def levels(folder: Path) -> Environment:
    """Sokoban on these levels."""
    path = folder / "levels.txt"
    path.write_text(LEVELS)
    return make(f"sokoban:{path}")


def learn(
    asker: Scripted,
    runner: Runner,
    *,
    seed: int,
    held_out: Check,
    world: Environment,
    writing: Writing = Writing(),  # noqa: B008 - frozen
    most: int = 150,
    kind: type[LanguageModelSynthesizer] | type[HybridSynthesizer] = LanguageModelSynthesizer,
) -> Learned:
    """Act until a goal was reached with a model that is exact, or so many actions were made."""
    proposer = kind(asker, runner=runner, rng=random.Random(f"{seed} synthesis"), writing=writing)
    agent = Agent(proposer, rng=random.Random(seed), actions=world.actions, runner=runner)
    state, goal = world.reset(seed)
    agent.begin(state, goal)
    decisions: list[str] = []
    exact, judged = False, ""
    while agent.counts.actions < most and not (exact and agent.counts.successes):
        decision = agent.act(state)
        decisions.append(f"{decision.why} {decision.action}")
        over = decision.action is None
        if decision.action is not None:
            step = world.step(decision.action)
            agent.observe(Transition(state, goal, decision.action, step.state, step.reward, step.done))
            state, over = step.state, step.done or step.truncated
            agent.settled = agent.counts.successes > 0
        program = agent.learner.program
        if program is not None and program.id != judged:
            judged, exact = program.id, _exact(program, held_out, runner)
        if over:
            state, goal = world.reset(seed + agent.counts.episodes)
            agent.begin(state, goal)
    return Learned(agent, proposer, asker, exact, decisions)


def _exact(program: Program, held_out: Check, runner: Runner) -> bool:
    return not runner.check(held_out, program, stop_after=1)

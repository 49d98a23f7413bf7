"""New goals, without learning: what a few goals of a world teach for those that were not met.

    python benchmarks/goals.py [--worlds minigrid:Fetch-5x5-N2 ...] [--seeds 2] [--met 5] [--new 100]

For each world and seed the agent is given goals one after the other, each at its own level until it is reached
there, until --met of them were. Then it is given --new levels whose goals were not met, each for one episode and each
beginning with what was known after the goals that were met: nothing that is learned in one is known in another.
"first": the goal was reached in that episode, with no guess that came true in vain and no end without a reward.
"at once": and before anything was learned in it, by a plan to what the words meant. The rest is counted by what went
wrong. Actions that are chosen at random (ε) are left out, as they would end some of these worlds at once.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial

from copies import in_copies

from worldcoder.agent import Agent, AgentConfig
from worldcoder.envs import Environment, make
from worldcoder.programs import Runner
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer
from worldcoder.world.values import Transition

WORLDS = (
    "minigrid:Fetch-5x5-N2",
    "minigrid:GoToObject-6x6-N2",
    "minigrid:PutNear-6x6-N2",
    "minigrid:GoToDoor-5x5",
)
UNSEEN = 100_000
"""The first level of the new goals."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--worlds", nargs="+", default=WORLDS)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--met", type=int, default=5)
    parser.add_argument("--new", type=int, default=100)
    parser.add_argument(
        "--patience", type=int, default=400, help="actions for a goal, after which it is left"
    )
    parser.add_argument("--tell", action="store_true", help="every new goal that was not reached at once")
    given = parser.parse_args()
    print(f"{'world':<28} seed   met  actions  left   first of new   at once   what went wrong", flush=True)
    with Runner() as runner:
        for world in given.worlds:
            for seed in range(given.first_seed, given.first_seed + given.seeds):
                one(world, seed, given, runner)


def one(world: str, seed: int, given: argparse.Namespace, runner: Runner) -> None:
    """One world and seed, as a line."""
    began = time.perf_counter()
    environment = make(world)
    agent = Agent(
        RulesSynthesizer(),
        config=AgentConfig(),
        rng=random.Random(seed),
        actions=environment.actions,
        runner=runner,
    )
    met, left = learn(agent, environment, seed, given)
    actions = agent.counts.actions
    halfway = time.perf_counter()
    found: Counter[str] = Counter()
    level = UNSEEN * (1 + seed)
    unseen: set[str] = set()
    levels: dict[int, str] = {}
    while len(levels) < given.new:
        level += 1
        goal = environment.reset(level).goal
        if goal not in met:
            levels[level] = goal
    works = [partial(alone, agent, environment, level, given.patience) for level in levels]
    for (level, goal), ended in zip(levels.items(), in_copies(works, runner), strict=True):
        unseen.add(goal)
        found[ended.word] += 1
        if given.tell and ended.word != "at once":
            print(
                f"    {goal!r}, level {level}: {ended.word} after {ended.actions} actions {ended.notes}",
                flush=True,
            )
    first = found["at once"] + found["first"]
    wrong = ", ".join(f"{n} {word}" for word, n in found.items() if word not in ("at once", "first"))
    print(
        f"{world:<28} {seed:>4}  {len(met):>4}  {actions:>7}  {left:>4}   {first:>3} of {given.new:>3} "
        f"({len(unseen)} goals)  {found['at once']:>4}   {wrong or '-'}   "
        f"[{halfway - began:.0f} + {time.perf_counter() - halfway:.0f} s]",
        flush=True,
    )


@dataclass
class Ended:
    """How an episode went."""

    word: str
    actions: int
    notes: list[str] = field(default_factory=list)


def learn(
    agent: Agent, environment: Environment, seed: int, given: argparse.Namespace
) -> tuple[set[str], int]:
    """The goals that were reached, and how many were left."""
    met: set[str] = set()
    left = 0
    level = 1_000 * seed
    while len(met) < given.met and left < given.met:
        level += 1
        goal = environment.reset(level).goal
        if goal in met:
            continue
        successes = agent.counts.successes
        until = agent.counts.actions + given.patience
        while goal not in met and agent.counts.actions < until:
            if attempt(agent, environment, level, until - agent.counts.actions).actions == 0:
                break
            if agent.counts.successes > successes:
                met.add(goal)
        left += goal not in met
    return met, left


def attempt(agent: Agent, environment: Environment, level: int, most: int) -> Ended:
    """One episode."""
    state, goal = environment.reset(level)
    agent.begin(state, goal)
    begun = agent.counts.wrong_guesses
    notes: list[str] = []
    whys: Counter[str] = Counter()
    for n in range(most):
        decision = agent.act(state)
        if decision.action is None:
            return Ended("gave up", n, notes)
        whys[decision.why] += decision.note != "ε"
        if not notes or not notes[-1].endswith(f"{decision.why}: {decision.note}"):
            notes.append(f"{n} {decision.why}: {decision.note}")
        after, reward, done, truncated = environment.step(decision.action)
        agent.observe(Transition(state, goal, decision.action, after, reward, done))
        state = after
        if done or truncated:
            if not (done and reward > 0):
                return Ended("failed" if done else "out of time", n + 1, [*notes, f"by {decision.action}"])
            if agent.counts.wrong_guesses > begun:
                return Ended("guessed wrongly", n + 1, notes)
            explored = whys["explore"] + whys["random"] + sum("hoping" in note for note in notes)
            return Ended("first" if explored else "at once", n + 1, notes)
    return Ended("out of actions", most, notes)


def alone(agent: Agent, environment: Environment, level: int, most: int) -> Ended:
    """One episode, in which nothing is chosen at random."""
    agent.config = replace(agent.config, epsilon=0.0)
    return attempt(agent, environment, level, most)


if __name__ == "__main__":
    main()

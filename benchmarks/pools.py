"""One agent that learns one model for a whole family of worlds, acting in them in turn."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from worldcoder.agent import Agent, Timer
from worldcoder.envs import Environment, make
from worldcoder.programs import Runner, WorldModel
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer
from worldcoder.world import Action, State, Transition

POOLS = {
    "minigrid": tuple(
        f"minigrid:{name}"
        for name in (
            "Empty-5x5",
            "DoorKey-5x5",
            "Unlock",
            "UnlockPickup",
            "BlockedUnlockPickup",
            "Fetch-5x5-N2",
            "KeyCorridorS3R1",
            "LavaGapS5",
            "MultiRoom-N2-S4",
            "GoToDoor-5x5",
            "PutNear-6x6-N2",
            "RedBlueDoors-6x6",
        )
    )
}
"""The worlds that share a model, by the name of the pool."""


@dataclass
class Course:
    """How something was learned.

    models: each model that there was, with the action after which it came. phi1: of the last one.
    """

    models: list[tuple[int, WorldModel]] = field(default_factory=list)
    actions: int = 0
    stopped: str = ""
    wrong_guesses: int = 0
    phi1: float = 0.0
    seconds: float = 0.0
    synthesis: float = 0.0


class _Clock(Timer):
    def __enter__(self) -> Timer:
        self._began = time.perf_counter()
        return self

    def __exit__(self, *exc: object) -> None:
        self.seconds += time.perf_counter() - self._began


class _Pool:
    """The worlds of a pool, each with the level that it comes to next."""

    def __init__(self, specs: Sequence[str], first_level: int) -> None:
        self._worlds = [make(spec) for spec in specs]
        self._levels = [first_level] * len(specs)
        self.now: Environment = self._worlds[0]
        self._turn = -1

    def next_episode(self) -> tuple[State, str]:
        """The next world's next level."""
        self._turn = (self._turn + 1) % len(self._worlds)
        self.now = self._worlds[self._turn]
        self._levels[self._turn] += 1
        return self.now.reset(self._levels[self._turn] - 1)

    def actions(self, state: State) -> Sequence[Action]:
        return self.now.actions(state)


def learn_in_pool(
    specs: Sequence[str], *, seed: int, first_level: int, max_actions: int, episode: int, runner: Runner
) -> Course:
    """Act in worlds in turn, one episode each, always in new levels.

    episode: actions after which the next world's turn comes, if it is not over before. A goal that was reached once
    is not gone for again: from then on the agent only learns while it has this goal.
    """
    pool, clock, course = _Pool(specs, first_level), _Clock(), Course(stopped="actions")
    agent = Agent(
        RulesSynthesizer(),
        rng=random.Random(seed),
        actions=pool.actions,
        clock=lambda name: clock if name == "synthesis" else Timer(),
        runner=runner,
    )
    began = time.perf_counter()
    reached: set[str] = set()
    while agent.counts.actions < max_actions:
        state, goal = pool.next_episode()
        agent.settled = goal in reached
        agent.begin(state, goal)
        for _ in range(min(episode, max_actions - agent.counts.actions)):
            action = agent.act(state).action
            if action is None:
                break
            step = pool.now.step(action)
            agent.observe(Transition(state, goal, action, step.state, step.reward, step.done))
            if agent.model is not None and (not course.models or course.models[-1][1] is not agent.model):
                course.models.append((agent.counts.actions, agent.model))
            if step.done and step.reward > 0:
                reached.add(goal)
                agent.settled = True
            if step.done or step.truncated:
                break
            state = step.state
    course.seconds = time.perf_counter() - began
    course.actions, course.wrong_guesses = agent.counts.actions, agent.counts.wrong_guesses
    course.phi1, course.synthesis = agent.phi1, clock.seconds
    return course

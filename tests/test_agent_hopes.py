"""An agent that hopes for more than its model says: each hope is tried once in one place."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from scripted import Corridor, Scripted

from worldcoder.agent import Agent, AgentConfig
from worldcoder.envs import Step
from worldcoder.programs import Program, Runner
from worldcoder.world import Action, State, Transition

GATE = 4
HEAD = """
def transition(state, action):
    walker = state.one("Walker")
    to = max(0, walker.x + {"east": 1, "west": -1}.get(action.name, 0))
"""
STOPPED = HEAD + f"    if to != {GATE}:\n        walker.x = to\n"
HOPES = HEAD + "    walker.x = to\n"
"""What was never seen here it lets pass, also where it was seen by now: it does not tell places apart."""


class Gate(Corridor):
    """A corridor with an invisible wall, which opens for who whistles at it."""

    def reset(self, seed: int) -> object:  # type: ignore[override]
        self.opened = False
        return super().reset(seed)

    def actions(self, state: State) -> list[Action]:
        return [Action("west"), Action("east"), Action("whistle")]

    def step(self, action: Action) -> Step:
        before = self.state
        at = before.one("Walker").x
        if action.name == "whistle":
            self.opened = self.opened or at == GATE - 1
            return Step(before, 0.0, False, False)
        step = super().step(action)
        if step.state.one("Walker").x == GATE and not self.opened:
            self.state = before
            return Step(before, 0.0, False, False)
        return step


class Hopeful(Scripted):
    """Its best program is right about the wall; its hopes are not."""

    def optimistic_program(
        self, boldness: int = 0, without: Sequence[tuple[State, Action]] = ()
    ) -> Program | None:
        return Program(HOPES, "transition", origin=self.name)


def walk(proposer: Scripted, runner: Runner, most: int) -> Sequence[Transition]:
    world = Gate()
    agent = Agent(
        proposer,
        config=AgentConfig(epsilon=0.0, min_data=1),
        rng=random.Random(0),
        actions=world.actions,
        runner=runner,
    )
    state, goal = world.reset(0)  # type: ignore[misc]
    agent.begin(state, goal)
    while agent.counts.actions < most:
        decision = agent.act(state)
        if decision.action is None:
            state, goal = world.reset(0)  # type: ignore[misc]
            agent.begin(state, goal)
            continue
        step = world.step(decision.action)
        agent.observe(Transition(state, goal, decision.action, step.state, step.reward, step.done))
        state = step.state
        if step.done:
            break
    return agent.learner.check.transitions


def test_a_hope_that_came_to_nothing_is_not_hoped_again(runner: Runner) -> None:
    """The way through the wall is tried, once; then other things are, and one of them opens it."""
    taken = walk(Hopeful(STOPPED), runner, 40)
    tried = Counter((t.state.one("Walker").x, t.action.name) for t in taken)
    stopped = [t for t in taken if t.action.name == "east" and t.next_state == t.state]
    assert len(stopped) == 1, "it met the wall once, and believed it"
    assert tried[GATE - 1, "whistle"] >= 1

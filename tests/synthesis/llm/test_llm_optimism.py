"""φ2: rewards are invented before any was seen, and mended until something leads to them."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from scripted_model import Scripted

from worldcoder.agent import Agent
from worldcoder.envs import Start, Step
from worldcoder.errors import BudgetReached
from worldcoder.programs import Runner
from worldcoder.synthesis.llm.search import PATIENCE, Writing
from worldcoder.synthesis.llm.synthesizer import STILL, LanguageModelSynthesizer
from worldcoder.world import Action, Obj, State, Transition

GOAL = "get to the flag"


class Hall:
    """A walker, a hatch that it can open when it stands before it, and a flag behind that."""

    def __init__(self, goal: str = GOAL) -> None:
        self.goal = goal

    def reset(self, seed: int) -> Start:
        self.state = State([Obj("Walker", x=1), Obj("Hatch", x=3, open=False), Obj("Flag", x=5)])
        return Start(self.state, self.goal)

    def actions(self, state: State) -> list[Action]:
        return [Action("west"), Action("east"), Action("turn")]

    def step(self, action: Action) -> Step:
        walker, hatch, flag = (self.state.one(kind) for kind in ("Walker", "Hatch", "Flag"))
        x = min(max(walker.x + {"west": -1, "east": 1, "turn": 0}[action.name], 0), 5)
        if action.name == "turn" and walker.x == 2:
            hatch = hatch.replace(open=not hatch.open)
        if x == 3 and not hatch.open:
            x = walker.x
        self.state = State([walker.replace(x=x), hatch, flag])
        return Step(self.state, float(x == 5), x == 5, False)


RIGHT = """def transition(state, action):
    walker, hatch = state.one("Walker"), state.one("Hatch")
    x = min(max(walker.x + {"west": -1, "east": 1, "turn": 0}[action.name], 0), 5)
    if action.name == "turn" and walker.x == 2:
        hatch.open = not hatch.open
    if x != 3 or hatch.open:
        walker.x = x
    return state
"""
STRICT = RIGHT.replace("hatch.open = not hatch.open", "pass")
"""Right as long as nobody turned anything before the hatch."""


def reward(condition: str, value: str = "1.0") -> str:
    return f"""def reward(state, action, next_state):
    done = {condition}
    return ({value} if done else 0.0), done
"""


AT_FLAG = 'next_state.one("Walker").x == next_state.one("Flag").x'
BEYOND = 'next_state.one("Walker").x > next_state.one("Flag").x'
AT_EDGE = 'next_state.one("Walker").x == 0'


def block(code: str) -> str:
    return f"I see.\n\n```python\n{code}```\n"


def act(
    write: Callable[[str], str],
    runner: Runner,
    *,
    most: int = 60,
    world: Hall | None = None,
    seed: int = 1,
    until_success: bool = True,
    **settings: int,
) -> tuple[Agent, LanguageModelSynthesizer, Scripted]:
    world = world or Hall()
    asker = Scripted(write)
    proposer = LanguageModelSynthesizer(
        asker,
        runner=runner,
        rng=random.Random(seed),
        writing=Writing(**{"in_flight": 1, **settings}),  # type: ignore[arg-type]
    )
    agent = Agent(proposer, rng=random.Random(seed), actions=world.actions, runner=runner)
    state, goal = world.reset(0)
    agent.begin(state, goal)
    for _ in range(most):
        action = agent.act(state).action
        over = action is None
        if action is not None:
            step = world.step(action)
            agent.observe(Transition(state, goal, action, step.state, step.reward, step.done))
            state, over = step.state, step.done
        if agent.counts.successes and until_success:
            break
        if over:
            state, goal = world.reset(0)
            agent.begin(state, goal)
    return agent, proposer, asker


def prompts(asker: Scripted, beginning: str) -> list[str]:
    return [text for r in asker.requests if (text := r.messages[-1].content).startswith(beginning)]


def rewards_asked(asker: Scripted) -> int:
    return len(prompts(asker, "The goal is")) + len(prompts(asker, "Write the reward"))


def test_a_reward_that_cannot_be_reached_is_mended_towards_a_plan(runner: Runner) -> None:
    def write(prompt: str) -> str:
        if prompt.startswith(("Write the transition", "This transition")):
            return block(RIGHT)
        if prompt.startswith("The goal is"):
            return block(reward(AT_FLAG))
        return block(reward(BEYOND))

    agent, proposer, asker = act(write, runner)
    assert agent.counts.successes == 1 and agent.phi1 == 1.0
    (plan,) = prompts(asker, "The goal is")
    assert "It is proved that by these programs there is no way" in plan and BEYOND in plan
    (first,) = prompts(asker, "Write the reward")
    assert "has to be guessed from the words of the goal" in first and GOAL in first
    assert proposer.rewards[GOAL].solved and not proposer.exhausted


def test_a_transition_program_that_forbids_too_much_is_mended_towards_a_plan(runner: Runner) -> None:
    """What it forbids is not seen: the language model gives another transition program in a second block."""

    def write(prompt: str) -> str:
        if prompt.startswith("The goal is"):
            return f"The hatch may open.\n\n```python\n{reward(AT_FLAG)}```\n\n```python\n{RIGHT}```"
        return block(STRICT if "transition" in prompt.split(".")[0] else reward(AT_FLAG))

    for seed in range(20):
        agent, proposer, asker = act(write, runner, seed=seed, most=10)
        if not any(t.next_state.one("Hatch").open for t in agent.learner.check.transitions):
            break  # nobody opened it in the first ten steps
    agent, proposer, asker = act(write, runner, seed=seed)
    assert prompts(asker, "The goal is")
    assert agent.counts.successes == 1
    assert (
        proposer.transitions.best is not None and "not hatch.open" in proposer.transitions.best.program.source
    )


def test_where_only_a_way_lacks_the_world_is_looked_at_before_more_is_asked_for(runner: Runner) -> None:
    """A hatch that nobody has turned to yet: what no answer brings about is seen by trying."""

    def write(prompt: str) -> str:
        if prompt.startswith("The goal is"):
            return "I have no idea."
        if "transition program" in prompt.split("\n")[0]:
            return block(RIGHT if "Your program says" in prompt else STRICT)
        return block(reward(AT_FLAG))

    for seed in range(20):
        agent, proposer, asker = act(write, runner, seed=seed, most=10)
        if not any(t.next_state.one("Hatch").open for t in agent.learner.check.transitions):
            break  # nobody opened it in the first ten steps
    assert rewards_asked(asker) == 1 + PATIENCE
    agent, proposer, asker = act(write, runner, seed=seed, max_calls=40)
    assert agent.counts.successes == 1 and not proposer.exhausted
    assert rewards_asked(asker) in (1 + PATIENCE, 1 + 2 * PATIENCE)

    idle = Hall()
    idle.actions = lambda state: [Action("west"), Action("east")]  # type: ignore[method-assign]
    for data, portions in ((14, 1), (15, 2), (22, 2), (23, 3)):
        agent, proposer, asker = act(write, runner, world=idle, seed=seed, most=data, max_calls=40)
        assert rewards_asked(asker) == 1 + portions * PATIENCE
    agent, proposer, asker = act(write, runner, world=idle, seed=seed, most=40, max_calls=35)
    assert rewards_asked(asker) == 35 and proposer.exhausted


def test_a_guess_that_comes_true_without_a_reward_is_a_counterexample(runner: Runner) -> None:
    def write(prompt: str) -> str:
        if "transition program" in prompt.split("\n")[0]:
            return block(RIGHT)
        refuted = "Your program says: reward 1" in prompt
        return block(reward(AT_FLAG if refuted else AT_EDGE))

    agent, _, asker = act(write, runner)
    assert agent.counts.successes == 1
    assert any("Your program says: reward 1" in text for text in prompts(asker, "This reward"))


def test_nothing_is_asked_before_there_are_data_and_nothing_while_nothing_is_wrong(runner: Runner) -> None:
    def write(prompt: str) -> str:
        assert "Step 1, " in prompt
        return block(RIGHT if "transition program" in prompt.split("\n")[0] else reward(AT_FLAG))

    _, proposer, asker = act(write, runner, most=9)
    assert asker.calls == 0 and proposer.transition_program().source == STILL
    _, proposer, asker = act(write, runner, most=60, until_success=False)
    assert asker.calls == proposer.calls == 2


def test_a_new_goal_starts_from_the_programs_of_others_and_costs_one_call(runner: Runner) -> None:
    def write(prompt: str) -> str:
        if "transition program" in prompt.split("\n")[0]:
            return block(RIGHT)
        if "for a new goal" in prompt:
            assert AT_FLAG in prompt and f'"{GOAL}"' in prompt
            return block(reward(AT_EDGE))
        return block(reward(AT_FLAG))

    agent, proposer, asker = act(write, runner, in_flight=3)
    calls = asker.calls
    start, _ = Hall("get to the edge").reset(0)
    agent.begin(start, "get to the edge")
    (proposal,) = list(proposer.reward_programs("get to the edge", start))
    assert asker.calls == calls + 1
    assert not proposal.learned and AT_EDGE in proposal.program.source and proposal.cost == 0.0


def test_without_any_budget_the_agent_still_acts(runner: Runner) -> None:
    asker = Scripted(lambda prompt: "", failing=[BudgetReached("the limit of 0 calls")] * 9)
    proposer = LanguageModelSynthesizer(asker, runner=runner, rng=random.Random(0))
    world = Hall()
    agent = Agent(proposer, rng=random.Random(0), actions=world.actions, runner=runner)
    state, goal = world.reset(0)
    agent.begin(state, goal)
    for _ in range(20):
        action = agent.act(state).action or Action("east")
        step = world.step(action)
        agent.observe(Transition(state, goal, action, step.state, step.reward, step.done))
        state = step.state
    assert proposer.exhausted and len(asker.requests) <= 2
    assert agent.model is not None and agent.model.transition.source == STILL


def test_a_program_that_does_what_none_may_is_shown_so_and_not_proposed_again(runner: Runner) -> None:
    loops = RIGHT.replace(
        "    return state", '    while walker.x == 0 and action.name == "west": pass\n    return state'
    )

    def write(prompt: str) -> str:
        if "transition program" in prompt.split("\n")[0]:
            return block(RIGHT if "took too long" in prompt else loops)
        return block(reward(AT_FLAG))

    agent, _, asker = act(write, runner, most=40)
    assert any("took too long" in text for text in prompts(asker, "This transition"))
    assert agent.counts.successes == 1
    assert agent.learner.program is not None and "while" not in agent.learner.program.source


@pytest.mark.parametrize("reply", ["", "I'm sorry, I can't.", "```python\nx = (\n```"])
def test_a_model_that_is_of_no_use_ends_within_its_budget(runner: Runner, reply: str) -> None:
    agent, proposer, asker = act(lambda prompt: reply, runner, most=14, max_calls=6)
    assert proposer.exhausted and asker.calls == 12  # six for each program
    assert agent.counts.actions == 14

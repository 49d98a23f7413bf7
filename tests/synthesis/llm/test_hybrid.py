"""Rules and a language model together, in a world of which the rules have words for one half only."""

from __future__ import annotations

import random
from collections.abc import Callable

from scripted_model import Scripted

from worldcoder.agent import Agent, AgentConfig
from worldcoder.envs import Start, Step
from worldcoder.programs import Check, Program, Runner
from worldcoder.synthesis.hybrid import HybridSynthesizer
from worldcoder.synthesis.llm.patching import patched
from worldcoder.synthesis.llm.search import Writing
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer
from worldcoder.world import Action, Obj, State, Transition

GOAL = "get to the flag"
MOVES = {"west": (-1, 0), "east": (1, 0), "north": (0, -1), "south": (0, 1)}
ACTIONS = [*map(Action, MOVES), Action("wind")]


class Yard:
    """A walker pushes crates, and winds a clock in a way that rules have no words for.

    clock: whether there is one.
    """

    def __init__(self, *, clock: bool = True) -> None:
        self.clock = clock

    def reset(self, seed: int) -> Start:
        rim = [Obj("Post", x=x, y=y) for x in range(6) for y in range(5) if x in (0, 5) or y in (0, 4)]
        others = [Obj("Walker", x=1, y=1), Obj("Crate", x=2, y=2), Obj("Flag", x=4, y=3)]
        others += [Obj("Clock", hand=1)] if self.clock else []
        self.state = State([*rim, *others])
        return Start(self.state, GOAL)

    def actions(self, state: State) -> list[Action]:
        return ACTIONS

    def step(self, action: Action) -> Step:
        self.state = after(self.state, action)
        walker, flag = self.state.one("Walker"), self.state.one("Flag")
        there = (walker.x, walker.y) == (flag.x, flag.y)
        return Step(self.state, float(there), there, False)


def after(state: State, action: Action) -> State:
    walker, new = state.one("Walker"), {}
    if action.name == "wind":
        for clock in state.all("Clock"):
            new[clock] = clock.replace(hand=(clock.hand + walker.x * walker.y + state.one("Crate").x) % 3)
        return State(new.get(o, o) for o in state)
    dx, dy = MOVES[action.name]
    x, y = walker.x + dx, walker.y + dy
    if state.at(x, y, "Post"):
        return state
    for crate in state.at(x, y, "Crate"):
        if state.at(x + dx, y + dy, "Post") or state.at(x + dx, y + dy, "Crate"):
            return state
        new[crate] = crate.replace(x=x + dx, y=y + dy)
    new[walker] = walker.replace(x=x, y=y)
    return State(new.get(o, o) for o in state)


CARELESS = """MOVES = {"west": (-1, 0), "east": (1, 0), "north": (0, -1), "south": (0, 1)}


def ahead(walker, action):
    dx, dy = MOVES[action.name]
    return walker.x + dx, walker.y + dy


def transition(state, action):
    walker = state.one("Walker")
    if action.name == "wind":
        for clock in state.all("Clock"):
            clock.hand = (clock.hand + walker.x * walker.y + state.one("Crate").x) % 3
        return state
    walker.x, walker.y = ahead(walker, action)
    return state
"""
"""Right about the clock; walks through everything. Has a function that is called as one of the rules'."""


def block(code: str) -> str:
    return f"```python\n{code}```"


def act(
    write: Callable[[str], str],
    runner: Runner,
    world: Yard,
    *,
    seed: int = 0,
    most: int = 120,
    min_data: int = 10,
) -> tuple[Agent, HybridSynthesizer, Scripted]:
    asker = Scripted(write)
    proposer = HybridSynthesizer(asker, runner=runner, rng=random.Random(seed), writing=Writing(in_flight=1))
    config = AgentConfig(min_data=min_data)
    agent = Agent(proposer, config=config, rng=random.Random(seed), actions=world.actions, runner=runner)
    state, goal = world.reset(seed)
    agent.begin(state, goal)
    for _ in range(most):
        action = agent.act(state).action
        over = action is None
        if action is not None:
            step = world.step(action)
            agent.observe(Transition(state, goal, action, step.state, step.reward, step.done))
            state, over = step.state, step.done or agent.counts.actions % 20 == 0
        if agent.counts.successes and agent.counts.actions > min_data:
            break
        if over:
            state, goal = world.reset(seed)
            agent.begin(state, goal)
    return agent, proposer, asker


def test_where_the_rules_suffice_nothing_is_asked(runner: Runner) -> None:
    def nobody(prompt: str) -> str:
        raise AssertionError(prompt)

    agent, proposer, asker = act(nobody, runner, Yard(clock=False))
    assert agent.counts.successes == 1 and agent.phi1 == 1.0 and asker.calls == proposer.calls == 0
    assert agent.learner.program is not None and agent.learner.program.origin == "rules"


def test_what_the_rules_have_no_words_for_is_asked_and_they_patch_the_answer(runner: Runner) -> None:
    prompts: list[str] = []

    def write(prompt: str) -> str:
        prompts.append(prompt)
        return block(CARELESS)

    agent, proposer, asker = act(write, runner, Yard(), most=200, min_data=80)
    assert agent.counts.successes and agent.phi1 == 1.0
    program = agent.learner.program
    assert program is not None and program.origin == "scripted/writer and rules"
    assert "if special(state, action):\n        return by_rules(state, action)" in program.source
    assert asker.calls <= 6
    first = next(text for text in prompts if text.startswith(("Write the transition", "This transition")))
    assert "wind" in first and "```python" in first  # what the rules found is shown, and what they miss
    assert {c.program.origin for c in proposer.llm.transitions.candidates.values()} >= {
        "rules",
        "scripted/writer",
        "scripted/writer and rules",
    }


def test_a_first_prompt_tells_what_the_rules_found(runner: Runner) -> None:
    proposer = HybridSynthesizer(Scripted(lambda p: ""), runner=runner, rng=random.Random(0))
    for transition in walk(80, seed=3):
        proposer.begin(transition.state, GOAL, ACTIONS)
        proposer.observe(transition)
    proposer.llm.transitions.out = "calls"  # so that nothing is asked
    proposer.fit()
    text = proposer.llm.prompter.transition(proposer.llm.seen, "")[-1].content
    assert "Rules were induced from the steps" in text
    assert text.index("Action: wind") < text.index("Action: west")


def walk(steps: int, seed: int, *, clock: bool = True) -> list[Transition]:
    world, rng, found = Yard(clock=clock), random.Random(seed), []
    state = world.reset(0).state
    for _ in range(steps):
        action = rng.choice(ACTIONS)
        found.append(Transition(state, GOAL, action, after(state, action), 0.0, False))
        state = found[-1].next_state
    return found


def test_a_patch_generalises_to_steps_that_nobody_saw(runner: Runner) -> None:
    rules = RulesSynthesizer()
    data = walk(150, seed=0)
    for transition in data:
        rules.begin(transition.state, GOAL, ACTIONS)
        rules.observe(transition)
    rules.fit()
    check, written = Check(data), Program(CARELESS, "transition", origin="me")
    proposed = rules.transition_program()
    wrong = {m.index for m in runner.check(check, written)}
    rules_wrong = {m.index for m in runner.check(check, proposed)}
    assert wrong and rules_wrong and not wrong & rules_wrong
    both = patched(rules.dynamics, proposed, written, rules_wrong, wrong)
    assert both is not None and both.parent == written.id
    assert not runner.check(check, both)
    assert both.source.count("def ahead(") == 1  # helpers that both parts of the rules need
    assert "def ahead_of_written(" in both.source and "ahead_of_written(walker, action)" in both.source
    later = Check(walk(300, seed=1))
    assert len(runner.check(later, both)) <= len(runner.check(later, written)) // 5
    assert runner.replay(later, both) is None


def test_there_is_no_patch_where_the_rules_know_no_better(runner: Runner) -> None:
    rules = RulesSynthesizer()
    for transition in walk(40, seed=0):
        rules.observe(transition)
    rules.fit()
    proposed, written = rules.transition_program(), Program(CARELESS, "transition")
    assert patched(rules.dynamics, proposed, written, {1, 2}, {1, 2}) is None
    assert patched(rules.dynamics, proposed, written, set(), set()) is None
    assert patched(rules.dynamics, proposed, Program("def (", "transition"), set(), {1}) is None

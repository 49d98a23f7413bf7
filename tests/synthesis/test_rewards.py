"""What the rules learn and guess of rewards, seen through the programs that they write."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from small_worlds import GATHERING_ROOM, GATHERING_STEPS, PUSHING_ROOM, STEPS, gathering, pushing, walk

from worldcoder.envs import make
from worldcoder.programs import Check, default_runner
from worldcoder.programs.inside.loading import load_namespace
from worldcoder.synthesis.rules.emit_reward import emit_reward
from worldcoder.synthesis.rules.guesses import final_clause, guesses
from worldcoder.synthesis.rules.language import Literal
from worldcoder.synthesis.rules.lists import DecisionList, Rule
from worldcoder.synthesis.rules.rewards import Rewards, step_literals
from worldcoder.synthesis.rules.scene import scene_of
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer
from worldcoder.world import Action, State, Transition
from worldcoder.world.live import LiveState

Payment = Callable[[State, Action, State], tuple[float, bool]]


def marks(state: State) -> int:
    return sum(bool(state.at(c.x, c.y, "Mark")) for c in state.all("Crate"))


def dense(state: State, action: Action, after: State) -> tuple[float, bool]:
    """A cost for each step, and one more for each crate that comes to a mark or leaves it."""
    return round(-0.1 + marks(after) - marks(state), 10), False


def collected(state: State, action: Action, after: State) -> tuple[float, bool]:
    """A reward for each coin, and the end with the last one."""
    left = len(after.all("Coin"))
    return float(len(state.all("Coin")) - left), left == 0


def paid(seen: list[Transition], payment: Payment, goal: str) -> list[Transition]:
    """The same walk with rewards; it stops where the episode ends."""
    found = []
    for t in seen:
        reward, done = payment(t.state, t.action, t.next_state)
        found.append(Transition(t.state, goal, t.action, t.next_state, reward, done))
        if done:
            break
    return found


def learn(seen: list[Transition], actions: list[Action]) -> RulesSynthesizer:
    synthesizer = RulesSynthesizer()
    synthesizer.begin(seen[0].state, seen[0].goal, actions)
    for transition in seen:
        synthesizer.observe(transition)
        synthesizer.fit()
    return synthesizer


@pytest.mark.parametrize(
    ("start", "rule", "actions", "payment", "steps"),
    [
        (PUSHING_ROOM, pushing, STEPS, dense, 20),
        (GATHERING_ROOM, gathering, GATHERING_STEPS, collected, 400),
    ],
    ids=["dense", "collected"],
)
def test_rewards_are_learned_exactly(start, rule, actions, payment, steps) -> None:  # type: ignore[no-untyped-def]
    seen = [
        t
        for seed in range(20)
        for t in paid(walk(start, rule, actions, steps, seed=seed), payment, "do well")
    ]
    assert len({t.reward for t in seen}) > 1
    synthesizer = learn(seen, actions)
    proposals = list(synthesizer.reward_programs("do well", start))
    assert default_runner().check(Check(seen), None, {"do well": proposals[-1].program}) == []
    ended = any(t.done and t.reward > 0 for t in seen)
    assert proposals[0].learned == ended and (len(proposals) == 1) == ended


def test_guesses_start_with_what_the_goal_speaks_of() -> None:
    synthesizer = learn(walk(GATHERING_ROOM, gathering, GATHERING_STEPS, 100), GATHERING_STEPS)
    vocabulary = synthesizer.dynamics.vocabulary
    for goal, kind in (("get to the switch", "Switch"), ("go to a coin", "Coin"), ("open the gate", "Gate")):
        best = guesses(vocabulary, goal, GATHERING_ROOM)[0]
        assert any(kind in literal for literal in best.literals), (goal, best)


def test_without_words_the_simplest_comes_first() -> None:
    synthesizer = learn(walk(PUSHING_ROOM, pushing, STEPS, 60), STEPS)
    found = guesses(synthesizer.dynamics.vocabulary, "win", PUSHING_ROOM)
    assert found and [g.cost for g in found] == sorted(g.cost for g in found)
    meanings = [g.meaning() for g in found]
    assert "every Crate is on a Mark" in meanings and "the agent is on Mark" in meanings


def test_a_guess_that_came_true_in_vain_is_not_made_again() -> None:
    seen = walk(GATHERING_ROOM, gathering, GATHERING_STEPS, 200)
    assert any(t.next_state.at(m.x, m.y, "Switch") for t in seen for m in t.next_state.all("Walker"))
    synthesizer = learn(seen, GATHERING_STEPS)
    meanings = [p.meaning for p in synthesizer.reward_programs("wander", GATHERING_ROOM)]
    assert "the agent is on Switch" not in meanings and meanings[-1] == "nothing more to guess"


def test_a_guess_is_a_program_that_rewards_it() -> None:
    synthesizer = learn(walk(PUSHING_ROOM, pushing, STEPS, 30), STEPS)
    for proposal in synthesizer.reward_programs("wander", PUSHING_ROOM):
        default_runner().load(proposal.program)
        assert not proposal.learned
    likely = list(synthesizer.reward_programs("wander", PUSHING_ROOM))[:3]
    assert synthesizer.any_of(likely) is not None


@pytest.mark.parametrize(
    ("goal", "end"),
    [
        ("use the key and then get to the goal", " get to the goal"),
        ("open the door after you pick up the ball", "open the door "),
        ("win", "win"),
    ],
)
def test_a_goal_ends_with_its_last_clause(goal: str, end: str) -> None:
    assert final_clause(goal) == end


@pytest.mark.parametrize(
    "name", ["lab:rows", "lab:patrol", "lab:shop", "lab:kitchen", "lab:railway", "lab:twins"]
)
def test_literals_of_steps_and_their_python_agree(name: str) -> None:
    """Every literal that is true of some step is true, as Python, of just those steps that have it."""
    world, rng = make(name), random.Random(4)
    seen: list[Transition] = []
    state, goal = world.reset(0)
    for seed in range(150):
        action = rng.choice(list(world.actions(state)))
        step = world.step(action)
        seen.append(Transition(state, goal, action, step.state, step.reward, step.done))
        state = world.reset(seed).state if step.done or step.truncated else step.state
    vocabulary = learn(seen, list(world.actions(seen[0].state))).dynamics.vocabulary
    cases = rng.sample(seen, 40)
    true = [
        set(step_literals(vocabulary, scene_of(t.state), t.action, scene_of(t.next_state))) for t in cases
    ]
    forms: dict[str, list[Literal]] = {}
    for literal in dict.fromkeys(lit for found in true for lit in sorted(found, key=repr)):
        forms.setdefault(literal[0], []).append(literal)
    assert len(forms) >= 4
    for some in forms.values():
        for literal in rng.sample(some, min(5, len(some))):
            rewards = Rewards(goal)
            condition = rewards.literals.mask([literal])
            paying = Rule(condition, ("reward", 1.0, False)), Rule(0, ("reward", 0.0, False))
            source = emit_reward(rewards, vocabulary, DecisionList(paying, 0.0))
            function = load_namespace(source, "reward")["reward"]
            for t, found in zip(cases, true, strict=True):
                paid_for, _ = function(LiveState(t.state), t.action, LiveState(t.next_state))
                assert bool(paid_for) == (literal in found), (literal, t.action, str(t.state))

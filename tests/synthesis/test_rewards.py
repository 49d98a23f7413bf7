"""What the rules learn and guess of rewards, seen through the programs that they write."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from small_worlds import GATHERING_ROOM, GATHERING_STEPS, PUSHING_ROOM, STEPS, gathering, pushing, walk

from worldcoder.programs import Check, default_runner
from worldcoder.synthesis.rules.guesses import final_clause, guesses
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer
from worldcoder.world import Action, State, Transition

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

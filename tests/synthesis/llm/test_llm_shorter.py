"""A program that has held is asked for once more, shorter, and the shorter one is taken if it loses nothing."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from scripted_model import Scripted
from test_llm_optimism import AT_FLAG, GOAL, RIGHT, STILL, STRICT, Hall, act, block, prompts, reward

from worldcoder.errors import BudgetReached, LLMError
from worldcoder.llm.errors import BadReply, NotRecorded, WrongKey
from worldcoder.programs import Runner
from worldcoder.synthesis.hybrid import HybridSynthesizer
from worldcoder.synthesis.llm.search import Writing
from worldcoder.synthesis.llm.synthesizer import LanguageModelSynthesizer
from worldcoder.world import Action, Transition

LONG = RIGHT.replace(
    "    return state", "\n".join(f"    x = x + {n} - {n}" for n in range(7)) + "\n    return state"
)
SHORTER = "reproduces all"


def writing(shorter: str, transition: str = LONG) -> Callable[[str], str]:
    """A language model that is right at once, and what it writes when a shorter program is wanted."""

    def write(prompt: str) -> str:
        if SHORTER in prompt:
            return shorter
        return block(transition if "transition program" in prompt.split("\n")[0] else reward(AT_FLAG))

    return write


def learned(
    asker: Scripted,
    runner: Runner,
    steps: int,
    *,
    kind: type = LanguageModelSynthesizer,
    proposed: set[str] | None = None,
) -> LanguageModelSynthesizer | HybridSynthesizer:
    """What is learned from so many steps in which nobody turns anything before the hatch. proposed: on the way."""
    proposer: LanguageModelSynthesizer | HybridSynthesizer
    proposer = kind(asker, runner=runner, rng=random.Random(0), writing=Writing(in_flight=1))
    world, rng = Hall(), random.Random(0)
    state, goal = world.reset(0)
    proposer.begin(state, goal, world.actions(state))
    for number in range(1, steps + 1):
        turns = state.one("Walker").x != 2
        action = rng.choice([a for a in world.actions(state) if turns or a.name != "turn"])
        step = world.step(action)
        proposer.observe(Transition(state, goal, action, step.state, step.reward, step.done))
        state = step.state
        if number >= 10:
            proposer.fit()
            if proposed is not None:
                proposed.add(proposer.transition_program().source.strip())
            list(proposer.reward_programs(goal, state))
    return proposer


def asked_shorter(asker: Scripted) -> int:
    return sum(SHORTER in r.messages[-1].content for r in asker.requests)


def test_it_is_asked_for_when_there_are_half_as_many_data_more_and_once(runner: Runner) -> None:
    for steps, times in ((14, 0), (15, 1), (40, 1)):
        asker = Scripted(writing(block(RIGHT)))
        proposer = learned(asker, runner, steps)
        assert asked_shorter(asker) == times
        program = proposer.transition_program()
        assert program.source == (RIGHT if times else LONG).rstrip("\n") + "\n"
        assert proposer.calls == asker.calls and not proposer.exhausted


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (block(STILL), "it reproduces less"),
        (block(STRICT), "it reproduces as much and leads nowhere"),
        (block(LONG), "it is not shorter"),
        (block(LONG.replace("x + 0 - 0", "x - 0 + 0")), "it is as long"),
        ("I'm sorry, I can't.", "it is none"),
        (block("def transition(state, action):\n    while True: pass\n"), "it does what none may"),
    ],
)
def test_it_is_not_taken_where(runner: Runner, reply: str, why: str) -> None:
    asker, proposed = Scripted(writing(reply)), set[str]()
    learned(asker, runner, 20, proposed=proposed)
    assert asked_shorter(asker) == 1, why
    assert proposed == {LONG.strip()}, why


def test_a_short_program_is_left_alone_and_so_is_one_that_is_not_right(runner: Runner) -> None:
    for program in (RIGHT, LONG.replace('"east": 1', '"east": 2')):
        asker = Scripted(writing(block(STILL), program))
        learned(asker, runner, 16)
        assert asked_shorter(asker) == 0


def test_a_hybrid_asks_only_for_what_is_wrong(runner: Runner) -> None:
    asker = Scripted(writing(block(RIGHT)))
    proposer = learned(asker, runner, 30, kind=HybridSynthesizer)
    assert asked_shorter(asker) == 0 and proposer.transition_program()


def test_a_shorter_reward_program_is_asked_for_when_the_goal_was_reached(runner: Runner) -> None:
    long = reward(AT_FLAG).replace(
        "    done", "\n".join(f"    nothing = {n}" for n in range(12)) + "\n    done", 1
    )

    def write(prompt: str) -> str:
        if SHORTER in prompt:
            return block(reward(AT_FLAG))
        return block(RIGHT if "transition program" in prompt.split("\n")[0] else long)

    agent, _, asker = act(write, runner, most=60, until_success=False)
    (letter,) = prompts(asker, "This reward program reproduces all")
    assert f'The goal is: "{GOAL}"' in letter
    program = agent.learner.rewards[GOAL].program
    assert program.source == reward(AT_FLAG) and program.parent is not None and agent.phi1 == 1.0


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (BudgetReached("a limit", "tokens"), False),
        (NotRecorded("not in the record"), False),
        (NotRecorded("not in the record"), True),
        (BadReply("no JSON"), False),
    ],
)
def test_where_it_is_not_to_be_had_it_is_done_without(runner: Runner, error: LLMError, raised: bool) -> None:
    """A run that goes on raises what is not in its log at once; everything else is an answer."""
    asker = Scripted(writing(block(RIGHT)))
    ask_all = asker.ask_all

    def failing(requests):  # type: ignore[no-untyped-def]
        asked = list(requests)
        if any(SHORTER in request.messages[-1].content for request in asked):
            asker.requests += asked
            if raised:
                raise error
            return iter([(0, error)])
        return ask_all(asked)

    asker.ask_all = failing  # type: ignore[method-assign]
    proposer = learned(asker, runner, 30)
    assert asked_shorter(asker) == 1 and not proposer.exhausted
    assert isinstance(proposer, LanguageModelSynthesizer) and proposer.transitions.out is None
    assert proposer.transition_program().source.strip() == LONG.strip()


def test_where_nobody_can_be_asked_any_more_it_is_said(runner: Runner) -> None:
    def refused(requests):  # type: ignore[no-untyped-def]
        return iter([(0, WrongKey("the server refuses the key"))])

    asker = Scripted(writing(block(RIGHT)))
    proposer = learned(asker, runner, 14)
    asker.ask_all = refused  # type: ignore[method-assign]
    state, goal = Hall().reset(0)
    proposer.observe(Transition(state, goal, Action("turn"), state, 0.0, False))
    with pytest.raises(WrongKey):
        proposer.fit()

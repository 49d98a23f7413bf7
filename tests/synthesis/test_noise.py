"""Data that contradict themselves: what is noise is set aside, and the rest is learned as if it were not there."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from test_worlds_that_can_be_said import steps

from worldcoder.envs import make
from worldcoder.experiment import Experiment, run
from worldcoder.programs import Check, Runner, load_model
from worldcoder.synthesis.rules.noise import Contradictions
from worldcoder.synthesis.rules.rewards import Rewards
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer
from worldcoder.world import Action, Obj, State, Transition

NOISY = "tests/worlds/noisy.py:make_env"


def walked(world: str, wanted: int, **noise: float) -> list[Transition]:
    """A random walk of so many steps, through levels of 25 steps."""
    rng, env = random.Random(1), make(NOISY, world=world, **noise)
    found: list[Transition] = []
    for seed in range(wanted):
        state, goal = env.reset(seed)
        for _ in range(25):
            action = rng.choice(list(env.actions(state)))
            step = env.step(action)
            found.append(Transition(state, goal, action, step.state, step.reward, step.done))
            state = step.state
            if len(found) == wanted:
                return found
            if step.done:
                break
    raise AssertionError("not reached")


def learned(seen: list[Transition], every: int) -> RulesSynthesizer:
    """The rules for these steps, fitted now and then on the way."""
    synthesizer = RulesSynthesizer()
    synthesizer.begin(seen[0].state, seen[0].goal, [transition.action for transition in seen])
    for i, transition in enumerate(seen, 1):
        synthesizer.observe(transition)
        if i % every == 0 or i == len(seen):
            synthesizer.fit()
    return synthesizer


@pytest.mark.parametrize("every", [20, 300])
@pytest.mark.parametrize("noise", [{"failing": 0.2}, {"wrong": 0.05}])
def test_what_is_learned_under_noise_is_exact(runner: Runner, noise: dict[str, float], every: int) -> None:
    seen = walked("sokoban", 300, **noise)
    synthesizer = learned(seen, every)
    program = synthesizer.transition_program()
    assert not runner.check(Check(steps("sokoban", range(600, 606), 300)), program)
    # what it does not reproduce is named, but for what an observation that is wrong leaves in the next one
    missed = {missed.index for missed in runner.check(Check(seen), program)}
    named = set(synthesizer.dynamics.unexplained())
    assert named <= missed and len(missed - named) <= 2
    assert len(missed) / 2 < len(synthesizer.noise) <= len(missed)


def test_how_often_a_rule_holds_is_said(runner: Runner) -> None:
    seen = walked("sokoban", 300, failing=0.2)
    text = learned(seen, 300).transition_program().source
    shares = {
        float(share): (int(right), int(of))
        for share, right, of in re.findall(
            r"with probability ([\d.]+): seen in (\d+) of (\d+) transitions", text
        )
    }
    assert shares
    for share, (right, of) in shares.items():
        assert 0.6 < share < 0.95 and abs(share - right / of) < 0.01


def test_nothing_is_set_aside_where_nothing_is_contradicted() -> None:
    synthesizer = learned(walked("sokoban", 150), 10)
    assert not synthesizer.dynamics.sieve.proven and not synthesizer.noise
    assert "probability" not in synthesizer.transition_program().source


def test_contradictions_are_named_once() -> None:
    found = Contradictions[str, int]()
    for index, (step, result) in enumerate([("a", 1), ("b", 1), ("a", 1), ("a", 2), ("a", 3), ("b", 2)]):
        found.observe(index, step, result)
    assert found.pairs == [(0, 3), (1, 5)]
    assert found.times == {"a": 4, "b": 2}


def test_a_reward_that_is_wrong_now_and_then_is_survived() -> None:
    rng, synthesizer = random.Random(0), RulesSynthesizer()

    def at(x: int) -> State:
        return State([Obj("Walker", x=x, y=0), Obj("Flag", x=4, y=0)])

    actions = [Action("left"), Action("right")]
    synthesizer.begin(at(0), "go", actions)
    x = 0
    for i in range(150):
        action = rng.choice(actions)
        then = max(0, min(4, x + (1 if action.name == "right" else -1)))
        done = then == 4
        reward = 7.0 if i % 20 == 3 and not done else float(done)
        synthesizer.observe(Transition(at(x), "go", action, at(then), reward, done))
        x = 0 if done else then
    synthesizer.fit()
    rewards: Rewards = synthesizer.rewards["go"]
    rewards.fit(synthesizer.dynamics.vocabulary)
    for mask, label in rewards.kept:
        assert rewards.lists[0].effect(mask) == label
    assert all(label[1] == 7.0 for i, (_, label) in enumerate(rewards.steps) if i in rewards.aside)
    assert len(rewards.aside) == sum(label[1] == 7.0 for _, label in rewards.steps)
    assert len(rewards.lists[0].rules) == 2


@pytest.mark.parametrize("noise", [{"failing": 0.2}, {"wrong": 0.04}])
def test_an_agent_learns_in_a_world_whose_actions_fail(
    noise: dict[str, float], runner: Runner, tmp_path: Path
) -> None:
    options = {"world": "sokoban", **noise}
    experiment = Experiment(NOISY, options=options, seed=0, levels="next", max_actions=80, polish=40)
    summary = run(experiment, tmp_path / "run", runner=runner, pictures=False)
    assert summary.solved
    assert summary.unexplained > 0 and summary.phi1 < 1
    model = load_model(tmp_path / "run" / "model")
    assert not runner.check(Check(steps("sokoban", range(600, 606), 200)), model.transition)

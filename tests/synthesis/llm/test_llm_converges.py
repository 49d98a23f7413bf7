"""The whole loop: an agent, REx, locked workers, and a scripted writer that makes typical mistakes."""

from __future__ import annotations

import random
from pathlib import Path
from statistics import median

import pytest
from learning import Learned, learn, levels, other_steps
from scripted_model import Scripted
from sokoban_writer import Payment, Physics, SokobanWriter

from worldcoder.envs import make
from worldcoder.programs import Check, Runner
from worldcoder.synthesis.bandit import STRATEGIES
from worldcoder.synthesis.llm.experience import Experience
from worldcoder.synthesis.llm.prompting import Prompter
from worldcoder.synthesis.llm.search import Search, Writing
from worldcoder.synthesis.llm.tasks import TransitionTask
from worldcoder.synthesis.llm.templates import Templates

SEEDS = range(20)


@pytest.fixture(scope="module")
def held_out() -> Check:
    return other_steps(size=6)


def run(seed: int, runner: Runner, held_out: Check, folder: Path, **settings: object) -> Learned:
    blank = bool(settings.pop("blank", False))
    most = int(str(settings.pop("most", 150)))
    asker = Scripted(SokobanWriter(seed), blank=blank, seed=seed)
    writing = Writing(**settings)  # type: ignore[arg-type]
    return learn(
        asker, runner, seed=seed, held_out=held_out, world=levels(folder), writing=writing, most=most
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_it_converges_by_repair(seed: int, runner: Runner, held_out: Check, tmp_path: Path) -> None:
    found = run(seed, runner, held_out, tmp_path)
    assert found.agent.counts.successes == 1 and found.exact
    assert found.agent.phi1 == 1.0
    program = found.agent.learner.program
    assert program is not None and Physics.of(program.source) == Physics()
    reward = found.agent.learner.rewards["win the game"]
    assert reward.learned and Payment.of(reward.program.source).done == "all"
    assert program.origin == "scripted/writer" and program.parent is not None  # not the first one
    assert max(found.asker.at_once) == Writing().in_flight
    prompts = [request.messages[-1].content for request in found.asker.requests]
    assert any("Your program says" in prompt for prompt in prompts)


@pytest.mark.parametrize("seed", [2, 3, 18])
def test_it_goes_where_something_is_new(seed: int, runner: Runner, held_out: Check) -> None:
    """On levels in which a box seldom meets another one: 150 actions did not suffice while every side counted."""
    asker = Scripted(SokobanWriter(seed))
    found = learn(asker, runner, seed=seed, held_out=held_out, world=make("sokoban", size=6))
    assert found.exact and found.agent.counts.successes


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_without_counterexamples_it_does_not(
    seed: int, runner: Runner, held_out: Check, tmp_path: Path
) -> None:
    found = run(seed, runner, held_out, tmp_path, blank=True, most=12)
    assert not found.exact and not found.agent.counts.successes
    assert found.proposer.exhausted


def test_the_same_seed_does_the_same_whatever_the_order_of_answers(
    runner: Runner, held_out: Check, tmp_path: Path
) -> None:
    def once(order: int) -> tuple[list[str], list[str]]:
        asker = Scripted(SokobanWriter(6), seed=order)
        writing = Writing(in_flight=4)
        found = learn(asker, runner, seed=6, held_out=held_out, world=levels(tmp_path), writing=writing)
        return found.decisions, [request.key for request in asker.requests]

    assert once(1) == once(2)


def steps_to_repair(strategy: str, seed: int, runner: Runner, seen: Check, calls: int) -> int:
    """How many answers it takes until a transition program reproduces some recorded steps; at most so many."""
    experience = Experience()
    for transition in seen.transitions:
        experience.observe(transition)
    writing = Writing(max_calls=calls, in_flight=1, bandit=STRATEGIES[strategy])
    task = TransitionTask(experience, runner, Prompter(Templates(), 8_000), {}, "scripted")
    asker = Scripted(SokobanWriter(seed, skill=0.6))
    search = Search(task, asker, writing, random.Random(seed))
    search.mend(len(experience.check))
    return search.calls if search.solved else calls + 1


def test_rex_needs_no_more_calls_than_the_baselines_on_equal_budgets(runner: Runner, held_out: Check) -> None:
    """In the median over seeds; a search that found nothing counts as one call more than it had."""
    seen = Check(held_out.transitions[:80])
    calls = {
        name: [steps_to_repair(name, seed, runner, seen, 20) for seed in range(6)] for name in STRATEGIES
    }
    middle = {name: median(found) for name, found in calls.items()}
    assert middle["rex"] <= min(middle["breadth-first"], middle["best-of-n"]), calls
    assert min(calls["rex"]) < 20

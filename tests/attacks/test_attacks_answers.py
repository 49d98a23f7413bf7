"""A program that scrambles whatever its worker answers: what comes of it has a type, and is never an exception."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from worldcoder.attacks.programs import (
    ARRIVED,
    BUDGET,
    GO,
    GOAL,
    STAY,
    WALK,
    healthy,
    new_runner,
    place,
    walked,
)
from worldcoder.planning import Plan, Status
from worldcoder.programs import Program, Runner

SCRAMBLED = """
import json, random
from worldcoder.sandbox.line import Line

RANDOM = random.Random({seed})
VALUES = [
    None, True, False, -1, 0, 1, 2, 3, 6, 10**6, 10**30, 1.0, 1.5, 1e308, "", "x", "found", "budget", [], [[]],
    [1], [[], []], [0, 0], {{}}, {{"a": 1}}, [[0], [1]], ["Walker", None, {{"x": 1}}], ["Walker", "n", {{"x": [1]}}],
]
done, ask = Line.done, Line.ask


def scrambled(value, depth=0):
    if depth and RANDOM.random() < 0.1:
        return RANDOM.choice(VALUES)
    if isinstance(value, dict):
        value = {{name: scrambled(v, depth + 1) for name, v in value.items()}}
        if value and RANDOM.random() < 0.03:
            value.pop(RANDOM.choice(list(value)))
    elif isinstance(value, list):
        value = [scrambled(v, depth + 1) for v in value]
        if RANDOM.random() < 0.08:
            value.insert(RANDOM.randrange(len(value) + 1), RANDOM.choice(VALUES))
        if value and RANDOM.random() < 0.08:
            value.pop(RANDOM.randrange(len(value)))
        if value and RANDOM.random() < 0.05:
            value.append(RANDOM.choice(value))
    return value


Line.done = lambda self, value: done(self, scrambled(json.loads(json.dumps(value))))
Line.ask = lambda self, question: ask(self, scrambled(json.loads(json.dumps(question))))
"""
SEEDS = (0, 14, 18, 1107, 5016, 5075, *range(20, 38))


@pytest.fixture(scope="module")
def impatient() -> Iterator[Runner]:
    with new_runner(frozenset()) as runner:
        yield runner


@pytest.mark.parametrize("seed", SEEDS)
def test_scrambled_answers(impatient: Runner, seed: int) -> None:
    hook = SCRAMBLED.format(seed=seed)
    program = Program(hook + WALK, "transition")
    reward = Program(ARRIVED, "reward", GOAL)
    check = walked()
    simulation = impatient.simulation(program, reward, place(0), [GO, STAY])
    asking = impatient.simulation(program, reward, place(0), lambda state: [GO, STAY])
    plans: list[Callable[[], Plan]] = [
        lambda: simulation.plan(budget=BUDGET),
        lambda: asking.plan(budget=BUDGET),
    ]
    impatient.check(check, program)
    impatient.check(check, program, {"*": reward})
    impatient.replay(check, program, {"*": reward})
    impatient.check(check, None, {"*": Program(hook + ARRIVED, "reward", GOAL)})
    assert len(simulation.predict_all([(place(x), GO) for x in range(4)])) == 4
    assert len(simulation.follow([GO] * 5)) <= 5
    for plan in plans:
        found = plan()
        if found.status is Status.FOUND:  # it may be right: the world has a way
            assert [step.done for step in simulation.follow(found.actions)][-1:] == [True]
    assert healthy(impatient) == ""

"""The check of recorded transitions: exact, in every order, and only where the programs are wrong."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from random_programs import ACTIONS, programs, states  # type: ignore[import-not-found]

from worldcoder.programs import Check, Program, Runner
from worldcoder.programs.inside.functions import RewardFunction, TransitionFunction
from worldcoder.programs.inside.simulator import Simulator
from worldcoder.world import Action, Obj, Ref, State, Transition


def play(transition: str, reward: str, state: State, steps: int) -> list[Transition]:
    """What a model says of random actions; a step that fails is left out."""
    rng, found = random.Random(0), []
    simulator = Simulator(TransitionFunction(transition), RewardFunction(reward), state, ACTIONS)
    for _ in range(steps):
        action = rng.choice(ACTIONS)
        prediction = simulator.predict(state, action)
        if prediction.state is not None:
            found.append(
                Transition(state, "win", action, prediction.state, prediction.reward, prediction.done)
            )
            state = prediction.state
    return found


def transition(source: str) -> Program:
    return Program(source, "transition")


def rewards(source: str, goal: str = "win") -> dict[str, Program]:
    return {goal: Program(source, "reward", goal)}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(truth=programs(), state=states())
def test_a_program_reproduces_what_it_made(runner: Runner, truth: tuple[str, str], state: State) -> None:
    check = Check(play(*truth, state, 25))
    assert runner.check(check, transition(truth[0]), rewards(truth[1])) == []
    assert runner.check(check, None, rewards(truth[1])) == []
    assert runner.replay(check, transition(truth[0]), rewards(truth[1])) is None


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(truth=programs(), guess=programs(), state=states())
def test_mismatches_are_those_of_single_predictions(
    runner: Runner, truth: tuple[str, str], guess: tuple[str, str], state: State
) -> None:
    recorded = play(*truth, state, 20)
    functions = TransitionFunction(guess[0]), RewardFunction(guess[1])
    expected = []
    for i, t in enumerate(recorded):
        p = Simulator(*functions, t.state, ACTIONS).predict(t.state, t.action)
        if p.error is not None:
            expected.append((i, "error"))
        elif p.state != t.next_state:
            expected.append((i, "state"))
        elif p.reward != t.reward:
            expected.append((i, "reward"))
        elif p.done != t.done:
            expected.append((i, "done"))
    check = Check(recorded)
    found = runner.check(check, transition(guess[0]), rewards(guess[1]))
    # where both the state and the reward program fail, either may be named
    assert [m.index for m in found] == [i for i, _ in expected]
    for mismatch, (_, what) in zip(found, expected, strict=True):
        assert mismatch.what == what or "error" in (mismatch.what, what)
        if mismatch.what == "state":
            t = recorded[mismatch.index]
            p = Simulator(*functions, t.state, ACTIONS).predict(t.state, t.action)
            assert mismatch.observed == t.next_state and p.state in (mismatch.predicted, None)
    first = runner.check(Check(recorded), transition(guess[0]), rewards(guess[1]), stop_after=1)
    assert first == found[:1]


def test_what_differs_is_named(runner: Runner) -> None:
    before, after = State([Obj("Me", x=0)]), State([Obj("Me", x=1)])
    check = Check([Transition(before, "win", Action("go"), after, 1.0, True)])
    go = "def transition(state, action):\n    state.one('Me').x += {}\n"
    pay = "def reward(state, action, next_state):\n    return {}\n"

    def run(step: str, result: str) -> tuple[object, ...]:
        (m,) = runner.check(check, transition(go.format(step)), rewards(pay.format(result), "*"))
        return m.what, m.predicted, m.observed

    assert run("2", "1, True") == ("state", State([Obj("Me", x=2)]), after)
    assert run("1", "0, True") == ("reward", 0.0, 1.0)
    assert run("1", "1, False") == ("done", False, True)
    assert run("1", "1 / 0, False") == ("error", None, None)
    assert run("1 / 0", "1, True") == ("error", None, None)
    right = transition(go.format("1"))
    assert runner.check(check, right, rewards(pay.format("1 + 1e-12, True"), "*")) == []
    assert runner.check(check, right, rewards(pay.format("3, True"), "another")) == []


def test_unnamed_objects_that_change_places_are_the_same(runner: Runner) -> None:
    """The hash tells them apart, the check does not."""
    before = State([Obj("Cup", x=0), Obj("Cup", x=1), Obj("Hand", holds=Ref(0))])
    after = State([Obj("Cup", x=0), Obj("Cup", x=1), Obj("Hand", holds=Ref(1))])
    swap = (
        "def transition(state, action):\n    hand = state.one('Hand')\n    a, b = state.all('Cup')\n"
        "    a.x, b.x = b.x, a.x\n"
    )
    assert before != after
    check = Check([Transition(before, "win", Action("go"), after, 0.0, False)])
    assert runner.check(check, transition(swap)) == []


def test_objects_that_are_alike_are_counted(runner: Runner) -> None:
    """Two equal objects without names are two: one that is taken away leaves one."""
    two, one = State([Obj("Coin", x=1), Obj("Coin", x=1)]), State([Obj("Coin", x=1)])
    take = "def transition(state, action):\n    state.remove(state.all('Coin')[0])\n"
    twice = "def transition(state, action):\n    state.add('Coin', x=1)\n"
    check = Check([Transition(two, "win", Action("take"), one, 0.0, False)])
    assert runner.check(check, transition(take)) == []
    (wrong,) = runner.check(check, transition(twice))
    assert wrong.predicted == State([Obj("Coin", x=1)] * 3)


def test_references_by_name_and_by_place(runner: Runner) -> None:
    """What a program makes of references comes out as the values that the world has."""
    cup, saw = Obj("Cup", x=0), Obj("Saw", name="saw", x=2)
    before = State([cup, saw, Obj("Hand", holds=None)])
    held = State([cup, saw, Obj("Hand", holds=cup)])
    other = State([cup, saw, Obj("Hand", holds=Ref("saw"))])
    program = (
        "def transition(state, action):\n    hand = state.one('Hand')\n"
        "    hand.holds = state.one(action.args[0])\n"
    )
    recorded = [
        Transition(before, "win", Action("take", ("Cup",)), held, 0.0, False),
        Transition(before, "win", Action("take", ("Saw",)), other, 0.0, False),
        Transition(held, "win", Action("take", ("Saw",)), other, 0.0, False),
        Transition(other, "win", Action("take", ("Saw",)), other, 0.0, False),
        Transition(other, "win", Action("take", ("Cup",)), other, 0.0, False),  # wrong
    ]
    (wrong,) = runner.check(Check(recorded), transition(program))
    assert (wrong.index, wrong.what, wrong.predicted) == (4, "state", held)


def test_the_same_situation_with_two_outcomes(runner: Runner) -> None:
    """A program can reproduce one of them; without a transition program each is judged by itself."""
    a, b = State([Obj("Me", x=0)]), State([Obj("Me", x=1)])
    go = Action("go")
    check = Check([Transition(a, "win", go, b, 1.0, False), Transition(a, "win", go, a, 0.0, False)])
    (wrong,) = runner.check(check, transition("def transition(state, action):\n    state.one('Me').x += 1\n"))
    assert (wrong.index, wrong.what) == (1, "state")
    pay = "def reward(state, action, next_state):\n    return float(next_state.one('Me').x), False\n"
    assert runner.check(check, None, rewards(pay)) == []


def test_a_check_grows(runner: Runner) -> None:
    """What is added later is run by workers that were there before, and by new ones."""
    states = [State([Obj("Me", x=x), Obj("Sign", y=0)]) for x in range(30)]
    go = transition(
        "def transition(state, action):\n    me = state.one('Me')\n    me.x = min(me.x + 1, 20)\n"
    )
    check = Check()
    for n, (before, after) in enumerate(pairwise(states)):
        check.add(Transition(before, "win", Action("go"), after, 0.0, False))
        found = runner.check(check, go)
        assert [m.index for m in found] == list(range(20, n + 1))
    assert runner.replay(check, go) is None


@pytest.mark.parametrize(
    "body",
    [
        "me.x = len(SEEN)",
        "me.x = random.randrange(1000)",
        "me.x += len(SEEN) > 2",
        "1 / (len(SEEN) - 3)",
    ],
)
def test_impure_programs_are_caught(runner: Runner, body: str) -> None:
    program = (
        "import random\nSEEN = []\ndef transition(state, action):\n    SEEN.append(1)\n"
        f"    me = state.one('Me')\n    {body}\n    return state\n"
    )
    states = [State([Obj("Me", x=x)]) for x in range(6)]
    check = Check([Transition(s, "win", Action("go"), s, 0.0, False) for s in states])
    found = runner.replay(check, transition(program))
    assert found is not None and found.what == "impure" and "same call" in (found.error or "")
    assert found.predicted != found.observed or "first:" in (found.error or "")
    pure = "def transition(state, action):\n    state.one('Me').x += 1\n"
    assert runner.replay(check, transition(pure)) is None


def test_impure_rewards_are_caught(runner: Runner) -> None:
    states = [State([Obj("Me", x=x)]) for x in range(6)]
    check = Check([Transition(s, "win", Action("go"), s, 0.0, False) for s in states])
    stay = transition("def transition(state, action):\n    return state\n")
    program = "SEEN = []\ndef reward(state, action, next_state):\n    SEEN.append(1)\n    return {}\n"
    for said in ("len(SEEN), False", "0, len(SEEN) == 2"):
        found = runner.replay(check, stay, rewards(program.format(said)))
        assert found is not None and found.what == "impure" and found.predicted != found.observed


def test_cases_that_leave_one_state_are_told_apart(runner: Runner) -> None:
    """They run together, in another order than they were recorded; mismatches come in order, repeats too."""
    a, b, c = (State([Obj("Me", x=x), Obj("Sign", x=9, y=0)]) for x in (0, 1, 2))
    go, stay = Action("go"), Action("stay")
    recorded = [
        Transition(a, "win", go, b, 0.0, False),
        Transition(b, "win", go, c, 0.0, False),
        Transition(a, "win", stay, b, 0.0, False),  # wrong: nothing moves
        Transition(b, "win", stay, b, 0.0, False),
        Transition(a, "win", stay, b, 0.0, False),  # the same again
        Transition(a, "win", go, b, 5.0, False),  # another reward for the same step
        Transition(a, "lose", go, b, 0.0, False),  # the same step for a goal that ends there
        Transition(b, "lose", go, c, 0.0, True),
    ]
    move = "def transition(state, action):\n    state.one('Me').x += action.name == 'go'\n"
    nothing = "def reward(state, action, next_state):\n    return 0, False\n"
    end = "def reward(state, action, next_state):\n    return 0, next_state.one('Me').x > state.one('Me').x\n"
    check = Check(recorded)

    def run(stop_after: int | None = None) -> list[tuple[int, str]]:
        programs = {**rewards(nothing), **rewards(end, "lose")}
        found = runner.check(check, transition(move), programs, stop_after=stop_after)
        return [(m.index, m.what) for m in found]

    expected = [(2, "state"), (4, "state"), (5, "reward"), (6, "done")]
    assert run() == expected
    assert [run(n) for n in range(1, 6)] == [expected[:n] for n in range(1, 6)]

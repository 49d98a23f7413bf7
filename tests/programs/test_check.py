"""The check of recorded transitions: exact, in every order, and only where the programs are wrong."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from test_memory import ACTIONS, programs, states  # type: ignore[import-not-found]

from worldcoder.programs import Check, RewardFunction, Simulator, TransitionFunction, check_pure
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


@settings(max_examples=100, deadline=None)
@given(truth=programs(), state=states())
def test_a_program_reproduces_what_it_made(truth: tuple[str, str], state: State) -> None:
    check = Check(play(*truth, state, 25))
    assert check.run(TransitionFunction(truth[0]), {"win": RewardFunction(truth[1])}) == []
    assert check.run(None, {"win": RewardFunction(truth[1])}) == []


@settings(max_examples=200, deadline=None)
@given(truth=programs(), guess=programs(), state=states())
def test_mismatches_are_those_of_single_predictions(
    truth: tuple[str, str], guess: tuple[str, str], state: State
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
    found = Check(recorded).run(functions[0], {"win": functions[1]})
    # where both the state and the reward program fail, either may be named
    assert [m.index for m in found] == [i for i, _ in expected]
    for mismatch, (_, what) in zip(found, expected, strict=True):
        assert mismatch.what == what or "error" in (mismatch.what, what)
    first = Check(recorded).run(functions[0], {"win": functions[1]}, stop_after=1)
    assert len(first) == min(1, len(found))


def test_what_differs_is_named() -> None:
    before, after = State([Obj("Me", x=0)]), State([Obj("Me", x=1)])
    check = Check([Transition(before, "win", Action("go"), after, 1.0, True)])
    go = "def transition(state, action):\n    state.one('Me').x += {}\n"
    pay = "def reward(state, action, next_state):\n    return {}\n"

    def run(step: str, result: str) -> tuple[object, ...]:
        (m,) = check.run(TransitionFunction(go.format(step)), {"*": RewardFunction(pay.format(result))})
        return m.what, m.predicted, m.observed

    assert run("2", "1, True") == ("state", State([Obj("Me", x=2)]), after)
    assert run("1", "0, True") == ("reward", 0.0, 1.0)
    assert run("1", "1, False") == ("done", False, True)
    assert run("1", "1 / 0, False") == ("error", None, None)
    assert run("1 / 0", "1, True") == ("error", None, None)
    right = TransitionFunction(go.format("1"))
    assert check.run(right, {"*": RewardFunction(pay.format("1 + 1e-12, True"))}) == []
    assert check.run(right, {"another": RewardFunction(pay.format("3, True"))}) == []


def test_unnamed_objects_that_change_places_are_the_same() -> None:
    """The hash tells them apart, the check does not."""
    before = State([Obj("Cup", x=0), Obj("Cup", x=1), Obj("Hand", holds=Ref(0))])
    after = State([Obj("Cup", x=0), Obj("Cup", x=1), Obj("Hand", holds=Ref(1))])
    swap = (
        "def transition(state, action):\n    hand = state.one('Hand')\n    a, b = state.all('Cup')\n"
        "    a.x, b.x = b.x, a.x\n"
    )
    assert before != after
    check = Check([Transition(before, "win", Action("go"), after, 0.0, False)])
    assert check.run(TransitionFunction(swap), {}) == []


@pytest.mark.parametrize(
    "body",
    [
        "me.x = len(SEEN)",
        "me.x = random.randrange(1000)",
        "me.x += len(SEEN) > 9",
    ],
)
def test_impure_programs_are_caught(body: str) -> None:
    program = (
        "import random\nSEEN = []\ndef transition(state, action):\n    SEEN.append(1)\n"
        f"    me = state.one('Me')\n    {body}\n    return state\n"
    )
    state = State([Obj("Me", x=0)])
    check = Check([Transition(state, "win", a, state, 0.0, False) for a in ACTIONS * 3])
    found = check_pure(check, TransitionFunction(program), {}, rng=random.Random(0))
    assert found is not None and found.what == "state" and "same call" in (found.error or "")
    pure = "def transition(state, action):\n    state.one('Me').x += 1\n"
    assert check_pure(check, TransitionFunction(pure), {}, rng=random.Random(0)) is None


def test_cases_that_leave_one_state_are_told_apart() -> None:
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
        rewards = {"win": RewardFunction(nothing), "lose": RewardFunction(end)}
        found = check.run(TransitionFunction(move), rewards, stop_after=stop_after)
        return [(m.index, m.what) for m in found]

    expected = [(2, "state"), (4, "state"), (5, "reward"), (6, "done")]
    assert run() == expected
    assert [run(n) for n in range(1, 6)] == [expected[:n] for n in range(1, 6)]

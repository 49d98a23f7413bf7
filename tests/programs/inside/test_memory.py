"""The memory of traced calls changes nothing but the time; programs of every sort give typed results."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest
from hypothesis import given, settings
from random_programs import ACTIONS, programs, states  # type: ignore[import-not-found]

from worldcoder.planning import Budget, Status, breadth_first, plan
from worldcoder.programs.inside.functions import RewardFunction, TransitionFunction
from worldcoder.programs.inside.simulator import Simulator
from worldcoder.world import Action, Obj, State


def explore(simulator: Simulator, nodes: int) -> list[Any]:
    """All steps up to so many, with the states as values."""
    found = []
    start = simulator.start()
    seen = {simulator.key(start)}
    queue = deque([start])
    while queue and len(found) < nodes:
        node = queue.popleft()
        steps, kept = [], []
        for action, key, reward, done in simulator.successors(node):
            kept.append(simulator.keep())
            steps.append([action, reward, done, sorted(map(bool, simulator.atoms())), simulator.unmet()])
            assert set(simulator.changed_atoms()) <= set(simulator.atoms())
            if key not in seen:
                seen.add(key)
                queue.append(kept[-1])
        for after, step in zip(kept, steps, strict=True):
            step[3] = simulator.state(after)
        found.extend(map(tuple, steps))
    return found


@settings(max_examples=400, deadline=None)
@given(programs=programs(), state=states())
def test_memory_changes_nothing(programs: tuple[str, str], state: State) -> None:
    results = []
    for remember in (False, True):
        simulator = Simulator(
            TransitionFunction(programs[0]), RewardFunction(programs[1]), state, ACTIONS, remember=remember
        )
        results.append((set(explore(simulator, 150)), simulator.crashed))
    assert results[0] == results[1]


@settings(max_examples=100, deadline=None)
@given(programs=programs(), state=states())
def test_every_step_is_what_a_fresh_model_predicts(programs: tuple[str, str], state: State) -> None:
    def fresh(start: State) -> Simulator:
        return Simulator(TransitionFunction(programs[0]), RewardFunction(programs[1]), start, ACTIONS)

    simulator = fresh(state)
    queue, seen = deque([simulator.start()]), {state}
    for _ in range(12):
        if not queue:
            break
        node = queue.popleft()
        before = simulator.state(node)
        steps = []
        for action, _, reward, done in simulator.successors(node):
            steps.append((action, reward, done, simulator.keep()))
        for action, reward, done, after in steps:
            prediction = fresh(before).predict(before, action)
            assert (prediction.state, prediction.reward, prediction.done) == (
                simulator.state(after),
                reward,
                done,
            )
            if prediction.state not in seen and prediction.state is not None:
                seen.add(prediction.state)
                queue.append(after)


LINE = State([Obj("Me", x=0, y=0), Obj("Goal", x=6, y=0)])
WALK = 'def transition(state, action):\n    me = state.one("Me")\n    '
ARRIVED = """
def reward(state, action, next_state):
    won = next_state.one("Me").x == next_state.one("Goal").x
    return float(won), won
"""


@pytest.mark.parametrize(
    "body",
    [
        "me.x += 1\n    return state",
        "me.x += 1",
        "me.x += 1\n    return list(state)",
        "me.x += 1\n    return {o for o in state}",
        "import copy\n    new = copy.deepcopy(state)\n    new.one('Me').x += 1\n    return new",
        "state.remove(me)\n    state.add('Me', x=me.x + 1, y=me.y)\n    return state",
        "import sys\n    me.x += 1\n    return (o for o in state)",
    ],
)
def test_programs_return_what_they_like(body: str) -> None:
    simulator = Simulator(TransitionFunction(WALK + body), RewardFunction(ARRIVED), LINE, ACTIONS)
    assert plan(simulator).status is Status.FOUND
    assert len(plan(simulator).actions) == 6
    assert simulator.predict(LINE, ACTIONS[0]).state == State([Obj("Me", x=1, y=0), Obj("Goal", x=6, y=0)])
    assert simulator.state(simulator.start()) == LINE


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise KeyError('x')", "KeyError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("return 3", "returned int"),
        ("return 'text'", "returned str"),
        ("return [1, 2]", "holds int"),
        ("me.x = [1]", "got list"),
        ("me.x = float('nan')", "finite"),
        ("me.x = state", "got LiveState"),
        ("me.kind = 3", "non-empty str"),
        ("del me.kind", "could be deleted"),
        ("me.name = 'x'", "keep their names"),
        ("me.friend = state.one('Goal')\n    state.remove(state.one('Goal'))", "removed"),
        ("state.remove(me)\n    state.remove(me)", "removed already"),
        ("state.add('Me', name=3)", "a name is a str"),
        ("state.add(3)", "a kind is"),
        ("state.one('Nobody').x = 1", "exactly one Nobody, found 0"),
        ("me.none.x = 1", "AttributeError"),
        ("return [me.kind for _ in range(3)] and [state]", "holds LiveState"),
        ("state.at([], 2)", "unhashable"),
        ("def f(): return f()\n    f()", "RecursionError"),
    ],
)
def test_bad_transition_programs_are_results_and_not_crashes(body: str, message: str) -> None:
    simulator = Simulator(TransitionFunction(WALK + body), RewardFunction(ARRIVED), LINE, ACTIONS)
    prediction = simulator.predict(LINE, ACTIONS[0])
    assert prediction.state is None and prediction.error is not None and message in prediction.error
    result = breadth_first(simulator)
    assert result.status is Status.UNREACHABLE
    assert simulator.crashed == 3 and simulator.last_error is not None and message in simulator.last_error
    assert simulator.state(simulator.start()) == LINE


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise KeyError('x')", "KeyError"),
        ("return 3", "expected (number, bool)"),
        ("return None", "expected (number, bool)"),
        ("return float('nan'), True", "expected (number, bool)"),
        ("next_state.one('Me').x = 3; return 1, True", "may not change the state"),
        ("state.one('Me').x = 3; return 1, True", "may not change the state"),
        ("next_state.add('Me'); return 1, True", "may not change the state"),
        ("state.remove(state.one('Me')); return 1, True", "may not change the state"),
    ],
)
def test_bad_reward_programs(body: str, message: str) -> None:
    reward = f"def reward(state, action, next_state):\n    {body}\n"
    simulator = Simulator(
        TransitionFunction(WALK + "me.x = (me.x + 1) % 3"), RewardFunction(reward), LINE, ACTIONS
    )
    prediction = simulator.predict(LINE, ACTIONS[0])
    assert prediction.error is not None and message in prediction.error
    assert breadth_first(simulator).status is Status.UNREACHABLE
    assert simulator.last_error is not None and message in simulator.last_error


@pytest.mark.parametrize(
    "hidden",
    [
        "me.x = min(6, me.x + (1 if CALLS % 3 else 0))",
        "me.x = min(6, me.x + random.choice([0, 1]))",
    ],
)
def test_a_plan_of_a_program_with_hidden_state_is_never_a_crash(hidden: str) -> None:
    program = (
        "import random\nCALLS = 0\ndef transition(state, action):\n    global CALLS\n    CALLS += 1\n"
        f'    me = state.one("Me")\n    {hidden}\n    return state\n'
    )
    simulator = Simulator(TransitionFunction(program), RewardFunction(ARRIVED), LINE, ACTIONS)
    result = plan(simulator, budget=Budget(2_000))
    assert result.status in Status
    assert len(result.actions) >= 6 or not result.found


def test_a_wrong_memory_is_found_out_by_replaying() -> None:
    """In the first call only, the program jumps to the goal; the plan that is returned does not."""
    program = (
        "CALLS = []\ndef transition(state, action):\n    CALLS.append(1)\n"
        '    me = state.one("Me")\n    me.x = 6 if len(CALLS) == 1 else min(6, me.x + 1)\n    return state\n'
    )
    simulator = Simulator(TransitionFunction(program), RewardFunction(ARRIVED), LINE, ACTIONS)
    result = plan(simulator)
    assert result.status is Status.FOUND and len(result.actions) == 6
    assert [done for _, done in simulator.replay(result.actions)] == [False] * 5 + [True]


def test_actions_may_depend_on_the_state() -> None:
    def actions(state: State) -> list[Action]:
        return [Action("go", (state.one("Me").x,))]

    program = WALK + "me.x = action.args[0] + 1"
    simulator = Simulator(TransitionFunction(program), RewardFunction(ARRIVED), LINE, actions)
    assert plan(simulator).actions == tuple(Action("go", (i,)) for i in range(6))


def test_without_a_reward_nothing_is_a_goal() -> None:
    simulator = Simulator(TransitionFunction(WALK + "me.x = (me.x + 1) % 4"), None, LINE, ACTIONS)
    assert plan(simulator).status is Status.UNREACHABLE


REFERRING = [
    # that a removed object is referred to is an error, though the program never looks at what refers to it
    (
        'if action.name == "left":\n        for o in state.all("Door"): o.near = None\n'
        '    if action.name == "right":\n        for o in state.all("Clock"): o.x = 1 - o.x\n'
        '    if action.name == "use":\n        for o in state.at(1, 0): state.remove(o)',
        'return len(next_state.all("Box")), False',
    ),
    # a reward that reads through a reference what the transition never looks at
    (
        'if action.name == "left":\n        for o in state.all("Box"): o.open = not o.open\n'
        '    if action.name == "use":\n        for o in state.all("Clock"): o.x = 1 - o.x',
        'return len(next_state.at(0, 0)) + 10 * state.one("Door").near.open, False',
    ),
    (
        'if action.name == "left":\n        for o in state.all("Box"): o.open = not o.open\n'
        '    if action.name == "use":\n        for o in state.all("Clock"): o.x = 1 - o.x',
        'return 10 * state.one("Door").near.open, False',
    ),
]


@pytest.mark.parametrize(("transition", "reward"), REFERRING)
def test_what_is_reached_by_references_counts_as_read(transition: str, reward: str) -> None:
    box = Obj("Box", x=1, y=0, open=False)
    state = State([box, Obj("Door", x=9, y=0, near=box), Obj("Clock", x=0, y=5)])
    programs = (
        f"def transition(state, action):\n    {transition}\n    return state\n",
        f"def reward(state, action, next_state):\n    {reward}\n",
    )
    results = []
    for remember in (False, True):
        functions = TransitionFunction(programs[0]), RewardFunction(programs[1])
        simulator = Simulator(*functions, state, ACTIONS, remember=remember)
        results.append((set(explore(simulator, 60)), simulator.crashed))
    assert results[0] == results[1]
    assert len({step[1] for step in results[0][0]}) == 2


def test_open_parts_are_counted_even_where_the_program_stops_earlier() -> None:
    """An `all` of the program's own, and items that cannot be looked at after one that failed."""
    own = "def all(items):\n    return True\n"
    for before, expected in (("", 2), (own, 0)):
        reward = (
            f'{before}def reward(state, action, next_state):\n    a, b = next_state.one("Me"), '
            'next_state.one("Goal")\n    return 1, all(o.x == 9 for o in (a, b))\n'
        )
        simulator = Simulator(TransitionFunction(WALK + "me.x += 1"), RewardFunction(reward), LINE, ACTIONS)
        for _, _, _, done in simulator.successors(simulator.start()):
            assert (simulator.unmet(), done) == (expected, before == own)
    late = "def reward(state, action, next_state):\n    return 1, all(1 // n == 2 for n in (1, 0))\n"
    simulator = Simulator(TransitionFunction(WALK + "me.x += 1"), RewardFunction(late), LINE, ACTIONS)
    steps = [(simulator.unmet(), done) for *_, done in simulator.successors(simulator.start())]
    assert steps == [(0, False)] * 3


def test_what_did_not_change_is_one_object_before_and_after() -> None:
    box = Obj("Box", x=1, y=0)
    state = State(
        [box, Obj("Door", x=9, y=0, near=box), Obj("Clock", x=0, y=5), Obj("Me", x=0, y=0, to=None)]
    )
    reward = (
        "def reward(state, action, next_state):\n"
        '    same = [state.one(k) is next_state.one(k) for k in ("Box", "Door", "Clock", "Me")]\n'
        '    equal = all(state.one(k) == next_state.one(k) for k in ("Box", "Door", "Clock", "Me"))\n'
        '    inside = next_state.one("Door").near is next_state.one("Box")\n'
        "    return sum(2**i for i, one in enumerate(same) if one), equal and inside\n"
    )
    for write, expected in (("Clock", 1 + 2 + 8), ("Box", 4 + 8), ("Me", 1 + 2 + 4)):
        transition = f'def transition(state, action):\n    state.one("{write}").y += 1\n'
        simulator = Simulator(TransitionFunction(transition), RewardFunction(reward), state, ACTIONS[:1])
        assert [step[2:] for step in simulator.successors(simulator.start())] == [(expected, True)]

"""Programs that misbehave are results of a type, with the transition that shows it; the runner goes on."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import worker_pids  # type: ignore[import-not-found]
from programs_for_sokoban import REWARD, THROUGH_BOXES, TRANSITION

from worldcoder.envs import make
from worldcoder.errors import ProgramError
from worldcoder.planning import PLANNERS, Budget, Status
from worldcoder.programs import Check, Program, Runner
from worldcoder.sandbox import Limits
from worldcoder.world import Action, Obj, State, Transition

QUICK = Limits(call_seconds=0.15, silence_seconds=0.6, request_seconds=10.0, memory=300 << 20)
GO, STAY = Action("go"), Action("stay")
LINE = [State([Obj("Me", x=x), Obj("Goal", x=8)]) for x in range(12)]
WALK = Program(
    "def transition(state, action):\n    me = state.one('Me')\n    me.x += action.name == 'go'\n",
    "transition",
)
ARRIVED = Program(
    "def reward(state, action, next_state):\n"
    "    won = next_state.one('Me').x == next_state.one('Goal').x\n    return float(won), won\n",
    "reward",
    "win",
)


@pytest.fixture(scope="module")
def quick() -> Iterator[Runner]:
    """A runner that loses patience soon."""
    with Runner(limits=QUICK) as runner:
        yield runner


def walked() -> Check:
    """What really happens on the line."""
    return Check(Transition(LINE[x], "win", GO, LINE[x + 1], float(x == 7), x == 7) for x in range(8))


def bad_at(x: int, deed: str) -> Program:
    """The right program, which does something bad in one place."""
    return Program(
        "import ctypes, os, sys, re, gc\n" + WALK.source + f"    if me.x == {x} + 1:\n        {deed}\n",
        "transition",
    )


DEEDS = [
    ("while True: pass", "timeout"),
    ("sum(range(10**12))", "timeout"),
    ("re.match('(a+)+$', 'a' * 60 + 'b')", "timeout"),
    ("x = [0] * 10**9", "memory"),
    ("x = []\n        while True: x.append(bytes(10**8))", "memory"),
    ("ctypes.string_at(0)", "crash"),
    ("os._exit(0)", "crash"),
    ("raise SystemExit", "error"),
    ("raise KeyboardInterrupt", "error"),
    ("raise GeneratorExit", "error"),
    ("raise type('Odd', (BaseException,), {'__str__': lambda self: 1 / 0})", "error"),
    ("def f(): f()\n        f()", "error"),
    ("open('/etc/passwd')", "error"),
]


@pytest.mark.parametrize(("deed", "failing"), DEEDS, ids=[deed[:24] for deed, _ in DEEDS])
def test_a_bad_deed_is_a_mismatch_with_its_transition(quick: Runner, deed: str, failing: str) -> None:
    found = quick.check(walked(), bad_at(5, deed), {"win": ARRIVED})
    assert [(m.index, m.what) for m in found] == [(5, failing)]
    assert found[0].error and "\n" not in found[0].error and len(found[0].error) <= 1000
    assert quick.check(walked(), WALK, {"win": ARRIVED}) == []


@pytest.mark.parametrize(
    ("deed", "failing"),
    [
        ("while True: pass", "timeout"),
        ("import ctypes; ctypes.string_at(0)", "crash"),
        ("1 / 0", "error"),
        ("return float('inf'), True", "error"),
    ],
)
def test_a_bad_reward_is_told_from_a_bad_transition(quick: Runner, deed: str, failing: str) -> None:
    source = ARRIVED.source.replace(
        "    won", f"    if next_state.one('Me').x == 4:\n        {deed}\n    won", 1
    )
    found = quick.check(walked(), WALK, {"win": Program(source, "reward", "win")})
    assert [(m.index, m.what) for m in found] == [(3, failing)]
    assert quick.check(walked(), WALK) == []


@pytest.mark.parametrize("deed", ["while True: pass", "import os; os._exit(7)"])
def test_a_program_that_always_fails_does_not_take_forever(quick: Runner, deed: str) -> None:
    program = Program(f"def transition(state, action):\n    {deed}\n", "transition")
    states = [State([Obj("Me", x=x)]) for x in range(400)]
    check = Check(Transition(s, "win", GO, s, 0.0, False) for s in states)
    began = time.perf_counter()
    found = quick.check(check, program)
    assert len(found) == 400 and {m.what for m in found} <= {"timeout", "crash"}
    assert 1 <= sum(m.seen for m in found) <= 3
    assert time.perf_counter() - began < 8


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def transition(state, action)\n    pass", "not Python"),
        ("x = 1", "defines no function transition"),
        ("1 / 0", "ZeroDivisionError"),
        ("import numpy", "programs may import"),
        ("while True: pass", "too long"),
        ("import os; os._exit(0)", "exit"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ("(" * 5000, "not Python"),
        ("\0", "not Python"),
    ],
)
def test_programs_that_do_not_load(quick: Runner, source: str, message: str) -> None:
    program = Program(source, "transition")
    with pytest.raises(ProgramError, match=message):
        quick.load(program)
    found = quick.check(walked(), program)
    assert len(found) == 8 and all(message in (m.error or "") for m in found)
    simulation = quick.simulation(program, ARRIVED, LINE[0], [GO])
    plan = simulation.plan()
    assert plan.status is Status.BUDGET and message in plan.fault.error
    prediction = simulation.predict(LINE[0], GO)
    assert prediction.state is None and message in (prediction.error or "")
    with pytest.raises(ProgramError):
        quick.load(WALK, ARRIVED, Program("def reward(): return", "transition"))
    quick.load(WALK, None, ARRIVED)


def test_a_reward_that_does_not_load(quick: Runner) -> None:
    broken = Program("def reward(state, action, next_state)", "reward", "win")
    found = quick.check(walked(), WALK, {"win": broken})
    assert len(found) == 8 and all("not Python" in (m.error or "") for m in found)
    assert quick.check(walked(), WALK) == []


# ── plans ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("search", PLANNERS)
def test_every_search_runs_inside(quick: Runner, search: str) -> None:
    simulation = quick.simulation(WALK, ARRIVED, LINE[0], [STAY, GO])
    plan = simulation.plan(search, budget=Budget(5_000, seconds=5.0))
    assert plan.found and plan.actions.count(GO) == 8 and plan.fault is None
    steps = simulation.follow(plan.actions)
    assert steps[-1].state == LINE[8] and steps[-1].done and steps[-1].reward == 1.0
    with pytest.raises(ValueError, match="no search is called"):
        simulation.plan("best")


def test_unreachable_is_told_from_out_of_budget(quick: Runner) -> None:
    assert quick.simulation(WALK, ARRIVED, LINE[0], [STAY]).plan().status is Status.UNREACHABLE
    limited = quick.simulation(WALK, ARRIVED, LINE[0], [GO]).plan(budget=Budget(3))
    assert limited.status is Status.BUDGET and limited.fault is None


@pytest.mark.parametrize(
    ("deed", "failing"),
    [
        ("while True: pass", "timeout"),
        ("1 / 0", "error"),
        ("sum(range(10**12))", "timeout"),
        ("ctypes.string_at(0)", "crash"),
        ("os._exit(0)", "crash"),
    ],
)
def test_where_a_search_died_is_found_out(quick: Runner, deed: str, failing: str) -> None:
    """A program that is right wherever it was checked, and takes its worker down in an imagined state."""
    plan = quick.simulation(bad_at(5, deed), ARRIVED, LINE[0], [STAY, GO]).plan()
    assert plan.status is (Status.UNREACHABLE if failing == "error" else Status.BUDGET)
    assert (plan.fault.failing, plan.fault.action) == (failing, GO)
    assert (plan.fault.state, plan.fault.goal) == (LINE[5], "win")
    without = [(plan.fault.state, plan.fault.action)]
    around = quick.simulation(bad_at(5, deed), ARRIVED, LINE[0], [STAY, GO], without=without).plan()
    assert around.status is Status.UNREACHABLE and around.fault is None


def test_a_search_in_which_every_call_loops_ends(quick: Runner) -> None:
    program = Program("def transition(state, action):\n    while True: pass\n", "transition")
    plan = quick.simulation(program, ARRIVED, LINE[0], [STAY, GO, Action("hop"), Action("jump")]).plan()
    assert plan.status is Status.BUDGET
    assert (plan.fault.failing, plan.fault.state, plan.fault.action) == ("timeout", LINE[0], Action("hop"))


def test_a_plan_that_does_not_come_out_is_no_plan(quick: Runner) -> None:
    """A program that keeps something: the search finds a way that is not there in another worker."""
    hidden = Program(
        "CALLS = []\ndef transition(state, action):\n    CALLS.append(1)\n"
        "    if len(CALLS) > 5: state.one('Me').x = 8\n",
        "transition",
    )
    plan = quick.simulation(hidden, ARRIVED, LINE[0], [STAY, GO, Action("hop"), Action("jump")]).plan(
        "breadth_first"
    )
    assert plan.status is not Status.FOUND
    if plan.status is Status.BUDGET:
        assert plan.fault.failing == "impure"


def test_actions_that_depend_on_the_state(quick: Runner) -> None:
    """The parent is asked, once for each state."""
    asked: list[State] = []

    def actions(state: State) -> list[Action]:
        asked.append(state)
        return [GO] if state.one("Me").x % 2 == 0 else [STAY, Action("leap", (1,))]

    leap = Program(WALK.source + "    if action.name == 'leap': me.x += action.args[0]\n", "transition")
    plan = quick.simulation(leap, ARRIVED, LINE[0], actions).plan()
    assert plan.found and [a.name for a in plan.actions] == ["go", "leap"] * 4
    assert all(isinstance(state, State) for state in asked)
    refused = quick.simulation(leap, ARRIVED, LINE[0], actions, without=[(LINE[0], GO)])
    assert refused.plan().status is Status.UNREACHABLE


def test_what_actions_raises_goes_on_to_the_caller(quick: Runner) -> None:
    def actions(state: State) -> list[Action]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        quick.simulation(WALK, ARRIVED, LINE[0], actions).plan()
    assert quick.simulation(WALK, ARRIVED, LINE[0], [GO]).plan().found


# ── single steps ─────────────────────────────────────────────────────────────────────────────────────────


def test_many_steps_of_which_some_take_the_worker_down(quick: Runner) -> None:
    simulation = quick.simulation(bad_at(5, "os._exit(1)"), ARRIVED, LINE[0], [GO])
    steps = [(LINE[x], GO) for x in (1, 2, 5, 3, 7, 4)]
    found = simulation.predict_all(steps)
    assert [p.failing for p in found] == [None, None, "crash", None, None, None]
    assert [p.state for p in found if p.state] == [LINE[x + 1] for x in (1, 2, 3, 7, 4)]
    assert [p.reward for p in found] == [0, 0, 0, 0, 1, 0]
    followed = simulation.follow([GO] * 8)
    assert [p.failing for p in followed] == [None] * 5 + ["crash"]


def test_steps_of_which_all_take_the_worker_down_end(quick: Runner) -> None:
    program = Program("import os\ndef transition(state, action):\n    os._exit(1)\n", "transition")
    found = quick.simulation(program, None, LINE[0], [GO]).predict_all([(s, GO) for s in LINE] * 20)
    assert len(found) == 240 and all(p.state is None and p.error for p in found)
    assert 1 <= sum(p.failing is not None for p in found) <= 4


# ── workers that do not do what they should ──────────────────────────────────────────────────────────────

PATCH = """
import sys
service = sys.modules["worldcoder.programs.inside.service"].Service
honest = service.handle
def handle(self, request, line):
    reply = honest(self, request, line)
    if request["do"] != "load":
        {lie}
    return reply
service.handle = handle
def transition(state, action):
    state.one("Me").x += action.name == "go"
"""


@pytest.mark.parametrize(
    "lie",
    [
        "reply['result'] = [10 ** 9] * len(reply['result'])",
        "reply['result'] = [-7] * len(reply['result'])",
        "reply['result'] = [None, 'x', {}] * 50",
        "reply['result'] = reply['result'] * 2",
        "reply['result'] = []",
        "reply['result'] = {'a': 1}",
        "reply.clear()",
        "reply['tables'] = 5",
        "reply['tables']['changes'] = [[[10 ** 6], [10 ** 7]]]",
        "reply['tables']['born'] = [['Me', None, {'x': {'ref': 'nobody'}}]] * 3",
        "reply['tables']['born'] = [['Me', None, {'name': 1}], [3], 4]",
        "reply['tables']['errors'] = [['odd', 'x']]",
        "reply['tables']['verdicts'] = [['much', True]]",
        "reply['unloadable'] = 7",
        "reply['failed'] = ['timeout']",
        "reply['located'] = [0, []]",
        "reply['position'] = 'here'",
        "reply['tables']['changes'] = [[[0], []]]; reply['result'] = [0, 0, -1]",
        "reply['result'] = [[0], 0, -1]",
        "reply['result'] = [True, 0, -1] + [1.0, 0, -1]",
        "reply = 3",
        "reply = [[[[[]]]]]",
    ],
)
def test_answers_of_every_wrong_form_are_results(quick: Runner, lie: str) -> None:
    """A program that owns its worker can answer what it likes; it is never believed, and nothing raises."""
    liar = Program(PATCH.format(lie=lie), "transition")
    check = walked()
    for _ in range(2):
        found = quick.check(check, liar, {"win": ARRIVED})
        assert all(m.what in ("state", "garbage", "error", "impure", "timeout") for m in found)
    quick.replay(check, liar, {"win": ARRIVED})
    simulation = quick.simulation(liar, ARRIVED, LINE[0], [GO])
    plan = simulation.plan()
    assert plan.status in Status and len(simulation.follow([GO] * 3)) <= 3
    assert len(simulation.predict_all([(s, GO) for s in LINE[:5]])) == 5
    assert quick.check(check, WALK, {"win": ARRIVED}) == []


def test_what_really_happened_is_told_to_nobody(runner: Runner) -> None:
    """No worker, first or later, holds the outcome of a transition, in whatever form."""
    source = """
import gc, sys, types
def transition(state, action):
    wanted, frame, left = int("424" + "242"), sys._getframe(), []
    while frame is not None:
        left.append(list(frame.f_locals.values()))
        frame = frame.f_back
    seen = set()
    while left:
        held = left.pop()
        if type(held) is int and held == wanted and held is not wanted:
            state.one("Me").x = held
            return
        if id(held) not in seen and not isinstance(held, (type, types.ModuleType, types.FunctionType)):
            seen.add(id(held))
            left += gc.get_referents(held)
"""
    start, end = State([Obj("Me", x=0)]), State([Obj("Me", x=424_242)])
    check = Check([Transition(start, "win", GO, end, 1.0, True)])
    control = Check([Transition(State([Obj("Me", x=0), Obj("Sign", x=424_242)]), "win", GO, end, 1.0, True)])
    for n in range(3):
        seeker = Program(f"{source}# {n}\n", "transition")
        (wrong,) = runner.check(check, seeker)
        assert wrong.what == "state" and wrong.predicted == start
        assert len(runner.check(check, WALK)) == 1
        assert runner.check(check, None, {"win": ARRIVED})
        assert runner.replay(check, WALK) is None
    (found,) = runner.check(control, Program(f"{source}# control\n", "transition"))
    assert isinstance(found.predicted, State) and found.predicted.one("Me").x == 424_242


# ── workers ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds workers by /proc")
def test_workers_that_are_killed_from_outside_change_nothing() -> None:
    state, goal = make("sokoban").reset(0)
    actions = make("sokoban").actions(state)
    model = Program(TRANSITION, "transition"), Program(REWARD, "reward", goal)
    with Runner() as runner:
        simulation = runner.simulation(*model, state, actions)
        expected = simulation.plan("breadth_first")
        stop, kills = threading.Event(), 0

        def kill() -> None:
            nonlocal kills
            while not stop.wait(0.004):
                for pid in worker_pids()[:1]:
                    try:
                        os.kill(pid, signal.SIGKILL)
                        kills += 1
                    except ProcessLookupError:
                        pass

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            for _ in range(10):
                again = runner.simulation(*model, state, actions)
                found = again.plan("breadth_first")
                assert (found.status, found.actions, found.nodes) == (
                    expected.status,
                    expected.actions,
                    expected.nodes,
                )
                assert again.follow(found.actions) == simulation.follow(expected.actions)
        finally:
            stop.set()
            killer.join()
    assert kills > 0


def test_several_candidates_at_once(quick: Runner) -> None:
    candidates = [
        (WALK, {"win": ARRIVED}),
        (bad_at(2, "1 / 0"), {}),
        (bad_at(3, "os._exit(1)"), {}),
        (None, {"win": ARRIVED}),
        (bad_at(4, "while True: pass"), {}),
    ]
    found = quick.check_all(walked(), candidates)
    assert [[(m.index, m.what) for m in one] for one in found] == [
        [],
        [(2, "error")],
        [(3, "crash")],
        [],
        [(4, "timeout")],
    ]


def test_workers_are_replaced_before_their_time_is_over() -> None:
    """The system ends a process that has used up its CPU time; no program is blamed for what others used."""
    loop = "def transition(state, action):\n    for _ in range(2_000_000): pass\n    state.one('Me').x += 1\n"
    program = Program(loop, "transition")
    with Runner(limits=Limits(cpu_seconds=1, call_seconds=1.0)) as runner:
        simulation = runner.simulation(program, ARRIVED, LINE[0], [GO])
        for _ in range(30):
            assert simulation.predict(LINE[3], GO).state == LINE[4]


def test_a_closed_runner_leaves_no_process() -> None:
    before = set(worker_pids())
    runner = Runner()
    assert runner.check(walked(), WALK) == []
    assert set(worker_pids()) > before
    runner.close()
    runner.close()
    assert set(worker_pids()) <= before


def test_programs_see_nothing_of_one_another(runner: Runner) -> None:
    """A program cannot leave anything behind for another one: it has a worker to itself."""
    spoiler = Program(
        "import builtins, math\nbuiltins.len = lambda x: 0\nmath.floor = None\n"
        "def transition(state, action):\n    return state\n",
        "transition",
    )
    honest = Program(
        "import math\ndef transition(state, action):\n    state.one('Me').x += len('a') * math.floor(1.5)\n",
        "transition",
    )
    check = walked()
    assert runner.check(check, spoiler)
    assert runner.check(check, honest) == []


def test_exactly_the_wrong_transitions_of_a_wrong_program(runner: Runner) -> None:
    """Sokoban with a program that lets boxes pass through each other."""
    state = State(
        [
            *[Obj("Wall", x=x, y=y) for x in range(6) for y in (0, 2)],
            Obj("Player", x=1, y=1),
            Obj("Box", x=2, y=1),
            Obj("Box", x=3, y=1),
        ]
    )
    after = State([*[o for o in state if o.kind == "Wall"], *state.all("Player"), *state.all("Box")])
    check = Check([Transition(state, "win the game", Action("right"), after, -0.1, False)])
    (wrong,) = runner.check(check, Program(THROUGH_BOXES, "transition"))
    assert wrong.what == "state" and isinstance(wrong.predicted, State)
    assert {(b.x, b.y) for b in wrong.predicted.all("Box")} == {(3, 1)}
    assert runner.check(check, Program(TRANSITION, "transition")) == []


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # one that comes in a finalizer
def test_an_interruption_at_any_moment_leaves_a_runner_that_works() -> None:
    """Ctrl-C comes between any two steps; whatever it tears is made anew."""
    state, goal = make("sokoban").reset(0)
    actions = make("sokoban").actions(state)
    model = Program(TRANSITION, "transition"), Program(REWARD, "reward", goal)
    environment, recorded = make("sokoban"), []
    before = environment.reset(0).state
    for action in list(actions) * 6:
        step = environment.step(action)
        recorded.append(Transition(before, goal, action, step.state, step.reward, step.done))
        before = step.state

    def interrupt(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    handler = signal.signal(signal.SIGALRM, interrupt)
    interrupted = 0
    try:
        with Runner() as runner:
            expected = runner.simulation(*model, state, actions).plan("breadth_first")
            for n in range(40):
                check = Check(recorded[: n + 5])
                signal.setitimer(signal.ITIMER_REAL, 0.0005 * (n + 1))
                try:
                    runner.check(check, model[0], {goal: model[1]})
                    runner.simulation(*model, recorded[n % len(recorded)].state, actions).plan()
                    signal.setitimer(signal.ITIMER_REAL, 0)
                except KeyboardInterrupt:
                    interrupted += 1
                assert runner.check(check, model[0], {goal: model[1]}) == []
                again = runner.simulation(*model, state, actions).plan("breadth_first")
                assert again.actions == expected.actions
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
    assert interrupted > 5

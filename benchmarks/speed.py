"""How fast programs run: nodes a second of every search, and recorded transitions checked a second.

    python benchmarks/speed.py

A node is one transition, its reward and the duplicate check. Everything runs on one 10×10 Sokoban level with
four boxes, with two programs that do the same: one scans the list of all objects, one asks for what it needs
(`one`, `at`). The baseline is what one writes first: plain objects, a deep copy for each call, states told
apart by a sorted tuple. Its scanning program is the same text. All ratios are to the baseline, measured in
the same run just before; each figure is the best of several. `width_search` is at its goal after some 1,600
nodes, of which many are the first of their sort, and starts again; `going on` is the same search of 100,000
nodes that takes no step for a goal. What random play recorded says much twice, and the check runs that once:
`none twice` is the same without.

Users' programs run in locked workers. What runs inside them is measured here without the lock, in this process,
which only a benchmark may do: the programs are the ones above. What the lock costs is in `benchmarks/sandbox.py`;
the last lines here have φ1 as users get it, from `Runner.check`: programs it has not seen, each in a new worker.
"""

from __future__ import annotations

import copy
import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any

from worldcoder.planning import PLANNERS, Budget, width_search
from worldcoder.programs import Check, Program, Runner
from worldcoder.programs.inside.answers import Answers
from worldcoder.programs.inside.functions import RewardFunction, TransitionFunction
from worldcoder.programs.inside.inputs import Inputs
from worldcoder.programs.inside.known import Known
from worldcoder.programs.inside.simulator import Simulator
from worldcoder.world import Action, Obj, State, Transition

LEVEL = """\
##########
###    . #
## .   $.#
##    .$ #
#####    #
####   ###
##### $###
#####$ ###
#####@####
##########
"""
KINDS = {"#": "Wall", ".": "Target", "$": "Box", "@": "Player"}
ACTIONS = tuple(Action(name) for name in ("up", "down", "left", "right"))
GOAL = "all boxes on targets"

SCANNING = """
MOVES = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}

def transition(state, action):
    dx, dy = MOVES[action.name]
    for o in state:
        if o.kind == "Player":
            player = o
    x, y = player.x + dx, player.y + dy
    box = None
    for o in state:
        if o.x == x and o.y == y:
            if o.kind == "Wall":
                return state
            if o.kind == "Box":
                box = o
    if box is not None:
        for o in state:
            if o.x == x + dx and o.y == y + dy and o.kind in ("Wall", "Box"):
                return state
        box.x += dx
        box.y += dy
    player.x, player.y = x, y
    return state
"""
ASKING = """
MOVES = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}

def transition(state, action):
    player = state.one("Player")
    dx, dy = MOVES[action.name]
    x, y = player.x + dx, player.y + dy
    if state.at(x, y, "Wall"):
        return state
    for box in state.at(x, y, "Box"):
        if any(o.kind != "Target" for o in state.at(x + dx, y + dy)):
            return state
        box.x, box.y = x + dx, y + dy
    player.x, player.y = x, y
    return state
"""
REWARD = """
def placed(state):
    return sum(bool(state.at(box.x, box.y, "Target")) for box in state.all("Box"))

def reward(state, action, next_state):
    if all(next_state.at(box.x, box.y, "Target") for box in next_state.all("Box")):
        return 10.9, True
    return -0.1 + placed(next_state) - placed(state), False
"""


def start() -> State:
    return State(
        Obj(KINDS[letter], x=x, y=y)
        for y, line in enumerate(LEVEL.splitlines())
        for x, letter in enumerate(line)
        if letter in KINDS
    )


class Plain:
    """An object of the baseline."""

    def __init__(self, kind: str, x: int, y: int) -> None:
        self.kind = kind
        self.x = x
        self.y = y


def plain(state: State) -> list[Plain]:
    return [Plain(o.kind, o.x, o.y) for o in state]


def plain_key(objects: list[Plain]) -> tuple[Any, ...]:
    return tuple(sorted((o.kind, o.x, o.y) for o in objects))


def plain_reward(before: list[Plain], after: list[Plain]) -> tuple[float, bool]:
    targets = {(o.x, o.y) for o in after if o.kind == "Target"}
    was = sum((o.x, o.y) in targets for o in before if o.kind == "Box")
    now = sum((o.x, o.y) in targets for o in after if o.kind == "Box")
    return (10.9, True) if now == 4 else (-0.1 + now - was, False)


def load_plain(source: str) -> Callable[[list[Plain], Action], list[Plain]]:
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    return namespace["transition"]  # type: ignore[no-any-return]


def baseline_search(nodes: int) -> int:
    """Breadth-first search over deep copies."""
    transition = load_plain(SCANNING)
    first = plain(start())
    queue, seen, count = deque([first]), {plain_key(first)}, 0
    while queue and count < nodes:
        state = queue.popleft()
        for action in ACTIONS:
            after = transition(copy.deepcopy(state), action)
            _, done = plain_reward(state, after)
            key = plain_key(after)
            count += 1
            if not done and key not in seen:
                seen.add(key)
                queue.append(after)
    return count


def record(steps: int) -> list[Transition]:
    """Random play with the asking program."""
    rng, first = random.Random(0), start()
    simulator = Simulator(TransitionFunction(ASKING), RewardFunction(REWARD), first, ACTIONS)
    node, state, found = simulator.start(), first, []
    for step in range(steps):
        if step % 50 == 0:
            node, state = simulator.start(), first
        action = rng.choice(ACTIONS)
        node, prediction = simulator.step(node, action)
        assert prediction.state is not None
        found.append(Transition(state, GOAL, action, prediction.state, prediction.reward, prediction.done))
        state = prediction.state
    return found


def baseline_check(
    cases: list[tuple[list[Plain], Action, tuple[Any, ...], float, bool]],
) -> int:
    transition = load_plain(SCANNING)
    for state, action, expected, reward, done in cases:
        after = transition(copy.deepcopy(state), action)
        gained, ended = plain_reward(state, after)
        assert plain_key(after) == expected and abs(gained - reward) < 1e-9 and ended == done
    return len(cases)


class Inside:
    """Recorded transitions as a worker holds them, and what programs have to say of them."""

    def __init__(self, transitions: Sequence[Transition]) -> None:
        self.inputs = Inputs()
        begun = dict.fromkeys((t.state, t.action) for t in transitions)
        for state, action in begun:
            self.inputs.add(state, action, 0)
        self.expected: list[tuple[int, int, int]] = []
        self.expected = self.said(TransitionFunction(ASKING), RewardFunction(REWARD), Answers(Known()))

    def said(
        self, transition: TransitionFunction, reward: RewardFunction, answers: Answers
    ) -> list[tuple[int, int, int]]:
        """What two programs say, in the numbers of `answers`."""
        numbers = range(len(self.inputs))
        return [
            *self.inputs.run(numbers, transition, lambda goal: reward, answers, after={}, at=lambda i: None)
        ]

    def check(self, transition: TransitionFunction, reward: RewardFunction, answers: Answers) -> None:
        """See that two programs reproduce all."""
        assert self.said(transition, reward, answers) == self.expected


_numbers = count()


def unseen(source: str) -> Program:
    """The same program with another text, so that nothing is known of it."""
    return Program(f"{source}\n# {next(_numbers)}\n", "transition")


def rate(run: Callable[[], int], repeat: int = 3, clock: Callable[[], float] = time.process_time) -> float:
    """The most that a run got through in a second of processor time."""
    best = 0.0
    for _ in range(repeat):
        began = clock()
        done = run()
        best = max(best, done / (clock() - began))
    return best


def main() -> None:
    base = rate(lambda: baseline_search(1_500))
    print(f"{'':24}{'scanning':>22}{'asking':>22}")
    print(f"{'baseline, breadth_first':24}{base:>12,.0f} /s{'1×':>7}")
    searches: dict[str, Callable[..., Any]] = dict(PLANNERS)
    searches["width_search, going on"] = partial(width_search, is_goal=lambda reward, done: False)
    for name, search in searches.items():
        line = f"{name:24}"
        for source in (SCANNING, ASKING):

            def run(source: str = source, search: Callable[..., Any] = search) -> int:
                nodes = 0
                while nodes < 60_000:  # a search that finds its goal early starts again
                    functions = TransitionFunction(source), RewardFunction(REWARD)
                    simulator = Simulator(*functions, start(), ACTIONS)
                    nodes += search(simulator, budget=Budget(100_000)).nodes
                return nodes

            found = rate(run)
            line += f"{found:>12,.0f} /s{found / base:>6.0f}×"
        print(line, flush=True)

    transitions = record(2_000)
    cases = [
        (plain(t.state), t.action, plain_key(plain(t.next_state)), t.reward, t.done)
        for t in transitions[:1_000]
    ]
    base = rate(lambda: baseline_check(cases))
    print(f"{'baseline, φ1':24}{base:>12,.0f} /s{'1×':>7}")
    different = list({(t.state, t.action): t for t in transitions}.values())
    both = {"φ1, as recorded": transitions, "φ1, none twice": different}
    for name, recorded in both.items():
        inside = Inside(recorded)
        line = f"{name:24}"
        for source in (SCANNING, ASKING):
            functions = TransitionFunction(source), RewardFunction(REWARD)

            def check_inside(
                functions: tuple[Any, Any] = functions, inside: Inside = inside, size: int = len(recorded)
            ) -> int:
                inside.check(*functions, Answers(Known()))
                return size

            found = rate(check_inside, 20)
            line += f"{found:>12,.0f} /s{found / base:>6.0f}×"
        print(line, flush=True)
    with Runner() as runner:
        rewards = {GOAL: Program(REWARD, "reward", GOAL)}
        for name, recorded in both.items():
            check = Check(recorded)
            line = f"{name + ', worker':24}"
            for source in (SCANNING, ASKING):

                def check_as_users_do(check: Check = check, source: str = source) -> int:
                    assert not runner.check(check, unseen(source), rewards)
                    return len(check)

                found = rate(check_as_users_do, 20, time.perf_counter)
                line += f"{found:>12,.0f} /s{found / base:>6.0f}×"
            print(line, flush=True)


if __name__ == "__main__":
    main()

"""A proposer whose programs are written beforehand, and a corridor for them: for tests of what the agent does
with programs that misbehave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from worldcoder.envs import Start, Step
from worldcoder.programs import Program
from worldcoder.synthesis.proposer import Counterexample, RewardProposal
from worldcoder.world import Action, Goal, Obj, State, Transition

FLAG = 10

HEAD = """
def transition(state, action):
    walker = state.one("Walker")
    to = max(0, walker.x + (1 if action.name == "east" else -1))
"""
RIGHT = HEAD + "    walker.x = to\n"

REWARD = f"""
def reward(state, action, next_state):
    there = next_state.one("Walker").x == {FLAG}
    return (1.0 if there else 0.0), there
"""

LOOPS = HEAD + "    while True:\n        pass\n"
EATS_MEMORY = HEAD + "    held = bytearray(1 << 40)\n    walker.x = to\n"
CRASHES = HEAD + "    import ctypes\n    ctypes.string_at(0)\n"
EXITS = HEAD + "    import os\n    os._exit(3)\n"
FLOODS = HEAD + "    walker.label = 'x' * (1 << 20)\n"
RAISES = HEAD + "    walker.x = to // 0\n"
ANSWERS_GARBAGE = """
import os
def transition(state, action):
    for descriptor in range(3, 30):
        try:
            os.write(descriptor, b"nonsense" * 100)
        except OSError:
            pass
"""
KEEPS_SOMETHING = """
farthest = 0
def transition(state, action):
    global farthest
    walker = state.one("Walker")
    farthest = max(farthest, walker.x)
    if walker.x == farthest:
        walker.x = max(0, walker.x + (1 if action.name == "east" else -1))
"""
"""Right on the first states of a walk in the order in which they were met, and wrong in any other."""


def loops_at(place: int) -> str:
    """Right as long as nobody goes east from there."""
    return HEAD + f"    while to > {place}:\n        pass\n    walker.x = to\n"


class Corridor:
    """A walker in a corridor with a flag at its end."""

    def reset(self, seed: int) -> Start:
        self.state = State([Obj("Walker", x=0, y=0), Obj("Flag", x=FLAG, y=0)])
        return Start(self.state, "reach the flag")

    def actions(self, state: State) -> list[Action]:
        return [Action("west"), Action("east")]

    def step(self, action: Action) -> Step:
        walker, flag = self.state.one("Walker"), self.state.one("Flag")
        x = max(0, walker.x + (1 if action.name == "east" else -1))
        self.state = State([walker.replace(x=x), flag])
        return Step(self.state, 1.0 if x == FLAG else 0.0, x == FLAG, False)


def make_env() -> Corridor:
    """A corridor, for `FILE.py:make_env`."""
    return Corridor()


class Scripted:
    """Proposes one transition program after the other: the next one when one is refuted, the last one for good.

    told: everything that `refute` was told.
    """

    name = "scripted"
    top_interest = 1.0
    noise: AbstractSet[int] = frozenset()

    def __init__(self, *sources: str, reward: str = REWARD) -> None:
        self.programs = [Program(source, "transition", origin=self.name) for source in sources]
        self.reward = Program(reward, "reward", goal="reach the flag", origin=self.name)
        self.told: list[tuple[Program, Counterexample]] = []
        self._at = 0
        self._known: set[tuple[State, Action]] = set()

    def begin(self, state: State, goal: Goal, actions: Sequence[Action]) -> None:
        pass

    def observe(self, transition: Transition) -> None:
        self._known.add((transition.state, transition.action))

    def refute(self, program: Program, counterexamples: Sequence[Counterexample]) -> None:
        self.told += [(program, found) for found in counterexamples]
        if program == self.programs[self._at] and self._at + 1 < len(self.programs):
            self._at += 1

    def fit(self) -> bool:
        return False

    def transition_program(self) -> Program:
        return self.programs[self._at]

    def optimistic_program(
        self, boldness: int = 0, without: Sequence[tuple[State, Action]] = ()
    ) -> Program | None:
        return None

    def reward_programs(self, goal: Goal, start: State) -> Iterator[RewardProposal]:
        yield RewardProposal(self.reward, learned=True)

    def cautious_program(self, steps: Sequence[tuple[State, Action]]) -> Program | None:
        return None

    def news_program(self, goal: Goal, start: State) -> Program | None:
        return None

    def disputes(self, goal: Goal, start: State) -> tuple[Program, Program] | None:
        return None

    def any_of(self, proposals: Sequence[RewardProposal]) -> Program | None:
        return None

    def evidence(self, program: Program) -> Program:
        return program

    def interest(
        self, state: State, action: Action, above: float = 0.0, *, disputed: bool | None = None
    ) -> float:
        return 0.0 if (state, action) in self._known else 1.0

"""Runs made by hand, for the tests of what is drawn from them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from worldcoder.envs import make
from worldcoder.programs import Program
from worldcoder.runs.log import RunLog
from worldcoder.world import Action, Obj, Ref, State, Transition

SOLVING = ("up", "down", "down", "left", "left", "left")
"""Solves level 0 of Sokoban."""

Step = tuple[Action, State, float, bool]


Episode = tuple[State, Sequence[Step]]


def record(folder: Path, environment: str, episodes: Sequence[Episode], *, truncated: bool = False) -> Path:
    """Write the log of a run with these episodes."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {"environment": environment, "options": {}, "seed": 0}
    with closing(RunLog.create(folder, {"config": config})) as log, log.transaction():
        taken = 0
        program = Program("def transition(state, action):\n    return state\n", "transition")
        log.add_program(1, program, None, 0.5, 3)
        for number, (start, steps) in enumerate(episodes, start=1):
            log.add_episode(number, 0, "win the game", start, taken)
            state = start
            for action, after, reward, done in steps:
                phi1 = min(1.0, taken / 5)
                log.add_decision(taken + 1, number, taken, action, "plan", "", phi1, "found", None)
                taken += 1
                last = truncated and after is steps[-1][1]
                step = Transition(state, "win the game", action, after, reward, done)
                log.add_transition(taken, number, step, last, {"total": taken / 10})
                state = after
    return folder


def sokoban_episode(*actions: str) -> tuple[State, list[Step]]:
    """An episode of level 0."""
    env = make("sokoban")
    start, _ = env.reset(0)
    steps = []
    for name in actions:
        step = env.step(Action(name))
        steps.append((Action(name), step.state, step.reward, step.done))
    return start, steps


def kitchen_episode() -> tuple[State, list[Step]]:
    """An episode of a world without places."""
    furniture = [Obj("Shelf", name="shelf"), Obj("Sink", name="sink")]
    places = ("shelf", "sink", "shelf")
    states = [State([*furniture, Obj("Cup", name="cup", inside=Ref(where))]) for where in places]
    moves = [Action("move", ("cup", where)) for where in places[1:]]
    return states[0], [(move, after, 0.0, False) for move, after in zip(moves, states[1:], strict=True)]

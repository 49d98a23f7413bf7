"""A small world for tests of prompts: a walker lights the lamps that it walks over."""

from __future__ import annotations

import random

from worldcoder.synthesis.llm.experience import Experience
from worldcoder.world import Action, Obj, State, Transition

GOAL = "light every lamp"
STEPS = {"east": 1, "west": -1}
ACTIONS = [*map(Action, STEPS), Action("wait")]


def start() -> State:
    """A row of six places, with a fence at both ends and two lamps."""
    return State(
        [
            Obj("Fence", x=0, y=0),
            Obj("Fence", x=5, y=0),
            Obj("Walker", x=2, y=0),
            Obj("Lamp", x=1, y=0, lit=False),
            Obj("Lamp", x=4, y=0, lit=False),
        ]
    )


def step(state: State, action: Action) -> State:
    """What an action leads to."""
    walker = state.one("Walker")
    x = walker.x + STEPS.get(action.name, 0)
    if state.at(x, 0, "Fence"):
        return state
    changed = [o.replace(x=x) if o is walker else o.replace(lit=True) if _at(o, x) else o for o in state]
    return State(changed)


def _at(o: Obj, x: int) -> bool:
    return o.kind == "Lamp" and o.x == x


def walk(actions: list[Action]) -> Experience:
    """What is seen on a way; nothing is ever rewarded."""
    seen, state = Experience(), start()
    seen.begin(state, GOAL, ACTIONS)
    for action in actions:
        after = step(state, action)
        seen.observe(Transition(state, GOAL, action, after, -0.1, False))
        state = after
    return seen


def experience() -> Experience:
    """A short walk in which something of every sort happens."""
    return walk([Action(name) for name in ("east", "wait", "east", "east", "west", "west", "west", "west")])


def lamps(steps: int) -> Experience:
    """A random walk."""
    rng = random.Random(0)
    return walk([rng.choice(ACTIONS) for _ in range(steps)])

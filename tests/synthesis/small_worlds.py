"""Small worlds that the tests of the rules learn, written as data: a start state and a function."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from worldcoder.world import Action, Obj, State, Transition

Rule = Callable[[State, Action], State]


def walk(start: State, rule: Rule, actions: Sequence[Action], steps: int, seed: int = 0) -> list[Transition]:
    """A random walk from a start, with no reward."""
    rng = random.Random(seed)
    state, found = start, []
    for _ in range(steps):
        action = rng.choice(actions)
        following = rule(state, action)
        found.append(Transition(state, "wander", action, following, 0.0, False))
        state = following
    return found


MOVES = {"n": (0, -1), "s": (0, 1), "w": (-1, 0), "e": (1, 0)}
STEPS = [Action(name) for name in MOVES]


def room(*objects: Obj, width: int = 6, height: int = 5) -> State:
    """Walls around, and whatever else there is."""
    rim = [
        Obj("Wall", x=x, y=y)
        for x in range(width)
        for y in range(height)
        if x in (0, width - 1) or y in (0, height - 1)
    ]
    return State([*rim, *objects])


def pushing(state: State, action: Action) -> State:
    """A walker pushes crates, one at a time, unless something is behind."""
    me = state.one("Walker")
    dx, dy = MOVES[action.name]
    x, y = me.x + dx, me.y + dy
    new = {me: me.replace(x=x, y=y)}
    for thing in state.at(x, y):
        if thing.kind == "Wall":
            return state
        if thing.kind == "Crate":
            if any(t.kind in ("Wall", "Crate") for t in state.at(x + dx, y + dy)):
                return state
            new[thing] = thing.replace(x=x + dx, y=y + dy)
    return State(new.get(o, o) for o in state)


def gathering(state: State, action: Action) -> State:
    """A walker picks up the coin it steps on, counts it, and presses a switch that opens the gates."""
    me = state.one("Walker")
    if action.name == "press":
        if state.at(me.x, me.y, "Switch"):
            return State(o.replace(open=not o.open) if o.kind == "Gate" else o for o in state)
        return state
    dx, dy = MOVES[action.name]
    there = state.at(me.x + dx, me.y + dy)
    if any(t.kind == "Wall" or (t.kind == "Gate" and not t.open) for t in there):
        return state
    coins = [t for t in there if t.kind == "Coin"]
    moved = me.replace(x=me.x + dx, y=me.y + dy, coins=me.coins + len(coins))
    return State(moved if o is me else o for o in state if o not in coins)


PUSHING_ROOM = room(
    Obj("Walker", x=1, y=1),
    Obj("Crate", x=2, y=2),
    Obj("Crate", x=4, y=3),
    Obj("Mark", x=3, y=2),
    width=7,
    height=6,
)
GATHERING_ROOM = room(
    Obj("Walker", x=1, y=1, coins=0),
    *[Obj("Coin", x=x, y=y) for x, y in ((2, 1), (3, 3), (1, 3), (5, 2))],
    Obj("Switch", x=2, y=2),
    *[Obj("Gate", x=4, y=y, open=False) for y in (1, 2, 3)],
    width=7,
)
GATHERING_STEPS = [*STEPS, Action("press")]

"""A room with a walker and four things, in which goals pay for being with one of them."""

from __future__ import annotations

import random
from collections.abc import Callable

from worldcoder.programs import Program
from worldcoder.programs.inside.loading import load_namespace
from worldcoder.synthesis.proposer import RewardProposal
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer
from worldcoder.world import Action, Obj, State, Transition
from worldcoder.world.live import LiveState

MOVES = {"west": (-1, 0), "east": (1, 0), "north": (0, -1), "south": (0, 1)}
ACTIONS = [*map(Action, MOVES), Action("ring")]
PLACES = {"Cup": (1, 1), "Jar": (3, 1), "Pan": (1, 3), "Pot": (3, 3)}
TINTS = ("teal", "rose", "gold", "sand")
MIDDLE = (2, 2)

Place = tuple[int, int]
Payment = Callable[[set[tuple[str, str]], str], tuple[float, bool]]
"""What is paid for the kinds and tints of the things where the walker is, and the action that led there."""


def room(walker: Place, tints: tuple[str, ...] = TINTS) -> State:
    things = (
        Obj(kind, x=x, y=y, tint=tint) for (kind, (x, y)), tint in zip(PLACES.items(), tints, strict=True)
    )
    return State([Obj("Walker", x=walker[0], y=walker[1]), *things])


def step(at: Place, action: Action, tints: tuple[str, ...]) -> tuple[Place, set[tuple[str, str]]]:
    dx, dy = MOVES.get(action.name, (0, 0))
    x, y = min(max(at[0] + dx, 0), 4), min(max(at[1] + dy, 0), 4)
    here = {(k, t) for (k, place), t in zip(PLACES.items(), tints, strict=True) if place == (x, y)}
    return (x, y), here


def episode(goal: str, payment: Payment, seed: int = 0, tints: tuple[str, ...] = TINTS) -> list[Transition]:
    """A random walk until the goal is reached; failures begin again."""
    rng = random.Random(seed)
    at, seen = MIDDLE, []
    while True:
        action = rng.choice(ACTIONS)
        to, here = step(at, action, tints)
        reward, done = payment(here, action.name)
        seen.append(Transition(room(at, tints), goal, action, room(to, tints), reward, done))
        if done and reward > 0:
            return seen
        at = MIDDLE if done else to


def reaching(kind: str) -> Payment:
    return lambda here, action: (1.0, True) if kind in {k for k, _ in here} else (0.0, False)


def ringing(kind: str) -> Payment:
    """A ring is the end, and rewarded in one place."""
    return lambda here, action: (
        (float(kind in {k for k, _ in here}), True) if action == "ring" else (0.0, False)
    )


def ringing_at(kind: str, tint: str) -> Payment:
    return lambda here, action: (float((kind, tint) in here), True) if action == "ring" else (0.0, False)


def learn(*episodes: list[Transition]) -> RulesSynthesizer:
    synthesizer = RulesSynthesizer()
    for seen in episodes:
        synthesizer.begin(seen[0].state, seen[0].goal, ACTIONS)
        for transition in seen:
            synthesizer.observe(transition)
        synthesizer.fit()
    return synthesizer


def proposals(synthesizer: RulesSynthesizer, goal: str) -> list[RewardProposal]:
    synthesizer.begin(room(MIDDLE), goal, ACTIONS)
    return list(synthesizer.reward_programs(goal, room(MIDDLE)))


def pays(program: Program, action: str, at: Place, tints: tuple[str, ...] = TINTS) -> tuple[float, bool]:
    """What a program gives for an action from a place."""
    reward = load_namespace(program.source, "reward")["reward"]
    to, _ = step(at, Action(action), tints)
    answer = reward(LiveState(room(at, tints)), Action(action), LiveState(room(to, tints)))
    return float(answer[0]), bool(answer[1])

"""A small world for the tests of runs: walk to the flag. Its options make it misbehave."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Sequence
from typing import Any, ClassVar

from worldcoder.envs import Start, Step
from worldcoder.world.values import Action, Obj, State

STEPS = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}
_built = itertools.count()


class Room:
    glyphs: ClassVar = {"Walker": "@", "Wall": "#", "Flag": "f"}

    def __init__(self, size: int, fails_at: int, drifts: bool, reward: Any, slow: float, limit: int) -> None:
        self._size = size
        self._fails_at = fails_at
        self._reward = reward
        self._slow = slow
        self._limit = limit
        self._drift = 1 + next(_built) % 2 if drifts else 0
        self._taken = 0

    def reset(self, seed: int) -> Start:
        rng = random.Random(seed)
        edge = self._size - 1
        ring = [(x, y) for x in range(self._size) for y in range(self._size) if {x, y} & {0, edge}]
        inside = [(x, y) for x in range(1, edge) for y in range(1, edge)]
        self._at, self._flag = rng.sample(inside, 2)
        self._walls = frozenset(ring)
        self._steps = 0
        return Start(self._state(), "walk to the flag")

    def step(self, action: Action) -> Step:
        self._taken += 1
        self._steps += 1
        if self._fails_at and self._taken >= self._fails_at:
            raise OverflowError("the walls came down\nand more")
        time.sleep(self._slow)
        dx, dy = STEPS[action.name]
        ahead = (self._at[0] + dx, self._at[1] + dy)
        if self._drift and self._taken == 3:
            ahead = (self._drift, self._drift)
        if ahead not in self._walls:
            self._at = ahead
        done = self._at == self._flag
        return Step(self._state(), self._reward if done else 0, done, not done and self._steps >= self._limit)

    def actions(self, state: State) -> Sequence[Action]:
        return [Action(name) for name in STEPS]

    def _state(self) -> State:
        walls = [Obj("Wall", x=x, y=y) for x, y in sorted(self._walls)]
        flag, walker = (Obj(k, x=c[0], y=c[1]) for k, c in (("Flag", self._flag), ("Walker", self._at)))
        return State([*walls, flag, walker])


def make_env(
    *,
    size: int = 6,
    fails_at: int = 0,
    drifts: bool = False,
    reward: float = 1,
    slow: float = 0.0,
    limit: int = 1000,
) -> Room:
    """Walk to the flag."""
    return Room(size, fails_at, drifts, reward, slow, limit)


def raises() -> Room:
    """A factory that fails."""
    raise RuntimeError("no such room")


class _WithoutState(Room):
    def step(self, action: Action) -> Any:
        return super().step(action)._replace(state=None)


def bad_step() -> Room:
    """Steps give no state."""
    return _WithoutState(6, 0, False, 1, 0.0, 1000)


def bad_reset() -> Any:
    """Resetting fails."""
    room = make_env()
    room.reset = lambda seed: 1 / 0  # type: ignore[assignment, method-assign]
    return room


NOT_A_FACTORY = 3


class _Odd(Room):
    """Steps and starts come in whatever form is asked for."""

    def __init__(self, form: str) -> None:
        super().__init__(6, 0, False, 1, 0.0, 1000)
        self._form = form

    def reset(self, seed: int) -> Any:
        start = super().reset(seed)
        return {"list": list(start), "plain": tuple(start), "state": start.state}.get(self._form, start)

    def step(self, action: Action) -> Any:
        state, reward, done, truncated = super().step(action)
        return {
            "plain": (state, reward, done, truncated),
            "list": [state, reward, int(done), int(truncated)],
            "three": (state, reward, done),
            "info": (state, reward, done, {}),
            "text": (state, "1", done, truncated),
            "none": None,
        }.get(self._form, Step(state, reward, done, truncated))


def odd(*, form: str) -> Any:
    """A world that does not return Start and Step."""
    return _Odd(form)

"""What the worlds of the lab share: everything of an environment but the rules.

A world of the lab is written as three functions: `draft`, which makes up a level; `after`, its rules, from a
situation and an action to what comes next; and `objects`, which says what a situation looks like as objects.
A situation is an immutable value of the world's own, so that a level is simply the first one, and a copy of
an environment need copy nothing.
"""

from __future__ import annotations

import copy
import random
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from worldcoder.envs.contract import Start, Step
from worldcoder.errors import WorldError
from worldcoder.world.values import Action, Goal, Obj, Part, State, part_of_state

S = TypeVar("S", bound=Hashable)

_DRAFTS = 5000  # levels to make up before giving up

thing = lru_cache(maxsize=1 << 16, typed=True)(Obj)
"""`Obj`, made once for the same values: the states of an episode share nearly all of theirs."""

_part = lru_cache(maxsize=1 << 16)(part_of_state)


class Outcome(NamedTuple, Generic[S]):
    """What an action leads to. done: the episode is over."""

    now: S
    reward: float = 0.0
    done: bool = False


class LabWorld(ABC, Generic[S]):
    """An environment out of rules.

    level: the first situation of every episode; without one every seed has its own. max_steps: actions after
    which an episode is truncated.
    """

    world: ClassVar[str]
    """Its name, as in `lab:name`."""
    goal: ClassVar[Goal] = ""
    glyphs: ClassVar[Mapping[str, str]]
    moves: ClassVar[Sequence[Action]] = ()
    """Its actions, where they do not depend on the state."""
    lengths: ClassVar[range] = range(4, 30)
    """How many actions the solution of a level may take."""
    effort: ClassVar[int] = 3000
    """How many situations may be looked at until a level's solution is found."""
    stages: ClassVar[bool] = False
    """Whether a level is looked through from one reward to the next, where it is too large at once."""

    def __init__(self, level: S | None = None, *, max_steps: int = 200) -> None:
        if max_steps < 1:
            raise WorldError(f"lab:{self.world}: max_steps={max_steps}: expected at least 1")
        self._level = level
        self._max_steps = max_steps
        self._steps = 0
        self._now: S | None = None
        self._scenery: list[Part] = []

    # ── what each world says ─────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def draft(self, rng: random.Random) -> S | None:
        """A level made up at random, which need not be solvable; None where it came out badly."""

    @abstractmethod
    def after(self, now: S, action: Action) -> Outcome[S]:
        """The rules."""

    @abstractmethod
    def objects(self, now: S) -> Iterable[Obj]:
        """What is there and may change."""

    def scenery(self, level: S) -> Iterable[Obj]:
        """What is there and stays as it is for the whole episode."""
        return ()

    def offered(self, now: S) -> Sequence[Action]:
        """The actions of a situation; the same as `actions` of its state."""
        return self.moves

    def tried(self, now: S) -> Sequence[Action]:
        """Those of them that may be part of a level's solution."""
        return self.offered(now)

    def goal_of(self, level: S) -> Goal:
        """The goal's sentence."""
        return self.goal

    def good(self, level: S, solution: Sequence[Action]) -> bool:
        """Whether a draft with this solution is taken for a level."""
        return len(solution) in self.lengths

    # ── the environment ──────────────────────────────────────────────────────────────────────────────────

    def reset(self, seed: int) -> Start:
        """Begin the level of a seed."""
        level = self._level if self._level is not None else _level_of(type(self), seed)
        self._now = level
        self._steps = 0
        self._scenery = sorted((_part(o) for o in self.scenery(level)), key=lambda part: part[0])
        return Start(self._seen(level), self.goal_of(level))

    def step(self, action: Action) -> Step:
        """Act, by the world's rules."""
        if self._now is None:
            when = "after the end of the episode" if self._steps else "before reset()"
            raise WorldError(f"lab:{self.world}: step() {when}; call reset(seed) first")
        offered = self.offered(self._now)
        if action not in offered:
            known = ", ".join(map(str, offered))
            raise WorldError(f"lab:{self.world}: there is no action {action} here; expected one of: {known}")
        now, reward, done = self.after(self._now, action)
        self._steps += 1
        truncated = not done and self._steps >= self._max_steps
        self._now = None if done or truncated else now
        return Step(self._seen(now), reward, done, truncated)

    def actions(self, state: State) -> Sequence[Action]:
        """The actions that can be chosen in a state."""
        return self.moves

    def _seen(self, now: S) -> State:
        objects = list(self.objects(now))
        if len({id(o) for o in objects}) < len(objects):  # two that are alike, at one place
            return State([*(part[1] for part in self._scenery), *objects])
        state = State.of_parts([*self._scenery, *(_part(o) for o in objects)])
        assert state is not None, "an object of the lab refers to others by their names"
        return state

    def __deepcopy__(self, memo: dict[int, Any]) -> LabWorld[S]:
        new = copy.copy(self)  # every value in it is immutable
        memo[id(self)] = new
        return new

    # ── levels ───────────────────────────────────────────────────────────────────────────────────────────

    def solution(self, level: S) -> tuple[Action, ...] | None:
        """Actions that lead from a situation to a rewarded end; None where none were found."""
        found: tuple[Action, ...] = ()
        now, budget = level, self.effort
        while True:
            way, outcome, looked = self._search(now, budget)
            if outcome is None:
                return None
            found, now, budget = found + way, outcome.now, budget - looked
            if outcome.done:
                return found

    def _search(self, start: S, limit: int) -> tuple[tuple[Action, ...], Outcome[S] | None, int]:
        """Breadth first to the nearest rewarded end, or, in stages, to where the return is above 0."""
        ways: dict[S, tuple[tuple[Action, ...], float]] = {start: ((), 0.0)}
        queue = [start]
        for looked, now in enumerate(queue, start=1):
            if looked > limit:
                break
            way, so_far = ways[now]
            for action in self.tried(now):
                outcome = self.after(now, action)
                total = so_far + outcome.reward
                if outcome.reward > 0 and (outcome.done or (self.stages and total > 0)):
                    return (*way, action), outcome, looked
                if not outcome.done and outcome.now not in ways:
                    ways[outcome.now] = ((*way, action), total)
                    queue.append(outcome.now)
        return (), None, limit


@lru_cache(maxsize=1024)
def _level_of(world: type[LabWorld[Any]], seed: int) -> Any:
    """The level of a seed: the first draft that can be solved and is neither too short nor too long."""
    maker = world()
    rng = random.Random(f"{world.world} {seed}")
    for _ in range(_DRAFTS):
        level = maker.draft(rng)
        solution = maker.solution(level) if level is not None else None
        if solution is not None and maker.good(level, solution):
            return level
    raise WorldError(f"lab:{world.world}: no level was found for seed {seed}; choose another seed")

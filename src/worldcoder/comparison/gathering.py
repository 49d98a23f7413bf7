"""Gathering tests: many different situations of the true world, with every action tried in each.

A world is entered by several kinds of walks, and then where it is least known: of all states met, the one
whose contexts were seen least comes next, now and then the one that gained most. From a state the world is
branched: by `copy.deepcopy` where that works (which is tried out first), else by taking the same actions from
`reset` again.
"""

from __future__ import annotations

import copy
import heapq
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from worldcoder.comparison.contexts import Contexts
from worldcoder.envs import Environment, Step
from worldcoder.errors import WorldError
from worldcoder.world.values import Action, Goal, State

Guide = Callable[[State, Goal], Sequence[Action]]
"""Actions that should lead from a state to a rewarded end; empty where none are known."""

_WALKS = 0.4  # share of the tests that walks may take; the rest goes to what is rare
_SAMPLED = 2000  # transitions that contexts are learned from


@dataclass(frozen=True, slots=True)
class Sample:
    """One action tried in one state of the true world; path leads there from `reset(seed)`."""

    seed: int
    goal: Goal
    path: tuple[Action, ...]
    state: State
    action: Action
    step: Step


class Branch:
    """A state of the world to which one can return.

    path: the actions that lead there from `reset(seed)`. gained: the rewards on the way, together.
    """

    def __init__(
        self,
        world: World,
        seed: int,
        goal: Goal,
        path: tuple[Action, ...],
        state: State,
        gained: float,
        base: Environment | None,
    ) -> None:
        self.seed = seed
        self.goal = goal
        self.path = path
        self.state = state
        self.gained = gained
        self._world = world
        self._base = base  # stands in the state before the last action of the path, until it is opened
        self._opened = not path

    def environment(self) -> Environment:
        """An environment that stands in this state, to be used once.

        Raises WorldError when the same actions lead to another state than before.
        """
        if self._base is None:
            environment = self._world.shared
            environment.reset(self.seed)
            actions = self.path
        else:
            environment = self._copy(self._base)
            actions = () if self._opened else self.path[-1:]
        state = self.state
        for action in actions:
            state = environment.step(action).state
        if state != self.state:
            raise WorldError(
                f"seed {self.seed}: the same {len(self.path)} actions led to another state than before; only"
                " worlds that repeat themselves can be compared; try worldcoder.testing.check_environment"
            )
        if self._base is not None and not self._opened:
            self._base, self._opened = environment, True
            return self._copy(environment)
        return environment

    def _copy(self, environment: Environment) -> Environment:
        """A copy that shares the objects of the state, which never change."""
        shared: dict[int, Any] = {id(o): o for o in (self.state, *self.state)}
        return copy.deepcopy(environment, shared)

    def after(self, action: Action, step: Step) -> Branch:
        """The branch that an action leads to; asked for once `environment` was."""
        path, gained = (*self.path, action), self.gained + step.reward
        return Branch(self._world, self.seed, self.goal, path, step.state, gained, self._base)


class World:
    """A world that can be branched.

    copies: whether by `copy.deepcopy`.
    """

    def __init__(self, make: Callable[[], Environment], seed: int, rng: random.Random) -> None:
        self._make = make
        self.shared = make()
        self.copies = _copies_work(make, seed, rng)

    def start(self, seed: int) -> Branch:
        """The start of a seed."""
        environment = self._make() if self.copies else self.shared
        start = environment.reset(seed)
        base = environment if self.copies else None
        return Branch(self, seed, start.goal, (), start.state, 0.0, base)

    def actions(self, state: State) -> Sequence[Action]:
        """What can be done in a state."""
        return self.shared.actions(state)


def _copies_work(make: Callable[[], Environment], seed: int, rng: random.Random, steps: int = 16) -> bool:
    """Whether copies of an environment go their own way, and go on as the original does."""
    environment = make()
    state = environment.reset(seed).state
    taken: list[tuple[Action, Step]] = []
    for _ in range(steps):
        action = rng.choice(environment.actions(state))
        step = environment.step(action)
        taken.append((action, step))
        state = step.state
        if step.done or step.truncated:
            break
    half = len(taken) // 2
    environment.reset(seed)
    for action, _ in taken[:half]:
        environment.step(action)
    try:
        wanderer, twin = copy.deepcopy(environment), copy.deepcopy(environment)
        state = taken[half - 1][1].state if half else make().reset(seed).state
        for _ in range(steps):
            step = wanderer.step(rng.choice(wanderer.actions(state)))
            state = step.state
            if step.done or step.truncated:
                break
        return all(e.step(action) == step for e in (environment, twin) for action, step in taken[half:])
    except Exception:  # a world need not be copyable, and says so in its own way
        return False


def gather(
    make: Callable[[], Environment],
    seeds: Sequence[int],
    *,
    wanted: int,
    guide: Guide,
    rng: random.Random,
    seconds: float | None = None,
) -> list[Sample]:
    """At least `wanted` samples, if the world has so many; every state with all of its actions.

    seconds: stop gathering after this time, even with fewer.
    """
    until = None if seconds is None else time.perf_counter() + seconds
    return _Gathering(World(make, seeds[0], rng), wanted, rng, until).run(seeds, guide)


_Key = tuple[Goal, State]
_Tried = list[tuple[Action, Step]]


class _Gathering:
    def __init__(self, world: World, wanted: int, rng: random.Random, until: float | None) -> None:
        self._world = world
        self._wanted = wanted
        self._rng = rng
        self._until = until
        self._samples: list[Sample] = []
        self._branches: dict[_Key, Branch] = {}  # every state met, in the order met
        self._tried: dict[_Key, _Tried] = {}  # what the actions of the expanded ones led to

    def run(self, seeds: Sequence[int], guide: Guide) -> list[Sample]:
        for i, seed in enumerate(seeds):
            if self._full():
                break
            start = self._world.start(seed)
            start = self._branches.setdefault((start.goal, start.state), start)
            until = int(self._wanted * _WALKS * (i + 1) / len(seeds))
            room = max(until - len(self._samples), 1)
            self._follow(start, guide(start.state, start.goal), len(self._samples) + room // 2)
            self._walk(start, self._moving, len(self._samples) + room // 4)
            self._walk(start, self._any, until)
            self._expand(start)
        self._seek_rare()
        return self._samples

    def _full(self, wanted: int | None = None) -> bool:
        late = self._until is not None and time.perf_counter() > self._until
        enough = len(self._samples) >= (self._wanted if wanted is None else wanted)
        return bool(self._samples) and (late or enough)

    def _expand(self, branch: Branch) -> _Tried:
        """Try every action here; what they led to."""
        key = (branch.goal, branch.state)
        if key not in self._tried:
            tried = [(a, branch.environment().step(a)) for a in self._world.actions(branch.state)]
            self._tried[key] = tried
            for action, step in tried:
                sample = Sample(branch.seed, branch.goal, branch.path, branch.state, action, step)
                self._samples.append(sample)
                self._reach(branch, action, step)
        return self._tried[key]

    def _reach(self, branch: Branch, action: Action, step: Step) -> Branch | None:
        """The branch that a step leads to, None where the episode is over."""
        if step.done or step.truncated:
            return None
        key = (branch.goal, step.state)
        if key not in self._branches:
            self._branches[key] = branch.after(action, step)
        return self._branches[key]

    # ── walks ────────────────────────────────────────────────────────────────────────────────────────────

    def _follow(self, start: Branch, actions: Sequence[Action], wanted: int) -> None:
        """Walk a plan, and expand what lies on it, its end first: there are the rewards."""
        way = [start]
        for action in actions:
            if action not in self._world.actions(way[-1].state):
                break
            branch = self._reach(way[-1], action, way[-1].environment().step(action))
            if branch is None:
                break
            way.append(branch)
        for branch in reversed(way):
            if self._full(wanted):
                return
            self._expand(branch)

    def _walk(self, start: Branch, choose: Callable[[Branch, _Tried], Sequence[Action]], wanted: int) -> None:
        """Walk, expanding every state on the way, and begin again where the episode ends."""
        branch, idle = start, 0
        while not self._full(wanted) and idle < 100:
            before = len(self._samples)
            tried = self._expand(branch)
            idle = 0 if len(self._samples) > before else idle + 1
            action = self._rng.choice(choose(branch, tried))
            branch = self._reach(branch, action, dict(tried)[action]) or start

    def _any(self, branch: Branch, tried: _Tried) -> Sequence[Action]:
        return [action for action, _ in tried]

    def _moving(self, branch: Branch, tried: _Tried) -> Sequence[Action]:
        """The actions that change something and lead to a state not expanded yet, as far as there are any."""
        changing = [(a, step) for a, step in tried if step.state != branch.state and not step.done]
        fresh = [a for a, step in changing if (branch.goal, step.state) not in self._tried]
        return fresh or [a for a, _ in changing] or self._any(branch, tried)

    # ── what is rare, and what is rewarded ───────────────────────────────────────────────────────────────

    def _seek_rare(self) -> None:
        """Expand the state whose contexts were seen least, again and again.

        A state's worth is the sum over its actions of 1 / (1 + how often that context was seen)². It only
        falls, so the best is found by looking again at the top of the heap alone. Each third time, the state
        comes next on whose way more was gained than steps usually bring: that leads to rewards and ends
        that the model knows nothing of.
        """
        sampled = self._rng.sample(self._samples, min(len(self._samples), _SAMPLED))
        contexts = Contexts((s.state, s.action, s.step) for s in sampled)
        usual = Counter(s.step.reward for s in sampled).most_common(1)[0][0]
        seen = Counter(contexts.before(s.state, s.action) for s in self._samples)
        rare: list[tuple[float, int, Branch, list[str]]] = []
        rewarded: list[tuple[float, float, int, Branch, list[str]]] = []
        pushed = 0

        def worth(names: Sequence[str]) -> float:
            return sum(1.0 / (1 + seen[name]) ** 2 for name in names)

        for turn in itertools.count():
            known = list(self._branches.items())
            for key, branch in known[pushed:]:
                if key not in self._tried:
                    actions = self._world.actions(branch.state)
                    names = [contexts.before(branch.state, action) for action in actions]
                    now = -worth(names)
                    luck = self._rng.randrange(1 << 40)  # among equals any; also keeps branches uncompared
                    heapq.heappush(rare, (now, luck, branch, names))
                    more = round(branch.gained - usual * len(branch.path), 9)
                    if more > 0:
                        heapq.heappush(rewarded, (-more, now, luck, branch, names))
            pushed = len(known)
            if self._full() or not rare:
                return
            if turn % 3 == 0 and rewarded:
                *_, branch, names = heapq.heappop(rewarded)
            else:
                before, luck, branch, names = heapq.heappop(rare)
                now = -worth(names)
                if now > before:
                    heapq.heappush(rare, (now, luck, branch, names))
                    continue
            if (branch.goal, branch.state) not in self._tried:
                self._expand(branch)
                seen.update(names)

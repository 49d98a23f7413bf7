"""Playing with a model: plan in it, act in the world, plan again when surprised. Nothing is learned."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from worldcoder.envs import Environment
from worldcoder.envs.guarded import guarded
from worldcoder.errors import ModelFormatError
from worldcoder.planning import Budget, Plan, Status, plan
from worldcoder.programs import (
    Actions,
    Prediction,
    RewardFunction,
    Simulator,
    TransitionFunction,
    WorldModel,
)
from worldcoder.programs.check import TOLERANCE
from worldcoder.world.values import Action, Goal, State

DEFAULT_BUDGET = Budget(nodes=1_000_000, seconds=60.0)
"""What one search may spend."""

ASTRAY = 20
"""An episode is given up after the world went elsewhere than predicted so many times."""

_PROBED = 60  # predicted states in which it is asked what can be done


class Reason(StrEnum):
    """Why an episode is over."""

    SOLVED = "solved"
    LOST = "the world ended it without a reward"
    TRUNCATED = "the world's time ran out"
    STEPS = "max_steps reached"
    UNREACHABLE = "the model says that no reward can be reached"
    BUDGET = "no plan within the budget"
    ASTRAY = "the world goes elsewhere than predicted again and again"
    NO_REWARD = "the model has no reward program for this goal"


@dataclass(frozen=True, slots=True)
class Moment:
    """What is to be seen in an episode: its start, and then each step.

    step: 0 at the start. action: what led here, None at the start. surprise: whether the model had predicted
    something else. planned: actions left of the plan.
    """

    seed: int
    goal: Goal
    step: int
    state: State
    action: Action | None
    reward: float
    done: bool
    surprise: bool
    planned: int


@dataclass(frozen=True, slots=True)
class PlayedEpisode:
    """One episode.

    returned: the sum of its rewards. length: actions taken. surprises: predictions that were wrong.
    plans: searches made; nodes, planning_seconds: what they took. plan: what the last one found out.
    """

    seed: int
    goal: Goal
    solved: bool
    reason: Reason
    returned: float
    length: int
    surprises: int
    plans: int
    plan: Status | None
    nodes: int
    planning_seconds: float

    def to_json(self) -> dict[str, Any]:
        values = asdict(self)
        return {**values, "return": values.pop("returned"), "reason": str(self.reason)}


@dataclass(frozen=True, slots=True)
class Played:
    """The episodes played. interrupted: whether Ctrl-C ended them early; an unfinished one is left out."""

    episodes: tuple[PlayedEpisode, ...]
    seconds: float
    interrupted: bool = False

    @property
    def solved(self) -> int:
        """How many were solved."""
        return sum(e.solved for e in self.episodes)

    @property
    def mean_return(self) -> float:
        """Over all episodes; 0 without any."""
        return sum(e.returned for e in self.episodes) / max(len(self.episodes), 1)

    @property
    def mean_length(self) -> float:
        """Actions, over all episodes; 0 without any."""
        return sum(e.length for e in self.episodes) / max(len(self.episodes), 1)

    def to_json(self) -> dict[str, Any]:
        """Plain dicts and lists, as `worldcoder play --json` prints them."""
        return {
            "episodes": len(self.episodes),
            "solved": self.solved,
            "mean_return": self.mean_return,
            "mean_length": self.mean_length,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "each": [e.to_json() for e in self.episodes],
        }


def play(
    model: WorldModel,
    environment: Environment,
    seeds: Sequence[int],
    *,
    budget: Budget = DEFAULT_BUDGET,
    max_steps: int = 500,
    planner: Callable[..., Plan] = plan,
    on_step: Callable[[Moment], None] | None = None,
) -> Played:
    """Solve the levels of some seeds with a model, learning nothing.

    An episode is solved when it ends with a positive reward. The model's plan is followed as long as the
    world goes where it was predicted to. Where it does not, a new plan is made from the state that is really
    there, without the action that led astray in its state. Rewards other than predicted are counted as
    surprises and change no plan.

    budget: of each search. max_steps: actions in an episode. planner: one of `worldcoder.planning`.
    on_step: told of each start and step while it happens. Ctrl-C ends it; what was played is returned.

    Raises ProgramError for a program that does not load, WorldError from the environment or for one that
    returns what it should not.
    """
    began = time.perf_counter()
    episodes: list[PlayedEpisode] = []
    interrupted = False
    player = _Player(model, guarded(environment), budget, max_steps, planner, on_step or _unseen)
    try:
        for seed in seeds:
            episodes.append(player.play(seed))
    except KeyboardInterrupt:
        interrupted = True
    return Played(tuple(episodes), time.perf_counter() - began, interrupted)


def _unseen(moment: Moment) -> None:
    """An observer that does nothing."""


class _Player:
    def __init__(
        self,
        model: WorldModel,
        environment: Environment,
        budget: Budget,
        max_steps: int,
        planner: Callable[..., Plan],
        show: Callable[[Moment], None],
    ) -> None:
        self._model = model
        self._environment = environment
        self._budget = budget
        self._max_steps = max_steps
        self._planner = planner
        self._show = show
        self._transition = TransitionFunction(model.transition.source)
        self._rewards: dict[Goal, RewardFunction | None] = {}

    def play(self, seed: int) -> PlayedEpisode:
        """One episode."""
        state, goal = self._environment.reset(seed)
        self._show(Moment(seed, goal, 0, state, None, 0.0, False, False, 0))
        reward = self._reward(goal)
        if reward is None:
            return PlayedEpisode(seed, goal, False, Reason.NO_REWARD, 0.0, 0, 0, 0, None, 0, 0.0)
        actions: Actions = self._fixed_actions(state, reward) or self._environment.actions
        refuted: set[tuple[State, Action]] = set()
        ahead: deque[tuple[State, Action, Prediction]] = deque()
        plans: list[Plan] = []
        returned, length, surprises, astray = 0.0, 0, 0, 0

        while True:
            reason: Reason | None = None
            if length >= self._max_steps:
                reason = Reason.STEPS
            elif astray > ASTRAY:
                reason = Reason.ASTRAY
            elif not ahead or ahead[0][0] != state:
                simulator = self._simulator(state, reward, actions, refuted)
                found = self._planner(simulator, budget=self._budget)
                plans.append(found)
                ahead = _predicted(simulator, state, found.actions)
                if not ahead:
                    reason = Reason.UNREACHABLE if found.status is Status.UNREACHABLE else Reason.BUDGET
            if reason is None:
                before, action, expected = ahead.popleft()
                if action not in self._environment.actions(before):  # they are not everywhere the same
                    actions = self._environment.actions
                    ahead.clear()
                    astray += 1
                    continue
                state, gained, done, truncated = self._environment.step(action)
                returned, length = returned + gained, length + 1
                elsewhere = expected.state != state or expected.done != done
                surprise = elsewhere or abs(expected.reward - gained) > TOLERANCE
                surprises += surprise
                if elsewhere:
                    astray += 1
                    refuted.add((before, action))
                    ahead.clear()
                self._show(Moment(seed, goal, length, state, action, gained, done, surprise, len(ahead)))
                if done:
                    reason = Reason.SOLVED if gained > 0 else Reason.LOST
                elif truncated:
                    reason = Reason.TRUNCATED
            if reason is not None:
                return PlayedEpisode(
                    seed=seed,
                    goal=goal,
                    solved=reason is Reason.SOLVED,
                    reason=reason,
                    returned=returned,
                    length=length,
                    surprises=surprises,
                    plans=len(plans),
                    plan=plans[-1].status if plans else None,
                    nodes=sum(p.nodes for p in plans),
                    planning_seconds=sum(p.seconds for p in plans),
                )

    def _reward(self, goal: Goal) -> RewardFunction | None:
        if goal not in self._rewards:
            try:
                program = self._model.reward(goal)
            except ModelFormatError:  # it knows other goals only
                program = None
            self._rewards[goal] = None if program is None else RewardFunction(program.source)
        return self._rewards[goal]

    def _simulator(
        self, state: State, reward: RewardFunction, actions: Actions, refuted: set[tuple[State, Action]]
    ) -> Simulator:
        if not refuted:
            return Simulator(self._transition, reward, state, actions)

        def allowed(here: State) -> Sequence[Action]:
            there_are = actions(here) if callable(actions) else actions
            return [a for a in there_are if (here, a) not in refuted]

        return Simulator(self._transition, reward, state, allowed)

    def _fixed_actions(self, start: State, reward: RewardFunction) -> Sequence[Action] | None:
        """The actions, if they are the same in the first predicted states; search is faster with these."""
        actions = tuple(self._environment.actions(start))
        simulator = Simulator(self._transition, reward, start, self._environment.actions)
        queue = deque([(simulator.start(), start)])
        seen = {simulator.key(simulator.start())}
        while queue and len(seen) < _PROBED:
            node, state = queue.popleft()
            if tuple(self._environment.actions(state)) != actions:
                return None
            for action in actions:
                after, prediction = simulator.step(node, action)
                key = simulator.key(after)
                if prediction.state is not None and not prediction.done and key not in seen:
                    seen.add(key)
                    queue.append((after, prediction.state))
        return actions


def _predicted(
    simulator: Simulator, state: State, actions: Sequence[Action]
) -> deque[tuple[State, Action, Prediction]]:
    """The steps of a plan: where it is, what it does, what should come of it."""
    steps: deque[tuple[State, Action, Prediction]] = deque()
    node = simulator.start()
    for action in actions:
        node, prediction = simulator.step(node, action)
        steps.append((state, action, prediction))
        if prediction.state is None:
            break
        state = prediction.state
    return steps

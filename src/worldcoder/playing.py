"""Playing with a model: plan in it, act in the world, plan again when surprised. Nothing is learned."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Protocol

from worldcoder.envs import Environment
from worldcoder.envs.guarded import guarded
from worldcoder.errors import ModelFormatError
from worldcoder.planning import Budget, Plan, Status
from worldcoder.planning.parts import Progress
from worldcoder.programs import (
    Actions,
    Fault,
    Prediction,
    Program,
    Runner,
    Simulation,
    WorldModel,
    default_runner,
)
from worldcoder.programs.check import TOLERANCE
from worldcoder.world.values import Action, Goal, State, Transition

DEFAULT_BUDGET = Budget(nodes=1_000_000, seconds=60.0)
"""What one search may spend."""

ASTRAY = 20
"""An episode is given up after the world went elsewhere than predicted so many times."""

_PROBED = 60  # predicted states in which it is asked what can be done
_FAULTS = 3  # searches made again without the step in which a program failed, in all episodes together


class ReadGoal(Protocol):
    """What a new goal is taken for."""

    @property
    def program(self) -> Program: ...
    @property
    def meaning(self) -> str: ...


NewGoals = Callable[[Goal, State], ReadGoal | None]
"""Reads a goal that a model does not know, from the start of an episode."""

Planner = Callable[..., Plan]
"""How a plan is searched for: called as planner(simulation, budget=budget)."""


class Reason(StrEnum):
    """Why an episode is over."""

    SOLVED = "solved"
    LOST = "the world ended it without a reward"
    TRUNCATED = "the world's time ran out"
    STEPS = "max_steps reached"
    UNREACHABLE = "the model says that no reward can be reached"
    BUDGET = "no plan within the budget"
    ASTRAY = "the world goes elsewhere than predicted again and again"
    FAULT = "a program of the model fails badly"
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
    fault: how a program failed in the last searches, where that left the episode without a plan. read_as: for a goal
    that the model does not know, how it was read; None for any other.
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
    fault: Fault | None = None
    read_as: str | None = None

    def to_json(self) -> dict[str, Any]:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        fault = None if self.fault is None else self.fault.to_json()
        return {**values, "return": values.pop("returned"), "reason": str(self.reason), "fault": fault}


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
    planner: Planner = Simulation.plan,
    on_step: Callable[[Moment], None] | None = None,
    runner: Runner | None = None,
    new_goals: NewGoals | None = None,
) -> Played:
    """Solve the levels of some seeds with a model, learning nothing.

    An episode is solved when it ends with a positive reward. The model's plan is followed as long as the
    world goes where it was predicted to. Where it does not, a new plan is made from the state that is really
    there, without the action that led astray in its state. Rewards other than predicted are counted as
    surprises and change no plan. A step in which a program of the model fails is not planned with; where it
    fails badly (it loops, crashes, ...) and no plan is found without that step, the episode says how.

    budget: of each search. max_steps: actions in an episode. planner: called with a `Simulation` and `budget=`;
    returns a plan. on_step: told of each start and step while it happens. runner: runs the programs; a common
    one where left out. new_goals: what to make of a goal that the model has no reward program for: a program and how
    it was read, or None. Ctrl-C ends it; what was played is returned.

    Raises ProgramError for a program that does not load, WorldError from the environment or for one that
    returns what it should not, SandboxError where programs cannot be run safely.
    """
    began = time.perf_counter()
    episodes: list[PlayedEpisode] = []
    interrupted = False
    player = _Player(
        model,
        guarded(environment),
        budget,
        max_steps,
        planner,
        on_step or _unseen,
        runner or default_runner(),
        new_goals or _unknown,
    )
    try:
        for seed in seeds:
            episodes.append(player.play(seed))
    except KeyboardInterrupt:
        interrupted = True
    return Played(tuple(episodes), time.perf_counter() - began, interrupted)


def _unseen(moment: Moment) -> None:
    """An observer that does nothing."""


def _unknown(goal: Goal, start: State) -> None:
    """What is made of a new goal where nobody can say."""


class _Player:
    def __init__(
        self,
        model: WorldModel,
        environment: Environment,
        budget: Budget,
        max_steps: int,
        planner: Planner,
        show: Callable[[Moment], None],
        runner: Runner,
        new_goals: NewGoals,
    ) -> None:
        self._new_goals = new_goals
        self._model = model
        self._environment = environment
        self._budget = budget
        self._max_steps = max_steps
        self._planner = planner
        self._show = show
        self._runner = runner
        self._faults = 0
        self._same: tuple[Action, ...] | None = None  # the actions there are everywhere; (): they differ
        runner.load(model.transition)

    def play(self, seed: int) -> PlayedEpisode:
        """One episode."""
        state, goal = self._environment.reset(seed)
        self._show(Moment(seed, goal, 0, state, None, 0.0, False, False, 0))
        reward, read_as = self._reward(goal, state)
        if reward is None:
            return PlayedEpisode(seed, goal, False, Reason.NO_REWARD, 0.0, 0, 0, 0, None, 0, 0.0)
        self._runner.load(reward)
        start = state
        actions = self._actions_from(start, reward)
        refuted: dict[tuple[State, Action], None] = {}
        ahead: deque[tuple[State, Action, Prediction]] = deque()
        plans: list[Plan] = []
        fault: Fault | None = None
        returned, length, surprises, astray = 0.0, 0, 0, 0
        progress: Progress = 0

        while True:
            reason: Reason | None = None
            if length >= self._max_steps:
                reason = Reason.STEPS
            elif astray > ASTRAY:
                reason = Reason.ASTRAY
            elif not ahead or ahead[0][0] != state:
                simulation = self._simulation(reward, state, actions, refuted, progress)
                found = self._planner(simulation, budget=self._budget)
                plans.append(found)
                ahead = _predicted(simulation, state, found.actions)
                bad = _badly(found.fault)
                fault = None if ahead else bad or fault
                if not ahead:
                    failing = self._failing_step(bad, refuted)
                    if failing is not None:
                        refuted[failing] = None
                        continue
                    if not callable(actions) and not self._same_everywhere(start, reward, actions):
                        self._same, actions = (), self._environment.actions
                        continue
                    reason = Reason.FAULT if fault is not None else _without_plan(found.status)
            if reason is None:
                before, action, expected = ahead.popleft()
                if action not in self._environment.actions(before):  # they are not everywhere the same
                    actions = self._environment.actions
                    ahead.clear()
                    astray += 1
                    continue
                state, gained, done, truncated = self._environment.step(action)
                returned, length = returned + gained, length + 1
                if reward.order:
                    step = Transition(before, goal, action, state, gained, done)
                    progress = self._runner.advance(reward, progress, step)
                elsewhere = expected.state != state or expected.done != done
                surprise = elsewhere or abs(expected.reward - gained) > TOLERANCE
                surprises += surprise
                if elsewhere:
                    astray += 1
                    refuted[before, action] = None
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
                    fault=fault,
                    read_as=read_as,
                )

    def _reward(self, goal: Goal, start: State) -> tuple[Program | None, str | None]:
        """The reward program for a goal, and how the goal was read where the model knows others only."""
        try:
            return self._model.reward(goal), None
        except ModelFormatError:
            found = self._new_goals(goal, start)
            return (None, None) if found is None else (found.program, found.meaning)

    def _failing_step(
        self, fault: Fault | None, refuted: Mapping[tuple[State, Action], None]
    ) -> tuple[State, Action] | None:
        """The step in which a program failed, if it is worth a search without it."""
        if fault is None or fault.state is None or fault.action is None:
            return None
        step = fault.state, fault.action
        self._faults += 1
        return None if step in refuted or self._faults > _FAULTS else step

    def _simulation(
        self,
        reward: Program,
        state: State,
        actions: Actions,
        without: Collection[tuple[State, Action]] = (),
        progress: Progress = 0,
    ) -> Simulation:
        return self._runner.simulation(
            self._model.transition, reward, state, actions, without=tuple(without), progress=progress
        )

    def _actions_from(self, start: State, reward: Program) -> Actions:
        """What can be done: the actions themselves where they seem to be the same everywhere.

        Search is faster with these. The first level tells; one in which no plan is found is looked at as well.
        """
        there_are = tuple(self._environment.actions(start))
        if self._same is None:
            self._same = there_are if self._same_everywhere(start, reward, there_are) else ()
        return there_are if there_are == self._same else self._environment.actions

    def _same_everywhere(self, start: State, reward: Program, actions: Sequence[Action]) -> bool:
        """Whether these are the actions of the first predicted states; no, where the model does not tell."""
        simulation = self._simulation(reward, start, actions)
        seen, layer = {start}, [start]
        while layer and len(seen) < _PROBED:
            if any(tuple(self._environment.actions(state)) != actions for state in layer):
                return False
            steps = [(state, action) for state in layer for action in actions]
            layer = []
            for prediction in simulation.predict_all(steps):
                after = prediction.state
                if after is None and prediction.failing != "error":
                    return False
                if after is not None and not prediction.done and after not in seen and len(seen) < _PROBED:
                    seen.add(after)
                    layer.append(after)
        return True


def _badly(fault: Fault | None) -> Fault | None:
    """The fault, if it leaves open what the model says; a step that raises an error just leads nowhere."""
    return None if fault is None or fault.failing == "error" else fault


def _without_plan(status: Status) -> Reason:
    return Reason.UNREACHABLE if status is Status.UNREACHABLE else Reason.BUDGET


def _predicted(
    simulation: Simulation, state: State, actions: Sequence[Action]
) -> deque[tuple[State, Action, Prediction]]:
    """The steps of a plan: where it is, what it does, what should come of it."""
    steps: deque[tuple[State, Action, Prediction]] = deque()
    for action, prediction in zip(actions, simulation.follow(actions), strict=False):
        steps.append((state, action, prediction))
        if prediction.state is None:
            break
        state = prediction.state
    return steps

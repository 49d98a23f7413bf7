"""A model against the real environment: exactly, on tests that cover every context evenly."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from worldcoder.comparison.contexts import Contexts
from worldcoder.comparison.gathering import Sample, gather
from worldcoder.comparison.words import end_in_words, reward_in_words, state_in_words, without_places
from worldcoder.envs import Environment
from worldcoder.envs.guarded import guarded
from worldcoder.errors import ModelFormatError, UsageError
from worldcoder.planning import Budget
from worldcoder.programs import Prediction, Program, Runner, Simulation, WorldModel, default_runner
from worldcoder.programs.check import TOLERANCE
from worldcoder.world.values import Action, Goal, State

What = Literal["state", "reward", "done", "error"]

_POOL = 3  # samples gathered for each test drawn
_SHARE = 0.8  # of the time allowed, for gathering
_PLAN = Budget(nodes=20_000)
_GUIDED = 10  # seeds for which the model is asked for a plan
_SAMPLED = 4000  # transitions that the contexts are learned from


@dataclass(frozen=True, slots=True)
class Mistake:
    """A test that the model got wrong.

    path: the actions from `reset(seed)` to `state`. what: the part that differs first; "error" where a
    program failed: `predicted` then says how, with the message. difference: in words. context: its first
    context.
    """

    seed: int
    path: tuple[Action, ...]
    goal: Goal
    state: State
    action: Action
    what: What
    predicted: Prediction
    observed: Prediction
    difference: str
    context: str

    def to_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "path": [a.to_json() for a in self.path],
            "goal": self.goal,
            "state": self.state.to_json(),
            "action": self.action.to_json(),
            "what": self.what,
            "predicted": _prediction_to_json(self.predicted),
            "observed": _prediction_to_json(self.observed),
            "difference": self.difference,
            "context": self.context,
        }


def _prediction_to_json(prediction: Prediction) -> dict[str, Any]:
    if prediction.state is None:
        return {"error": prediction.error, "failing": prediction.failing}
    return {"state": prediction.state.to_json(), "reward": prediction.reward, "done": prediction.done}


@dataclass(frozen=True, slots=True)
class Repeated:
    """A mistake that was made in so many tests, wherever it happened.

    difference: in words, without places; how far something moves stands for where to. example: one of them.
    """

    action: Action
    difference: str
    count: int
    example: Mistake

    def to_json(self) -> dict[str, Any]:
        return {
            "action": self.action.to_json(),
            "difference": self.difference,
            "count": self.count,
            "example": self.example.to_json(),
        }


@dataclass(frozen=True, slots=True)
class WrongContext:
    """A context in which the model is wrong, in words, with how many tests it had and how many were wrong."""

    context: str
    tested: int
    wrong: int

    def to_json(self) -> dict[str, Any]:
        return {"context": self.context, "tested": self.tested, "wrong": self.wrong}


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a model fares against the real environment.

    tested: tests made. wrong: those that the model did not get exactly right. contexts: kinds of situations
    tested. contexts_exact: those without a mistake. mistakes: the first ones, one from each wrong context
    before a second from any. repeated: the same mistakes put together, the most frequent first.
    wrong_contexts: the ones with most mistakes first. first_error: how a program failed first, if one did.
    without_reward: goals for which the model has no reward program; there, only states were compared.
    seconds: wall-clock time.
    """

    tested: int
    wrong: int
    contexts: int
    contexts_exact: int
    mistakes: tuple[Mistake, ...]
    wrong_contexts: tuple[WrongContext, ...]
    without_reward: tuple[Goal, ...]
    seconds: float
    repeated: tuple[Repeated, ...] = ()
    first_error: str | None = None

    @property
    def exact(self) -> float:
        """Share of the tests that the model got exactly right: state, reward and end."""
        return 1 - self.wrong / self.tested if self.tested else 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain dicts and lists, as `worldcoder compare --json` prints them."""
        return {
            "tested": self.tested,
            "exact": self.exact,
            "contexts": self.contexts,
            "contexts_exact": self.contexts_exact,
            "mismatches": [m.to_json() for m in self.mistakes],
            "repeated": [r.to_json() for r in self.repeated],
            "first_error": self.first_error,
            "wrong_contexts": [c.to_json() for c in self.wrong_contexts],
            "without_reward": list(self.without_reward),
            "seconds": self.seconds,
        }


def compare(
    model: WorldModel,
    make: Callable[[], Environment],
    seeds: Sequence[int],
    *,
    tests: int = 2000,
    seconds: float | None = None,
    shown: int = 10,
    rng: random.Random | None = None,
    runner: Runner | None = None,
) -> Comparison:
    """Hold a model against the real environment, exactly.

    Many situations are gathered by acting in the world from the given seeds (at random, along the model's own
    plans, and wherever little was seen yet), and every action is tried in each. Tests are then drawn evenly
    over contexts, that is over actions and what is around the objects that they touch, so that a rare
    situation weighs as much as a common one. A test compares the next state exactly, the reward within 1e-9,
    and whether the episode ends.

    make: builds a fresh environment. tests: at most so many. seconds: wall-clock limit, at which fewer tests
    are made; without one the result depends on model, world, seeds and rng alone. shown: mistakes to return, and
    repeated ones.
    rng: decides what is tried; a fixed one where left out. runner: runs the programs; a common one where left
    out.

    Raises ProgramError for a program that does not load, UsageError for no seeds or tests, WorldError from
    the environment or for one that returns what it should not, SandboxError where programs cannot be run
    safely. A program that fails at a test, in whatever way, is a mistake. One that hangs or crashes in many tests
    of an action is not run in all of them; these count as mistakes, and say so.
    """
    seeds = list(seeds)
    if not seeds or tests < 1:
        raise UsageError(f"expected at least one seed and one test, got {len(seeds)} and {tests}")
    began = time.perf_counter()
    rng = random.Random(0) if rng is None else rng

    def build() -> Environment:
        return guarded(make())

    predictor = Predictor(model, build(), runner or default_runner())
    limit = None if seconds is None else _SHARE * seconds
    samples = gather(build, seeds, wanted=_POOL * tests, guide=predictor.guide, rng=rng, seconds=limit)

    outcomes = list(zip(samples, predictor.predict(samples), strict=True))
    known = rng.sample(samples, min(len(samples), _SAMPLED))
    contexts = Contexts((s.state, s.action, s.step) for s in known)
    by_context: defaultdict[str, list[int]] = defaultdict(list)
    names: list[tuple[str, ...]] = []
    for i, (sample, prediction) in enumerate(outcomes):
        names.append(contexts.of(sample.state, sample.action, sample.step, prediction.state))
        for name in names[-1]:
            by_context[name].append(i)
    drawn = draw_evenly(by_context, tests, rng)

    tested: defaultdict[str, int] = defaultdict(int)
    wrong: defaultdict[str, list[Mistake]] = defaultdict(list)
    mistakes: list[Mistake] = []
    for i in drawn:
        sample, prediction = outcomes[i]
        mistake = judge(sample, prediction, predictor.rewarded(sample.goal), names[i][0])
        if mistake is not None:
            mistakes.append(mistake)
        for name in names[i]:
            tested[name] += 1
            if mistake is not None:
                wrong[name].append(mistake)
    worst = sorted(wrong, key=lambda name: (-len(wrong[name]), name))
    return Comparison(
        tested=len(drawn),
        wrong=len(mistakes),
        contexts=len(tested),
        contexts_exact=len(tested) - len(wrong),
        mistakes=tuple(_varied([wrong[name] for name in worst], shown)),
        wrong_contexts=tuple(WrongContext(name, tested[name], len(wrong[name])) for name in worst),
        without_reward=tuple(sorted(g for g in {s.goal for s in samples} if not predictor.rewarded(g))),
        seconds=time.perf_counter() - began,
        repeated=tuple(_merged(mistakes, shown)),
        first_error=_first_error(mistakes),
    )


class Predictor:
    """The model, with one simulation for each start, goal and action."""

    def __init__(self, model: WorldModel, environment: Environment, runner: Runner) -> None:
        self._model = model
        self._actions = environment.actions
        self._runner = runner
        self._rewards: dict[Goal, Program | None] = {}
        self._guided = 0
        runner.load(model.transition)

    def _reward(self, goal: Goal) -> Program | None:
        if goal not in self._rewards:
            try:
                program = self._model.reward(goal)
            except ModelFormatError:  # the model knows other goals only
                program = None
            self._runner.load(program)
            self._rewards[goal] = program
        return self._rewards[goal]

    def rewarded(self, goal: Goal) -> bool:
        """Whether it has a reward program for a goal."""
        program = self._reward(goal)
        return program is not None and not program.order  # of several parts: no single step tells

    def predict(self, samples: Sequence[Sample]) -> list[Prediction]:
        """What the model says of each."""
        groups: defaultdict[tuple[int, Goal, Action], list[int]] = defaultdict(list)
        for i, sample in enumerate(samples):
            groups[sample.seed, sample.goal, sample.action].append(i)  # one that hangs spoils no other action
        found: dict[int, Prediction] = {}
        spoilt: set[Action] = set()
        for (_, goal, action), members in groups.items():
            if action in spoilt:
                found.update(dict.fromkeys(members, _NOT_RUN))
                continue
            reward = self._reward(goal) if self.rewarded(goal) else None
            simulation = self._simulation(samples[members[0]].state, reward)
            predictions = simulation.predict_all([(samples[i].state, action) for i in members])
            found.update(zip(members, predictions, strict=True))
            if any(_not_run(p) for p in predictions):
                spoilt.add(action)
        return [found[i] for i in range(len(samples))]

    def guide(self, state: State, goal: Goal) -> Sequence[Action]:
        """The model's plan to a rewarded end; empty where it has none, or after enough of them."""
        reward = self._reward(goal)
        if reward is None or self._guided >= _GUIDED:
            return ()
        plan = self._simulation(state, reward).plan(budget=_PLAN)
        self._guided += (
            1 if plan.fault is None else _GUIDED
        )  # to find out how it fails takes long enough once
        return plan.actions

    def _simulation(self, state: State, reward: Program | None) -> Simulation:
        return self._runner.simulation(self._model.transition, reward, state, self._actions(state))


def draw_evenly(by_context: Mapping[str, list[int]], tests: int, rng: random.Random) -> list[int]:
    """So many of the numbers, from each context in turn, those with few first."""
    queues = [rng.sample(members, len(members)) for members in by_context.values()]
    queues.sort(key=len)
    drawn: dict[int, None] = {}
    while queues and len(drawn) < tests:
        for queue in queues:
            while queue:
                i = queue.pop()
                if i not in drawn:
                    drawn[i] = None
                    break
            if len(drawn) >= tests:
                break
        queues = [queue for queue in queues if queue]
    return list(drawn)


def judge(sample: Sample, prediction: Prediction, rewarded: bool, context: str) -> Mistake | None:
    """The mistake that a prediction is; None where it is exactly right."""
    step = sample.step
    observed = Prediction(step.state, step.reward, step.done)
    what: What
    if prediction.state is None:
        what, difference = "error", _how_it_failed(prediction)
    elif prediction.state != step.state:
        what = "state"
        difference = state_in_words(sample.state, prediction.state, step.state)
    elif rewarded and abs(prediction.reward - step.reward) > TOLERANCE:
        what, difference = "reward", reward_in_words(prediction.reward, step.reward)
    elif rewarded and prediction.done != step.done:
        what, difference = "done", end_in_words(prediction.done, step.done)
    else:
        return None
    return Mistake(
        sample.seed, sample.path, sample.goal, sample.state, sample.action,
        what, prediction, observed, difference, context,
    )  # fmt: skip


_NOT_RUN = Prediction(None, 0.0, False, "the program failed badly in other tests of this action")


def _not_run(prediction: Prediction) -> bool:
    return prediction.state is None and prediction.failing is None


def _how_it_failed(prediction: Prediction) -> str:
    text = prediction.error or "the program failed"
    if _not_run(prediction):
        return f"not run: {text.removeprefix('it was not run: ')}"
    return text if prediction.failing == "error" else f"{prediction.failing}: {text}"


def _first_error(mistakes: Sequence[Mistake]) -> str | None:
    """How a program failed first, one that was run if there is any."""
    errors = [m for m in mistakes if m.what == "error"]
    return next((m.difference for m in sorted(errors, key=lambda m: _not_run(m.predicted))), None)


def _merged(mistakes: Sequence[Mistake], shown: int) -> list[Repeated]:
    """The same mistakes put together, the most frequent first."""
    groups: defaultdict[tuple[Action, str], list[Mistake]] = defaultdict(list)
    for mistake in mistakes:
        groups[mistake.action, without_places(mistake.difference)].append(mistake)
    found = [Repeated(action, text, len(group), group[0]) for (action, text), group in groups.items()]
    return sorted(found, key=lambda r: -r.count)[:shown]


def _varied(groups: Sequence[Sequence[Mistake]], shown: int) -> list[Mistake]:
    """One of each group, then another of each, no mistake twice."""
    found: dict[int, Mistake] = {}
    for depth in range(max(map(len, groups), default=0)):
        for group in groups:
            if depth < len(group):
                found.setdefault(id(group[depth]), group[depth])
                if len(found) >= shown:
                    return list(found.values())
    return list(found.values())

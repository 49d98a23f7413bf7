"""Tests that stay the same while a model is learned, so that one can say from when on it is exact."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence

from worldcoder.comparison.compare import Mistake, Predictor, draw_evenly, judge
from worldcoder.comparison.contexts import Contexts
from worldcoder.comparison.gathering import gather
from worldcoder.envs import Environment
from worldcoder.envs.guarded import guarded
from worldcoder.programs import Runner, WorldModel, default_runner


class StratifiedTests:
    """Steps of the true world, drawn evenly over actions and what is around the objects that they touch.

    seeds: the levels they are taken from. tests: at most so many. rng: decides which; a fixed one where left out.
    Unlike those of `compare` they know nothing of a model: every model gets the same. Raises WorldError from the
    environment.
    """

    def __init__(
        self,
        make: Callable[[], Environment],
        seeds: Sequence[int],
        *,
        tests: int = 2000,
        pool: int = 3,
        rng: random.Random | None = None,
    ) -> None:
        rng = random.Random(0) if rng is None else rng
        self._environment = guarded(make())
        samples = gather(
            lambda: guarded(make()), list(seeds), wanted=pool * tests, guide=lambda state, goal: (), rng=rng
        )
        contexts = Contexts((s.state, s.action, s.step) for s in samples)
        names = [contexts.of(s.state, s.action, s.step, None) for s in samples]
        by_context: defaultdict[str, list[int]] = defaultdict(list)
        for i, found in enumerate(names):
            for name in found:
                by_context[name].append(i)
        drawn = draw_evenly(by_context, tests, rng)
        self.contexts = len(by_context)
        self._samples = [samples[i] for i in drawn]
        self._names = [names[i][0] for i in drawn]

    def __len__(self) -> int:
        return len(self._samples)

    def mistakes(self, model: WorldModel, runner: Runner | None = None) -> list[Mistake]:
        """The tests that a model does not get exactly right; goals it has no reward for are judged by state alone."""
        predictor = Predictor(model, self._environment, runner or default_runner())
        found = []
        for sample, prediction, name in zip(
            self._samples, predictor.predict(self._samples), self._names, strict=True
        ):
            mistake = judge(sample, prediction, predictor.rewarded(sample.goal), name)
            if mistake is not None:
                found.append(mistake)
        return found

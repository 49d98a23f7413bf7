"""How many calls a writer needs until a program is right, by what chooses the program to refine.

    python benchmarks/rex.py [--seeds 100] [--budget 300] [--sweep] [--json]

The writer is simulated, with chances that are known. All strategies have the same budget of calls, and the same
problems; a problem that is not solved counts with the whole budget, so that the mean tells the area under the curve
of problems solved by calls, as the paper reports it.

Chances, the model of REx itself (Tang et al., arXiv 2405.17503, section 3): a program has a value h, the share of its
tests that pass, and a chance θ, which nobody sees, that one refinement of it solves the problem. What REx believes of
θ before any refinement is Beta(1 + C·h, 1 + C·(1 − h)); here that is how θ is drawn:

    θ ~ Beta(w·μ, w·(1 − μ)),   μ = difficulty · (1 + C·h) / (2 + C),   w = 2 + C

With difficulty 1 that is the paper's prior. The model says nothing of how hard problems are; the paper's range from
ones that a first answer solves to ones that 300 calls do not, so the difficulty is drawn for each problem, from 0.01
to 1, evenly by its logarithm. C = 5 as in WorldCoder, and the budget of 300 calls is that of most of its experiments.
The model says nothing either of what comes of a refinement in vain: here a program has ten tests, and what is made of
it has the same outcome in 80 % of them, and a new one, as that of a first program, in the others. `--sweep` changes
each of these choices alone.

Parts, another world: a program is right about some of twelve parts, and a refinement mends each wrong part with one
chance and spoils each right one with another. Some programs rest on a wrong idea: a few parts of these, and of what is
made of them, can be mended by a rewrite only. Here h says nearly everything, and small steps lead to the end.

Greedy is there twice: as its authors published it next to REx, the first of equals being refined over and over; and
as worldcoder has it, equals in turn, which explores wherever values are coarse. "rex, start unknown" is REx as its
authors published it, with no value for the empty program; worldcoder gives it 0.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Protocol

from worldcoder.synthesis.bandit import STRATEGIES, Arm, C, Strategy, posterior, rex

BLANK = "blank"
TESTS = 10
FIRST = (1.0, 2.0)
"""Of first programs: the Beta distribution of the share of tests that pass. Most pass few, some pass most."""
PARTS = 12
STUCK = 2
"""Parts that a wrong idea keeps wrong."""
RESAMPLES = 1000


@dataclass(frozen=True)
class Written:
    """A program of a simulated writer. tests: which pass. chance: that one refinement of it solves the problem."""

    tests: tuple[bool, ...]
    chance: float = 0.0
    wrong_idea: bool = False

    @property
    def value(self) -> float:
        return sum(self.tests) / len(self.tests)


class Problem(Protocol):
    """A kind of problem.

    name: what it is called. difficulty: of one problem of this kind. refined: what a refinement makes of a program
    (of the empty one: None) in a problem of such a difficulty; None where that solves it.
    """

    @property
    def name(self) -> str: ...

    def difficulty(self, rng: random.Random) -> float: ...

    def blank(self, difficulty: float, rng: random.Random) -> Written: ...

    def refined(
        self, program: Written, first: bool, difficulty: float, rng: random.Random
    ) -> Written | None: ...


@dataclass(frozen=True)
class Chances:
    """Chances as REx believes them to be; see above.

    hardest, easiest: of the difficulty. c: how much h tells of the chance. weight: how alike programs of one h are;
    None: quite alike. kept: of tests, from a program to what is made of it. heir: how often that has the same chance.
    """

    name: str
    hardest: float = 0.01
    easiest: float = 1.0
    c: float = 5.0
    weight: float | None = 7.0
    kept: float = 0.8
    heir: float = 0.0

    def difficulty(self, rng: random.Random) -> float:
        return math.exp(rng.uniform(math.log(self.hardest), math.log(self.easiest)))

    def blank(self, difficulty: float, rng: random.Random) -> Written:
        tests = (False,) * TESTS
        return Written(tests, self._chance(tests, difficulty, rng))

    def refined(self, program: Written, first: bool, difficulty: float, rng: random.Random) -> Written | None:
        if rng.random() < program.chance:
            return None
        kept, passing = 0.0 if first else self.kept, rng.betavariate(*FIRST)
        tests = [test if rng.random() < kept else rng.random() < passing for test in program.tests]
        if all(tests):
            tests[rng.randrange(TESTS)] = False
        same = not first and rng.random() < self.heir
        chance = program.chance if same else self._chance(tests, difficulty, rng)
        return Written(tuple(tests), chance)

    def _chance(self, tests: Sequence[bool], difficulty: float, rng: random.Random) -> float:
        mean = difficulty * (1 + self.c * sum(tests) / TESTS) / (2 + self.c)
        if self.weight is None:
            return mean
        return rng.betavariate(self.weight * mean, self.weight * (1 - mean))


@dataclass(frozen=True)
class Parts:
    """Programs of parts.

    begin: that a part of a first program is right. mend, spoil: of each part, in one refinement. idea: that a first
    program rests on a wrong idea; rewrite: that a refinement gives it up.
    """

    name: str
    mend: float = 0.15
    idea: float = 0.0
    rewrite: float = 0.0
    begin: float = 0.3
    spoil: float = 0.02

    def difficulty(self, rng: random.Random) -> float:
        return 1.0

    def blank(self, difficulty: float, rng: random.Random) -> Written:
        return Written((False,) * PARTS)

    def refined(self, program: Written, first: bool, difficulty: float, rng: random.Random) -> Written | None:
        if first:
            wrong = rng.random() < self.idea
            right = [rng.random() < self.begin for _ in range(PARTS)]
        else:
            wrong = program.wrong_idea and rng.random() >= self.rewrite
            right = [
                rng.random() >= self.spoil if part else rng.random() < self.mend for part in program.tests
            ]
        if wrong:
            right[:STUCK] = [False] * STUCK
        return None if all(right) else Written(tuple(right), wrong_idea=wrong)


CHANCES = Chances("chances of REx")
PROBLEMS: tuple[Problem, ...] = (
    CHANCES,
    Parts("parts"),
    Parts("parts, wrong ideas", idea=0.7, rewrite=0.01),
    Parts("parts, wrong for good", idea=0.7),
    Parts("parts, seldom helps", mend=0.05, idea=0.5, rewrite=0.01),
)
SWEEP: tuple[Problem, ...] = (
    replace(CHANCES, name="harder", hardest=0.003, easiest=0.1),
    replace(CHANCES, name="h tells nothing", c=0.0),
    replace(CHANCES, name="h tells more: 20", c=20.0),
    replace(CHANCES, name="one h, one chance", weight=None),
    replace(CHANCES, name="all or nothing", weight=1.0),
    replace(CHANCES, name="half the tests kept", kept=0.5),
    replace(CHANCES, name="95 % kept", kept=0.95),
    replace(CHANCES, name="half the heirs", heir=0.5),
    replace(CHANCES, name="90 % heirs", heir=0.9),
)


# ── strategies ───────────────────────────────────────────────────────────────────────────────────────────


def published_greedy(rng: random.Random) -> Strategy:
    """Always the program of the highest value, the first of equals."""

    def choose(arms: Mapping[str, Arm], rng: random.Random) -> str:
        return max(arms, key=lambda name: arms[name].value)

    return Strategy(choose, rng)


def published_rex(rng: random.Random) -> Strategy:
    """REx that believes nothing of the empty program beforehand: Beta(1, 1 + n), which is C = 0 for that one."""

    def choose(arms: Mapping[str, Arm], rng: random.Random) -> str:
        draws = {
            name: rng.betavariate(*posterior(arm, 0.0 if name == BLANK else C)) for name, arm in arms.items()
        }
        return max(draws, key=draws.__getitem__)

    return Strategy(choose, rng)


WAYS: Mapping[str, Callable[[random.Random], Strategy]] = {
    "rex": rex,
    "rex, C = 20": partial(rex, c=20.0),
    "rex, start unknown": published_rex,
    "breadth-first": STRATEGIES["breadth-first"],
    "greedy": published_greedy,
    "greedy, in turn": STRATEGIES["greedy"],
    "best-of-n": STRATEGIES["best-of-n"],
}


# ── runs ─────────────────────────────────────────────────────────────────────────────────────────────────


def calls(problem: Problem, way: str, seed: int, budget: int) -> int | None:
    """Calls until a program is right; None where the budget does not suffice."""
    same_for_all = random.Random(f"{problem.name} {seed}")
    difficulty = problem.difficulty(same_for_all)
    programs = {BLANK: problem.blank(difficulty, same_for_all)}
    rng = random.Random(f"{problem.name} {way} {seed}")
    bandit = WAYS[way](rng)
    bandit.add(BLANK, 0.0)
    for call in range(1, budget + 1):
        name = bandit.ask()
        made = problem.refined(programs[name], name == BLANK, difficulty, rng)
        if made is None:
            return call
        programs[str(call)] = made
        bandit.tell(name, [(str(call), made.value)])
    return None


@dataclass(frozen=True)
class Row:
    """What a strategy needed, with 95 % intervals. more: calls than REx needs for the same problem, in the mean."""

    problem: str
    strategy: str
    solved: int
    median: float
    median_interval: tuple[float, float]
    mean: float
    mean_interval: tuple[float, float]
    more: float
    more_interval: tuple[float, float]


def interval(values: Sequence[float], statistic: Callable[[Sequence[float]], float]) -> tuple[float, float]:
    """The percentile bootstrap's 95 % interval of a statistic of a sample."""
    rng = random.Random(0)
    found = sorted(statistic(rng.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return found[RESAMPLES // 40], found[-RESAMPLES // 40 - 1]


def compare(problem: Problem, ways: Sequence[str], seeds: int, budget: int) -> list[Row]:
    """A row for each strategy; the first one is what the others are compared with."""
    rows: list[Row] = []
    first: list[int] = []
    for way in ways:
        found = [calls(problem, way, seed, budget) for seed in range(seeds)]
        counted = [budget if n is None else n for n in found]
        first = first or counted
        more = [n - m for n, m in zip(counted, first, strict=True)]
        rows.append(
            Row(
                problem.name,
                way,
                sum(n is not None for n in found),
                statistics.median(counted),
                interval(counted, statistics.median),
                statistics.fmean(counted),
                interval(counted, statistics.fmean),
                statistics.fmean(more),
                interval(more, statistics.fmean),
            )
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--budget", type=int, default=300)
    parser.add_argument("--sweep", action="store_true", help="the chances of REx, with each choice changed")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    problems = (CHANCES, *SWEEP) if arguments.sweep else PROBLEMS
    shown: list[Row] = []
    if not arguments.json:
        print(f"{arguments.seeds} seeds, {arguments.budget} calls at most; in brackets 95 % intervals\n")
        titles = ("solved", "median calls", "mean calls", "more than rex, in the mean")
        print(
            f"{'problem':24}{'strategy':20}"
            + "".join(f"{t:>{w}}" for t, w in zip(titles, WIDTHS, strict=True))
        )
    for problem in problems:
        rows = compare(problem, list(WAYS), arguments.seeds, arguments.budget)
        shown += rows
        for row in () if arguments.json else rows:
            cells = (
                f"{row.solved}",
                f"{row.median:g} {_brackets(row.median_interval)}",
                f"{row.mean:.1f} {_brackets(row.mean_interval)}",
                "" if row is rows[0] else f"{row.more:+.1f} {_brackets(row.more_interval)}",
            )
            text = "".join(f"{cell:>{w}}" for cell, w in zip(cells, WIDTHS, strict=True))
            print(f"{row.problem:24}{row.strategy:20}{text}", flush=True)
    if arguments.json:
        settings = {"seeds": arguments.seeds, "budget": arguments.budget}
        print(json.dumps({**settings, "rows": [asdict(row) for row in shown]}, indent=2))


WIDTHS = (8, 20, 22, 28)


def _brackets(ends: tuple[float, float]) -> str:
    return f"[{ends[0]:.0f}, {ends[1]:.0f}]"


if __name__ == "__main__":
    main()

"""How many calls a writer needs until a program is right, by what chooses the program to refine.

    python benchmarks/rex.py [--seeds 100] [--budget 300]

The writer is simulated, with chances that are known: a program is right about some of `PARTS` parts, and a
refinement mends each wrong part with one chance and spoils each right one with another. Some programs rest on a
wrong idea: a few parts of these, and of what is made of them, can be mended by a rewrite only. From outside, a
program shows the share of parts that are right and nothing else. Four problems: without wrong ideas, with such as
are given up now and then, with such as are never given up, and with refinements that seldom help. All strategies have
the same budget of calls; a problem that is not solved counts with the whole budget. It is the trade-off of REx (Tang
et al., arXiv 2405.17503), in small: who always refines the best program is fastest where every program can be mended,
and never gets away from one that cannot.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

from worldcoder.synthesis.bandit import STRATEGIES, Strategy, rex

PARTS = 12
STUCK = 2
"""Parts that a wrong idea keeps wrong."""
BLANK = "blank"
WAYS: dict[str, Callable[[random.Random], Strategy]] = {
    "rex": STRATEGIES["rex"],
    "rex, C = 20": partial(rex, c=20.0),
    **STRATEGIES,
}
"""REx with the C of WorldCoder and with that of its own examples, and the baselines."""


@dataclass(frozen=True)
class Problem:
    """Chances of a simulated writer.

    begin: that a part of a first program is right. mend, spoil: of each part, in one refinement. idea: that a first
    program rests on a wrong idea; rewrite: that a refinement gives it up.
    """

    name: str
    begin: float
    mend: float
    spoil: float
    idea: float
    rewrite: float


PROBLEMS = (
    Problem("no wrong ideas", begin=0.3, mend=0.15, spoil=0.02, idea=0.0, rewrite=0.0),
    Problem("wrong ideas", begin=0.3, mend=0.15, spoil=0.02, idea=0.7, rewrite=0.01),
    Problem("wrong for good", begin=0.3, mend=0.15, spoil=0.02, idea=0.7, rewrite=0.0),
    Problem("seldom helps", begin=0.3, mend=0.05, spoil=0.02, idea=0.5, rewrite=0.01),
)


@dataclass(frozen=True)
class Written:
    """A program of the simulated writer: which parts are right, and whether it rests on a wrong idea."""

    right: tuple[bool, ...]
    wrong_idea: bool

    @property
    def value(self) -> float:
        return sum(self.right) / PARTS


def first(problem: Problem, rng: random.Random) -> Written:
    """A program that is written from nothing."""
    wrong_idea = rng.random() < problem.idea
    right = [rng.random() < problem.begin for _ in range(PARTS)]
    return Written(_held_down(right, wrong_idea), wrong_idea)


def refined(problem: Problem, program: Written, rng: random.Random) -> Written:
    """A program that is made of another one."""
    wrong_idea = program.wrong_idea and rng.random() >= problem.rewrite
    right = [rng.random() >= problem.spoil if part else rng.random() < problem.mend for part in program.right]
    return Written(_held_down(right, wrong_idea), wrong_idea)


def _held_down(right: list[bool], wrong_idea: bool) -> tuple[bool, ...]:
    return tuple([False] * STUCK + right[STUCK:] if wrong_idea else right)


def calls(problem: Problem, strategy: str, seed: int, budget: int) -> int | None:
    """Calls until a program is right; None where the budget does not suffice."""
    rng = random.Random(f"{problem.name} {strategy} {seed}")
    bandit = WAYS[strategy](rng)
    bandit.add(BLANK, 0.0)
    programs: dict[str, Written] = {}
    for call in range(1, budget + 1):
        name = bandit.ask()
        made = first(problem, rng) if name == BLANK else refined(problem, programs[name], rng)
        if all(made.right):
            return call
        programs[str(call)] = made
        bandit.tell(name, [(str(call), made.value)])
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--budget", type=int, default=300)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = []
    for problem in PROBLEMS:
        for strategy in WAYS:
            found = [calls(problem, strategy, seed, arguments.budget) for seed in range(arguments.seeds)]
            counted = [arguments.budget if n is None else n for n in found]
            rows.append(
                {
                    "problem": problem.name,
                    "strategy": strategy,
                    "solved": sum(n is not None for n in found),
                    "median": statistics.median(counted),
                    "mean": statistics.fmean(counted),
                }
            )
    if arguments.json:
        settings = {"seeds": arguments.seeds, "budget": arguments.budget}
        print(json.dumps({**settings, "problems": [asdict(p) for p in PROBLEMS], "rows": rows}, indent=2))
        return
    print(f"{arguments.seeds} seeds, {arguments.budget} calls at most\n")
    print(f"{'problem':16}{'strategy':16}{'solved':>8}{'median':>9}{'mean':>9}")
    for row in rows:
        print(
            f"{row['problem']:16}{row['strategy']:16}{row['solved']:>8}{row['median']:>9g}{row['mean']:>9.1f}"
        )


if __name__ == "__main__":
    main()

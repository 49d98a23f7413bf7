"""How many real actions the embedded synthesizer needs until its model is exact, and exact ever after.

    python benchmarks/synthesis.py [--seeds 10] [--max-actions 400] [WORLD ...]

One run a world and seed: `worldcoder learn WORLD --levels next` with exploration to the end, on levels that are new
in each episode. Every model that a run adopted is held against the same stratified tests (by action and by what is
around the objects it touches), from levels that no run has seen. "exact from" is the action after which no model of
the run was wrong in any test; "dynamics" counts next states alone, "all" rewards and ends as well. Prints a row a
run, with the share of tests that the last model gets right, and a row a world with medians and worst values.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from worldcoder.comparison.stratified import StratifiedTests
from worldcoder.envs import make
from worldcoder.experiment import Experiment, run
from worldcoder.programs import Program, Runner, WorldModel
from worldcoder.runs.reader import RunReader

LAB = ("teleport", "ice", "rows", "belts", "stones", "patrol", "shop", "kitchen", "railway", "twins")
WORLDS = ["sokoban", *(f"lab:{name}" for name in LAB)]
FRESH = range(90_000, 90_030)
"""Levels for tests; runs use those of small numbers."""
LEVELS_APART = 1000
"""Between the first levels of two seeds."""
NEVER = float("inf")


@dataclass(frozen=True)
class Row:
    """One run. dynamics, all: the action from which the model is exact. lines: of its programs."""

    world: str
    seed: int
    actions: int
    dynamics: float
    all: float
    states_right: float
    right: float
    lines: int
    wrong_guesses: int
    seconds: float
    synthesis: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("worlds", nargs="*", default=WORLDS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--max-actions", type=int, default=400)
    parser.add_argument("--tests", type=int, default=2000)
    parser.add_argument("--mistakes", type=int, default=0, help="kinds of mistakes of the last model to show")
    parser.add_argument("--keep", type=Path, help="keep the runs in this directory")
    parser.add_argument("--json", type=Path, help="write the rows to this file as well")
    arguments = parser.parse_args()
    rows: list[Row] = []
    for world in arguments.worlds:
        tests = StratifiedTests(partial(make, world), FRESH, tests=arguments.tests)
        print(f"{world}: {len(tests)} tests of {tests.contexts} contexts", flush=True)
        mine = [
            one_run(world, seed, tests, arguments)
            for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds)
        ]
        rows += mine
        print(summary(world, mine), flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))


def summary(world: str, rows: list[Row]) -> str:
    """A line with medians and worst values."""

    def of(values: list[float]) -> str:
        exact = sum(v < NEVER for v in values)
        return f"{statistics.median(values):g} / {max(values):g} ({exact} of {len(values)})"

    return (
        f"{world:14} all {len(rows)} seeds, median / worst: dynamics exact from {of([r.dynamics for r in rows])}; "
        f"all exact from {of([r.all for r in rows])}; right {100 * statistics.median([r.right for r in rows]):.1f} / "
        f"{100 * min(r.right for r in rows):.1f} %; lines {statistics.median([r.lines for r in rows]):g} / "
        f"{max(r.lines for r in rows)}; {statistics.median([r.seconds for r in rows]):.0f} / "
        f"{max(r.seconds for r in rows):.0f} s"
    )


def one_run(world: str, seed: int, tests: StratifiedTests, arguments: argparse.Namespace) -> Row:
    """Learn, and hold every model that there was against the tests."""
    with tempfile.TemporaryDirectory() as folder, Runner() as runner:
        keep = arguments.keep
        directory = (keep or Path(folder)) / f"{world.replace(':', '-')}-{seed}"
        limit = arguments.max_actions
        experiment = Experiment(
            world, seed=seed * LEVELS_APART, levels="next", max_actions=limit, polish=limit
        )
        began = time.perf_counter()
        result = run(experiment, directory, pictures=False, runner=runner)
        seconds = time.perf_counter() - began
        with RunReader(directory) as reader:
            programs = list(reader.programs())
        transition: Program | None = None
        rewards: dict[str, Program] = {}
        dynamics = everything = 0.0
        wrong = wrong_states = len(tests)
        last: Counter[str] = Counter()
        known: dict[tuple[str, ...], tuple[int, int, Counter[str]]] = {}
        for i, recorded in enumerate(programs):
            if recorded.program.kind == "transition":
                transition = recorded.program
            else:
                rewards[recorded.program.goal or ""] = recorded.program
            if transition is None or (i + 1 < len(programs) and programs[i + 1].after == recorded.after):
                continue
            key = (transition.id, *sorted(p.id for p in rewards.values()))
            if key not in known:
                mistakes = tests.mistakes(WorldModel(transition, rewards), runner)
                states = sum(m.what in ("state", "error") for m in mistakes)
                known[key] = (
                    len(mistakes),
                    states,
                    Counter(f"{m.action.name}: {m.difference}" for m in mistakes),
                )
            wrong, wrong_states, last = known[key]
            following = programs[i + 1].after if i + 1 < len(programs) else NEVER
            dynamics = following if wrong_states else dynamics or recorded.after
            everything = following if wrong else everything or recorded.after
        text = "" if transition is None else transition.source
        row = Row(
            world, seed, result.real_actions, dynamics, everything, 1 - wrong_states / len(tests),
            1 - wrong / len(tests), text.count("\n"), result.wrong_guesses, seconds, result.seconds["synthesis"],
        )  # fmt: skip
    print(
        f"{world:14} seed {seed}: {row.actions} actions ({result.stopped}); dynamics exact from {row.dynamics:g}, "
        f"all from {row.all:g}; right {100 * row.states_right:.2f} %, with rewards {100 * row.right:.2f} %; "
        f"{row.lines} lines; {row.wrong_guesses} wrong guesses; φ1 {result.phi1:.3f}; "
        f"{row.seconds:.1f} s, synthesis {row.synthesis:.1f} s",
        flush=True,
    )
    for text, count in last.most_common(arguments.mistakes):
        print(f"    {count:5} × {text}")
    return row


if __name__ == "__main__":
    main()

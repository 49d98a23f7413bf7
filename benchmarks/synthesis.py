"""How many real actions the embedded synthesizer needs until its model is exact, and exact ever after.

    python benchmarks/synthesis.py [--seeds 10] [--max-actions 400] [WORLD ...]
    python benchmarks/synthesis.py --seeds 5 pool:minigrid

One run a world and seed: `worldcoder learn WORLD --levels next` with exploration to the end, on levels that are new
in each episode. In a pool (`pools.py`) one agent acts in several worlds in turn and learns one model for all. Every
model that a run adopted is held against the same stratified tests (by action and by what is around the objects it
touches), from levels that no run has seen. "exact from" is the action after which no model of the run was wrong in
any test; "dynamics" counts next states alone, "all" rewards and ends as well, where the goal of the test was met in
the run. Prints a row a run, with the share of tests that the last model gets right (of a pool: in each world), and a
row a world with medians and worst values.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from pools import POOLS, Course, learn_in_pool

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
    """One run. dynamics, all: the action from which the model is exact. lines: of its transition program.

    states_right, right: shares of the tests; by_world: the same two, in each world of a pool.
    """

    world: str
    seed: int
    actions: int
    dynamics: float
    all: float
    states_right: float
    right: float
    by_world: dict[str, tuple[float, float]]
    lines: int
    wrong_guesses: int
    seconds: float
    synthesis: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("worlds", nargs="*", default=WORLDS, help="specs, or pool:NAME")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--max-actions", type=int, default=400)
    parser.add_argument("--episode", type=int, default=16, help="actions until the next world of a pool")
    parser.add_argument("--tests", type=int, default=2000, help="of a world; a pool shares them out")
    parser.add_argument("--mistakes", type=int, default=0, help="kinds of mistakes of the last model to show")
    parser.add_argument("--keep", type=Path, help="keep the runs in this directory")
    parser.add_argument("--json", type=Path, help="write the rows to this file as well")
    arguments = parser.parse_args()
    rows: list[Row] = []
    for world in arguments.worlds:
        tests = tests_of(world, arguments.tests)
        for name, those in tests.items():
            print(f"{name}: {len(those)} tests of {those.contexts} contexts", flush=True)
        mine = [
            one_run(world, seed, tests, arguments)
            for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds)
        ]
        rows += mine
        print(summary(world, mine), flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))


def pool_of(world: str) -> tuple[str, ...] | None:
    """The worlds of a pool; None for a single world."""
    return POOLS[world.removeprefix("pool:")] if world.startswith("pool:") else None


def tests_of(world: str, tests: int) -> dict[str, StratifiedTests]:
    """The tests of a world, or of each world of a pool."""
    worlds = pool_of(world) or (world,)
    return {each: StratifiedTests(partial(make, each), FRESH, tests=tests // len(worlds)) for each in worlds}


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


def one_run(
    world: str, seed: int, tests: Mapping[str, StratifiedTests], arguments: argparse.Namespace
) -> Row:
    """Learn, and hold every model that there was against the tests."""
    pool, first = pool_of(world), seed * LEVELS_APART
    with tempfile.TemporaryDirectory() as folder, Runner() as runner:
        if pool is None:
            directory = (
                arguments.keep or Path(folder)
            ) / f"{world.replace(':', '-').replace('/', '-')}-{seed}"
            course = learn_alone(world, first, arguments.max_actions, directory, runner)
        else:
            most, episode = arguments.max_actions, arguments.episode
            course = learn_in_pool(
                pool, seed=seed, first_level=first, max_actions=most, episode=episode, runner=runner
            )
        row, mistakes = judged(world, seed, course, tests, runner)
    print(
        f"{world:14} seed {seed}: {row.actions} actions ({course.stopped}); dynamics exact from {row.dynamics:g}, "
        f"all from {row.all:g}; right {100 * row.states_right:.2f} %, with rewards {100 * row.right:.2f} %; "
        f"{row.lines} lines; {row.wrong_guesses} wrong guesses; φ1 {course.phi1:.3f}; {row.seconds:.1f} s, "
        f"synthesis {row.synthesis:.1f} s",
        flush=True,
    )
    for name, (states, both) in row.by_world.items() if pool else ():
        print(f"    {name:32} right {100 * states:.2f} %, with rewards {100 * both:.2f} %", flush=True)
    for text, count in mistakes.most_common(arguments.mistakes):
        print(f"    {count:5} × {text}")
    return row


def learn_alone(world: str, seed: int, limit: int, directory: Path, runner: Runner) -> Course:
    """A run in one world, and the models that it adopted."""
    experiment = Experiment(world, seed=seed, levels="next", max_actions=limit, polish=limit)
    began = time.perf_counter()
    result = run(experiment, directory, pictures=False, runner=runner)
    seconds = time.perf_counter() - began
    models: dict[int, WorldModel] = {}  # by action: the last one counts
    transition: Program | None = None
    rewards: dict[str, Program] = {}
    with RunReader(directory) as reader:
        for recorded in reader.programs():
            if recorded.program.kind == "transition":
                transition = recorded.program
            else:
                rewards[recorded.program.goal or ""] = recorded.program
            if transition is not None:
                models[recorded.after] = WorldModel(transition, dict(rewards))
    return Course(
        models=list(models.items()),
        actions=result.real_actions,
        stopped=str(result.stopped),
        wrong_guesses=result.wrong_guesses,
        phi1=result.phi1,
        seconds=seconds,
        synthesis=result.seconds["synthesis"],
    )


def judged(
    world: str, seed: int, course: Course, tests: Mapping[str, StratifiedTests], runner: Runner
) -> tuple[Row, Counter[str]]:
    """The row of a course, and the kinds of mistakes of its last model."""
    dynamics = everything = 0.0 if course.models else NEVER
    known: dict[tuple[str, ...], tuple[dict[str, tuple[float, float]], Counter[str]]] = {}
    shares: dict[str, tuple[float, float]] = dict.fromkeys(tests, (0.0, 0.0))
    last: Counter[str] = Counter()
    for i, (after, model) in enumerate(course.models):
        key = (model.transition.id, *sorted(p.id for p in model.rewards.values()))
        if key not in known:
            known[key] = held_against(tests, model, runner)
        shares, last = known[key]
        following = course.models[i + 1][0] if i + 1 < len(course.models) else NEVER
        dynamics = following if min(s for s, _ in shares.values()) < 1 else dynamics or after
        everything = following if min(b for _, b in shares.values()) < 1 else everything or after
    weights = {name: len(those) / sum(map(len, tests.values())) for name, those in tests.items()}
    row = Row(
        world=world,
        seed=seed,
        actions=course.actions,
        dynamics=dynamics,
        all=everything,
        states_right=sum(weights[name] * states for name, (states, _) in shares.items()),
        right=sum(weights[name] * both for name, (_, both) in shares.items()),
        by_world=shares,
        lines=course.models[-1][1].transition.source.count("\n") if course.models else 0,
        wrong_guesses=course.wrong_guesses,
        seconds=course.seconds,
        synthesis=course.synthesis,
    )
    return row, last


def held_against(
    tests: Mapping[str, StratifiedTests], model: WorldModel, runner: Runner
) -> tuple[dict[str, tuple[float, float]], Counter[str]]:
    """For each world the shares of states and of whole steps that a model gets right, and what is wrong."""
    shares, kinds = {}, Counter[str]()
    for name, those in tests.items():
        mistakes = those.mistakes(model, runner)
        states = sum(m.what in ("state", "error") for m in mistakes)
        shares[name] = 1 - states / len(those), 1 - len(mistakes) / len(those)
        kinds.update(f"{m.action.name}: {m.difference}" for m in mistakes)
    return shares, kinds


if __name__ == "__main__":
    main()

"""How large the levels are that a model learned from nothing solves: Sokoban, level by level.

    python benchmarks/levels.py [--boxoban FILE] [--model RUN] [--json FILE]

One run of `worldcoder learn sokoban` (7×7, two boxes) learns the model, or a run that exists is taken. Then unseen
levels are played: 7×7 with 2 boxes, 10×10 with 3, more and more boxes until fewer than `--until` of the levels are
solved, and the first levels of a file of Boxoban (https://github.com/google-deepmind/boxoban-levels), 10×10 with 4
boxes. A level counts as solved if the world says so. Searches may take `--seconds` a level by the clock, so that a
slower machine solves less; the plans themselves do not depend on it. Prints a row a set, and the levels not solved.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from worldcoder.envs import Environment, make
from worldcoder.experiment import Experiment, run
from worldcoder.planning import Budget
from worldcoder.playing import Played, play
from worldcoder.programs import WorldModel, load_model

UNSEEN = 10_000
"""The seed of the first level; runs use those of small numbers."""
PATIENCE = 2000
"""Actions after which the world ends an episode: plans of width search are long."""


@dataclass(frozen=True)
class Levels:
    """A set of levels. target: the share to be solved, where there is one."""

    name: str
    options: dict[str, Any]
    seeds: range
    target: float | None = None
    spec: str = "sokoban"

    def world(self) -> Environment:
        return make(self.spec, max_steps=PATIENCE, **self.options)


@dataclass(frozen=True)
class Row:
    """What came out. seconds: of planning, for one level. unsolved: the seeds, and why."""

    name: str
    levels: int
    solved: int
    target: float | None
    median_seconds: float
    most_seconds: float
    median_length: float
    most_nodes: int
    surprises: int
    unsolved: dict[int, str]

    @property
    def share(self) -> float:
        return self.solved / self.levels

    def line(self) -> str:
        target = ""
        if self.target is not None:
            met = "met" if self.share >= self.target else "MISSED"
            target = f"; target {100 * self.target:g} %: {met}"
        return (
            f"{self.name:24} {self.solved:4} of {self.levels:4} ({100 * self.share:5.1f} %){target}; planning median "
            f"{self.median_seconds:.2f} s, most {self.most_seconds:.1f} s; {self.median_length:g} actions; at most "
            f"{self.most_nodes:,} nodes; {self.surprises} surprises"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--boxoban", type=Path, help="a file of Boxoban's levels")
    parser.add_argument(
        "--model", type=Path, help="a run whose model is taken; one is learned where left out"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the run that learns the model")
    parser.add_argument("--levels", type=int, default=100, help="of each set with a target")
    parser.add_argument(
        "--more-boxes", type=int, default=20, help="levels of each set without a target; 0: none"
    )
    parser.add_argument("--until", type=float, default=0.5, help="the share solved below which it stops")
    parser.add_argument("--seconds", type=float, default=30.0, help="of planning, for a level")
    parser.add_argument("--json", type=Path, help="write the rows to this file as well")
    arguments = parser.parse_args()
    budget = Budget(nodes=10**9, seconds=arguments.seconds)
    model = learned(arguments.seed) if arguments.model is None else load_model(arguments.model)
    wanted = range(UNSEEN, UNSEEN + arguments.levels)
    sets = [
        Levels("7×7, 2 boxes", {"size": 7, "boxes": 2}, wanted, 1.0),
        Levels("10×10, 3 boxes", {"size": 10, "boxes": 3}, wanted, 0.95),
    ]
    if arguments.boxoban is not None:
        spec = f"sokoban:{arguments.boxoban}"
        sets.append(Levels("Boxoban, 4 boxes", {}, range(arguments.levels), 0.9, spec))
    rows: list[Row] = []
    for levels in sets:
        rows.append(solved(model, levels, budget))
    boxes = 4
    further = range(UNSEEN, UNSEEN + arguments.more_boxes)
    while further and boxes <= 10 and (boxes == 4 or rows[-1].share >= arguments.until):
        rows.append(
            solved(model, Levels(f"10×10, {boxes} boxes", {"size": 10, "boxes": boxes}, further), budget)
        )
        boxes += 1
    if further:
        all_solved = [row.name for row in rows if row.share == 1]
        print(
            f"all levels solved: {'; '.join(all_solved)}. Ended at {rows[-1].name}, {100 * rows[-1].share:g} % solved"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
    return 0 if all(row.target is None or row.share >= row.target for row in rows) else 1


def learned(seed: int) -> WorldModel:
    """The model of a run that knew nothing."""
    with tempfile.TemporaryDirectory() as folder:
        summary = run(Experiment("sokoban", seed=seed), Path(folder) / "run", pictures=False)
        print(
            f"learned from {summary.real_actions} actions in one 7×7 level, φ1 {summary.phi1:.3f}", flush=True
        )
        return load_model(Path(folder) / "run")


def solved(model: WorldModel, levels: Levels, budget: Budget) -> Row:
    """Play every level of a set; print what came out."""
    played = play(model, levels.world(), list(levels.seeds), budget=budget, max_steps=PATIENCE)
    row = row_of(levels, played)
    print(row.line(), flush=True)
    for seed, why in row.unsolved.items():
        print(f"    level {seed}: {why}", flush=True)
    return row


def row_of(levels: Levels, played: Played) -> Row:
    episodes = played.episodes
    return Row(
        name=levels.name,
        levels=len(episodes),
        solved=played.solved,
        target=levels.target,
        median_seconds=statistics.median(e.planning_seconds for e in episodes),
        most_seconds=max(e.planning_seconds for e in episodes),
        median_length=statistics.median(e.length for e in episodes),
        most_nodes=max(e.nodes for e in episodes),
        surprises=sum(e.surprises for e in episodes),
        unsolved={e.seed: f"{e.reason}, {e.nodes:,} nodes" for e in episodes if not e.solved},
    )


if __name__ == "__main__":
    sys.exit(main())

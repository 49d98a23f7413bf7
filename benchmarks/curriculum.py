"""What one world teaches for the next: MiniGrid in the order of the paper, with and without what was learned before.

    python benchmarks/curriculum.py [--seeds 5] [--curriculum minigrid] [--no-phi2] [--tests 500]

For each seed the curriculum is learned three times: with transfer (each environment begins with the model and the
data of those before), from scratch (each environment alone), and with --no-phi2 a third time with transfer, but
without inventing rewards before one was seen. Printed are the real actions until the first success, the share that
transfer needs, next to it how many actions are needed by somebody who knows everything (the last model's plan from
the first start), what was lost of earlier worlds in recorded data (regressions), and how exact the model is in each
of the worlds when its stage is over and when all are, in stratified tests on levels that were not seen.
"-": not solved within --max-actions.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from worldcoder.agent import AgentConfig
from worldcoder.comparison import compare
from worldcoder.curriculum import CourseSummary, Curriculum, learn_curriculum, read
from worldcoder.envs import make
from worldcoder.experiment import Experiment, run
from worldcoder.planning import Budget
from worldcoder.programs import Runner, load_knowledge, load_model

UNSEEN = range(1000, 1010)
NEVER = float("inf")
Row = list[float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--curriculum", default="minigrid")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--max-actions", type=int, default=600)
    parser.add_argument("--tests", type=int, default=500, help="for each world, at the end; 0 for none")
    parser.add_argument("--no-phi2", action="store_true", help="the ablation as well")
    parser.add_argument("--no-scratch", action="store_true", help="leave out the runs from scratch")
    parser.add_argument("--keep", type=Path, help="keep the runs in this folder, to look at them")
    given = parser.parse_args()
    plan = read(given.curriculum)
    plan = replace(
        plan,
        stages=tuple(
            replace(s, settings={**s.settings, "max_actions": given.max_actions}) for s in plan.stages
        ),
    )
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    rows: dict[str, list[Row]] = {"transfer": [], "plan": [], "scratch": [], "no φ2": []}
    exact: list[list[tuple[float, float]]] = []
    with ExitStack() as stack:
        runner = stack.enter_context(Runner())
        folder = given.keep or stack.enter_context(tempfile.TemporaryDirectory())
        for seed in seeds:
            base = Experiment(plan.stages[0].environment, seed=seed)
            summary = course(plan, base, Path(folder) / f"{seed}", runner)
            rows["transfer"].append(told(f"seed {seed}, transfer", summary))
            rows["plan"].append(plans(plan, Path(folder) / f"{seed}", runner))
            if given.tests:
                exact.append(exactness(plan, summary, given.tests, runner))
            if not given.no_scratch:
                rows["scratch"].append(scratch(plan, base, Path(folder) / f"{seed}-scratch", runner))
            if given.no_phi2:
                blind = replace(base, agent=AgentConfig(optimism=False))
                summary = course(plan, blind, Path(folder) / f"{seed}-blind", runner)
                rows["no φ2"].append(told(f"seed {seed}, no φ2", summary))
    table(plan, rows, exact)


def course(plan: Curriculum, base: Experiment, folder: Path, runner: Runner) -> CourseSummary:
    """The curriculum with transfer."""
    return learn_curriculum(plan, base, folder, pictures=False, runner=runner)


def told(what: str, summary: CourseSummary) -> Row:
    """Actions to the first success, by environment; also printed."""
    row = [NEVER if s["actions_to_solve"] is None else float(s["actions_to_solve"]) for s in summary.stages]
    print(
        f"{what}: {'  '.join(map(shown, row))}; {summary.total('real_actions')} actions in all, "
        f"{summary.total('seconds'):.0f} s, {summary.total('regressions')} regressions, "
        f"{summary.total('wrong_guesses')} wrong guesses",
        flush=True,
    )
    return row


def scratch(plan: Curriculum, base: Experiment, folder: Path, runner: Runner) -> Row:
    """Each environment alone."""
    row, seconds = [], 0.0
    for number, stage in enumerate(plan.stages, 1):
        summary = run(stage.experiment(base), folder / str(number), pictures=False, runner=runner)
        row.append(NEVER if summary.actions_to_solve is None else float(summary.actions_to_solve))
        seconds += summary.seconds["total"]
    print(f"seed {base.seed}, scratch: {'  '.join(map(shown, row))}; {seconds:.0f} s", flush=True)
    return row


def plans(plan: Curriculum, folder: Path, runner: Runner) -> Row:
    """How long the last model's plans are, from the first start of each world."""
    known, row = load_knowledge(folder), []
    assert known.model is not None
    for stage in plan.stages:
        first = next(e for e in known.episodes if e.world == stage.environment)
        actions = make(stage.environment, **stage.options).actions(first.start)
        found = known.model.simulation(first.start, first.goal, actions, runner=runner).plan(
            budget=Budget(nodes=300_000)
        )
        row.append(float(len(found.actions)) if found.found else NEVER)
    return row


def exactness(
    plan: Curriculum, summary: CourseSummary, tests: int, runner: Runner
) -> list[tuple[float, float]]:
    """How exact each world's own model was when its stage was over, and how exact the last model is there."""
    last, row = load_model(summary.directory), []
    for stage, record in zip(plan.stages, summary.stages, strict=True):
        build = partial(make, stage.environment, **stage.options)
        own = load_model(summary.directory / record["runs"][-1])
        then, now = (
            compare(model, build, list(UNSEEN), tests=tests, runner=runner).exact for model in (own, last)
        )
        row.append((100 * then, 100 * now))
    shares = "  ".join(f"{then:.1f} → {now:.1f} %" for then, now in row)
    print(f"  exact after its stage → after the last: {shares}", flush=True)
    return row


def table(
    plan: Curriculum, rows: dict[str, list[Row]], exact: Sequence[Sequence[tuple[float, float]]]
) -> None:
    """Medians over the seeds."""
    print(
        f"\n{'world':32} {'transfer':>9} {'scratch':>9} {'share':>6} {'plan':>6} {'no φ2':>6}"
        "   exact after its stage → after the last: worst"
    )
    for number, stage in enumerate(plan.stages):
        medians = {
            name: statistics.median(row[number] for row in found) if found else None
            for name, found in rows.items()
        }
        transfer, alone = medians["transfer"], medians["scratch"]
        share = ""
        if transfer is not None and alone is not None and number and alone < NEVER and transfer < NEVER:
            share = f"{transfer / alone:.2f}"
        how = [row[number] for row in exact]
        said = f"{min(then for then, _ in how):.1f} → {min(now for _, now in how):.1f} %" if how else ""
        cell = {name: "" if median is None else shown(median) for name, median in medians.items()}
        print(
            f"{stage.environment:32} {cell['transfer']:>9} {cell['scratch']:>9} {share:>6} {cell['plan']:>6} "
            f"{cell['no φ2']:>6}   {said}"
        )


def shown(actions: float) -> str:
    return "-" if actions == NEVER else f"{actions:g}"


if __name__ == "__main__":
    main()

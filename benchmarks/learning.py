"""How many real actions it takes to reach a goal from nothing, and how right the model then is.

    python benchmarks/learning.py [--seeds 5] [ENVIRONMENT ...]

For each environment and seed one run of `worldcoder learn` with its defaults (the same level until it is solved,
then up to 60 actions of exploration), without any knowledge of the world. "exact" is the share of stratified
tests on levels that were not seen; "play" counts unseen levels (seeds 1000 on) solved with the saved model.
Prints a row a run and a row a world with medians and worst values.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from worldcoder.comparison import compare
from worldcoder.envs import make
from worldcoder.experiment import Experiment, run
from worldcoder.planning import Budget
from worldcoder.playing import play
from worldcoder.programs import load_model

ENVIRONMENTS = ["sokoban", "minigrid:Empty-5x5", "minigrid:DoorKey-5x5", "minigrid:Unlock"]
UNSEEN = range(1000, 1010)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("environments", nargs="*", default=ENVIRONMENTS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--max-actions", type=int, default=600)
    arguments = parser.parse_args()
    for environment in arguments.environments:
        rows = [one_run(environment, seed, arguments.max_actions) for seed in range(arguments.seeds)]
        actions, seconds, exact, played, guesses = zip(*rows, strict=True)
        print(
            f"{environment:24} all {len(rows)} seeds: actions to the goal median {statistics.median(actions):g}, "
            f"worst {max(actions)}; {statistics.median(seconds):.1f} s; wrong guesses at most {max(guesses)}; "
            f"exact median {100 * statistics.median(exact):.1f} %, worst {100 * min(exact):.1f} %; "
            f"play {sum(played)} of {len(UNSEEN) * len(rows)}"
        )


def one_run(environment: str, seed: int, max_actions: int) -> tuple[float, float, float, int, int]:
    """Actions to the goal, seconds, exact share, unseen levels solved, wrong guesses."""
    with tempfile.TemporaryDirectory() as folder:
        experiment = Experiment(environment, seed=seed, max_actions=max_actions)
        summary = run(experiment, Path(folder) / "run", pictures=False)
        model = load_model(Path(folder) / "run")
        comparison = compare(model, lambda: make(environment), list(UNSEEN))
        played = play(model, make(environment), list(UNSEEN), budget=Budget(nodes=200_000))
    actions = summary.actions_to_solve if summary.actions_to_solve is not None else float("inf")
    exact = comparison.to_json()["exact"]
    solved = played.to_json()["solved"]
    print(
        f"{environment:24} seed {seed}: {actions} actions to the goal, {summary.real_actions} in all, "
        f"{summary.seconds['total']:.1f} s, {summary.wrong_guesses} wrong guesses, φ1 {summary.phi1:.3f}, "
        f"exact {100 * exact:.1f} %, play {solved} of {len(UNSEEN)}",
        flush=True,
    )
    return actions, summary.seconds["total"], exact, solved, summary.wrong_guesses


if __name__ == "__main__":
    main()

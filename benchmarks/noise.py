"""How well worlds are learned whose actions fail, or are observed wrongly, now and then.

    python benchmarks/noise.py [--worlds sokoban minigrid:DoorKey-6x6] [--seeds 3] [--max-actions 150]

Each world is learned once with --failing of all actions doing nothing, and once with --wrong of all outcomes observed
wrongly (see tests/worlds/noisy.py); the agent does not know that. Then its last model is held against the world as it
is without noise, on levels never seen: `dynamics`, the share of right next states; `all`, with reward and end.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from synthesis import held_against, tests_of

from worldcoder.experiment import Experiment, run
from worldcoder.programs import Runner, load_model

NOISY = str(Path(__file__).parents[1] / "tests" / "worlds" / "noisy.py") + ":make_env"
LEVELS_APART = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--worlds", nargs="+", default=["sokoban", "minigrid:DoorKey-6x6"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--max-actions", type=int, default=150)
    parser.add_argument("--tests", type=int, default=1000)
    parser.add_argument("--failing", type=float, default=0.2)
    parser.add_argument("--wrong", type=float, default=0.05)
    given = parser.parse_args()
    print(
        f"{'world':<24} {'noise':<13} seed  actions  solved   dynamics      all   lines   seconds", flush=True
    )
    with Runner() as runner:
        for world in given.worlds:
            tests = tests_of(world, given.tests)
            for noise in ({"failing": given.failing}, {"wrong": given.wrong}):
                for seed in range(given.seeds):
                    experiment = Experiment(
                        NOISY,
                        options={"world": world, **noise},
                        seed=seed * LEVELS_APART,
                        levels="next",
                        max_actions=given.max_actions,
                        polish=given.max_actions,
                    )
                    with tempfile.TemporaryDirectory() as folder:
                        summary = run(experiment, Path(folder) / "run", pictures=False, runner=runner)
                        model = load_model(Path(folder) / "run" / "model")
                    shares, _ = held_against(tests, model, runner)
                    dynamics, everything = (
                        min(s for s, _ in shares.values()),
                        min(b for _, b in shares.values()),
                    )
                    said = ", ".join(f"{name} {share}" for name, share in noise.items())
                    print(
                        f"{world:<24} {said:<13} {seed:>4}  {summary.real_actions:>7}  {summary.solved!s:<6}"
                        f"   {dynamics:>7.1%}  {everything:>7.1%}   {model.transition.source.count(chr(10)):>5}"
                        f"   {summary.seconds['total']:>7.0f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()

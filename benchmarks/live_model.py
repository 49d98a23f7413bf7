"""A small real model, served on this machine, writes programs: a check that the whole way works.

    pip install "worldcoder[llm]" xllamacpp
    python benchmarks/live_model.py MODEL.gguf [--environment minigrid:Empty-5x5] [--max-calls 8]

Needs a model file in GGUF format and no network. It says nothing of how well language models do: models that fit a
small machine write programs that run, and seldom ones that are right. It fails (exit code 1) where the way itself
does not work: no reply, no reply that could be read, or a replay that differs from the run.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from worldcoder.experiment import Experiment, ModelConfig, rerun, run
from worldcoder.runs.reader import RunReader


def serve(model: Path, slots: int) -> Any:
    """A server that speaks as OpenAI's does; it ends when it is dropped."""
    library = importlib.import_module("xllamacpp")
    parameters = library.CommonParams()
    parameters.model.path = str(model)
    parameters.n_ctx = 16_384 * slots
    parameters.n_parallel = slots
    return library.Server(parameters)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--environment", default="minigrid:Empty-5x5")
    parser.add_argument("--max-calls", type=int, default=8)
    arguments = parser.parse_args()
    if not arguments.model.is_file():
        parser.error(f"{arguments.model} is no file; give a model in GGUF format")
    server = serve(arguments.model, slots=2)
    config = ModelConfig(
        "local",
        base_url=f"{server.listening_address}/v1",
        max_calls=arguments.max_calls,
        prompt_tokens=6_000,
        reply_tokens=1_500,
    )
    experiment = Experiment(arguments.environment, synthesizer="llm", model=config, max_actions=40)
    with tempfile.TemporaryDirectory() as folder:
        summary = run(experiment, Path(folder) / "run", pictures=False)
        with closing(RunReader(Path(folder) / "run")) as reader:
            programs = [p for p in reader.programs() if p.program.origin != "rules"]
        again = rerun(Path(folder) / "run", Path(folder) / "again", pictures=False)
    same = (summary.real_actions, summary.phi1) == (again.real_actions, again.phi1)
    print(
        f"{summary.model_calls} calls, {summary.tokens_in} tokens in, {summary.tokens_out} out; "
        f"{len(programs)} programs became part of the model; φ1 {summary.phi1:.0%}; "
        f"{'solved' if summary.solved else 'not solved'}; the replay is {'the same' if same else 'ANOTHER'}"
    )
    return 0 if summary.model_calls and programs and same else 1


if __name__ == "__main__":
    sys.exit(main())

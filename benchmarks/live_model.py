"""A small real model, served on this machine, writes programs: a check that the whole way works.

    pip install "worldcoder[llm]" xllamacpp
    python benchmarks/live_model.py MODEL.gguf [--environment sokoban] [--max-calls 8]

    pip install gguf
    python benchmarks/live_model.py --tiny      # no model file at hand: one with random weights

Needs a model file in GGUF format and no network. It says nothing of how well language models do: models that fit a
small machine write programs that run, and seldom ones that are right. It fails (exit code 1), and says why, where the
way itself does not work: no reply, a reply that is not on record, more spent than allowed, a run that does not end in
order, or a replay that differs from the run.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tiny_model import CONTEXT, write

from worldcoder.experiment import Experiment, ModelConfig, rerun, run
from worldcoder.llm.values import Reply
from worldcoder.programs.program import Kind
from worldcoder.runs.events import Summary
from worldcoder.runs.reader import RunReader
from worldcoder.synthesis.llm.reading import read_reply

ENDS = ("calls", "tokens", "actions", "solved", "episodes", "stuck", "converged")
"""How a run ends in order."""
PROMPT_TOKENS = 6_000


@contextmanager
def served(model: Path, *, slots: int, context: int, threads: int) -> Iterator[str]:
    """The URL of a server on this machine that speaks as OpenAI's does. context: tokens, for each of its slots."""
    library: Any = importlib.import_module("xllamacpp")
    parameters = library.CommonParams()
    parameters.model.path = str(model)
    parameters.n_ctx = context * slots
    parameters.n_parallel = slots
    for cpu in (parameters.cpuparams, parameters.cpuparams_batch):
        cpu.n_threads = threads
    parameters.verbosity = 0
    server = library.Server(parameters)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server


def told(reader: RunReader) -> Counter[str]:
    """What the replies on record were: programs, or what was wrong with them."""
    found: Counter[str] = Counter()
    for recorded in reader.replies():
        if not isinstance(recorded.outcome, Reply):
            found[f"an error ({type(recorded.outcome).__name__})"] += 1
            continue
        wanted = re.findall(r"(transition|reward)\(state", recorded.request.messages[-1].content)
        kind: Kind = "reward" if wanted[-1:] == ["reward"] else "transition"
        for text, finish in zip(recorded.outcome.texts, recorded.outcome.finishes, strict=True):
            found[str(read_reply(text, kind, finish=finish).outcome)] += 1
    return found


def texts(reader: RunReader) -> list[tuple[str, ...]]:
    return [r.outcome.texts for r in reader.replies() if isinstance(r.outcome, Reply)]


def programs(reader: RunReader) -> list[str]:
    return [recorded.program.source for recorded in reader.programs()]


def faults(summary: Summary, again: Summary, folder: Path, max_tokens: int) -> list[str]:
    """What did not work."""
    with RunReader(folder / "run") as one, RunReader(folder / "again") as other:
        on_record = sum(map(len, texts(one)))
        same = texts(one) == texts(other) and programs(one) == programs(other)
    alike = ("real_actions", "episodes", "phi1", "model_calls", "stopped")
    same = same and all(getattr(summary, name) == getattr(again, name) for name in alike)
    checks = {
        "nothing was answered": not on_record,
        f"{summary.model_calls} texts were asked for, {on_record} are on record": (
            summary.model_calls != on_record
        ),
        f"{summary.tokens} tokens were used, {max_tokens} were allowed": (summary.tokens or 0) > max_tokens,
        f"the run ended by {summary.stopped!r}": summary.stopped not in ENDS,
        "the replay differs from the run": not same,
    }
    return [words for words, wrong in checks.items() if wrong]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("model", type=Path, nargs="?", help="a file in GGUF format")
    parser.add_argument("--tiny", action="store_true", help="a model with random weights, made on the spot")
    parser.add_argument("--environment", default="sokoban")
    parser.add_argument("--max-calls", type=int, default=8, help="of a synthesis problem")
    parser.add_argument("--max-tokens", type=int, default=200_000, help="of the whole run")
    parser.add_argument("--reply-tokens", type=int, default=None, help="1500; with --tiny 200")
    parser.add_argument("--threads", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    arguments = parser.parse_args()
    if (arguments.model is None) is not arguments.tiny:
        parser.error("give either a model file or --tiny")
    if arguments.model is not None and not arguments.model.is_file():
        parser.error(f"{arguments.model} is no file; give a model in GGUF format")
    reply_tokens: int = arguments.reply_tokens or (200 if arguments.tiny else 1_500)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model: Path = arguments.model or folder / "tiny.gguf"
        context = CONTEXT if arguments.tiny else 2 * (PROMPT_TOKENS + reply_tokens)  # the counts are not ours
        if arguments.tiny:
            write(model)
        with served(model, slots=2, context=context, threads=arguments.threads) as url:
            config = ModelConfig(
                "local",
                base_url=url,
                max_calls=arguments.max_calls,
                max_tokens=arguments.max_tokens,
                prompt_tokens=PROMPT_TOKENS,
                reply_tokens=reply_tokens,
            )
            experiment = Experiment(arguments.environment, synthesizer="llm", model=config, max_actions=40)
            summary = run(experiment, folder / "run", pictures=False)
        again = rerun(folder / "run", folder / "again", pictures=False)  # the server is gone
        wrong = faults(summary, again, folder, arguments.max_tokens)
        with RunReader(folder / "run") as reader:
            replies = ", ".join(f"{n} {what}" for what, n in told(reader).most_common())
            written = sum(recorded.program.parent is not None for recorded in reader.programs())
    print(
        f"{summary.model_calls} calls in {time.monotonic() - began:.0f} s, {summary.tokens_in} tokens in, "
        f"{summary.tokens_out} out: {replies}\n"
        f"{written} repairs became part of the model; φ1 {summary.phi1:.0%}; "
        f"{'solved' if summary.solved else 'not solved'}; ended by {summary.stopped}"
    )
    print("\n".join(f"NOT IN ORDER: {words}" for words in wrong) or "in order; the replay is the same")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""`worldcoder learn --dry-run`: the first prompt, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from worldcoder.cli.learning import experiment_of
from worldcoder.cli.models import cost
from worldcoder.cli.running import running
from worldcoder.cli.words import count, number
from worldcoder.dry_run import Preview, preview
from worldcoder.errors import UsageError
from worldcoder.programs import load_knowledge
from worldcoder.proposers import ModelConfig


def dry_run(
    environment: str | None,
    run: Path | str | None,
    given: Mapping[str, Any],
    *,
    known: Path | None = None,
    unsafe: bool,
    write: Callable[[str], None],
    warn: Callable[[str], None],
) -> Preview:
    """Find out what would be asked first, and show it.

    run: a directory that was named, in which nothing can be done. known: a model to begin with. given: as for `learn`.
    """
    if run is not None:
        raise UsageError(f"--dry-run begins nothing and writes nothing: leave out {run}")
    experiment = experiment_of(environment, given)
    before = None if known is None else load_knowledge(known)
    with running(unsafe=unsafe, warn=warn) as runner:
        found = preview(experiment, runner, before, str(known))
    assert experiment.model is not None  # or there would be no preview
    for line in previewed(found, experiment.model):
        write(line)
    return found


def previewed(preview: Preview, config: ModelConfig) -> Iterator[str]:
    """The first prompt, and what it costs at most."""
    actions = count(preview.actions, "action")
    if preview.needed:
        yield f"after {actions} {preview.request.model} is asked:"
    else:
        name = preview.request.model
        yield f"after {actions} nothing has to be asked yet: rules explain them. {name} would be asked:"
    for message in preview.request.messages:
        yield f"── {message.role} " + "─" * 60
        yield message.content.rstrip()
    yield "── cost " + "─" * 62
    tokens = preview.tokens_in + preview.tokens_out
    ways = f"{number(preview.tokens_in)} in, {number(preview.tokens_out)} out"
    yield f"  one call    at most {number(tokens)} tokens ({ways}), {cost(preview.usd)}"
    calls = preview.max_calls
    all_of_it = None if preview.usd is None else preview.usd * calls
    most = f"at most {number(tokens * calls)} tokens, {cost(all_of_it)}: one synthesis problem"
    yield f"  {count(calls, 'call'):<10}  {most}"
    limits = {"--max-tokens": config.max_tokens, "--max-usd": config.max_usd}
    given = [f"{name} {value:g}" for name, value in limits.items() if value is not None]
    yield f"  limits      {', '.join(given) or 'none for the whole run; see --max-tokens and --max-usd'}"
    yield "nothing was asked, and nothing was written"

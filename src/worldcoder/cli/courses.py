"""`worldcoder learn --curriculum`: learns several environments and says what came of it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from worldcoder import curriculum as curricula
from worldcoder.cli.learning import LARGER, experiment_of
from worldcoder.cli.models import cost, short
from worldcoder.cli.progress import conclude, showing
from worldcoder.cli.running import running
from worldcoder.cli.words import STOPPED, count
from worldcoder.curriculum import CourseSummary
from worldcoder.curriculum.course import TOTALS
from worldcoder.errors import UsageError
from worldcoder.runs.events import Listener

RESUMABLE = (*TOTALS, "max_calls", "base_url")
"""What can be otherwise when a curriculum is gone on with."""


@dataclass(frozen=True)
class Named:
    """What was named on the command line."""

    curriculum: str | None
    order: str | None
    environment: str | None
    resumed: Path | None
    repeated: Path | None
    directory: Path | None
    known: Path | None


def is_curriculum(curriculum: str | None, order: str | None, resumed: Path | None) -> bool:
    """Whether it is a curriculum that is to be learned."""
    return bool(curriculum or order) or (resumed is not None and curricula.is_course(resumed))


def learn_curriculum(
    named: Named,
    given: Mapping[str, Any],
    *,
    quiet: bool,
    pictures: bool,
    unsafe: bool,
    write: Callable[[str], None],
    warn: Callable[[str], None],
) -> CourseSummary:
    """Begin a curriculum or go on with one, and show it. given: as for `worldcoder.cli.learning.learn`."""
    given = {name: value for name, value in given.items() if value is not None}
    if named.resumed is not None:
        _check_resumable(named, given)

        def learn(show: Listener) -> CourseSummary:
            assert named.resumed is not None
            return curricula.resume_curriculum(
                named.resumed, listener=show, pictures=pictures, runner=runner, **given
            )
    else:
        plan = _plan(named)
        if "options" in given:
            raise UsageError(
                "--option is of one environment; write options = { NAME = VALUE } below its [[stage]]"
            )
        totals = {name: given.pop(name) for name in TOTALS if name in given}
        base = experiment_of(plan.stages[0].environment, given)
        if base.model is None and not totals.keys().isdisjoint(("max_tokens", "max_usd")):
            raise UsageError(
                "--max-tokens, --max-usd: of which language model? Name it: --model openai/gpt-5-mini"
            )

        def learn(show: Listener) -> CourseSummary:
            return curricula.learn_curriculum(
                plan,
                base,
                named.directory,
                limits=totals,
                known=named.known,
                listener=show,
                pictures=pictures,
                runner=runner,
            )

    with running(unsafe=unsafe, warn=warn) as runner:
        with showing(quiet=quiet, write=write) as show:
            summary = learn(show)
        if not quiet:
            for line in conclusion(summary):
                write(line)
    return summary


def _plan(named: Named) -> curricula.Curriculum:
    if named.environment is not None or named.repeated is not None:
        other = named.environment or f"--replay {named.repeated}"
        raise UsageError(f"--curriculum says which environments are learned: leave out {other}")
    if named.curriculum is None:
        raise UsageError(f"--order {named.order} of which curriculum? Name it: --curriculum FILE")
    plan = curricula.read(named.curriculum)
    if named.order is None:
        return plan
    if named.order not in curricula.ORDERS:
        raise UsageError(f"--order: expected {' or '.join(curricula.ORDERS)}, got {named.order!r}")
    return replace(plan, order=named.order)


def _check_resumable(named: Named, given: Mapping[str, Any]) -> None:
    others = [name for name in given if name not in RESUMABLE]
    extra = named.environment or named.curriculum or named.order or named.directory or named.known
    if extra or others:
        allowed = ", ".join(f"--{name.replace('_', '-')}" for name in RESUMABLE)
        what = extra or f"--{others[0].replace('_', '-')}"
        raise UsageError(
            f"--resume goes on with the curriculum as it was begun, leave out {what}; allowed: {allowed}"
        )


def conclusion(summary: CourseSummary) -> Iterator[str]:
    """The last lines: a row a stage, and the totals."""
    calls, seconds = summary.total("model_calls"), summary.total("seconds")
    solved = f"{summary.solved} of {count(len(summary.stages), 'stage')} solved"
    actions = count(summary.total("real_actions"), "action")
    yield f"{solved} in {actions}, {conclude(seconds, calls)}: {STOPPED.get(summary.stopped or '', summary.stopped)}"
    directory = shlex.quote(str(summary.directory))
    if summary.stopped == "interrupted":
        yield f"  interrupted worldcoder learn --resume {directory}"
    if summary.stopped in ("actions", "seconds"):
        yield f"  go on       worldcoder learn --resume {directory} --max-{summary.stopped} MORE"
    if summary.stopped in LARGER:
        yield f"  go on       worldcoder learn --resume {directory} {LARGER[summary.stopped]}"
    width = max(len(stage["environment"]) for stage in summary.stages)
    for number, stage in enumerate(summary.stages, 1):
        yield f"  {number:>2}  {stage['environment']:<{width}}  {_came_of(stage)}"
    if calls:
        tokens, usd = short(summary.total("tokens")), cost(summary.total("usd"))
        yield f"  asked       {count(calls, 'call')}, {tokens} tokens, {usd}"
    lost = summary.total("regressions")
    kept = "none: what held in one stage still held after the next" if not lost else f"{lost:,}"
    yield f"  regressions {kept}"
    if summary.model is not None:
        yield f"  model       {Path(summary.model) / 'transition.py'}"
        yield f"next   worldcoder models show {directory}"


def _came_of(stage: Mapping[str, Any]) -> str:
    if not stage["visits"]:
        return "not begun"
    visits = f" in {count(stage['visits'], 'visit')}" if stage["visits"] > 1 else ""
    took = f"{count(stage['real_actions'], 'action')}{visits}, {stage['surprises']:,} not foreseen"
    if stage["actions_to_solve"] is None:
        return f"not solved: {took}"
    return f"solved after {count(stage['actions_to_solve'], 'action')}; {took}"

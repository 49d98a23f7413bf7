"""`worldcoder learn`: runs an experiment and says what came of it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from worldcoder.agent import AgentConfig
from worldcoder.cli.models import SETTINGS, asked, model_config
from worldcoder.cli.progress import conclude, showing
from worldcoder.cli.running import running, unlocked
from worldcoder.cli.words import PHI2, STOPPED, count, number, reached, regressions, share
from worldcoder.envs import make
from worldcoder.envs.guarded import GuardedWorld
from worldcoder.errors import UsageError, WorldcoderError
from worldcoder.experiment import Experiment, rerun, resume, run
from worldcoder.programs import Runner
from worldcoder.programs.saving import load_model
from worldcoder.runs.events import Caution, Event, Summary

CHECK_LEVELS = 5
CHECK_TESTS = 2000
CHECK_SECONDS = 5.0
LIMITS = ("max_actions", "max_seconds", "max_episodes", "max_calls", "max_tokens", "max_usd", "base_url")

LARGER = {"calls": "--max-calls MORE", "tokens": "--max-tokens MORE", "usd": "--max-usd MORE"}
"""How a run that ended by a limit of its language model is gone on with."""


def learn(
    environment: str | None,
    resumed: Path | None,
    directory: Path | None,
    given: Mapping[str, Any],
    *,
    quiet: bool,
    check: bool,
    pictures: bool,
    unsafe: bool,
    write: Callable[[str], None],
    warn: Callable[[str], None],
    repeated: Path | None = None,
    known: Path | None = None,
) -> Summary:
    """Begin a run or go on with one, and show it.

    given: fields of Experiment, AgentConfig and ModelConfig that were set on the command line, the name of the
    language model as `model`. repeated: a run that is done again from its record. known: a model to begin
    with.
    """
    told: list[str] = []

    def tell(line: str) -> None:
        told.append(line)
        warn(line)

    given = {name: value for name, value in given.items() if value is not None}
    if resumed is None and repeated is None:
        experiment = experiment_of(environment, given)
    elif resumed is not None:
        if repeated is not None:
            raise UsageError("--resume goes on with a run, --replay does one again: leave one of them out")
        _check_resumable(environment, directory, given)
    if known is not None and (resumed or repeated) is not None:
        raise UsageError("a run goes on with what it began with: leave out --from")
    before = None if resumed is None else _modified(resumed)
    with running(unsafe=unsafe, warn=tell) as runner:
        with showing(quiet=quiet, write=write) as show:

            def listener(event: Event) -> None:
                if not (isinstance(event, Caution) and f"caution: {event.text}" in told):
                    show(event)

            if repeated is not None:
                others = _changes(environment, given)
                summary = rerun(
                    repeated, directory, listener=listener, pictures=pictures, runner=runner, **others
                )
            elif resumed is None:
                summary = run(
                    experiment,
                    directory,
                    listener=listener,
                    pictures=pictures,
                    runner=runner,
                    known=known,
                )
            else:
                summary = resume(resumed, listener=listener, pictures=pictures, runner=runner, **given)
        if resumed is not None and before is not None and before == _modified(resumed):
            if not quiet:
                why = STOPPED.get(summary.stopped or "", summary.stopped)
                write(f"{resumed} is finished ({why}); nothing was done")
        elif not quiet:
            for line in _conclusion(summary, check=check, runner=runner):
                write(line)
    return summary


def experiment_of(environment: str | None, given: Mapping[str, Any]) -> Experiment:
    """The experiment that the command line describes."""
    given = {name: value for name, value in given.items() if value is not None}
    if environment is None:
        raise UsageError("which environment? as in: worldcoder learn sokoban; `worldcoder envs` lists them")
    agent = {name: given[name] for name in ("epsilon", "min_data", "optimism") if name in given}
    others = ("model", *agent, *SETTINGS)
    rest = {name: value for name, value in given.items() if name not in others}
    return Experiment(environment, agent=AgentConfig(**agent), model=model_config(given), **rest)


def _changes(environment: str | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """What is to be otherwise in a run that is done again."""
    renamed = {("name" if name == "model" else name): value for name, value in given.items()}
    return renamed if environment is None else {**renamed, "environment": environment}


def _check_resumable(environment: str | None, directory: Path | None, given: Mapping[str, Any]) -> None:
    other = [name for name in given if name not in LIMITS]
    if environment is not None or directory is not None or other:
        extra = environment or (f"--out {directory}" if directory else f"--{other[0].replace('_', '-')}")
        allowed = ", ".join(f"--{name.replace('_', '-')}" for name in LIMITS)
        raise UsageError(
            f"--resume goes on with the run as it was begun, leave out {extra}; allowed: {allowed}"
        )


def _modified(directory: Path) -> int | None:
    try:
        return (directory / "summary.json").stat().st_mtime_ns
    except OSError:
        return None


def _conclusion(summary: Summary, *, check: bool, runner: Runner | None = None) -> Iterator[str]:
    """The last lines."""
    spent = conclude(summary.seconds["total"], summary.model_calls)
    planned = "found" if summary.starts_with_plan else summary.phi2
    by_luck = reached(summary.successes, summary.phi1, planned) if summary.solved else None
    if by_luck:
        first = "first after" if summary.successes > 1 else "after"
        yield f"{by_luck}, {first} {count(summary.actions_to_solve or 0, 'action')} in {spent}"
    elif summary.solved:
        yield f"solved after {count(summary.actions_to_solve or 0, 'action')} in {spent}"
    else:
        why = STOPPED.get(summary.stopped or "", str(summary.stopped))
        yield f"not solved after {count(summary.real_actions, 'action')} in {spent}: {why}"
    if summary.stopped == "interrupted":
        yield f"  interrupted worldcoder learn --resume {_path(summary.directory)}"
    if summary.stopped in LARGER:
        yield f"  go on       worldcoder learn --resume {_path(summary.directory)} {LARGER[summary.stopped]}"
    yield from asked(summary.to_json())
    yield from unlocked(summary.sandbox)
    if summary.model is None:
        yield "  model       none yet: there is too little to learn from"
        return
    phi2 = PHI2.get(summary.phi2 or "", "not known")
    if 0 < summary.starts_with_plan < summary.starts:
        phi2 = f"a plan to a reward from {summary.starts_with_plan:,} of {count(summary.starts, 'start')}"
    data = count(summary.real_actions + summary.earlier, "transition")
    yield f"  explains    {share(summary.phi1)} of {data} (φ1); {phi2} (φ2)"
    if summary.earlier:
        yield f"  from        {summary.started_from}: {regressions(summary.regressions, summary.earlier)}"
    run_directory = _path(summary.directory)
    if summary.unexplained:
        missing = count(summary.unexplained, "transition")
        are = "is" if summary.unexplained == 1 else "are"
        yield f"  unexplained {missing} {are} not; look at: worldcoder show {run_directory}"
    if summary.program_error:
        yield f"  error       {summary.program_error}"
    if check and summary.stopped not in ("interrupted", "terminated"):
        yield f"  checked     {_checked(summary, runner)}"
    transition = Path(summary.model) / "transition.py"
    yield f"  model       {count(summary.transition_lines, 'line')} of Python: {transition}"
    options = "".join(f" --option {shlex.quote(f'{k}={v}')}" for k, v in summary.options.items())
    environment = shlex.quote(summary.environment)
    play = f"worldcoder play {run_directory} {environment} --seeds 1-20{options}"
    yield f"next   worldcoder show {run_directory}     {play}"


def _checked(summary: Summary, runner: Runner | None) -> str:
    """How the model compares with the world, on tests that a few seconds allow."""
    from worldcoder.comparison import compare

    seeds = range(summary.seed, summary.seed + CHECK_LEVELS)
    try:
        result = compare(
            load_model(summary.directory),
            lambda: GuardedWorld(make(summary.environment, **summary.options), summary.environment),
            seeds,
            tests=CHECK_TESTS,
            seconds=CHECK_SECONDS,
            runner=runner,
        )
    except WorldcoderError as error:
        return f"not possible: {error}"
    except KeyboardInterrupt:
        return "cut short"
    exact = number(result.tested - result.wrong)
    wrong = f"; wrong in: {result.wrong_contexts[0].context}" if result.wrong_contexts else ""
    failed = f"; a program failed: {result.first_error}" if result.first_error else ""
    return f"exact on {exact} of {number(result.tested)} tests against the real world{wrong}{failed}"


def _path(directory: Path) -> str:
    return shlex.quote(str(directory))

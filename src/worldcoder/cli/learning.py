"""`worldcoder learn`: runs an experiment and says what came of it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from worldcoder.agent import AgentConfig
from worldcoder.cli.progress import conclude, showing
from worldcoder.cli.running import running, unlocked
from worldcoder.cli.words import PHI2, STOPPED, count, number, reached, share
from worldcoder.envs import make
from worldcoder.envs.guarded import GuardedWorld
from worldcoder.errors import UsageError, WorldcoderError
from worldcoder.experiment import Experiment, resume, run
from worldcoder.programs import Runner
from worldcoder.programs.saving import load_model
from worldcoder.runs.events import Caution, Event, Summary

CHECK_LEVELS = 5
CHECK_TESTS = 2000
CHECK_SECONDS = 5.0
LIMITS = ("max_actions", "max_seconds", "max_episodes")


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
) -> Summary:
    """Begin a run or go on with one, and show it.

    given: fields of Experiment and AgentConfig that were set on the command line.
    """
    told: list[str] = []

    def tell(line: str) -> None:
        told.append(line)
        warn(line)

    given = {name: value for name, value in given.items() if value is not None}
    if resumed is None:
        experiment = _experiment(environment, given)
    else:
        _check_resumable(environment, directory, given)
    before = None if resumed is None else _modified(resumed)
    with running(unsafe=unsafe, warn=tell) as runner:
        with showing(quiet=quiet, write=write) as show:

            def listener(event: Event) -> None:
                if not (isinstance(event, Caution) and f"caution: {event.text}" in told):
                    show(event)

            if resumed is None:
                summary = run(experiment, directory, listener=listener, pictures=pictures, runner=runner)
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


def _experiment(environment: str | None, given: Mapping[str, Any]) -> Experiment:
    if environment is None:
        raise UsageError("which environment? as in: worldcoder learn sokoban; `worldcoder envs` lists them")
    agent = {name: given[name] for name in ("epsilon", "min_data", "optimism") if name in given}
    rest = {name: value for name, value in given.items() if name not in agent}
    return Experiment(environment, agent=AgentConfig(**agent), **rest)


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
    by_luck = reached(summary.successes, summary.phi1, summary.phi2)
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
    yield from unlocked(summary.sandbox)
    if summary.model is None:
        yield "  model       none yet: there is too little to learn from"
        return
    phi2 = PHI2.get(summary.phi2 or "", "not known")
    data = count(summary.real_actions, "transition")
    yield f"  explains    {share(summary.phi1)} of {data} (φ1); {phi2} (φ2)"
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

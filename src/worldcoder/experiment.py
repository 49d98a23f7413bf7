"""From a configuration to a recorded run: the main job of worldcoder, in one place.

    experiment = Experiment("sokoban", seed=3)
    summary = run(experiment, "runs/mine")

`run` carries an experiment out and records it; `resume` goes on with one that was stopped or killed, and ends
as if it had not been.
"""

from __future__ import annotations

import importlib
import json
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from worldcoder.agent import Agent, AgentConfig
from worldcoder.envs import make
from worldcoder.envs.factories import one_line, suggestion
from worldcoder.envs.guarded import GuardedWorld
from worldcoder.errors import RunError, UsageError, WorldcoderError
from worldcoder.planning import Budget, Status
from worldcoder.programs import Runner
from worldcoder.runs import locks
from worldcoder.runs.assessment import not_reproduced, reachable
from worldcoder.runs.clock import Clock
from worldcoder.runs.directory import RunDirectory, discard, new_directory
from worldcoder.runs.events import Began, Caution, Event, Listener, Summary, Thinking
from worldcoder.runs.interruption import INTERRUPTED, TERMINATED, Interrupter, Interruption
from worldcoder.runs.journal import Journal, Past
from worldcoder.runs.log import RunLog
from worldcoder.runs.reader import RunReader
from worldcoder.runs.reporter import Reporter
from worldcoder.runs.schema import FORMAT
from worldcoder.synthesis.proposer import Proposer

IN_A_HURRY = 2.0
"""Seconds for a last search where a run was told to end."""

GIVE_UPS = 3
"""Episodes in a row that ended with nothing left to learn, after which a solved run has converged."""

STUCK = 25
"""The same for a run that has not solved anything."""

UNFINISHED = (None, INTERRUPTED, TERMINATED, "error")
"""How a run has stopped that can be resumed as it is."""


@dataclass(frozen=True)
class Experiment:
    """What is run.

    environment: a spec as `worldcoder.envs.make` takes it; options: of its factory.
    seed: of the level and of everything random. synthesizer: who writes the programs: "rules".
    agent: how the agent behaves.
    max_actions, max_seconds, max_episodes: the run ends in order when one is reached; None for no limit.
    Where it ends by `max_seconds` depends on the machine; everything else does not.
    polish: actions after the first success, in which the agent explores where its hypotheses disagree.
    levels: "same": each episode is the level of `seed`; "next": each has a new one: seed, seed + 1, ...

    Raises UsageError for values that do not fit.
    """

    environment: str
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    synthesizer: str = "rules"
    agent: AgentConfig = field(default_factory=AgentConfig)
    max_actions: int | None = 1000
    max_seconds: float | None = None
    max_episodes: int | None = None
    polish: int = 60
    levels: Literal["same", "next"] = "same"

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))
        try:
            json.dumps(dict(self.options))
        except (TypeError, ValueError) as error:
            raise UsageError(f"options are recorded as JSON, which cannot hold these: {error}") from None
        if not 0 <= self.seed < 2**31:
            raise UsageError(f"seed: expected 0 to {2**31 - 1}, got {self.seed}")
        for name in ("max_actions", "max_seconds", "max_episodes", "polish"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise UsageError(f"{name}: expected 0 or more, got {value}")
        if not 0 <= self.agent.epsilon <= 1:
            raise UsageError(f"epsilon: expected a share from 0 to 1, got {self.agent.epsilon}")
        if self.agent.min_data < 1:
            raise UsageError(f"min_data: expected 1 or more, got {self.agent.min_data}")
        if self.synthesizer not in SYNTHESIZERS:
            known = ", ".join(SYNTHESIZERS)
            guess = suggestion(self.synthesizer, SYNTHESIZERS)
            raise UsageError(f"no synthesizer is called {self.synthesizer!r}{guess}; there are: {known}")
        if self.levels not in ("same", "next"):
            raise UsageError(f"levels: expected same or next, got {self.levels!r}")

    def level(self, episode: int) -> int:
        """The seed of an episode, counted from 0."""
        return self.seed + (episode if self.levels == "next" else 0)

    def to_json(self) -> dict[str, Any]:
        """Plain values; undone by `from_json`."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {**values, "options": dict(self.options), "agent": asdict(self.agent)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Experiment:
        """The experiment that `to_json` wrote. Raises RunError for anything else."""
        try:
            return cls(**{**values, "agent": AgentConfig(**values["agent"])})
        except (TypeError, KeyError, UsageError) as error:
            raise RunError(f"the configuration of the run is of another version: {error}") from None


def _rules() -> Proposer:
    from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer

    return RulesSynthesizer()


SYNTHESIZERS: dict[str, Callable[[], Proposer]] = {"rules": _rules}
"""Those who write programs, by name."""


def _ignore(event: Event) -> None:
    """A listener that does nothing."""


def run(
    experiment: Experiment,
    directory: str | Path | None = None,
    *,
    listener: Listener = _ignore,
    pictures: bool = True,
    unsafe: bool = False,
    runner: Runner | None = None,
) -> Summary:
    """Carry an experiment out and record it in a new directory.

    directory: must be new or empty; None finds a name, as in runs/sokoban-0.
    listener: told of everything while it happens. pictures: draw curves and the replay at the end.
    unsafe: run programs even where they cannot be locked up; the record says so. runner: who runs the programs,
    in the place of one that is made for this run.

    Ctrl-C ends the run in order, with the model saved; `Summary.stopped` is then "interrupted".
    Raises WorldError for an environment that cannot be built or that fails, RunError for a directory that
    holds something or cannot be written, SandboxError where programs cannot be run safely. Nothing is written
    if the environment does not start.
    """
    with _one_runner(runner, unsafe) as runner:
        world = GuardedWorld(make(experiment.environment, **experiment.options), experiment.environment)
        world.actions(world.reset(experiment.level(0)).state)
        with new_directory(directory, experiment.environment, experiment.seed) as folder:
            meta = {"config": experiment.to_json(), "version": _version(), "folder": str(Path.cwd())}
            try:
                log = RunLog.create(folder.path, meta)
            except RunError:
                discard(folder)
                raise
            with closing(log):
                return _carry_out(experiment, folder, log, Past(), world, runner, listener, pictures)


def resume(
    directory: str | Path,
    *,
    listener: Listener = _ignore,
    pictures: bool = True,
    unsafe: bool = False,
    runner: Runner | None = None,
    **limits: Any,
) -> Summary:
    """Go on with a run that was stopped or killed, with the same result as if it had not been.

    limits: max_actions, max_seconds, max_episodes to use instead of those it was begun with; a run that ended
    by one goes on with a larger one. A run that is finished is left as it is, and its summary returned.
    unsafe, runner: as for `run`.

    Raises RunError for a directory that holds no run, one that is in use, and where the run comes out
    otherwise than recorded because program or environment changed.
    """
    with RunReader(directory) as reader:
        recorded = Experiment.from_json(reader.config)
        stopped, begun_in, form = reader.stopped, reader.meta("folder"), reader.format
    experiment = replace(recorded, **limits)
    folder = RunDirectory(directory)
    if stopped not in UNFINISHED and experiment == recorded and folder.summary.exists():
        return _known_summary(folder)
    if form != FORMAT:
        raise RunError(
            f"{directory} was recorded by an earlier version and can only be read; start a new run"
        )
    with _one_runner(runner, unsafe) as runner:
        try:
            world = GuardedWorld(make(experiment.environment, **experiment.options), experiment.environment)
        except WorldcoderError as error:
            raise type(error)(f"{error} (the run was begun in {begun_in})") from error
        with folder, closing(RunLog(folder.path)) as log:
            folder.tidy()
            with RunReader(directory) as reader:
                past = Past.read(reader)
            return _carry_out(experiment, folder, log, past, world, runner, listener, pictures)


@contextmanager
def _one_runner(given: Runner | None, unsafe: bool) -> Iterator[Runner]:
    """The runner that was given, or one of its own, which gets ready while other things are made."""
    if given is not None:
        yield given
    else:
        with Runner(unsafe=unsafe) as runner:
            yield runner


def _carry_out(
    experiment: Experiment,
    folder: RunDirectory,
    log: RunLog,
    past: Past,
    world: GuardedWorld,
    runner: Runner,
    listener: Listener,
    pictures: bool,
) -> Summary:
    """The experiment from its first action, of which the log may hold a part, to its summary."""
    sandbox = locks.weakest(past.sandbox, locks.in_words(runner.layers))
    with Interrupter() as interrupter:

        def go_live() -> None:
            with log.transaction():
                log.set_meta("config", experiment.to_json())
                log.set_meta("stopped", None)
                log.set_meta("sandbox", sandbox)
                log.set_meta("layers", locks.recorded(runner.layers))
            if experiment.max_seconds is not None:
                interrupter.limit(experiment.max_seconds - clock.total)

        clock = Clock(lambda name: None if journal.replaying else listener(Thinking(name)))
        journal = Journal(log, past, world, clock, allowed=interrupter.allowed, caught_up=go_live)
        agent = Agent(
            SYNTHESIZERS[experiment.synthesizer](),
            config=experiment.agent,
            rng=random.Random(experiment.seed),
            actions=world.actions,
            planner=journal.plan,
            clock=clock,
            runner=runner,
        )
        about = {name: getattr(experiment, name) for name in ("environment", "synthesizer", "seed")}
        about |= {"options": dict(experiment.options), "version": _version(), "sandbox": sandbox}
        reporter = Reporter(agent, journal, clock, folder, listener, about)
        first = world.reset(experiment.level(0))
        past_actions = len(past.transitions)
        seed, glyphs = experiment.level(0), world.glyphs
        listener(Began(folder.path, experiment.environment, seed, *first, glyphs, past_actions))
        caution = locks.caution(runner.layers)
        if caution is not None:
            listener(Caution(caution))
        whole = True
        try:
            stopped = _learn(experiment, agent, journal, interrupter, reporter)
        except Interruption as interruption:
            if journal.replaying:  # the run has not gone on yet: leave it as it is
                raise KeyboardInterrupt from None
            stopped, whole = interruption.reason, False
        except Exception as error:
            if not journal.replaying:
                with suppress(WorldcoderError):
                    journal.finish({"stopped": "error"}, whole=False)
                    reporter.save(reporter.summary("error", agent.phi1, _word(agent.phi2), str(error)))
            raise

        agent.finish()
        journal.finish({"config": experiment.to_json()}, whole=whole)
        listener(Thinking("checking"))
        interrupter.no_limit()
        wrong, phi2 = None, agent.phi2
        if agent.model is not None:
            seen, starts = reporter.transitions, reporter.starts
            budget = Budget(experiment.agent.plan_nodes, None if whole else IN_A_HURRY)
            wrong = not_reproduced(agent.model, seen, runner)
            try:
                with interrupter.ending():
                    phi2 = reachable(agent.model, starts, world.actions, seen, budget, runner)
            except Interruption as interruption:
                stopped = interruption.reason
        summary = reporter.final(stopped, wrong, _word(phi2))
        reporter.save(summary)
        if pictures:
            _draw(folder, listener)
        journal.finish({"stopped": stopped}, whole=True)
        return summary


def _learn(
    experiment: Experiment, agent: Agent, journal: Journal, interrupter: Interrupter, reporter: Reporter
) -> str:
    """The loop: begin, act, observe, until there is nothing left to learn or a budget is used up.

    Returns why it ended. An action that the agent declines ends the episode; `GIVE_UPS` such episodes in a
    row with no new program in them end a solved run.
    """
    limit = float("inf") if experiment.max_actions is None else experiment.max_actions
    given_up, programs = 0, 0
    while experiment.max_episodes is None or journal.episodes < experiment.max_episodes:
        if journal.actions >= limit:
            return "actions"
        episode = journal.reset(experiment.level(journal.episodes))
        state = episode.start
        reporter.began(episode)
        with interrupter.allowed():
            agent.begin(state, episode.goal)
        while True:
            if reporter.solved_at is not None and journal.actions - reporter.solved_at >= experiment.polish:
                return "solved"
            if journal.actions >= limit:
                return "actions"
            with interrupter.allowed():
                decision = agent.act(state)
            reporter.chose(decision)
            if decision.action is None:
                given_up = given_up + 1 if len(journal.programs) == programs else 1
                programs = len(journal.programs)
                break
            outcome = journal.step(state, episode.goal, decision.action)
            with interrupter.allowed():
                agent.observe(outcome.transition)
            reporter.acted(outcome)
            agent.settled = reporter.solved_at is not None
            state = outcome.transition.next_state
            if outcome.over:
                given_up = 0
                break
        if given_up >= (STUCK if reporter.solved_at is None else GIVE_UPS):
            return "stuck" if reporter.solved_at is None else "converged"
    return "episodes"


def _draw(folder: RunDirectory, listener: Listener) -> None:
    """Curves and replay. A run is not lost if they fail."""
    listener(Thinking("drawing"))
    for module, function in (("curves", "plot_curves"), ("replay", "save_replay")):
        try:
            getattr(importlib.import_module(f"worldcoder.runs.{module}"), function)(folder.path)
        except Exception as error:
            listener(Caution(f"no {module} were drawn: {one_line(error)}"))


def _known_summary(folder: RunDirectory) -> Summary:
    """The summary of a finished run."""
    values = folder.read_summary()
    try:
        return Summary(**values, directory=folder.path)
    except TypeError as error:
        raise RunError(f"{folder.summary} is of another version: {error}") from None


def _word(status: Status | None) -> str | None:
    return None if status is None else str(status)


def _version() -> str:
    try:
        return version("worldcoder")
    except PackageNotFoundError:
        return "unknown"

"""From a configuration to a recorded run: the main job of worldcoder, in one place.

    experiment = Experiment("sokoban", seed=3)
    summary = run(experiment, "runs/mine")

`run` carries an experiment out and records it; `resume` goes on with one that was stopped or killed, and ends
as if it had not been; `rerun` does one again, with the recorded replies in the place of a language model.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worldcoder.agent import Agent
from worldcoder.configuration import Experiment
from worldcoder.envs import make
from worldcoder.envs.guarded import GuardedWorld
from worldcoder.errors import RunError, WorldcoderError
from worldcoder.llm.budget import Budget
from worldcoder.planning import Budget as SearchBudget
from worldcoder.planning import Status
from worldcoder.programs import Knowledge, Runner, load_knowledge
from worldcoder.proposers import (
    SYNTHESIZERS,
    ModelConfig,
    Tools,
    calls_for_problem,
    offer,
    opened,
    used_up,
)
from worldcoder.runs import locks
from worldcoder.runs.assessment import from_all, not_reproduced, reachable
from worldcoder.runs.calls import ModelCalls, answering
from worldcoder.runs.clock import Clock
from worldcoder.runs.directory import RunDirectory, discard, new_directory
from worldcoder.runs.events import Began, Caution, Event, Listener, Summary, Thinking
from worldcoder.runs.handing_on import check_known, known_of
from worldcoder.runs.interruption import (
    INTERRUPTED,
    TERMINATED,
    Ended,
    Interrupter,
    Interruption,
)
from worldcoder.runs.journal import Journal, Past
from worldcoder.runs.log import RunLog
from worldcoder.runs.phases import Cut, Phases
from worldcoder.runs.pictures import draw_all
from worldcoder.runs.reader import RunReader, recorded_summary
from worldcoder.runs.reporter import Reporter
from worldcoder.runs.schema import FORMAT

if TYPE_CHECKING:
    from worldcoder.llm import ServerClient

__all__ = ["SYNTHESIZERS", "Experiment", "ModelConfig", "rerun", "resume", "run"]

IN_A_HURRY = 2.0
"""Seconds for a last search where a run was told to end."""

GRACE = 2.0
"""Seconds after which a language model is not waited for any more where nobody can interrupt the run."""

GIVE_UPS = 3
"""Episodes in a row that ended with nothing left to learn, after which a solved run has converged."""

STUCK = 25
"""The same for a run that has not solved anything."""

UNFINISHED = (None, INTERRUPTED, TERMINATED, "error")
"""How a run has stopped that can be resumed as it is."""


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
    known: str | Path | Knowledge | None = None,
) -> Summary:
    """Carry an experiment out and record it in a new directory.

    directory: must be new or empty; None finds a name, as in runs/sokoban-0.
    listener: told of everything while it happens. pictures: draw curves and the replay at the end.
    unsafe: run programs even where they cannot be locked up; the record says so. runner: who runs the programs,
    in the place of one that is made for this run. known: what was learned before, with which it begins: a model's
    folder, or a run's directory. Its programs are used as long as they hold, and its data stay in the check.

    Ctrl-C ends the run in order, with the model saved; `Summary.stopped` is then "interrupted".
    Raises WorldError for an environment that cannot be built or that fails, RunError for a directory that
    holds something or cannot be written, SandboxError where programs cannot be run safely, LLMError for a language
    model that cannot be asked, ModelFormatError and ProgramError for a model that cannot be gone on with, as one of
    another world. Nothing is written if the environment does not start, or no model could be asked.
    """
    named = None if known is None or isinstance(known, Knowledge) else str(known)
    if isinstance(known, str | Path):
        known = load_knowledge(known)
    with _one_runner(runner, unsafe) as runner:
        client = None if experiment.model is None else opened(experiment.model)
        how = _How(runner, listener, pictures, client, known=known, named=named)
        return _begin(experiment, directory, how)


def rerun(
    recorded: str | Path,
    directory: str | Path | None = None,
    *,
    listener: Listener = _ignore,
    pictures: bool = True,
    unsafe: bool = False,
    runner: Runner | None = None,
    **changes: Any,
) -> Summary:
    """Do a run again, in a new directory; what it asked its language model is answered from its record.

    It needs neither a key nor a network, and comes out as it did, times apart. changes: what is to be otherwise;
    the rest of the arguments and errors as of `run`. Raises NotRecorded, with the difference, where something is
    asked that was not asked then, and RunError for a run that has not ended.
    """
    with RunReader(recorded) as reader:
        before = Experiment.from_json(reader.config)
        known, named = known_of(reader)
        rows, until = reader.reply_rows(), reader.meta("cut")
        if reader.stopped is None:
            raise RunError(f"{recorded} has not ended; go on with it by --resume {recorded} first")
    experiment = before.changed(**changes)
    again = {"again": True, "until": until if experiment == before else None}
    with _one_runner(runner, unsafe) as runner:
        how = _How(runner, listener, pictures, again=again, known=known, named=named)
        return _begin(experiment, directory, how, rows)


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

    limits: max_actions, max_seconds, max_episodes, max_calls, max_tokens, max_usd to use instead of those it was
    begun with, and the base_url of its language model; a run that ended by a limit goes on with a larger one. A run
    that is finished is left as it is, and its summary returned. What the language model replied is in the log, and
    is not asked, or paid for, again. unsafe, runner: as for `run`.

    Raises UsageError for another max_calls with which what is recorded would not come out as it did: a smaller one, or
    any where rules write as well. Raises RunError for a directory that holds no run, one that is in use, and where
    the run comes out otherwise than recorded because program or environment changed; NotRecorded where its prompts
    did.
    """
    with RunReader(directory) as reader:
        recorded = Experiment.from_json(reader.config)
        stopped, begun_in, form = reader.stopped, reader.meta("folder"), reader.format
        again = reader.meta("again")
        known, named = known_of(reader)
    experiment = recorded.going_on(**limits)
    folder = RunDirectory(directory)
    if stopped not in UNFINISHED and experiment == recorded and folder.summary.exists():
        return recorded_summary(folder)
    if form != FORMAT:
        raise RunError(
            f"{directory} was recorded by an earlier version and can only be read; start a new run"
        )
    with _one_runner(runner, unsafe) as runner:
        client = None if experiment.model is None or again else opened(experiment.model)
        how = _How(runner, listener, pictures, client, again, known, named)
        try:
            world = GuardedWorld(make(experiment.environment, **experiment.options), experiment.environment)
        except WorldcoderError as error:
            raise type(error)(f"{error} (the run was begun in {begun_in})") from error
        with folder, closing(RunLog(folder.path)) as log:
            folder.tidy()
            with RunReader(directory) as reader:
                past = Past.read(reader)
            return _carry_out(experiment, folder, log, past, world, how)


@dataclass(frozen=True)
class _How:
    """What a run is carried out with.

    client: the language model; None: there is none, or it is answered for by the log. again: what the log notes of
    a run that repeats another one, `until` where that was cut off; None for any other. known: what the agent begins
    with, and how it was named.
    """

    runner: Runner
    listener: Listener
    pictures: bool
    client: ServerClient | None = None
    again: Mapping[str, Any] | None = None
    known: Knowledge | None = None
    named: str | None = None


@contextmanager
def _one_runner(given: Runner | None, unsafe: bool) -> Iterator[Runner]:
    """The runner that was given, or one of its own, which gets ready while other things are made."""
    if given is not None:
        yield given
    else:
        with Runner(unsafe=unsafe) as runner:
            yield runner


def _begin(
    experiment: Experiment,
    directory: str | Path | None,
    how: _How,
    replies: Sequence[Any] = (),
) -> Summary:
    """A run from its directory on. replies: those it has before it asks."""
    world = GuardedWorld(make(experiment.environment, **experiment.options), experiment.environment)
    state = world.reset(experiment.level(0)).state
    actions = world.actions(state)
    if how.known is not None:
        check_known(how.known, how.named or "the model", experiment.environment, state, actions, how.runner)
    with new_directory(directory, experiment.environment, experiment.seed) as folder:
        meta: dict[str, Any] = {
            "config": experiment.to_json(),
            "version": _version(),
            "folder": str(Path.cwd()),
        }
        if how.again is not None:
            meta["again"] = dict(how.again)
        if how.known is not None:
            meta |= {"known": how.known.to_json(), "from": how.named}
        try:
            log = RunLog.create(folder.path, meta)
        except RunError:
            discard(folder)
            raise
        with closing(log):
            with log.transaction():
                log.add_replies(replies)
            return _carry_out(experiment, folder, log, Past(), world, how)


def _carry_out(
    experiment: Experiment, folder: RunDirectory, log: RunLog, past: Past, world: GuardedWorld, how: _How
) -> Summary:
    """The experiment from its first action, of which the log may hold a part, to its summary."""
    runner, listener = how.runner, how.listener
    sandbox = locks.weakest(past.sandbox, locks.in_words(runner.layers))
    with Interrupter() as interrupter, ExitStack() as open_until_the_end:

        def go_live() -> None:
            with interrupter.held(), log.transaction():
                log.forget(past.tail)
                for name in ("tail", "cut", "stopped"):
                    log.set_meta(name, None)
                log.set_meta("config", experiment.to_json())
                log.set_meta("sandbox", sandbox)
                log.set_meta("layers", locks.recorded(runner.layers))
            if experiment.max_seconds is not None and how.again is None:
                interrupter.limit(experiment.max_seconds - clock.total)
            if calls is not None:
                calls.tell_again()

        def tell(event: Event) -> None:
            if not journal.replaying:
                listener(event)

        def where(reason: str, phase: str) -> Cut:
            replies, cut_off = (0, False) if calls is None else (calls.replies, calls.cut_off)
            return Cut(reason, journal.actions, journal.episodes, phase, replies, cut_off)

        known = how.known or Knowledge()
        inherited = known.model
        clock = Clock(lambda name: tell(Thinking(name)), waits=experiment.model is not None)
        journal = Journal(
            log, past, world, clock, allowed=interrupter.allowed, caught_up=go_live, inherited=inherited
        )
        until = Cut.from_json((how.again or {}).get("until"))
        phases = Phases(where, interrupter.allowed, journal.mark, until)
        calls: ModelCalls | None = None
        if experiment.model is not None:
            config, seconds = experiment.model, None if how.again is not None else experiment.max_seconds
            asked = None if how.client is None else (how.client, journal.asks)
            # a little more: whoever interrupts the run, if anybody can, does it in the middle of anything
            limits = config.limits(None if seconds is None else seconds + GRACE)
            budget = Budget(limits, clock=lambda: clock.total)
            model = open_until_the_end.enter_context(answering(log.path, config.name, asked, budget))
            calls = ModelCalls(
                model,
                clock=clock,
                listen=tell,
                problem=lambda: calls_for_problem(agent.proposer),
                most=config.max_calls,
                in_vain=phases.in_vain,
                used_up=lambda: used_up(agent.proposer),
            )
        rng = random.Random(f"{experiment.seed} synthesis")
        agent = Agent(
            SYNTHESIZERS[experiment.synthesizer](Tools(runner, rng, calls, experiment.model)),
            config=experiment.agent,
            rng=random.Random(experiment.seed),
            actions=world.actions,
            planner=journal.plan,
            clock=clock,
            runner=runner,
        )
        about = {name: getattr(experiment, name) for name in ("environment", "synthesizer", "seed")}
        about |= {"options": dict(experiment.options), "version": _version(), "sandbox": sandbox}
        about["started_from"] = how.named
        spent = dict if calls is None else calls.spent
        more: dict[str, Any] = {"actions": world.actions, "known": known, "solve": experiment.solve}
        reporter = Reporter(agent, journal, clock, folder, listener, about, spent, **more)
        if how.known is not None:
            agent.inherit(known)
            offer(agent.proposer, known)
        first = world.reset(experiment.level(0))
        past_actions = len(past.transitions)
        seed, glyphs = experiment.level(0), world.glyphs
        listener(Began(folder.path, experiment.environment, seed, *first, glyphs, past_actions))
        caution = locks.caution(runner.layers)
        if caution is not None:
            listener(Caution(caution))
        end: dict[str, Any] = {"config": experiment.to_json()}
        cut_off = False
        try:
            stopped = _learn(experiment, agent, journal, phases, reporter)
        except Ended as ended:
            journal.go_on()  # everything that led here may have been in the log
            stopped, end["tail"] = ended.reason, dict(journal.marks)
        except Interruption as interruption:
            if journal.replaying and until is None:  # the run has not gone on yet: leave it as it is
                raise KeyboardInterrupt from None
            journal.go_on()
            stopped, cut_off = interruption.reason, True
            end["cut"] = phases.cut(stopped).to_json()
        except Exception as error:
            if not journal.replaying:
                with suppress(WorldcoderError):
                    journal.finish({"stopped": "error"}, whole=False)
                    reporter.save(reporter.summary("error", agent.phi1, _word(agent.phi2), str(error)))
            raise

        agent.finish()
        journal.finish(end, whole=not cut_off)
        listener(Thinking("checking"))
        interrupter.no_limit()
        wrong, phi2, answers = None, agent.phi2, list[Status]()
        if agent.model is not None:
            seen, starts = reporter.transitions, reporter.starts
            budget_of_search = SearchBudget(experiment.agent.plan_nodes, IN_A_HURRY if cut_off else None)
            wrong = not_reproduced(agent.model, seen, runner)
            try:
                with phases("check", guarded=False), interrupter.ending():
                    answers = reachable(agent.model, starts, world.actions, seen, budget_of_search, runner)
                    phi2 = from_all(answers)
            except Interruption as interruption:
                stopped = interruption.reason
                with log.transaction():
                    log.set_meta("cut", phases.cut(stopped).to_json())
        summary = reporter.final(stopped, wrong, _word(phi2), answers.count(Status.FOUND))
        reporter.save(summary)
        if how.pictures:
            draw_all(folder, listener)
        journal.finish({"stopped": stopped}, whole=True)
        return summary


def _learn(experiment: Experiment, agent: Agent, journal: Journal, phases: Phases, reporter: Reporter) -> str:
    """The loop: begin, act, observe, until there is nothing left to learn or a budget is used up.

    Returns why it ended. An action that the agent declines ends the episode; `GIVE_UPS` such episodes in a
    row with no new program in them end a solved run. Raises Ended where what may be spent on a language model is
    used up.
    """
    limit = float("inf") if experiment.max_actions is None else experiment.max_actions
    given_up, programs = 0, 0
    while experiment.max_episodes is None or journal.episodes < experiment.max_episodes:
        if reporter.solved_at is not None and journal.actions - reporter.solved_at >= experiment.polish:
            return "solved"
        if journal.actions >= limit:
            return "actions"
        with phases("reset", guarded=False):
            episode = journal.reset(experiment.level(journal.episodes))
        state = episode.start
        reporter.began(episode)
        with phases("begin"):
            agent.begin(state, episode.goal)
        while True:
            if reporter.solved_at is not None and journal.actions - reporter.solved_at >= experiment.polish:
                return "solved"
            if journal.actions >= limit:
                return "actions"
            with phases("act"):
                decision = agent.act(state)
            _end_where_used_up(experiment, agent)
            reporter.chose(decision)
            if decision.action is None:
                given_up = given_up + 1 if len(journal.programs) == programs else 1
                programs = len(journal.programs)
                break
            with phases("step", guarded=False):
                outcome = journal.step(state, episode.goal, decision.action)
            with phases("observe"):
                agent.observe(outcome.transition)
            reporter.acted(outcome)
            _end_where_used_up(experiment, agent)
            agent.settled = reporter.solved_at is not None
            state = outcome.transition.next_state
            if outcome.over:
                given_up = 0
                break
        if given_up >= (STUCK if reporter.solved_at is None else GIVE_UPS):
            return "stuck" if reporter.solved_at is None else "converged"
    return "episodes"


def _end_where_used_up(experiment: Experiment, agent: Agent) -> None:
    which = None if experiment.model is None else used_up(agent.proposer)
    if which is not None:
        raise Ended(which)


def _word(status: Status | None) -> str | None:
    return None if status is None else str(status)


def _version() -> str:
    try:
        return version("worldcoder")
    except PackageNotFoundError:
        return "unknown"

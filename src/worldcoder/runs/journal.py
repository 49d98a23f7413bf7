"""What a run does: recorded as it happens, remembered when a run is resumed.

An agent is a function of its seed, its configuration, the world and the planner's results. So a run is
resumed by running it again: as far as the log goes, world and planner answer from the log instead of acting
and searching, and what the agent chooses is compared with what it chose then. After that the world is brought
to where it was, and the run goes on. The loop that drives an agent knows nothing of this.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from worldcoder.agent import search
from worldcoder.envs.guarded import GuardedWorld
from worldcoder.errors import RunError
from worldcoder.planning import Plan
from worldcoder.programs import Program, Simulation, WorldModel
from worldcoder.runs.clock import Clock
from worldcoder.runs.log import RunLog
from worldcoder.runs.reader import (
    RecordedDecision,
    RecordedEpisode,
    RecordedNote,
    RecordedPlan,
    RecordedProgram,
    RecordedTransition,
    RunReader,
)
from worldcoder.world.values import Action, Goal, State, Transition


@dataclass(frozen=True)
class Past:
    """All that a log holds. sandbox: what kept programs from doing harm so far.

    tail: where the run ended by a limit on its language model, the rows of each table before the step in which it
    did. What came after followed from that limit, and is not in here.
    """

    episodes: tuple[RecordedEpisode, ...] = ()
    transitions: tuple[RecordedTransition, ...] = ()
    decisions: tuple[RecordedDecision, ...] = ()
    programs: tuple[RecordedProgram, ...] = ()
    plans: tuple[RecordedPlan, ...] = ()
    notes: tuple[RecordedNote, ...] = ()
    sandbox: str | None = None
    tail: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, reader: RunReader) -> Past:
        """Everything that is in the log now, without what a limit brought about in its last step."""
        tail: Mapping[str, int] = reader.meta("tail") or {}
        return cls(
            tuple(reader.episodes()),
            tuple(reader.transitions()),
            tuple(reader.decisions())[: tail.get("decisions")],
            tuple(reader.programs())[: tail.get("programs")],
            tuple(reader.plans())[: tail.get("plans")],
            tuple(reader.notes())[: tail.get("notes")],
            reader.meta("sandbox"),
            tail,
        )


@dataclass(frozen=True)
class Outcome:
    """What an action led to. truncated: time ran out, and the episode with it."""

    transition: Transition
    truncated: bool

    @property
    def over(self) -> bool:
        """Whether the episode ended."""
        return self.transition.done or self.truncated


class Journal:
    """The world, the planner and the record of one run.

    Each action is one transaction, with what led to it.

    actions, episodes: how many there were. latest_plan: what the last search gave.
    inherited: the model that the agent begins with; its programs are not new.
    allowed: entered around each call of the world. caught_up: called once, when the log is at its end and the
    world is where it was.

    Raises RunError where the run, done again, comes out otherwise than it is recorded.
    """

    def __init__(
        self,
        log: RunLog,
        past: Past,
        world: GuardedWorld,
        clock: Clock,
        *,
        search: Callable[..., Plan] = search,
        allowed: Callable[[], AbstractContextManager[None]] = nullcontext,
        caught_up: Callable[[], None] = lambda: None,
        inherited: WorldModel | None = None,
    ) -> None:
        self.actions = 0
        self.episodes = 0
        self.latest_plan: Plan | None = None
        self._log = log
        self._past = past
        self._world = world
        self._clock = clock
        self._search = search
        self._allowed = allowed
        self._caught_up = caught_up
        self._start: RecordedEpisode | None = None
        self._pending: list[Callable[[], None]] = []
        self._decided = self._planned = self._noted = 0
        self._programs: list[RecordedProgram] = []
        self._inherited = () if inherited is None else (inherited.transition, *inherited.rewards.values())
        self._live = False
        self._behind = False
        self._marks: dict[str, int] = {}
        self._replaying = bool(past.episodes)
        if self._replaying:
            world.reset(past.episodes[0].seed)  # some worlds have no actions before

    @property
    def replaying(self) -> bool:
        """Whether the log is still ahead."""
        return self._replaying

    @property
    def programs(self) -> tuple[RecordedProgram, ...]:
        """The programs that became part of the model so far."""
        return tuple(self._programs)

    # ── the world ────────────────────────────────────────────────────────────────────────────────────────

    def reset(self, seed: int) -> RecordedEpisode:
        """Begin an episode."""
        index = self.episodes + 1
        if self._replaying and self._next_step() is not None:
            raise self._mismatch("the agent began again", "it went on acting")
        if index <= len(self._past.episodes):
            begun = self._past.episodes[index - 1]
            if begun.seed != seed:
                raise self._mismatch(f"episode {index} has seed {seed}", f"{begun.seed}")
        else:
            self._leave_the_log(catch_up=False)
            with self._allowed(), self._clock("acting"):
                start = self._world.reset(seed)
            self._behind = False
            begun = RecordedEpisode(index, seed, start.goal, start.state, self.actions)
            self._flush(lambda: self._log.add_episode(index, seed, start.goal, start.state, begun.after))
        self.episodes = index
        self._start = begun
        return begun

    def step(self, state: State, goal: Goal, action: Action) -> Outcome:
        """Act in the world."""
        recorded = self._next_step() if self._replaying else None
        if recorded is not None:
            outcome = Outcome(recorded.transition, recorded.truncated)
        else:
            self._leave_the_log(catch_up=True)
            with self._allowed(), self._clock("acting"):
                step = self._world.step(action)
            transition = Transition(state, goal, action, step.state, step.reward, step.done)
            outcome = Outcome(transition, step.truncated)
            index, episode, seconds = self.actions + 1, self.episodes, self._clock.seconds()
            self._flush(
                lambda: self._log.add_transition(index, episode, transition, outcome.truncated, seconds)
            )
        self.actions += 1
        return outcome

    def _next_step(self) -> RecordedTransition | None:
        """The recorded step that comes next in this episode."""
        if self.actions < len(self._past.transitions):
            following = self._past.transitions[self.actions]
            if following.episode == self.episodes:
                return following
        return None

    def asks(self) -> bool:
        """The language model is about to be asked what is not in the log; whether the log is at its end.

        If so the run goes on from here: what is asked is paid for, and waited for.
        """
        if not self._replaying:
            return True
        past = self._past
        steps = self.actions < len(past.transitions) or self.episodes < len(past.episodes)
        chosen = self._decided < len(past.decisions) or self._planned < len(past.plans)
        if steps or chosen or len(self._programs) < len(past.programs):
            return False
        self.go_on()
        return True

    def go_on(self) -> None:
        """Go on from the end of the log, before the next action; the world catches up when there is one."""
        self._behind = self._behind or not self._live
        self._leave_the_log(catch_up=False)

    def mark(self) -> None:
        """Something begins that a limit may cut short."""
        self._marks = {
            "decisions": self._decided,
            "programs": len(self._programs),
            "plans": self._planned,
            "notes": self._noted,
        }

    @property
    def marks(self) -> Mapping[str, int]:
        """How many rows there were of each table at the last mark."""
        return self._marks

    def _leave_the_log(self, *, catch_up: bool) -> None:
        """The log is at its end: from here on the world is real."""
        if self._live:
            if catch_up and self._behind:
                self._catch_up()
                self._behind = False
            return
        self._live = True
        if not self._replaying:
            self._caught_up()
            return
        if self.actions < len(self._past.transitions) or self.episodes < len(self._past.episodes):
            raise self._mismatch("the agent went on acting", "it began again")
        if catch_up:
            self._catch_up()
        self._replaying = False
        if self._past.transitions:
            self._clock.restore(self._past.transitions[-1].seconds)
        self._caught_up()

    def _catch_up(self) -> None:
        """Bring the world to where it was, and see that it is where it was."""
        assert self._start is not None
        begun = self._start
        where = f"episode {begun.index}, seed {begun.seed}"
        advice = "an environment that does not repeat itself cannot be resumed; start a new run"
        start = self._world.reset(begun.seed)
        if start.state != begun.start or start.goal != begun.goal:
            raise RunError(f"the world starts otherwise than recorded ({where}); {advice}")
        for recorded in self._past.transitions[begun.after :]:
            then = recorded.transition
            now = self._world.step(then.action)
            if (now.state, now.reward, now.done) != (then.next_state, then.reward, then.done):
                what = f"action {recorded.index}, {then.action} ({where})"
                raise RunError(f"the world answers {what} otherwise than recorded; {advice}")

    # ── the planner ──────────────────────────────────────────────────────────────────────────────────────

    def plan(self, simulation: Simulation, **arguments: Any) -> Plan:
        """Search, or give the result that the same search had, a program's fault included."""
        self._planned += 1
        index, after = self._planned, self.actions
        if index <= len(self._past.plans):
            found = self._past.plans[index - 1].plan
        else:
            found = self._search(simulation, **arguments)
            self._pending.append(lambda: self._log.add_plan(index, after, found))
        self.latest_plan = found
        return found

    # ── the agent ────────────────────────────────────────────────────────────────────────────────────────

    def decided(
        self, action: Action | None, why: str, note: str, *, phi1: float, phi2: str | None, guess: str | None
    ) -> None:
        """The agent chose."""
        self._decided += 1
        index, after = self._decided, self.actions
        now = RecordedDecision(index, self.episodes, after, action, why, note, phi1, phi2, guess)
        if index <= len(self._past.decisions):
            then = self._past.decisions[index - 1]
            if then != now:
                raise self._mismatch(_words(now, then), _words(then, now))
            return
        self._pending.append(
            lambda: self._log.add_decision(index, now.episode, after, action, why, note, phi1, phi2, guess)
        )

    def learned(self, model: WorldModel | None, phi1: float) -> list[Program]:
        """The model after a step; returns the programs that are new in it, comments and docstrings aside."""
        new: list[Program] = []
        for program in () if model is None else (model.transition, *model.rewards.values()):
            before = self._latest(program)
            if before is not None and _same_code(before.source, program.source):
                continue
            self._adopt(program, before, phi1)
            new.append(program)
        return new

    def _latest(self, program: Program) -> Program | None:
        for adopted in reversed(self._programs):
            if (adopted.program.kind, adopted.program.goal) == (program.kind, program.goal):
                return adopted.program
        same = (p for p in self._inherited if (p.kind, p.goal) == (program.kind, program.goal))
        return next(same, None)

    def _adopt(self, program: Program, before: Program | None, phi1: float) -> None:
        index, after = len(self._programs) + 1, self.actions
        parent = program.parent or (None if before is None else before.id)
        self._programs.append(RecordedProgram(index, program, phi1, after))
        if index <= len(self._past.programs):
            then = self._past.programs[index - 1]
            if (then.program.id, then.after) != (program.id, after):
                raise self._mismatch(f"program {index} is {program.id}", f"{then.program.id}")
            return
        self._pending.append(lambda: self._log.add_program(index, program, parent, phi1, after))

    def noted(self, what: str, text: str) -> None:
        """Something worth telling happened."""
        self._noted += 1
        index, after = self._noted, self.actions
        if index > len(self._past.notes):
            self._pending.append(lambda: self._log.add_note(index, after, what, text))

    # ── the record ───────────────────────────────────────────────────────────────────────────────────────

    def finish(self, meta: Mapping[str, Any], *, whole: bool) -> None:
        """Write what is left; not whole: the last step was cut off, and what belongs to it is dropped."""
        if not whole:
            self._pending.clear()
        self._flush(*(lambda k=key, v=value: self._log.set_meta(k, v) for key, value in meta.items()))

    def _flush(self, *last: Callable[[], None]) -> None:
        """One transaction for all that is pending."""
        with self._log.transaction():
            for write in (*self._pending, *last):
                write()
        self._pending.clear()

    def _mismatch(self, now: str, then: str) -> RunError:
        return RunError(
            f"action {self.actions + 1}: {now}; recorded is: {then}. The run cannot be resumed: the program,"
            " its options or the environment changed since; start a new run"
        )


def _same_code(one: str, other: str) -> bool:
    """Whether two texts differ in comments and docstrings at most."""
    return one == other or _code(one) == _code(other)


@lru_cache(maxsize=64)
def _code(source: str) -> str:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return source
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:]
    return ast.dump(tree)


def _words(one: RecordedDecision, other: RecordedDecision) -> str:
    """What sets one decision apart from another."""
    fields = ("action", "why", "note", "after", "episode", "phi1", "phi2", "guess")
    differing = [name for name in fields if getattr(one, name) != getattr(other, name)]
    return ", ".join(f"{name} {getattr(one, name)}" for name in differing)

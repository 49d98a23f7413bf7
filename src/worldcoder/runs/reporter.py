"""Keeps the journal, the listener and the files of a run informed of what its agent does."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from worldcoder.agent import Agent, Decision
from worldcoder.errors import RunError
from worldcoder.planning import Plan
from worldcoder.programs import Episode, Knowledge
from worldcoder.programs.check import Mismatch
from worldcoder.programs.prediction import FAILING
from worldcoder.runs.clock import Clock
from worldcoder.runs.directory import RunDirectory
from worldcoder.runs.events import (
    Acted,
    Adopted,
    Chose,
    EpisodeBegan,
    Failed,
    Listener,
    Progress,
    Refuted,
    Solved,
    Summary,
    Unclear,
)
from worldcoder.runs.goals import unclear
from worldcoder.runs.journal import Journal, Outcome
from worldcoder.runs.reader import RecordedEpisode
from worldcoder.world.values import Action, Goal, State, Transition

REFRESH_SECONDS = 2.0


class Reporter:
    """Told of each step of the loop; nothing is shown or written while a log is being replayed.

    about: what was settled before the run and stands in the summary: environment, options, seed, ...
    spent: what stands there of the language model, as it is now; nothing without one.
    actions: which there are in a state. known: what the agent began with. solve: how many episodes have to end with
    a reward.
    transitions, starts: all that were met, those of before included. solved_at: actions taken when so many episodes
    had ended with a reward.
    """

    def __init__(
        self,
        agent: Agent,
        journal: Journal,
        clock: Clock,
        folder: RunDirectory,
        listener: Listener,
        about: Mapping[str, Any],
        spent: Callable[[], Mapping[str, Any]] = dict,
        *,
        actions: Callable[[State], Sequence[Action]],
        known: Knowledge | None = None,
        solve: int = 1,
    ) -> None:
        self._actions = actions
        self._known = known or Knowledge()
        self.transitions: list[Transition] = self._known.transitions
        self.starts = dict.fromkeys((e.start, e.goal) for e in self._known.episodes)
        self.solved_at: int | None = None
        self.successes = 0
        self.wrong_guesses = 0
        self._agent = agent
        self._journal = journal
        self._clock = clock
        self._folder = folder
        self._listener = listener
        self._about = about
        self._spent = spent
        self._earlier = len(self.transitions)
        self._solve = solve
        self._episodes: list[tuple[Goal, State, list[Transition]]] = []
        self._surprised: list[int] = []
        self._goals: dict[Goal, dict[str, int | None]] = {}
        self._unclear: dict[Goal, str | None] = {}
        self._guess: str | None = None
        self._failures = 0
        self._decision: Decision | None = None
        self._following: Plan | None = None
        self._left = 0
        self._refreshed = time.monotonic()
        self._saved: object = None

    def began(self, episode: RecordedEpisode) -> None:
        """An episode began."""
        goal = episode.goal
        if goal not in self._unclear:
            actions = self._actions(episode.start)
            met = [state for state, _ in self.starts]
            said = self._unclear[goal] = unclear(goal, episode.start, actions, met, self.transitions)
            if said is not None:
                self._journal.noted("unclear", said)
                if not self._journal.replaying:
                    self._listener(Unclear(goal, said))
        self.starts.setdefault((episode.start, episode.goal))
        self._episodes.append((episode.goal, episode.start, []))
        self._tally(episode.goal, "episodes")
        if not self._journal.replaying:
            self._listener(EpisodeBegan(episode.index, episode.seed, episode.start))

    def _tally(self, goal: Goal, what: str) -> None:
        """Count something of a goal."""
        nothing = {"episodes": 0, "solved": 0, "actions": 0, "actions_to_solve": None, "wrong_guesses": 0}
        mine = self._goals.setdefault(goal, nothing)
        mine[what] = (mine[what] or 0) + 1

    def chose(self, decision: Decision) -> None:
        """The agent chose."""
        agent = self._agent
        self._decision = decision
        self._count_down(decision)
        self._guess = agent.guess.meaning if agent.guess is not None else None
        self._journal.decided(
            decision.action,
            decision.why,
            decision.note,
            phi1=agent.phi1,
            phi2=None if agent.phi2 is None else str(agent.phi2),
            guess=self._guess,
        )
        self._tell_failures()
        if not self._journal.replaying:
            self._listener(Chose(decision.action, decision.why, decision.note))

    def _count_down(self, decision: Decision) -> None:
        """Keep count of what is left of the plan that is being followed."""
        latest = self._journal.latest_plan
        if decision.why not in ("plan", "guess"):
            self._left = 0
        elif latest is not None and latest is not self._following and latest.found:
            self._following, self._left = latest, len(latest.actions) - 1
        else:
            self._left = max(0, self._left - 1)

    def acted(self, outcome: Outcome) -> None:
        """An action was taken, and the agent has learned from it."""
        agent, step, decision = self._agent, outcome.transition, self._decision
        assert decision is not None
        self.transitions.append(step)
        self._episodes[-1][2].append(step)
        self._tally(step.goal, "actions")
        if agent.counts.surprises > len(self._surprised):
            self._surprised.append(self._journal.actions)
        new = self._journal.learned(agent.model, agent.phi1)
        refuted = agent.counts.wrong_guesses > self.wrong_guesses
        self.wrong_guesses = agent.counts.wrong_guesses
        rewarded = step.done and step.reward > 0
        self.successes += rewarded
        first = rewarded and self.successes == self._solve
        if rewarded:
            self._tally(step.goal, "solved")
            if self._goals[step.goal]["solved"] == 1:
                self._goals[step.goal]["actions_to_solve"] = self._goals[step.goal]["actions"]
        if refuted:
            self._tally(step.goal, "wrong_guesses")
            self._journal.noted("refuted", self._guess or decision.note)
        if first:
            self.solved_at = self._journal.actions
            self._journal.noted("solved", f"reward {step.reward:g}")
        self._tell_failures()
        if self._journal.replaying:
            return
        progress = self.progress()
        self._listener(Acted(step, decision.why, decision.note, progress))
        for program in new:
            self._listener(Adopted(program, progress))
        if refuted:
            self._listener(Refuted(self._guess or decision.note, progress))
        if first:
            self._listener(Solved(progress))
        if time.monotonic() - self._refreshed > REFRESH_SECONDS:
            self.refresh()

    def _tell_failures(self) -> None:
        """Programs that failed since the last time."""
        new = self._agent.failures[self._failures :]
        self._failures += len(new)
        for program, found in new:
            where = "" if found.action is None else f" ({found.action})"
            what = f"{found.what}: {' '.join((found.error or '').split())}{where}"
            self._journal.noted("failed", f"{program.kind} program {program.id}: {what}")
            if not self._journal.replaying:
                self._listener(Failed(program, what, self.progress()))

    def progress(self) -> Progress:
        """Where the run stands."""
        agent = self._agent
        model = agent.model
        programs = () if model is None else (model.transition, *model.rewards.values())
        return Progress(
            actions=self._journal.actions,
            episodes=self._journal.episodes,
            successes=self.successes,
            wrong_guesses=self.wrong_guesses,
            phi1=agent.phi1,
            phi2=None if agent.phi2 is None else str(agent.phi2),
            plan_length=self._left,
            guess=agent.guess.meaning if agent.guess is not None else None,
            lines=sum(program.lines for program in programs),
            seconds=self._clock.total,
            data=len(self.transitions),
        )

    def refresh(self) -> None:
        """Write the model and the summary as they are now."""
        with suppress(RunError):  # the log is what counts; the end of the run writes them again
            status = self._agent.phi2
            self.save(self.summary(None, self._agent.phi1, None if status is None else str(status)))
        self._refreshed = time.monotonic()

    def summary(
        self, stopped: str | None, phi1: float, phi2: str | None, error: str | None = None
    ) -> Summary:
        """The results as they are now, with what was found out about the model."""
        model, programs = self._agent.model, self._journal.programs
        current = () if model is None else (model.transition, *model.rewards.values())
        return Summary(
            **self._about,
            **self._spent(),
            goal=next(iter(self._goals), ""),
            solved=self.solved_at is not None,
            stopped=stopped,
            episodes=self._journal.episodes,
            real_actions=self._journal.actions,
            actions_to_solve=self.solved_at,
            actions_to_model=programs[-1].after if programs else 0,
            phi1=phi1,
            phi2=phi2,
            unexplained=round((1 - phi1) * len(self.transitions)),
            wrong_guesses=self.wrong_guesses,
            successes=self.successes,
            programs=len(programs),
            program_lines=sum(program.lines for program in current),
            transition_lines=0 if model is None else model.transition.lines,
            model=None if model is None else str(self._folder.model),
            seconds=self._clock.seconds(),
            error=error,
            goals={g: {**counts, "unclear": self._unclear.get(g)} for g, counts in self._goals.items()},
            surprised=tuple(self._surprised),
            earlier=self._earlier,
            starts=len(self.starts),
            regressions=self._agent.learner.regressions,
            directory=self._folder.path,
        )

    def final(
        self, stopped: str, wrong: Sequence[Mismatch] | None, phi2: str | None, with_plan: int
    ) -> Summary:
        """The results at the end. wrong: what the model does not reproduce; None without a model. with_plan: starts
        from which it has a plan to a reward."""
        everything = len(self.transitions)
        phi1 = 0.0 if wrong is None or not everything else 1 - len(wrong) / everything
        error = next((m.error for m in wrong or () if m.what in FAILING), None)
        lost = self._agent.learner.regressions_among({m.index for m in wrong or ()})
        summary = self.summary(stopped, phi1, phi2)
        return replace(summary, program_error=error, regressions=lost, starts_with_plan=with_plan)

    def save(self, summary: Summary) -> None:
        """Write the model, if it is another one or learned more, and the summary. Raises RunError where that fails."""
        model = self._agent.model
        now = model, len(self.transitions) if summary.stopped else 0
        if model is not None and now != self._saved:
            own = (Episode(self._about["environment"], g, s, tuple(t)) for g, s, t in self._episodes)
            episodes = [*self._known.episodes, *own]
            self._folder.write_model(model, {"goal": summary.goal, **self._about}, episodes)
            self._saved = now
        self._folder.write_summary(summary.to_json())

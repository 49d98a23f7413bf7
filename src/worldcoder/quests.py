"""Searches, by the planner, for steps that would teach something however far away they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from worldcoder.exploration import worth
from worldcoder.planning import Plan, Status
from worldcoder.programs import Program, Simulation
from worldcoder.searching import Searches, Step, steps_of
from worldcoder.synthesis.proposer import Proposer
from worldcoder.world.values import Action, Goal, State

_NEWS = 3.0
"""The interest of a reward of which nothing is known, before any was sought,"""
_DISPUTE = 2.0
"""and of a step on which hypotheses disagree."""
_TRUST = 3.0
"""Surprising ones that are supposed to have been found already."""
_IN_PASSING = 10
"""How many times fewer nodes a search has where something else is worth doing."""


Ended = dict[str, tuple[Status, int]]
"""How searches so far ended, and after how many nodes, by program."""
_Programs = tuple[Program | None, Program]


class Quests:
    """What is sought: rewards of which nothing is known, and steps on which hypotheses disagree."""

    def __init__(self, proposer: Proposer, searches: Searches, nodes: int) -> None:
        def news(goal: Goal, start: State) -> _Programs | None:
            program = proposer.news_program(goal, start)
            return None if program is None else (None, program)

        quest = partial(Quest, searches=searches, nodes=nodes)
        self._news = quest("news of the reward", _NEWS, news)
        self._disputes = quest("hypotheses disagree", _DISPUTE, proposer.disputes)

    def best(
        self, state: State, episode: tuple[Goal, State], least: float, ended: Ended, *, news: bool
    ) -> tuple[Simulation, Plan, str] | None:
        """A plan to what is worth most, and why, where it is worth more than what was found elsewhere.

        news: whether rewards are sought. The rest: see `Quest.way`.
        """
        best = None
        for quest in (self._news, self._disputes) if news else (self._disputes,):
            found = quest.way(state, episode, least, ended)
            if found is not None:
                simulation, plan, least = found
                best = simulation, plan, quest.why
        return best

    def note(self, state: State, action: Action, *, foreseen: bool) -> None:
        """A step was taken."""
        for quest in (self._news, self._disputes):
            quest.note(state, action, foreseen=foreseen)


class Quest:
    """A search for steps that would teach something, far away too, and how often such a step surprised.

    programs: from a goal and a start, the transition program to plan with (None: the present one) and the reward
    program that rewards these steps; None where there are none. interest: of such a step, before any was sought.
    """

    def __init__(
        self,
        why: str,
        interest: float,
        programs: Callable[[Goal, State], _Programs | None],
        searches: Searches,
        nodes: int,
    ) -> None:
        self.why = why
        self._before = interest
        self._programs = programs
        self._searches = searches
        self._nodes = nodes
        self._sought: Step | None = None
        self._tried = self._surprised = 0

    def way(
        self,
        state: State,
        episode: tuple[Goal, State],
        least: float,
        ended: Ended,
    ) -> tuple[Simulation, Plan, float] | None:
        """A plan to the next one and its worth, where that is more than what was found elsewhere, if anything was.

        episode: its goal and start. ended: how searches so far ended, and their nodes; it is added to.
        """
        nodes = self._nodes // _IN_PASSING if least else self._nodes
        if worth(self._interest, 1) <= least:
            return None
        programs = self._programs(*episode)
        if programs is None:
            return None
        transition, reward = programs
        key = reward.id if transition is None else f"{transition.id} {reward.id}"
        status, tried = ended.get(key, (Status.BUDGET, -1))
        if status is Status.UNREACHABLE or tried >= nodes:
            return None
        simulation, found = self._searches.search(self.why, state, reward, nodes, transition)
        if not found.found:
            ended[key] = found.status, nodes
            return None
        mine = worth(self._interest, len(found.actions))
        if mine <= least:
            return None
        self._sought = steps_of(simulation, found)[-1]
        return simulation, found, mine

    @property
    def _interest(self) -> float:
        return self._before * (_TRUST + self._surprised) / (_TRUST + self._tried)

    def note(self, state: State, action: Action, *, foreseen: bool) -> None:
        """A step was taken; it counts if it is the one that was sought."""
        if self._sought == (state, action):
            self._sought = None
            self._tried += 1
            self._surprised += not foreseen

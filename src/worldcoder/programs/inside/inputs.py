"""Recorded situations, prepared once, for programs to be run on: the inputs of condition φ1.

What really happened is not here: a program cannot find out what it should have said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from worldcoder.errors import ProgramError
from worldcoder.programs.inside.answers import Answers, Steps
from worldcoder.programs.inside.functions import RewardFunction, TransitionFunction
from worldcoder.world.live import LiveState, Snapshot
from worldcoder.world.values import Action, State

NOTHING = -1
"""In the place of a verdict: no reward program was asked."""


@dataclass
class _Group:
    """Situations that share most of their objects, on one live state."""

    live: LiveState
    last: State
    kept: Snapshot
    steps: Steps | None = None

    def keep(self, state: State) -> Snapshot:
        """A state, kept."""
        if state != self.last:
            self.last, self.kept = state, self.live.snapshot_of(state)
        return self.kept


@dataclass(slots=True)
class _Input:
    """An action in a state under a goal. batch: equal for those that leave the same state."""

    group: int
    before: Snapshot
    action: Action
    goal: int
    batch: int


class Inputs:
    """Situations by number, in the order they were added.

    Those of one episode share a live state, so that what never changes is loaded once.
    """

    def __init__(self) -> None:
        self._groups: list[_Group] = []
        self._inputs: list[_Input] = []
        self._batches: dict[tuple[int, Snapshot], int] = {}

    def __len__(self) -> int:
        return len(self._inputs)

    def add(self, state: State, action: Action, goal: int) -> None:
        """One more situation."""
        number = self._group(state)
        before = self._groups[number].keep(state)
        batch = self._batches.setdefault((number, before), len(self._inputs))
        self._inputs.append(_Input(number, before, action, goal, batch))

    def _group(self, state: State) -> int:
        """The group of the last situation if the state is like it, else another alike, else a new one."""
        for number in range(len(self._groups) - 1, max(-1, len(self._groups) - 9), -1):
            group = self._groups[number]
            if group.last == state or len(group.last) == len(state):
                return number
        live = LiveState(state)
        live.settle()
        self._groups.append(_Group(live, state, live.snapshot()))
        return len(self._groups) - 1

    def run(
        self,
        wanted: Sequence[int],
        transition: TransitionFunction | None,
        reward_of: Callable[[int], RewardFunction | None],
        answers: Answers,
        *,
        after: Mapping[int, tuple[int, State]],
        backwards: bool = False,
        at: Callable[[int], None],
    ) -> Iterator[tuple[int, int, int]]:
        """Run programs on the situations of these numbers; for each (number, outcome, verdict).

        They are run in an order that leaves each state once; or in the reverse of it, with nothing remembered.
        after: where there is no transition program, what the numbers stand for: a situation, and what followed.
        at: told the number that comes next.
        """
        inputs = self._inputs
        places = {i: (inputs[after[i][0] if after else i]) for i in wanted}
        order = sorted(wanted, key=lambda i: (places[i].group, places[i].batch, i), reverse=backwards)
        group, current, forgotten = -1, None, set[int]()
        for i in order:
            one = places[i]
            held = self._groups[one.group]
            live = held.live
            if one.group != group:
                group, current = one.group, None
                forgotten.clear()
                steps = held.steps = held.steps or Steps(live, answers)
            if one.before is not current:
                live.restore(one.before)
                current = one.before
            at(i)
            outcome, verdict = NOTHING, NOTHING
            try:
                if transition is None:
                    live.become(after[i][1])
                else:
                    transition(live, one.action)
                live.settle()
                if transition is not None:
                    outcome = steps.outcome()
                reward = reward_of(one.goal)
                if reward is not None:
                    if id(reward) not in forgotten:  # what it remembers is of another live state
                        forgotten.add(id(reward))
                        reward.forget()
                    judge = reward.fresh if backwards else reward
                    verdict = answers.verdict(*judge(live, one.action))
            except ProgramError as error:
                said = answers.error(error)
                if transition is not None and outcome == NOTHING:
                    outcome = said
                else:
                    verdict = said
            finally:
                live.undo()
            yield i, outcome, verdict

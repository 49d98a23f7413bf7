"""Single steps of a world model, from any state."""

from __future__ import annotations

from worldcoder.errors import ProgramError
from worldcoder.programs.inside.answers import ERROR, Answers, Steps
from worldcoder.programs.inside.functions import RewardFunction, TransitionFunction
from worldcoder.programs.inside.inputs import NOTHING
from worldcoder.world.live import LiveState, Snapshot
from worldcoder.world.values import Action, State

_KEPT = 20_000


class Stepper:
    """Two programs on a live state, which holds the states that are alike."""

    def __init__(
        self, transition: TransitionFunction, reward: RewardFunction | None, state: State, answers: Answers
    ) -> None:
        self._transition = transition
        self._reward = reward
        self._answers = answers
        self._live = LiveState(state)
        self._live.settle()
        self._steps = Steps(self._live, answers)
        self._kept: dict[State, Snapshot] = {}

    def keep(self, state: State) -> Snapshot:
        """A state, kept."""
        known = self._kept.get(state)
        if known is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            known = self._kept[state] = self._live.snapshot_of(state)
        return known

    def step(self, before: Snapshot, action: Action) -> tuple[int, int, Snapshot]:
        """One step: outcome and verdict, and the state after it (the one before, where a program failed)."""
        live, outcome, verdict = self._live, NOTHING, NOTHING
        live.restore(before)
        try:
            self._transition(live, action)
            live.settle()
            outcome = self._steps.outcome()
            after = live.snapshot()
            if self._reward is not None:
                verdict = self._answers.verdict(*self._reward.fresh(live, action))
        except ProgramError as error:
            return self._answers.error(error), NOTHING, before
        finally:
            live.undo()
        return outcome, verdict, after

    def follow(self, state: State, actions: list[Action]) -> list[tuple[int, int]]:
        """The steps of a way; it ends early where a program fails."""
        before, found = self.keep(state), []
        for action in actions:
            outcome, verdict, before = self.step(before, action)
            found.append((outcome, verdict))
            if outcome % 3 == ERROR:
                break
        return found

"""Where to act in order to learn: breadth-first over what the model predicts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice

from worldcoder.programs import Fault, Prediction, Simulation
from worldcoder.synthesis.proposer import Proposer
from worldcoder.world.values import Action, Goal, State

Step = tuple[State, Action]
Way = tuple[Step, ...]

AHEAD = 64
"""States whose steps are predicted in one request; those that are not looked at in the end cost little."""


@dataclass(frozen=True)
class Lesson:
    """A way to something to learn, as predicted; its last step is what is to be tried."""

    way: Way
    why: str


class Explorer:
    """Looks for lessons from one state on.

    tried: what was done already; the world is deterministic, so doing it again teaches nothing.
    wrong: what the model is known to predict wrongly; no way leads through it.
    nodes: how many predicted states are looked at.
    """

    def __init__(
        self,
        proposer: Proposer,
        simulation: Simulation,
        actions: Callable[[State], Sequence[Action]],
        *,
        tried: Set[Step],
        wrong: Set[Step],
        nodes: int,
    ) -> None:
        self._proposer = proposer
        self._simulation = simulation
        self._actions = actions
        self._tried = tried
        self._wrong = wrong
        self._nodes = nodes
        self._following: dict[State, list[Step]] = {}  # what each state leads to, and by which action
        self._failed: list[tuple[Step, Prediction]] = []

    def most_interesting(self) -> Lesson | None:
        """The action that would teach most for its distance: interest / (distance + 2)."""
        best, found = 0.0, None
        for state, way in self._states():
            if self._proposer.top_interest / (len(way) + 2) <= best:
                break  # nothing farther away can be worth more
            for action in self._new_actions(state):
                interest = self._proposer.interest(state, action)
                if interest / (len(way) + 2) > best:
                    best = interest / (len(way) + 2)
                    found = Lesson((*way, (state, action)), f"interest {interest:g}")
            self._expand(state, way)
        return found

    def untried(self) -> Lesson | None:
        """The nearest action that was never chosen in its state."""
        for state, way in self._states():
            for action in self._new_actions(state):
                return Lesson((*way, (state, action)), "not tried yet")
            self._expand(state, way)
        return None

    def faults(self, goal: Goal) -> Iterator[Fault]:
        """Where a program failed, so far; such steps lead nowhere."""
        for step, failed in self._failed:
            if failed.failing is not None:
                yield Fault(failed.failing, failed.error or "", goal, *step)

    def _new_actions(self, state: State) -> Iterator[Action]:
        return (action for action in self._actions(state) if (state, action) not in self._tried)

    def _states(self) -> Iterator[tuple[State, Way]]:
        """Predicted states, nearest first; `_expand` adds those that follow one."""
        start = self._simulation.state
        self._seen = {start}
        self._frontier: deque[tuple[State, Way]] = deque([(start, ())])
        self._left = self._nodes
        while self._frontier and self._left:
            yield self._frontier.popleft()
            self._left -= 1

    def _expand(self, state: State, way: Way) -> None:
        if state not in self._following:
            ahead = islice(self._frontier, min(AHEAD, self._left) - 1)
            self._predict([state, *(other for other, _ in ahead)])
        for after, action in self._following[state]:
            if after not in self._seen:
                self._seen.add(after)
                self._frontier.append((after, (*way, (state, action))))

    def _predict(self, states: Sequence[State]) -> None:
        """Ask what states lead to. A round trip costs as much as many steps, so several are asked for at once."""
        new = [state for state in states if state not in self._following]
        self._following.update((state, []) for state in new)
        every = ((state, action) for state in new for action in self._actions(state))
        steps = [step for step in every if step not in self._wrong]
        for (state, action), led in zip(steps, self._simulation.predict_all(steps), strict=True):
            if led.state is None:
                self._failed.append(((state, action), led))
            elif not led.done:
                self._following[state].append((led.state, action))

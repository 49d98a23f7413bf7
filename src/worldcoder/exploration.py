"""Where to act in order to learn: breadth-first over what the model predicts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice

from worldcoder.programs import Fault, Prediction, Program, Simulation
from worldcoder.synthesis.proposer import Proposer
from worldcoder.world.values import Action, Goal, State

Step = tuple[State, Action]
Way = tuple[Step, ...]

REMEMBERED = 20_000
"""Predicted steps that are kept."""

AHEAD = 64
"""States whose steps are predicted in one request; those that are not looked at in the end cost little."""
_FIRST = 8
"""The same at first; then as many as were looked at already."""


@dataclass(frozen=True)
class Lesson:
    """A way to something to learn, as predicted; its last step is what is to be tried.

    worth: what it teaches for its distance, see `worth`.
    """

    way: Way
    why: str
    worth: float


def worth(interest: float, actions: int) -> float:
    """What it is worth to try something with the last of so many actions."""
    return interest / (actions + 1)


class KnownSteps:
    """What the present programs predicted so far."""

    def __init__(self) -> None:
        self._programs: tuple[Program | None, ...] = ()
        self._steps: dict[Step, Prediction] = {}

    def of(self, *programs: Program | None) -> dict[Step, Prediction]:
        """What these programs predicted; nothing where others were asked for before."""
        if programs != self._programs or len(self._steps) > REMEMBERED:
            self._programs, self._steps = programs, {}
        return self._steps


class Disputed:
    """Which steps the hypotheses dispute, as the programs of a proposer say of many at once."""

    def __init__(
        self,
        programs: Callable[[Goal, State], tuple[Program, Program] | None],
        simulation: Callable[[State, Program, Program], Simulation],
    ) -> None:
        """programs: the transition and the reward program for an episode. simulation: of them, the reward first."""
        self._ask_for = programs
        self._simulate = simulation
        self._programs: tuple[Program, Program] | None = None
        self._simulation: Simulation | None = None
        self._known: dict[Step, bool] = {}

    def seen_from(self, state: State, episode: tuple[Goal, State]) -> Disputed:
        """By the present programs; what the same ones said before is not asked again. episode: its goal and start."""
        programs = self._ask_for(*episode)
        if programs != self._programs or len(self._known) > REMEMBERED:
            self._programs, self._known = programs, {}
        self._simulation = None if programs is None else self._simulate(state, programs[1], programs[0])
        return self

    def ask(self, steps: Iterable[Step]) -> None:
        """Find out about these."""
        new = [step for step in steps if step not in self._known]
        if self._simulation is not None and new:
            for step, said in zip(new, self._simulation.predict_all(new), strict=True):
                self._known[step] = said.state is not None and said.reward > 0

    def knows(self, steps: Iterable[Step]) -> bool:
        """Whether there is nothing to find out about these."""
        return self._simulation is None or all(step in self._known for step in steps)

    def of(self, step: Step) -> bool | None:
        """Whether a step that was asked about is disputed; None where there is nobody to ask."""
        return None if self._simulation is None else self._known.get(step, False)


class Explorer:
    """Looks for lessons from one state on.

    tried: what was done already; the world is deterministic, so doing it again teaches nothing.
    wrong: what the model is known to predict wrongly; no way leads through it.
    nodes: how many predicted states are looked at.
    known: what the same programs predicted before; it is added to. disputed: who to ask what is disputed.
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
        known: dict[Step, Prediction] | None = None,
        disputed: Disputed | None = None,
    ) -> None:
        self._proposer = proposer
        self._simulation = simulation
        self._actions = actions
        self._tried = tried
        self._wrong = wrong
        self._nodes = nodes
        self._known: dict[Step, Prediction] = {} if known is None else known
        self._disputed = disputed
        self._failed: list[tuple[Step, Prediction]] = []

    def most_interesting(self) -> Lesson | None:
        """The action that would teach most for its distance: interest / (distance + 2)."""
        best, found = 0.0, None
        for state, way in self._states():
            if worth(self._proposer.top_interest, len(way) + 1) <= best:
                break  # nothing farther away can be worth more
            self._look_ahead(state)
            for action in self._new_actions(state):
                disputed = self._disputed.of((state, action)) if self._disputed else None
                above = best * (len(way) + 2)
                interest = self._proposer.interest(state, action, above, disputed=disputed)
                if worth(interest, len(way) + 1) > best:
                    best = worth(interest, len(way) + 1)
                    found = Lesson((*way, (state, action)), f"interest {interest:.2g}", best)
            self._expand(state, way)
        return found

    def untried(self) -> Lesson | None:
        """The nearest action that was never chosen in its state."""
        for state, way in self._states():
            for action in self._new_actions(state):
                return Lesson((*way, (state, action)), "not tried yet", 0.0)
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
        self._look_ahead(state)
        for step in self._steps(state):
            led = self._known.get(step)
            if led and led.state is not None and not led.done and led.state not in self._seen:
                self._seen.add(led.state)
                self._frontier.append((led.state, (*way, step)))

    def _look_ahead(self, state: State) -> None:
        """Have what the steps from a state lead to, and from those that are looked at after it."""
        steps = self._steps(state)
        if any(step not in self._known for step in steps) or (
            self._disputed and not self._disputed.knows(steps)
        ):
            looked = self._nodes - self._left  # what is found near makes what is farther needless
            ahead = islice(self._frontier, min(AHEAD, self._left, max(_FIRST, looked)) - 1)
            self._predict([state, *(other for other, _ in ahead)])

    def _steps(self, state: State) -> list[Step]:
        every = ((state, action) for action in self._actions(state))
        return [step for step in every if step not in self._wrong]

    def _predict(self, states: Sequence[State]) -> None:
        """Ask what states lead to. A round trip costs as much as many steps, so several are asked for at once."""
        every = [step for state in states for step in self._steps(state)]
        if self._disputed:
            self._disputed.ask(every)
        steps = [step for step in every if step not in self._known]
        for step, led in zip(steps, self._simulation.predict_all(steps), strict=True):
            if led.state is not None or led.failing is not None:  # else it was not run
                self._known[step] = led
            if led.state is None:
                self._failed.append((step, led))

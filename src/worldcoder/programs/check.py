"""Condition φ1: does a program reproduce every recorded transition exactly?"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from worldcoder.errors import ProgramError
from worldcoder.programs.functions import RewardFunction, TransitionFunction
from worldcoder.programs.memory import Node
from worldcoder.programs.model import ANY_GOAL
from worldcoder.programs.simulator import Prediction
from worldcoder.world.live import LiveState, Snapshot, part_of
from worldcoder.world.values import Action, Goal, State, Transition

TOLERANCE = 1e-9
"""Rewards that differ by no more than this are the same."""

What = Literal["state", "reward", "done", "error"]


@dataclass(frozen=True)
class Mismatch:
    """A recorded transition that a program does not reproduce.

    index: of the transition. what: which part differs first; "error" if a program failed, then `error` says
    how. predicted, observed: two states, two rewards or two bools; None where a program failed.
    """

    index: int
    what: What
    predicted: State | float | bool | None
    observed: State | float | bool | None
    error: str | None = None


@dataclass(slots=True)
class _Case:
    """A transition, with the states before and after kept in the live state of its group.

    number: its own in the group. first: that of the first case that says the same.
    action: that of the transition.
    """

    index: int
    number: int
    transition: Transition
    before: Node
    after: Node
    action: Action
    first: int


@dataclass
class _Group:
    """Transitions that share most of their objects, on one live state."""

    live: LiveState
    last: State
    node: Node
    cases: list[_Case] = field(default_factory=list)
    known: dict[Any, int] = field(default_factory=dict)
    generation: int = -1
    _batches: dict[Snapshot, list[_Case]] = field(default_factory=dict)
    _sorted: int = 0
    _labels: dict[tuple[str, ...], tuple[list[int], dict[Any, int]]] = field(default_factory=dict)

    def keep(self, state: State) -> Node:
        """A state, kept."""
        if state is self.last or state == self.last:
            return self.node
        snapshot = self.live.snapshot_of(state)
        return self.live.hash_of(snapshot), snapshot

    def refresh(self) -> None:
        """Sort what was added; take the hashes anew where objects may have been told apart since."""
        live = self.live
        if self.generation != live.generation:
            self.generation, self._sorted = live.generation, 0
            self._batches.clear()
            self._labels.clear()
            for case in self.cases:
                case.before = live.hash_of(case.before[1]), live.padded(case.before[1])
                case.after = live.hash_of(case.after[1]), live.padded(case.after[1])
        for case in self.cases[self._sorted :]:
            if case.first == case.number:
                self._batches.setdefault(case.before[1], []).append(case)
        self._sorted = len(self.cases)

    def batches(self, *, in_order: bool) -> Iterable[tuple[Snapshot, list[_Case]]]:
        """The cases that say something new, those that leave the same state together if not in order."""
        if in_order:
            return ((case.before[1], [case]) for case in self.cases if case.first == case.number)
        return self._batches.items()

    def labels(self, kinds: tuple[str, ...]) -> list[int]:
        """For each case a number: equal where no object of these kinds differs, before or after."""
        labels, known = self._labels.setdefault(kinds, ([], {}))
        for case in self.cases[len(labels) :]:
            before, after = [sum([part_of(v, kinds) for v in node[1]]) for node in (case.before, case.after)]
            labels.append(known.setdefault((before, after), len(known)))
        return labels


class _Judge:
    """One reward program on the cases of one group: what it says of each once their states are right."""

    def __init__(self, group: _Group, reward: RewardFunction) -> None:
        self._group = group
        self._reward = reward
        self._live = group.live
        self._generation = group.generation
        self._reads_action = reward.reads_action
        self._kinds: tuple[str, ...] | None = None
        self._labels: list[int] = []
        self._said: dict[Any, tuple[float, bool]] = {}

    def __call__(self, case: _Case, same: bool) -> tuple[float, bool]:
        """Reward and done of the step that was made and settled; `same`: it leads to the recorded state."""
        reward, live, action = self._reward, self._live, case.action
        kinds = reward.kinds
        if not same or kinds is None or live.generation != self._generation:
            return reward(live, action)
        if kinds is not self._kinds:
            self._kinds, self._labels = kinds, self._group.labels(kinds)
            self._said.clear()
        key: Any = self._labels[case.number]
        if self._reads_action:
            key = key, reward.relevant(action)
        said = self._said.get(key)
        if said is None:
            said = reward.fresh(live, action)
            if reward.kinds is kinds:
                self._said[key] = said
        return said


class Check:
    """Recorded transitions, prepared once, to hold programs against.

    Transitions of one episode share a live state, so that what never changes is loaded once. A transition
    that was recorded before is not run again: a program is a function of its arguments (`check_pure` tests
    that).
    """

    def __init__(self, transitions: Iterable[Transition] = ()) -> None:
        self._groups: list[_Group] = []
        self._transitions: list[Transition] = []
        self._actions: dict[Action, Action] = {}
        for transition in transitions:
            self.add(transition)

    def __len__(self) -> int:
        return len(self._transitions)

    @property
    def transitions(self) -> Sequence[Transition]:
        """All of them, in the order they were added; a mismatch's index points here."""
        return self._transitions

    def add(self, transition: Transition) -> None:
        """Prepare one more transition."""
        group = self._group(transition.state)
        before = group.keep(transition.state)
        after = group.keep(transition.next_state)
        group.last, group.node = transition.next_state, after
        action = self._actions.setdefault(transition.action, transition.action)
        said = before[0], action, transition.goal, after[0], transition.reward, transition.done
        first = group.known.setdefault(said, len(group.cases))
        case = _Case(len(self._transitions), len(group.cases), transition, before, after, action, first)
        group.cases.append(case)
        self._transitions.append(transition)

    def _group(self, state: State) -> _Group:
        """The group of the last transition if the state is like it, else another alike, else a new one."""
        for group in reversed(self._groups[-8:]):
            if group.last == state or _alike(group.last, state):
                return group
        live = LiveState(state)
        self._groups.append(_Group(live, state, (live.settle(), live.snapshot())))
        return self._groups[-1]

    def run(
        self,
        transition: TransitionFunction | None,
        rewards: Mapping[Goal, RewardFunction],
        *,
        stop_after: int | None = None,
    ) -> list[Mismatch]:
        """The transitions that are not reproduced, in order, one mismatch each.

        transition: None takes the recorded next states for granted, and only rewards are compared.
        rewards: by goal, "*" for any; goals without a program are not compared.
        stop_after: stop at so many mismatches (of the groups looked at so far).
        """
        found: list[Mismatch] = []
        for group in self._groups:
            wanted = None if stop_after is None else stop_after - len(found)
            found += _Run(group, transition, rewards).mismatches(wanted)
            if stop_after is not None and len(found) >= stop_after:
                break
        found.sort(key=lambda m: m.index)
        return found


class _Run:
    """Programs, held against one group."""

    def __init__(
        self, group: _Group, transition: TransitionFunction | None, rewards: Mapping[Goal, RewardFunction]
    ) -> None:
        group.refresh()
        self._group = group
        self._transition = transition
        self._rewards = rewards
        self._judges: dict[Goal, _Judge | None] = {}
        for reward in rewards.values():
            reward.forget()

    def mismatches(self, wanted: int | None) -> list[Mismatch]:
        """All in order, or so many of the first ones; what says the same as a wrong case is as wrong."""
        group = self._group
        wrong: dict[int, Mismatch] = {}  # by the number of the case in the group
        for before, cases in group.batches(in_order=wanted is not None):
            self._run_batch(before, cases, wrong)
            if wanted is not None and len(wrong) >= wanted:
                break
        if not wrong:
            return []
        found = [replace(wrong[c.first], index=c.index) for c in group.cases if c.first in wrong]
        return found[:wanted]

    def _run_batch(self, before: Snapshot, cases: list[_Case], wrong: dict[int, Mismatch]) -> None:
        """Run the cases that leave one state; note what is wrong."""
        live, transition, judges = self._group.live, self._transition, self._judges
        live.restore(before)
        for case in cases:
            recorded = case.transition
            try:
                if transition is None:
                    live.become(recorded.next_state)
                    same = live.settle() == case.after[0]
                else:
                    transition(live, case.action)
                    same = live.settle() == case.after[0]
                    if not same:
                        state = live.freeze()
                        if live.exact_hash or state != recorded.next_state:
                            wrong[case.number] = Mismatch(case.index, "state", state, recorded.next_state)
                            continue
                goal = recorded.goal
                judge = judges[goal] if goal in judges else self._judge(goal)
                if judge is not None:
                    gained, done = judge(case, same)
                    if gained != recorded.reward and abs(gained - recorded.reward) > TOLERANCE:
                        wrong[case.number] = Mismatch(case.index, "reward", gained, recorded.reward)
                    elif done != recorded.done:
                        wrong[case.number] = Mismatch(case.index, "done", done, recorded.done)
            except ProgramError as error:
                wrong[case.number] = Mismatch(case.index, "error", None, None, str(error))
            finally:
                live.undo()

    def _judge(self, goal: Goal) -> _Judge | None:
        reward = self._rewards.get(goal) or self._rewards.get(ANY_GOAL)
        judge = self._judges[goal] = None if reward is None else _Judge(self._group, reward)
        return judge


def _alike(one: State, other: State) -> bool:
    """Whether two states share enough objects to be worth one live state."""
    return len(one) == len(other)


def check_pure(
    check: Check,
    transition: TransitionFunction,
    rewards: Mapping[Goal, RewardFunction],
    *,
    rng: random.Random,
    sample: int = 200,
) -> Mismatch | None:
    """A transition whose prediction depends on what was computed before it, or None.

    A program must be a function of its arguments. One that keeps something between calls or draws random
    numbers is caught if a sample, computed again in other orders, comes out differently. In the mismatch,
    `predicted` is what came out first, `observed` what came out later.
    """
    cases = [(group, case) for group in check._groups for case in group.cases]
    cases = rng.sample(cases, min(sample, len(cases)))
    first = {case.index: _outcome(group, case, transition, rewards) for group, case in cases}
    rule = "the same call gave another result later: a program keeps nothing between calls, draws no numbers"
    for order in (cases[::-1], cases, rng.sample(cases, len(cases))):
        for group, case in order:
            before, again = first[case.index], _outcome(group, case, transition, rewards)
            if before.error != again.error:
                text = f"{rule} (first: {before.error or 'no error'}; then: {again.error or 'no error'})"
                return Mismatch(case.index, "error", before.state, again.state, text)
            if before.state != again.state:
                return Mismatch(case.index, "state", before.state, again.state, rule)
            if before.reward != again.reward:
                return Mismatch(case.index, "reward", before.reward, again.reward, rule)
            if before.done != again.done:
                return Mismatch(case.index, "done", before.done, again.done, rule)
    return None


def _outcome(
    group: _Group, case: _Case, transition: TransitionFunction, rewards: Mapping[Goal, RewardFunction]
) -> Prediction:
    """What is predicted for a case, with nothing remembered."""
    live, recorded = group.live, case.transition
    live.restore(case.before[1])
    try:
        transition(live, recorded.action)
        live.settle()
        state = live.freeze()
        reward = rewards.get(recorded.goal) or rewards.get(ANY_GOAL)
        gained, done = reward.fresh(live, recorded.action) if reward is not None else (0.0, False)
    except ProgramError as error:
        return Prediction(None, 0.0, False, str(error))
    finally:
        live.undo()
    return Prediction(state, gained, done)

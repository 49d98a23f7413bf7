"""Condition φ1: does a program reproduce every recorded transition exactly?"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from worldcoder.errors import ProgramError
from worldcoder.programs.functions import RewardFunction, TransitionFunction
from worldcoder.programs.memory import Memory, Node
from worldcoder.programs.model import ANY_GOAL
from worldcoder.programs.simulator import Prediction
from worldcoder.world.live import LiveState
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


@dataclass
class _Case:
    """A transition, with the states before and after kept in the live state of its group.

    first: the number, in the group, of the first case that says the same; its own if it is the first.
    """

    index: int
    transition: Transition
    before: Node
    after: Node
    actions: tuple[Action]
    first: int


@dataclass
class _Group:
    """Transitions that share most of their objects, on one live state."""

    live: LiveState
    last: State
    node: Node
    cases: list[_Case] = field(default_factory=list)
    known: dict[Any, int] = field(default_factory=dict)
    generation: int = 0

    def keep(self, state: State) -> Node:
        """A state, kept."""
        if state is self.last or state == self.last:
            return self.node
        snapshot = self.live.snapshot_of(state)
        return self.live.hash_of(snapshot), snapshot

    def refresh(self) -> None:
        """Take the hashes anew where objects may have been told apart since."""
        if self.generation != self.live.generation:
            self.generation = self.live.generation
            for case in self.cases:
                case.before = self.live.hash_of(case.before[1]), case.before[1]
                case.after = self.live.hash_of(case.after[1]), case.after[1]


class Check:
    """Recorded transitions, prepared once, to hold programs against.

    Transitions of one episode share a live state, so that what never changes is loaded once. A transition
    that was recorded before is not run again: a program is a function of its arguments (`check_pure` tests
    that).
    """

    def __init__(self, transitions: Iterable[Transition] = ()) -> None:
        self._groups: list[_Group] = []
        self._transitions: list[Transition] = []
        self._actions: dict[Action, tuple[Action]] = {}
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
        actions = self._actions.setdefault(transition.action, (transition.action,))
        said = before[0], actions, transition.goal, after[0], transition.reward, transition.done
        first = group.known.setdefault(said, len(group.cases))
        group.cases.append(_Case(len(self._transitions), transition, before, after, actions, first))
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
            for reward in rewards.values():
                reward.forget()
            memories: dict[Goal, Memory] = {}
            wrong: dict[int, Mismatch] = {}  # by the number of the case in the group
            group.refresh()
            for number, case in enumerate(group.cases):
                if case.first != number:
                    same = wrong.get(case.first)
                    mismatch = None if same is None else replace(same, index=case.index)
                elif transition is not None and self._remembers(group, case, transition, rewards, memories):
                    continue
                else:
                    mismatch = self._run_case(group, case, transition, rewards)
                if mismatch is not None:
                    wrong[number] = mismatch
                    found.append(mismatch)
                    if stop_after is not None and len(found) >= stop_after:
                        return found
        found.sort(key=lambda m: m.index)
        return found

    def _remembers(
        self,
        group: _Group,
        case: _Case,
        transition: TransitionFunction,
        rewards: Mapping[Goal, RewardFunction],
        memories: dict[Goal, Memory],
    ) -> bool:
        """Whether the memory of traced calls says that the case is reproduced; False means: run it."""
        recorded = case.transition
        memory = memories.get(recorded.goal)
        if memory is None:
            reward = rewards.get(recorded.goal) or rewards.get(ANY_GOAL)
            memory = memories[recorded.goal] = Memory(group.live, transition, reward)
        if not memory.pays():
            return False
        for _, key, gained, done in memory.successors(case.before, case.actions):
            return key == case.after[0] and (
                memory.rewardless or (abs(gained - recorded.reward) <= TOLERANCE and done == recorded.done)
            )
        return False

    def _run_case(
        self,
        group: _Group,
        case: _Case,
        transition: TransitionFunction | None,
        rewards: Mapping[Goal, RewardFunction],
    ) -> Mismatch | None:
        live, recorded = group.live, case.transition
        live.restore(case.before[1])
        try:
            if transition is None:
                live.become(recorded.next_state)
                live.settle()
            else:
                transition(live, recorded.action)
                if live.settle() != case.after[0]:
                    state = live.freeze()
                    if live.exact_hash or state != recorded.next_state:
                        return Mismatch(case.index, "state", state, recorded.next_state)
            reward = rewards.get(recorded.goal) or rewards.get(ANY_GOAL)
            if reward is not None:
                gained, done = reward(live, recorded.action)
                if abs(gained - recorded.reward) > TOLERANCE:
                    return Mismatch(case.index, "reward", gained, recorded.reward)
                if done != recorded.done:
                    return Mismatch(case.index, "done", done, recorded.done)
        except ProgramError as error:
            return Mismatch(case.index, "error", None, None, str(error))
        finally:
            live.undo()
        return None


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

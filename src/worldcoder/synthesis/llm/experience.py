"""What was seen so far, as a language model needs it: the steps, what changes in them, starts and goals."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set

from worldcoder.programs import Check
from worldcoder.synthesis.llm.showing import changed_kinds, changes
from worldcoder.world.values import Action, Goal, State, Transition

STARTS = 3
"""Starts of a goal, the latest, from which there has to be a plan."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_ROUNDS = 6
"""Steps of one sort that are offered to be shown."""


class Experience:
    """All transitions, and what else was heard of the world.

    check: the transitions. moving: kinds that were seen to change. actions: by their order of appearance.
    starts: by goal, the latest last. succeeded: goals under which an episode ended with a positive reward.
    noise: transitions that no transition program has to reproduce, by their numbers.
    """

    def __init__(self) -> None:
        self.check = Check()
        self.moving: set[str] = set()
        self.actions: dict[Action, None] = {}
        self.starts: dict[Goal, list[State]] = {}
        self.succeeded: set[Goal] = set()
        self.noise: Set[int] = frozenset()
        self._sorts: list[str] = []
        self._of_goal: dict[Goal, list[int]] = {}

    def begin(self, state: State, goal: Goal, actions: Sequence[Action]) -> None:
        """An episode starts."""
        self.actions.update(dict.fromkeys(actions))
        starts = self.starts.setdefault(goal, [])
        if state in starts:
            starts.remove(state)
        starts.append(state)
        del starts[:-STARTS]

    def observe(self, transition: Transition) -> None:
        """One more step."""
        t = transition
        self._of_goal.setdefault(t.goal, []).append(len(self.check))
        self.check.add(t)
        self.moving |= changed_kinds(t.state, t.next_state)
        self._sorts.append(f"{t.action}: {sort_of_change(t.state, t.next_state)}")
        if t.done and t.reward > 0:
            self.succeeded.add(t.goal)

    def of_goal(self, goal: Goal) -> list[int]:
        """The steps under a goal, by index."""
        return self._of_goal.get(goal, [])

    def sort(self, index: int, *, rewards: bool = False) -> str:
        """What sort of step one is: its action and what changed, numbers left out; and its reward, if wanted."""
        t = self.check.transitions[index]
        return f"{self._sorts[index]} {t.reward:g} {t.done}" if rewards else self._sorts[index]

    def cover(self, indices: Iterable[int], *, rewards: bool = False, times: int = 0) -> list[int]:
        """Steps in the order in which they are worth showing: one of each sort, the rarest first; then more.

        times: as of `rarest_first`.
        """
        chosen = list(indices)
        sorts = [self.sort(i, rewards=rewards) for i in chosen]
        return rarest_first(chosen, sorts, times)


def sort_of_change(before: State, after: State) -> str:
    """What changes, with numbers left out."""
    return _NUMBER.sub("#", changes(before, after))


def rarest_first(items: Sequence[int], sorts: Sequence[str], times: int = 0) -> list[int]:
    """One item of each sort, the rarest sort first; then a second one of each; and so on for some rounds.

    Of one sort the first is before the last, the last before what is between. times: how often they were shown
    before; after the first time it is a draw, another one each time, which sorts and which of one sort come first.
    """
    how_many = Counter(sorts)
    by_sort: dict[str, list[int]] = {}
    for item, sort in zip(items, sorts, strict=True):
        by_sort.setdefault(sort, []).append(item)
    order = sorted(by_sort, key=lambda sort: how_many[sort])
    if times:
        rng = random.Random(times)
        rng.shuffle(order)
        for mine in by_sort.values():
            rng.shuffle(mine)
    found = []
    for number in range(_ROUNDS):
        for sort in order:
            mine = by_sort[sort]
            if number < len(mine):
                place = {0: 0, 1: -1}.get(number, number - 1)
                found.append(mine[place])
    return found

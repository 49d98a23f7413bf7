"""What goals of several clauses reward: the clauses' own rewards, in an order.

Each clause is read as a goal of its own, by what was learned of goals like it; the order is what the words between
them say. Both are hypotheses: a combination that foresees anything else than what happened in the episodes of a goal
is not proposed for it, and a meaning of a joint that failed in other goals comes later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from worldcoder.planning.parts import Order, advance, complete
from worldcoder.synthesis.rules.clauses import MEANINGS, Compound, Joint, Meaning
from worldcoder.synthesis.rules.lists import DecisionList
from worldcoder.synthesis.rules.rewards import Rewards
from worldcoder.synthesis.rules.vocabulary import Vocabulary
from worldcoder.world.values import Goal, Transition

_COMBINATIONS = 60
"""Combinations of an order and readings that are looked at, the likeliest first."""
_MOST = 5
"""Of these, how many are proposed."""
_FAULT = 4.0
"""What it costs in nats that a joint has a meaning which failed in an episode of another goal."""


@dataclass(frozen=True)
class Part:
    """What a clause may reward. rewards: whose literals the decisions are said with. like: goals that they rest on."""

    rewards: Rewards
    decisions: DecisionList
    like: tuple[Goal, ...]
    cost: float


@dataclass(frozen=True)
class Composition:
    """What a goal of several clauses may reward. The lower the cost, the likelier."""

    parts: tuple[Part, ...]
    order: Order
    cost: float

    @property
    def meaning(self) -> str:
        """The clauses, and what comes before each."""
        said = []
        for n, (part, before) in enumerate(zip(self.parts, self.order, strict=True), 1):
            after = f" after {' and '.join(str(b + 1) for b in before)}" if before else ""
            said.append(f'({n}) "{part.rewards.goal}"{after}')
        return ", ".join(said)


class Composing:
    """Learns from the episodes of goals of several clauses what joins them.

    readings: what a clause may reward, the likeliest first.
    """

    def __init__(self, readings: Callable[[Goal], Sequence[Part]]) -> None:
        self._readings = readings
        self._episodes: dict[Goal, list[list[Transition]]] = {}
        self._seen: Counter[Goal] = Counter()
        self._found: tuple[object, list[Composition]] = (None, [])
        self._faulty: tuple[object, dict[tuple[Joint, Meaning], float]] = (None, {})

    def begin(self, goal: Goal) -> None:
        """An episode starts."""
        self._episodes.setdefault(goal, []).append([])

    def observe(self, transition: Transition) -> None:
        """One more step of the episode that was begun."""
        self._episodes.setdefault(transition.goal, [[]])[-1].append(transition)
        self._seen[transition.goal] += 1

    def compositions(
        self, goal: Goal, compounds: Mapping[Goal, Compound], vocabulary: Vocabulary
    ) -> list[Composition]:
        """What a goal may reward, of what its episodes do not contradict, the likeliest first.

        compounds: all goals of several clauses.
        """
        key = goal, vocabulary.structure(), self._seen.total()
        if self._found[0] != key:
            compound = compounds[goal]
            readings = [self._readings(clause) for clause in compound.clauses]
            faults = self._faults(goal, compounds, vocabulary)
            found = [
                Composition(parts, order, cost + sum(part.cost for part in parts))
                for cost, order in compound.orders(faults)
                for parts in product(*readings)
            ]
            found = sorted(found, key=lambda one: one.cost)[:_COMBINATIONS]
            episodes = self._episodes.get(goal, ())
            left = (one for one in found if self._explains(one, episodes, vocabulary))
            self._found = key, list(islice(left, _MOST))
        return self._found[1]

    def _faults(
        self, goal: Goal, compounds: Mapping[Goal, Compound], vocabulary: Vocabulary
    ) -> dict[tuple[Joint, Meaning], float]:
        """What speaks against the meanings of joints, in the episodes of other goals of two clauses."""
        key = goal, vocabulary.structure(), self._seen.total() - self._seen[goal]
        if self._faulty[0] == key:
            return self._faulty[1]
        joints = set(compounds[goal].joints)
        found: dict[tuple[Joint, Meaning], float] = {}
        for other, compound in compounds.items():
            episodes = [steps for steps in self._episodes.get(other, ()) if steps]
            if (
                other == goal
                or len(compound.clauses) != 2
                or compound.joints[0] not in joints
                or not episodes
            ):
                continue
            parts = [next(iter(self._readings(clause)), None) for clause in compound.clauses]
            known = tuple(part for part in parts if part is not None)
            for meaning in MEANINGS if len(known) == len(parts) else ():
                one = {(compound.joints[0], m): 0.0 if m == meaning else 1e9 for m in MEANINGS}
                order = next(iter(compound.orders(one)))[1]
                if not self._explains(Composition(known, order, 0.0), episodes, vocabulary):
                    said = compound.joints[0], meaning
                    found[said] = found.get(said, 0.0) + _FAULT
        self._faulty = key, found
        return found

    def _explains(
        self, one: Composition, episodes: Sequence[Sequence[Transition]], vocabulary: Vocabulary
    ) -> bool:
        """Whether it says when episodes ended with a reward, and that they did not before."""
        for part in one.parts if any(episodes) else ():
            part.rewards.read(vocabulary)
        for steps in episodes:
            progress = 0
            for t in steps:
                achieved = 0
                for n, part in enumerate(one.parts):
                    _, reward, done = part.decisions.effect(part.rewards.mask(vocabulary, t))
                    achieved |= (done and reward > 0) << n
                progress = advance(one.order, progress, achieved)
                if complete(one.order, progress) != (t.done and t.reward > 0):
                    return False
        return True

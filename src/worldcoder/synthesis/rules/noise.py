"""Data that contradict themselves: which transitions are set aside as noise.

That the same action in the same state led to different states proves that not everything can be explained. Then
the shortest description is looked for that may leave transitions out, for what these cost: by the share of actions
that do nothing where something was due (they fail), and by the share of outcomes that are just wrong. Both shares
are estimated from what is left out, in turn with it (hard expectation-maximisation). Where nothing is proven, nothing
is set aside: everything has to be explained.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from typing import Generic, NamedTuple, TypeVar

from worldcoder.synthesis.rules.effects import KEEP, Effect
from worldcoder.synthesis.rules.greedy import Chosen, Greedy, Worth
from worldcoder.synthesis.rules.lists import RULE_COST, DecisionList, Literals, bits
from worldcoder.synthesis.rules.rows import Rows
from worldcoder.synthesis.rules.targets import Target
from worldcoder.world.values import Action, State, Transition

Step = TypeVar("Step")
Result = TypeVar("Result")

_SPREAD = 2.3
"""Nats for what a wrong outcome is."""
_ROUNDS = 3
_CHOICE = 3.0
"""Nats that a rule costs more than elsewhere: of so many there is always one that fits some noise."""
_MOST_RULES = 24
_MOST_EFFECTS = 10
_ALIKE = 5
"""Transitions that are the same in every respect count so many times at most."""


class Shares(NamedTuple):
    """Of the actions of which something was due those that did nothing, and of all outcomes those that are wrong."""

    failing: float
    wrong: float


_FAILING, _BOTH = Shares(0.2, 1e-8), Shares(0.05, 0.05)
"""Where the search for the shares begins: actions fail and nothing else happens; or both."""
_UNLIKELY = 15.0
"""Nats by which it is less likely that outcomes are wrong, where none is proven to be."""
_HALF = 0.45
"""The most that a share is: what fails more often than not is not due."""
_NEVER = 1e-6
"""Below it a share of wrong outcomes is none."""
_MOST = 4.5
"""Nats that a wrong outcome costs at most: less than a rule that speaks of it alone, or that would be believed."""


class Contradictions(Generic[Step, Result]):
    """Steps that were taken more than once, and what they led to differed.

    pairs: for each such step, the first transition with it and the first that contradicts it, by their numbers.
    seen: how many transitions there were. times: how often each step was taken.
    """

    def __init__(self) -> None:
        self.pairs: list[tuple[int, int]] = []
        self.seen = 0
        self._first: dict[Step, tuple[int, Result]] = {}
        self.times: Counter[Step] = Counter()
        self._known: set[int] = set()

    def first(self, step: Step) -> Result:
        """What a step led to first."""
        return self._first[step][1]

    def observe(self, index: int, step: Step, result: Result) -> bool:
        """Add the next transition; whether it contradicts what its step led to first."""
        self.seen = index + 1
        self.times[step] += 1
        first, led_to = self._first.setdefault(step, (index, result))
        if led_to != result and first not in self._known:
            self._known.add(first)
            self.pairs.append((first, index))
        return led_to != result


class Sieve:
    """Which transitions are set aside.

    aside: their numbers.
    """

    def __init__(self) -> None:
        self.aside: set[int] = set()
        self.contradictions = Contradictions[tuple[State, Action], State]()
        self._due = False
        self._sifted_at = 0
        self._wrong_is_proven = False
        self._alike: dict[frozenset[tuple[str, str]], list[int]] = {}
        self._waiting: set[int] = set()
        self._released: set[int] = set()

    @property
    def proven(self) -> bool:
        """Whether not everything can be explained."""
        return bool(self.contradictions.pairs)

    def observe(self, index: int, transition: Transition) -> None:
        """Add the next transition."""
        step = transition.state, transition.action
        if self.contradictions.observe(index, step, transition.next_state):
            first = self.contradictions.first(step)
            self._wrong_is_proven |= transition.state not in (first, transition.next_state)
        self._due = self._due or index > 1.3 * self._sifted_at

    def doubt(self, index: int) -> None:
        """What the rules do not explain may be noise, until it is known better."""
        self.aside.add(index)
        self._due = True

    def waits(self, index: int, beyond: frozenset[tuple[str, str]]) -> bool:
        """Whether a transition is set aside, unjudged, for it shows changes of a sort that there was none of.

        Where outcomes are wrong now and then, those of a sort are judged when there are 2, 4, 8 ... of them: each time
        all that was concluded is concluded anew.
        """
        if not (beyond and self._wrong_is_proven):
            return False
        alike = self._alike.setdefault(beyond, [])
        alike.append(index)
        if len(alike) > 1 and len(alike).bit_count() == 1:
            self._waiting.difference_update(alike)
            self._released.update(alike)
            self._due = True
            return False
        self._waiting.add(index)
        self.aside.add(index)
        return True

    def sift(self, targets: Sequence[Target], literals: Literals, beyond: Set[int]) -> bool:
        """Decide anew what is set aside, where there is reason to; whether anything else is than before.

        beyond: of what is set aside, the transitions with changes that no target speaks of. They stay there.
        """
        if not (self.proven and self._due):
            return False
        self._sifted_at = max(self.contradictions.seen, 1)
        out, shares = left_out(
            [(t.rows, t.aside) for t in targets], literals, wrong_is_proven=self._wrong_is_proven
        )
        self._wrong_is_proven |= shares.wrong > _NEVER  # what was found once is likely from then on
        out |= self._waiting | beyond - self._released
        self._released = set()
        self._due = out != self.aside  # what else it changes is to be seen
        self.aside = out
        return self._due


def missed_by(decisions: DecisionList, rows: Rows) -> set[int]:
    """The transitions of some rows that a list does not explain."""
    return {
        i
        for row in rows.by_mask.values()
        for side in row.sides
        if decisions.effect(row.mask) not in side.effects
        for i in side.transitions
    }


def left_out(
    all_rows: Sequence[Sequence[Rows]],
    literals: Literals,
    default: Effect = KEEP,
    *,
    wrong_is_proven: bool = True,
) -> tuple[set[int], Shares]:
    """The transitions that the shortest description leaves out, and the shares that they are.

    all_rows: for each thing to be explained, the rows about it. wrong_is_proven: it is known that there are outcomes
    that are wrong, and not just actions that fail.
    """
    problems = [problem for rows in all_rows if (problem := _Problem(rows, literals, default)).transitions]
    shortest, found = math.inf, (set[int](), Shares(0.0, 0.0))
    transitions = len({i for problem in problems for i in problem.transitions})
    for shares, unlikely in [(_FAILING, 0.0)] * (not wrong_is_proven) + [(_BOTH, _UNLIKELY)]:
        for _ in range(_ROUNDS):
            parts = [problem.described(shares) for problem in problems]
            length = unlikely + sum(part.length for part in parts)
            due, fails = sum(part.due for part in parts), sum(part.fails for part in parts)
            wrong = sum(part.wrong for part in parts)
            floor = min(shares.wrong, 0.5 / (transitions + 1))
            out = {i for part in parts for i in part.out}
            failing = min(_HALF, (fails + 0.5) / (due + 1.0))
            shares = Shares(failing, min(_HALF, max(wrong / (transitions + 1), floor)))
            if length < shortest:
                shortest, found = length, (out, shares)
    return found


class _Described(NamedTuple):
    """A list that leaves transitions out.

    length: in nats. out: the transitions. due: how often something was due. fails, wrong: how often it did not come,
    and how often something else came.
    """

    length: float
    out: list[int]
    due: int
    fails: int
    wrong: int


class _Problem:
    """The rows about one thing to be explained, a case for each transition."""

    def __init__(self, rows: Iterable[Rows], literals: Literals, default: Effect) -> None:
        sides = [
            (row.mask, side.effects, i)
            for some in rows
            for row in some.by_mask.values()
            for side in row.sides
            for i in side.transitions[:_ALIKE]
        ]
        self.transitions = [i for _, _, i in sides]
        cases = ((mask, effects) for mask, effects, _ in sides)
        self._greedy = Greedy(cases, literals, default, RULE_COST + _CHOICE)
        self._kept = self._greedy.fine

    def described(self, shares: Shares) -> _Described:
        """The shortest list that is found, where noise has these shares."""
        greedy, kept = self._greedy, self._kept
        failing = math.log((1 - shares.failing) / shares.failing)
        wrong = math.log((1 - shares.wrong) / shares.wrong) + _SPREAD
        wrong = min(wrong, _MOST) if shares.wrong > _NEVER else wrong

        def worth(rows: int) -> float:
            return failing * (rows & kept).bit_count() + wrong * (rows & ~kept).bit_count()

        chosen = list(greedy.rules(worth, lambda left: greedy.commonest(left, _MOST_EFFECTS), _MOST_RULES))
        while len(chosen) < _MOST_RULES:
            found = greedy.exception([one.rule for one in chosen], worth, _MOST_EFFECTS)
            if found is None:
                break
            chosen = self._needed([found, *chosen], worth)
        chosen = self._needed(chosen, worth)
        rules = [one.rule for one in chosen]
        missed = greedy.missed(rules)
        due = sum(cover.bit_count() for rule, cover in greedy.decided(rules) if rule.effect != greedy.default)
        fails = missed & kept
        length = sum(one.cost for one in chosen) + worth(missed)
        length -= due * math.log(1 - shares.failing)
        length -= len(set(self.transitions)) * math.log(1 - shares.wrong)
        return _Described(
            length,
            [self.transitions[i] for i in bits(missed)],
            due,
            fails.bit_count(),
            (missed & ~kept).bit_count(),
        )

    def _needed(self, chosen: list[Chosen], worth: Worth) -> list[Chosen]:
        """The rules that are worth what they cost."""
        missed, i = worth(self._greedy.missed(one.rule for one in chosen)), 0
        while i < len(chosen):
            fewer = [*chosen[:i], *chosen[i + 1 :]]
            without = worth(self._greedy.missed(one.rule for one in fewer))
            if without - missed <= chosen[i].cost:
                chosen, missed, i = fewer, without, 0
            else:
                i += 1
        return chosen

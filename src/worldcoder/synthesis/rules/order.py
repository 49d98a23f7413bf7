"""The order of effects: which target belongs to which phase of a step, and what changes twice in one.

It is learned by description length. Where the rules for a target get long or contradict themselves, it is tried in
the other phases. If none makes the rules short, it may be that the attribute changes twice in a step, and what it was
between is hidden: then a short draft of the first change (`drafts.py`) and rules for the second, in a later phase,
are looked for that say the same in fewer words. Given the second, the first is learned like anything else: an effect
explains a row if the second makes of it what was seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from worldcoder.synthesis.rules.drafts import drafts
from worldcoder.synthesis.rules.effects import KEEP, apply_effect, effects
from worldcoder.synthesis.rules.language import Context
from worldcoder.synthesis.rules.lists import DecisionList, Rule, search
from worldcoder.synthesis.rules.rows import Rows
from worldcoder.synthesis.rules.scene import PLACE
from worldcoder.synthesis.rules.targets import CONTRADICTION_COST, Target, is_event

if TYPE_CHECKING:
    from worldcoder.synthesis.rules.dynamics import Dynamics

_BETWEEN = 0.25
"""How long before a phase something is that comes right before it, until phases are numbered anew."""
_TROUBLE = 3
"""Contradictions, and rules beyond a few, from which on a target is tried in other phases."""
_ENOUGH = 40
"""Transitions from which on every target is tried, and again when there are three times as many."""
_RECENT = 100
"""Transitions that a target is tried on, and as many more in which it changes."""
_BETTER = 4.0
"""By how many nats another phase has to be shorter."""
_BETTER_TWICE = 5.0
"""By how many nats two changes have to be shorter than one."""
_LONG = 3
"""Rules from which on two changes may be shorter than one."""
_DRAFTS = 5
_LIKELY = 4
"""Of what is looked at roughly, so many are looked at closely."""
_STILL = 200
"""Things that stay as they are, of which about so many are looked at roughly."""
_ROUNDS = 3
_EFFORT = 30_000_000
"""The effort (see `Literals`) in one fit from which on no more targets are tried: in a world whose rules cannot be
said all are in trouble, and none can be helped."""

_Start = tuple[int, Context, int]
"""A transition, a thing in it, and the literals that are true."""
Name = tuple[tuple[str, ...], str]
"""The kinds and the attribute."""


@dataclass(frozen=True)
class Once:
    """One change a step. in_turn: see `Target`."""

    phase: float = 0
    in_turn: bool = False


@dataclass(frozen=True)
class Twice:
    """Two changes a step, the second in a later phase, what else there is of the same things with it or not."""

    phase: float
    first: tuple[DecisionList, ...]
    again: float
    second: tuple[DecisionList, ...] = ()
    in_turn: bool = False
    together: bool = False


class Order:
    """What was found so far."""

    def __init__(self) -> None:
        self._chosen: dict[Name, Once | Twice] = {}
        self._tried_at: dict[Name, tuple[int, int, int]] = {}  # trouble, contradictions, transitions
        self._waiting: dict[Name, None] = {}  # what is to be tried again
        self._until = 0
        self._tried_with: object = None

    def copy(self) -> dict[Name, Once | Twice]:
        """What is chosen, for `go_back`."""
        return dict(self._chosen)

    def go_back(self, chosen: dict[Name, Once | Twice]) -> None:
        """Choose as before; what was tried stays tried."""
        self._chosen = chosen

    def targets(self, pool: tuple[str, ...], attribute: str) -> Iterator[Target]:
        """The target, or the two, of an attribute."""
        chosen = self._chosen.get((pool, attribute)) or self._of_some(pool, attribute)
        if isinstance(chosen, Once):
            yield Target(pool, attribute, chosen.phase, chosen.in_turn)
        else:
            yield from _pair(pool, attribute, chosen)

    def _of_some(self, pool: tuple[str, ...], attribute: str) -> Once | Twice:
        """What was chosen for some of the kinds, before others joined them."""
        for (kinds, about), chosen in reversed(self._chosen.items()):
            if about == attribute and set(kinds) < set(pool):
                return chosen
        return Once()

    def reconsider(self, dynamics: Dynamics, *, again: bool = False) -> bool:
        """Try what gives trouble in another order, and take what saves most; whether anything is to be read anew.

        again: whether this was asked already of the same data.
        """
        if not again:
            for name in self._waiting:
                self._tried_at.pop(name, None)
            self._waiting.clear()
            vocabulary = dynamics.vocabulary
            heads = vocabulary.avatar, tuple(vocabulary.steps.items()), tuple(vocabulary.sways)
            # what was tried in vain may not be so, now that it is known where actions head
            if heads != self._tried_with:
                self._tried_with = heads
                self._tried_at.clear()
            self._until = dynamics.literals.effort + _EFFORT
        found: list[tuple[float, list[Target], Once | Twice]] = []
        for target in list(dynamics.targets.values()):
            both = [target] if target.leads is None else [target, target.leads]
            if dynamics.literals.effort > self._until:
                break  # the others have their turn with the next data
            if target.follows is None and self._is_due(dynamics, both):
                saved, chosen = _Trial(dynamics, both, self._until).best()
                if chosen is not None:
                    found.append((saved, both, chosen))
        if not found:
            return False
        _, both, chosen = max(found, key=lambda one: one[0])
        name = both[0].pool, both[0].attribute
        self._chosen[name] = chosen
        for target in dynamics.targets.values():
            other = target.pool, target.attribute
            if other != name and any(target in those for _, those, _ in found):
                self._tried_at.pop(other, None)
            elif (
                other != name and target.trouble
            ):  # it may be different now, which is seen with the next data
                self._waiting[other] = None
        for one in both:
            del dynamics.targets[one.key]
        if isinstance(chosen, Twice) and chosen.together:
            for one in _companions(dynamics, both[0]):
                self._chosen[one.pool, one.attribute] = Once(chosen.again, one.in_turn)
        self._number(dynamics)
        return True

    def _number(self, dynamics: Dynamics) -> None:
        """Number the phases anew: 0, 1, 2."""
        for target in dynamics.targets.values():
            if target.follows is None and target.leads is None:
                name = target.pool, target.attribute
                self._chosen.setdefault(name, Once(target.phase, target.in_turn))
        used = {0.0, *(c.phase for c in self._chosen.values())}
        used |= {c.again for c in self._chosen.values() if isinstance(c, Twice)}
        number = {phase: float(i) for i, phase in enumerate(sorted(used))}
        for name, c in self._chosen.items():
            c = replace(c, phase=number[c.phase])
            self._chosen[name] = replace(c, again=number[c.again]) if isinstance(c, Twice) else c

    def _is_due(self, dynamics: Dynamics, both: Sequence[Target]) -> bool:
        """Whether a target gives more trouble than when it was tried last."""
        name = both[0].pool, both[0].attribute
        known, refuted, then = self._tried_at.get(name, (0, 0, 0))
        contradictions = sum(len(t.rows.contradictions) for t in both)
        trouble = sum(t.trouble for t in both)
        troubled = trouble >= max(_TROUBLE, 1.5 * known) or contradictions > 1.5 * refuted
        rules = max(len(t.lists[0].rules) for t in both)
        grown = len(dynamics.transitions) >= max(_ENOUGH, 3 * then) and rules > 2
        if troubled or grown:
            self._tried_at[name] = (
                max(known, trouble),
                max(refuted, contradictions),
                len(dynamics.transitions),
            )
        return troubled or grown


def _pair(pool: tuple[str, ...], attribute: str, chosen: Twice) -> tuple[Target, Target]:
    first = Target(pool, attribute, chosen.phase)
    second = Target(pool, attribute, chosen.again, chosen.in_turn, follows=first)
    first.leads = second
    first.lists = list(chosen.first)
    second.lists = list(chosen.second) or second.lists
    return first, second


def _companions(dynamics: Dynamics, target: Target) -> list[Target]:
    """What else changes of the same things, once a step."""
    return [
        t
        for t in dynamics.targets.values()
        if t.pool == target.pool and t.attribute != target.attribute and not is_event(t.attribute)
        and t.leads is None and t.follows is None
    ]  # fmt: skip


class _Trial:
    """Orders of one target, tried on what was seen lately and on what contradicts itself."""

    def __init__(self, dynamics: Dynamics, both: Sequence[Target], until: int) -> None:
        self._dynamics = dynamics
        self._until = until
        self._both = both
        self._target = both[0]
        kept = (i for i in reversed(range(len(dynamics.transitions))) if i not in dynamics.sieve.aside)
        latest = list(islice(kept, _RECENT))
        conflicting = [i for target in both for i in target.rows.conflicting[:_RECENT]]
        changing = [i for target in both for i in target.rows.changing[-_RECENT:]]
        self._chosen = sorted({*latest, *conflicting, *changing})
        for _ in range(_ROUNDS):
            missed = self._missed()
            if not missed or self._is_late:
                break
            self._chosen = sorted({*self._chosen, *missed[:_RECENT]})
        vocabulary = dynamics.vocabulary
        self._most_rules = 0
        self._several = self._target.attribute == PLACE and any(
            vocabulary.drift(kind) for kind in self._target.pool
        )

    def _missed(self) -> list[int]:
        """The transitions that are not explained by what would be learned from the chosen ones."""
        chosen, missed = set(self._chosen), []
        for target in self._both:
            rows = target.rows.of(chosen)
            if rows.by_mask:
                learned = search(rows, self._dynamics.literals, beam=0)[0]
                missed += [
                    min(row.transitions)
                    for row in target.rows.by_mask.values()
                    if learned.effect(row.mask) not in row.effects
                ]
        return [i for i in missed if i not in chosen]

    def best(self) -> tuple[float, Once | Twice | None]:
        """How many nats the shortest description saves, and which it is; None where the present one is as good."""
        target = self._target
        most = 2 + max(len(t.lists[0].rules) for t in self._both)
        singles: dict[Once, Target] = {}
        for phase in self._phases:
            for in_turn in self._turns:
                if self._is_late:
                    return 0.0, None
                trial = self._read(Target(target.pool, target.attribute, phase, in_turn))
                trial.fit(self._dynamics.literals, beam=3, most_rules=most)
                singles[Once(phase, in_turn)] = trial
        once = min(singles, key=lambda o: (singles[o].length, o.phase, o.in_turn))
        single = singles[once]
        if len(self._both) == 1:
            there = min(phase for phase in self._phases if phase >= target.phase - _BETWEEN)
            present = singles[Once(there, target.in_turn)].length
        else:
            second = self._both[1]
            present, _ = self._exact(
                Twice(target.phase, (target.lists[0],), second.phase, (), second.in_turn)
            )
        found: Once | Twice = once
        shortest = single.length
        hidden = not self._dynamics.sieve.proven  # what noise hides and what a second change hides look alike
        if (
            hidden
            and not is_event(target.attribute)
            and (len(single.lists[0].rules) > _LONG or single.rows.contradictions)
        ):
            self._most_rules = max(len(t.lists[0].rules) for t in (*self._both, single))
            starts: dict[float, Target] = {0.0: singles[Once()], once.phase: single}
            ways = self._twice(starts)
            for _, likely in sorted(ways, key=lambda way: way[0])[:_LIKELY]:
                if self._is_late:
                    break
                length, way = self._exact(likely)
                if length < shortest - (_BETTER_TWICE if found is once else 0.0):
                    found, shortest = way, length
        return present - shortest, found if shortest < present - _BETTER else None

    @property
    def _is_late(self) -> bool:
        """Whether enough was tried in this fit."""
        return self._dynamics.literals.effort > self._until

    @property
    def _turns(self) -> tuple[bool, ...]:
        return (False, True) if self._several else (False,)

    def _twice(self, singles: Mapping[float, Target]) -> Iterator[tuple[float, Twice]]:
        """Descriptions as two changes, their lengths roughly; what it would be as one is known by phase."""
        literals = self._dynamics.literals
        for phase, single in singles.items():
            starts = self._starts(phase)
            firsts = [*self._one_way(starts), *drafts(single.rows, literals, _DRAFTS)]
            for again, in_turn, together in self._seconds(phase):
                if self._is_late:
                    return
                way = Twice(phase, (_NOTHING,), again, (), in_turn, together)
                first, second = _pair(self._target.pool, self._target.attribute, way)
                with self._moved(way):
                    self._read(second)
                    seconds = drafts(second.rows, literals, _DRAFTS)
                    for draft in firsts:
                        yield self._forwards(replace(way, first=(draft,)), second, starts)
                    for draft in seconds:
                        yield self._backwards(replace(way, second=(draft,)), first, starts)

    def _one_way(self, starts: Sequence[_Start]) -> Iterator[DecisionList]:
        """First changes along one axis alone, of an avatar whose actions tell of no other."""
        vocabulary = self._dynamics.vocabulary
        if (
            self._target.attribute != PLACE
            or self._target.pool != (vocabulary.avatar,)
            or not vocabulary.sways
        ):
            return
        for axis in (0, 1):
            rows = Rows()
            for index, context, mask in starts:
                observed, thing = self._dynamics.observed[index], context.thing
                if thing.place is not None and observed.keeps(thing.index, PLACE):
                    between = list(thing.place)
                    between[axis] = observed.value(thing.index, PLACE)[axis]
                    rows.add(mask, effects(context, PLACE, tuple(between)), index)
            yield search(rows, self._dynamics.literals, beam=3, most_rules=8)[0]

    def _starts(self, phase: float) -> list[_Start]:
        """The things of the target in the chosen transitions, as they are in a phase."""
        trial = Target(self._target.pool, self._target.attribute, phase)
        stages, observed = self._dynamics.stages, self._dynamics.observed
        found = [
            (index, context, mask)
            for index in self._chosen
            for context, mask, _ in stages.contexts(observed[index], phase, trial)
            if trial.takes(context)
        ]
        changed = [one for one in found if self._changes(one, trial)]
        rest = [one for one in found if not self._changes(one, trial)]
        return [*changed, *rest[:: 1 + len(rest) // _STILL]]

    def _changes(self, start: _Start, trial: Target) -> bool:
        """Whether what the target is about was another afterwards."""
        index, context, _ = start
        observed, thing = self._dynamics.observed[index], context.thing
        if not observed.keeps(thing.index, trial.attribute):
            return True
        return bool(observed.value(thing.index, trial.attribute) != thing.values.get(trial.attribute))

    def _forwards(self, way: Twice, second: Target, starts: Sequence[_Start]) -> tuple[float, Twice]:
        """The length with this first change, and the second that is found for it.

        Roughly: what becomes of one thing by the first change is not seen by the others.
        """
        rows, draft, attribute = Rows(), way.first[0], self._target.attribute
        for index, context, mask in starts:
            value = apply_effect(context, attribute, draft.effect(mask))
            observed = self._dynamics.observed[index]
            then, explained = self._dynamics.stages.then(observed, second, context.thing.index, value)
            if explained is not None:
                rows.add(then, explained, index)
        found = search(rows, self._dynamics.literals, beam=0, most_rules=self._most_rules)
        length = draft.cost + found[0].cost + CONTRADICTION_COST * len(rows.contradictions)
        return length, replace(way, second=(found[0],))

    def _backwards(self, way: Twice, first: Target, starts: Sequence[_Start]) -> tuple[float, Twice]:
        """The length with this second change, and the first that is found for it."""
        rows, missed = Rows(), 0
        assert first.leads is not None
        first.leads.lists = list(way.second)
        for index, context, mask in starts:
            observed = self._dynamics.observed[index]
            explained = self._dynamics.stages.explain(observed, first, context, mask)
            if explained is not None:
                rows.add(mask, explained, index)
            else:
                missed += not observed.is_gone(context.thing.index)
        found = search(rows, self._dynamics.literals, beam=0, most_rules=self._most_rules)
        missed += len(rows.contradictions)
        length = way.second[0].cost + found[0].cost + CONTRADICTION_COST * missed
        return length, replace(way, first=(found[0],))

    def _exact(self, way: Twice) -> tuple[float, Twice]:
        """The length with this first change, and the second that is found for it."""
        first, second = _pair(self._target.pool, self._target.attribute, way)
        with self._moved(way):
            self._read(second)
        second.fit(self._dynamics.literals, beam=3, most_rules=max(self._most_rules, 6))
        return first.lists[0].cost + second.length, replace(way, second=tuple(second.lists))

    @property
    def _phases(self) -> list[float]:
        """Where the target may come: with the others of each phase, or after all.

        It comes before the others of a phase if it came before them already: they may depend on it.
        """
        others = sorted({t.phase for t in self._dynamics.targets.values() if t not in self._both} | {0.0})
        last = self._both[-1].phase
        return [*(p - _BETWEEN if last < p else p for p in others), others[-1] + 1]

    def _seconds(self, phase: float) -> Iterator[tuple[float, bool, bool]]:
        """Later phases for a second change, and whether the companions come with it."""
        companions = _companions(self._dynamics, self._target)
        later = [p for p in self._phases if p > phase]
        if phase not in {t.phase for t in self._dynamics.targets.values() if t not in self._both}:
            later.insert(0, phase + _BETWEEN / 2)  # right after the first
        for again in later[:2]:
            for in_turn in self._turns:
                yield again, in_turn, False
                if any(one.phase < again for one in companions):
                    yield again, in_turn, True

    def _moved(self, way: Twice) -> AbstractContextManager[None]:
        moved = _companions(self._dynamics, self._target) if way.together else []
        return _in_phase(moved, way.again)

    def _read(self, trial: Target) -> Target:
        """Add the rows of the chosen transitions."""
        for index in self._chosen:
            observed = self._dynamics.observed[index]
            for context, mask, _ in self._dynamics.stages.contexts(observed, trial.phase, trial):
                explained = observed.explain(trial, context)
                if explained is not None and trial.takes(context):
                    trial.rows.add(mask, explained, index)
        return trial


_NOTHING = DecisionList((Rule(0, KEEP),), 0.4)


@contextmanager
def _in_phase(targets: Sequence[Target], phase: float) -> Iterator[None]:
    """For the while, these belong to another phase."""
    before = [target.phase for target in targets]
    for target in targets:
        target.phase = phase
    try:
        yield
    finally:
        for target, its in zip(targets, before, strict=True):
            target.phase = its

"""What is predicted of the next state, part by part, each with the decision lists that fit all data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from worldcoder.synthesis.rules.effects import KEEP, Effect
from worldcoder.synthesis.rules.ensemble import Probe, varied
from worldcoder.synthesis.rules.language import Context
from worldcoder.synthesis.rules.lists import WITHIN, DecisionList, Literals, Rule, search
from worldcoder.synthesis.rules.rows import Row, Rows
from worldcoder.synthesis.rules.scene import PLACE
from worldcoder.synthesis.rules.vocabulary import Vocabulary

EXISTS = "@exists"
CREATES = "@creates"
"""What is created by the avatar; see `creates` for the others."""

TargetKey = tuple[tuple[str, ...], str, int]
"""The kinds, the attribute, and which of its changes in a step."""

_KEPT = 80
"""Lists of an ensemble, at most."""
CONTRADICTION_COST = 24.0
"""What a transition that the rows contradict adds to the description length."""
_FEW_RULES = 3
"""Up to which what explains all is not looked for again where only more could be said."""

_MANY_ALONE = 3
"""Rules that speak of one transition each, from which on some of these may be noise."""


@dataclass(eq=False)
class Target:
    """What one set of decision lists predicts.

    pool: the kinds it is about; for `CREATES`, the kind that appears, and the rule is about the avatar. Where others
    appear in the places of things, the rule is about these, and the attribute tells what appears (`creates`).
    attribute: the place counts as one; `EXISTS`: whether the object goes on to exist.
    phase: of the step; what happens in earlier phases has happened already when this is decided.
    in_turn: whether objects change one after the other, those ahead first, each seeing what came before it.
    follows: where the attribute changes twice in a step, the target of the first change; what that one makes of it
    is never seen, and what this one starts from. leads: the second change, where this is the first.
    aside: what is taken for noise (`noise.py`), and no list has to explain.
    """

    pool: tuple[str, ...]
    attribute: str
    phase: float = 0
    in_turn: bool = False
    follows: Target | None = None
    leads: Target | None = field(default=None, repr=False)
    starts: dict[Any, Any] = field(default_factory=dict, repr=False)  # see `stages.py`
    rows: Rows = field(default_factory=Rows)
    aside: Rows = field(default_factory=Rows)
    lists: list[DecisionList] = field(default_factory=lambda: [DecisionList((Rule(0, KEEP),), 0.4)])
    searched_at: int = 0
    failed: bool = False
    _votes: dict[int, tuple[Effect, ...]] = field(default_factory=dict)
    _voters: list[DecisionList] | None = None

    @property
    def key(self) -> TargetKey:
        return self.pool, self.attribute, 1 if self.follows is None else 2

    def takes(self, context: Context) -> bool:
        """Whether this is about the thing of a context."""
        if self.attribute == CREATES:
            return context.is_avatar
        return context.thing.kind in self.pool

    def votes(self, mask: int) -> tuple[Effect, ...]:
        """The different effects that the lists foresee in a context."""
        if self._voters is not self.lists:
            self._voters = self.lists
            self._votes.clear()
        found = self._votes.get(mask)
        if found is None:
            found = self._votes[mask] = tuple(dict.fromkeys(one.effect(mask) for one in self.lists))
        return found

    def prefer(self, rules: tuple[Rule, ...]) -> None:
        """Put a list first, if it is one of those that fit."""
        self.lists.sort(key=lambda one: one.rules != rules)

    def tell(self, row: Row) -> None:
        """Drop the lists that a new row falsifies; the best one stays where none is left, until the next search."""
        before, best = len(self.lists), self.lists[0]
        self.lists = [one for one in self.lists if one.effect(row.mask) in row.effects]
        if not self.lists or self.lists[0] is not best or 2 * len(self.lists) < before:
            self.failed = True
        self.lists = self.lists or [best]

    def take_over(self, known: Target) -> None:
        """Go on with the lists of before, though all rows are to be read anew."""
        self.lists, self.searched_at = known.lists, known.searched_at

    def recheck(self) -> None:
        """All rows were read anew: search again, unless a few rules said all before and still do."""
        best = self.lists[0]
        self.failed = (
            not self.searched_at
            or len(best.rules) > _FEW_RULES
            or len(self.lists) >= _KEPT  # which of many as good were kept is chance
            or self.follows is not None
            or self.leads is not None
            or bool(self.rows.contradictions)
            or not self._holds(best)
        )
        if not self.failed:
            self.lists = [best, *(one for one in self.lists[1:] if self._holds(one))]

    def _holds(self, one: DecisionList) -> bool:
        return all(one.effect(row.mask) in row.effects for row in self.rows.by_mask.values())

    @property
    def due(self) -> bool:
        """Whether the lists should be searched for again."""
        return self.failed or len(self.rows) > 1.3 * self.searched_at + 1

    @property
    def length(self) -> float:
        """The description length of the rules, and of what they cannot explain."""
        return self.lists[0].cost + CONTRADICTION_COST * len(self.rows.contradictions)

    @property
    def trouble(self) -> int:
        """How much there is that the rules do not explain, or only one by one."""
        return len(self.rows.contradictions) + max(0, len(self.lists[0].rules) - 6)

    def alone(self) -> list[int]:
        """The transitions of which each has a rule of its own, where there are many such rules; else none."""
        by_rule: dict[Rule, set[int]] = {}
        for row in self.rows.by_mask.values() if len(self.lists[0].rules) > _MANY_ALONE else ():
            by_rule.setdefault(self.lists[0].rule(row.mask), set()).update(row.transitions)
        found = [min(those) for those in by_rule.values() if len(those) == 1]
        return found if len(found) >= _MANY_ALONE else []

    def fit(
        self,
        vocabulary_of_literals: Literals,
        probes: Sequence[Probe] = (),
        *,
        beam: int = 12,
        most_rules: int = 40,
    ) -> None:
        """Search; lists that survived stay in the ensemble. probes: see `ensemble.py`."""
        found = search(self.rows, vocabulary_of_literals, beam=beam, most_rules=most_rules)
        known = {one.rules for one in found}
        for one in self.lists:
            if one.rules not in known and self._holds(one):
                found.append(one)
        found.sort(key=lambda one: one.cost)
        if found:
            within = [one for one in found if one.cost <= found[0].cost + WITHIN]
            attribute = None if is_event(self.attribute) else self.attribute
            self.lists = varied(within, probes, attribute, _KEPT)
        self.searched_at = len(self.rows)
        self.failed = False


def creates(kind: str) -> str:
    """The attribute of a target that says in which of its things' places something of a kind appears."""
    return f"{CREATES}:{kind}"


def created(target: Target) -> str | None:
    """The kind that appears by a target; None where it is about something else."""
    if target.attribute == CREATES:
        return target.pool[0]
    head, _, kind = target.attribute.partition(":")
    return kind if head == CREATES else None


def is_event(attribute: str) -> bool:
    """Whether something comes or goes: what is decided is no value of an attribute."""
    return attribute == EXISTS or attribute.startswith(CREATES)


def changing(vocabulary: Vocabulary) -> list[tuple[tuple[str, ...], str]]:
    """The kinds and the attribute of all that changes."""
    keys: list[tuple[tuple[str, ...], str]] = []
    pools: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    alike: dict[tuple[str, ...], list[str]] = {}
    for kind in vocabulary.kinds:
        alike.setdefault(vocabulary.attributes_of(kind), []).append(kind)
    for kind, attribute in vocabulary.changing:
        attributes = vocabulary.attributes_of(kind)
        if kind == vocabulary.avatar:
            keys.append(((kind,), attribute))
        elif attribute == PLACE:
            pools.setdefault((attribute, attributes), []).append(kind)
        else:  # what happens to some is likely to happen to all that have the same attributes
            pools[attribute, attributes] = [k for k in alike[attributes] if k != vocabulary.avatar]
    for kind in vocabulary.vanishing:
        if kind == vocabulary.avatar:
            keys.append(((kind,), EXISTS))
        else:
            pools.setdefault((EXISTS, vocabulary.attributes_of(kind)), []).append(kind)
    keys += [(tuple(kinds), attribute) for (attribute, _), kinds in pools.items()]
    for kind in vocabulary.appearing:
        spawner = vocabulary.spawners.get(kind)
        keys.append(((kind,), CREATES) if spawner is None else ((spawner,), creates(kind)))
    return keys

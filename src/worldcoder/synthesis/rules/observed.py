"""What a transition shows: what became of each thing, and which effects explain it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from worldcoder.synthesis.rules.effects import DELETE, KEEP, UNKNOWN, Effect, attributes_made, effects
from worldcoder.synthesis.rules.language import Context, place_terms
from worldcoder.synthesis.rules.matching import Ways, becomes
from worldcoder.synthesis.rules.scene import PLACE, Scene, Thing, scene_of
from worldcoder.synthesis.rules.statistics import same_value
from worldcoder.synthesis.rules.targets import CREATES, EXISTS, Target, TargetKey, created
from worldcoder.world.values import Transition

_FOREIGN: Any = object()  # a reference to something that was not there before
_UNKNOWN: dict[Effect, float] = {UNKNOWN: 12.0}


class Observed:
    """One transition, in terms of the scene before it. fleeting: see `comings.py`."""

    def __init__(self, transition: Transition, fleeting: Mapping[str, Ways]) -> None:
        self.scene = scene_of(transition.state)
        self.action = transition.action
        self._after = scene_of(transition.next_state)
        self._became = becomes(transition.state, transition.next_state, fleeting)
        self._back = {
            new.index: thing
            for thing, new in zip(self.scene.things, self._became, strict=True)
            if new is not None
        }
        taken = {new.index for new in self._became if new is not None}
        self._made = [t for t in self._after.things if t.index not in taken]
        self.supposed: dict[TargetKey, tuple[Target, Any, dict[int, Any]]] = {}
        """What first changes, by their rules, are supposed to have made of things; see `stages.py`."""

    def is_gone(self, index: int) -> bool:
        return self._became[index] is None

    def values(self, index: int) -> dict[str, Any] | None:
        """What a thing was afterwards, references in terms of the scene before; None where it was gone."""
        new = self._became[index]
        return None if new is None else {a: self._earlier(v) for a, v in new.values.items()}

    def value(self, index: int, attribute: str) -> Any:
        """The same, of one attribute of a thing that has it before and after."""
        new = self._became[index]
        assert new is not None
        old, value = self.scene.things[index].values[attribute], new.values[attribute]
        return old if same_value(old, value, self._became) else self._earlier(value)

    def _earlier(self, value: Any) -> Any:
        return self._back.get(value.index, _FOREIGN) if isinstance(value, Thing) else value

    def beyond(self, targets: Iterable[Target]) -> frozenset[tuple[str, str]]:
        """What changed, came or went that no target speaks of, by kind and attribute."""
        changed = {(made.kind, CREATES) for made in self._made}
        spoken = {(kind, target.attribute) for target in targets for kind in target.pool}
        spoken |= {(kind, CREATES) for kind in map(created, targets) if kind is not None}
        for thing, new in zip(self.scene.things, self._became, strict=True):
            if new is None:
                changed.add((thing.kind, EXISTS))
                continue
            for attribute, value in thing.values.items():
                if attribute in new.values and not same_value(value, new.values[attribute], self._became):
                    changed.add((thing.kind, attribute))
        return frozenset(changed - spoken)

    def changes(self, targets: list[Target]) -> tuple[dict[int, dict[str, Any]], set[int]]:
        """What became of all that these are about: new values by the number of the thing, and what was gone."""
        changes: dict[int, dict[str, Any]] = {}
        gone: set[int] = set()
        for target in targets:
            for kind in target.pool if created(target) is None else ():
                for thing in self.scene.kinds.get(kind, ()):
                    if self.is_gone(thing.index):
                        if target.attribute == EXISTS:
                            gone.add(thing.index)
                    elif target.attribute != EXISTS and self._has(thing.index, target.attribute):
                        value = self.value(thing.index, target.attribute)
                        old = thing.values[target.attribute]
                        same = value is old or (not isinstance(value, Thing) and value == old)
                        if not same and value is not _FOREIGN:
                            changes.setdefault(thing.index, {})[target.attribute] = value
        return changes, gone

    def keeps(self, index: int, attribute: str) -> bool:
        """Whether a thing is there afterwards, and has the attribute before and after."""
        return not self.is_gone(index) and self._has(index, attribute)

    def _has(self, index: int, attribute: str) -> bool:
        new = self._became[index]
        return attribute in self.scene.things[index].values and new is not None and attribute in new.values

    def explain(self, target: Target, context: Context) -> dict[Effect, float] | None:
        """The effects that explain what became of the thing, with costs; None where that tells nothing."""
        index, attribute = context.thing.index, target.attribute
        kind = created(target)
        if kind is not None:
            return self._explain_creation(kind, context, spawner=attribute != CREATES)
        if attribute == EXISTS:
            return {DELETE: 1.2} if self.is_gone(index) else {KEEP: 0.4}
        if self.is_gone(index):
            return None
        if not self._has(index, attribute):
            new = self._became[index]
            there = attribute in context.thing.values or (new is not None and attribute in new.values)
            return dict(_UNKNOWN) if there else {KEEP: 0.4}
        found: dict[Effect, float] = {}
        for one in self._confusable(index):
            value = self.value(index, attribute) if one == index else self._value_of(one, attribute)
            if isinstance(value, Thing):
                value = context.scene.things[value.index]  # the same thing, in this phase
            found = {**effects(context, attribute, value), **found}
        if len(found) > 1:
            found.pop(UNKNOWN, None)
        return found

    def _confusable(self, index: int) -> list[int]:
        """The thing and those without a name of which nobody can tell afterwards which is which."""
        thing, new = self.scene.things[index], self._became[index]
        if thing.name is not None or thing.place is None or new is None:
            return [index]
        others = [
            t.index
            for t in self.scene.at(thing.place)
            if t is not thing
            and t.kind == thing.kind
            and t.name is None
            and (other := self._became[t.index]) is not None
            and other.place == new.place
        ]
        return [index, *others]

    def _value_of(self, index: int, attribute: str) -> Any:
        new = self._became[index]
        assert new is not None
        return self._earlier(new.values.get(attribute))

    def _explain_creation(self, kind: str, context: Context, *, spawner: bool) -> dict[Effect, float]:
        """What says that something appears; spawner: in the place of the thing that the context is about."""
        made = [t for t in self._made if t.kind == kind and (not spawner or t.place == context.thing.place)]
        if not made:
            return {KEEP: 0.4}
        if len(made) > 1 or any(isinstance(v, Thing) for v in made[0].values.values()) or made[0].name:
            return dict(_UNKNOWN)
        found: dict[Effect, float] = {}
        if spawner and sum(t.kind == context.thing.kind for t in context.scene.at(context.thing.place)) > 1:
            found[KEEP] = 0.4  # it may be the other one in this place
        for rest, cost in attributes_made(context, made[0]):
            if made[0].place is None:
                found["create", "nowhere" if PLACE in made[0].values else None, rest] = 2.0 + cost
                continue
            for term in [("self", 0)] if spawner else place_terms(context):
                if term[0] != "off" and context.place(term) == made[0].place:
                    found["create", term, rest] = 2.0 + 0.3 * abs(term[1]) + cost
        return found or dict(_UNKNOWN)


def staged(observed: Observed, before: list[Target]) -> Scene:
    """The scene when these targets have come true and no others."""
    if not before:
        return observed.scene
    changes, gone = observed.changes(before)
    return observed.scene.altered(changes, gone) if changes or gone else observed.scene

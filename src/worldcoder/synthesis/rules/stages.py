"""Recorded steps, phase by phase: what was true when each target was decided, and what explains what became of it.

What earlier phases did is taken as it was observed. What was never seen is supposed to be what the rules say: where
a thing was gone in the end, what came of it before; and where an attribute changes twice in a step, what the first
change made of it. Rules for such a first change are learned backwards: an effect explains a row if the second change
makes of it what was seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from worldcoder.synthesis.rules.effects import UNKNOWN, Effect, apply_effect, effects
from worldcoder.synthesis.rules.language import Context, place_terms
from worldcoder.synthesis.rules.lists import DecisionList
from worldcoder.synthesis.rules.observed import Observed, staged
from worldcoder.synthesis.rules.scene import PLACE, Scene, Thing
from worldcoder.synthesis.rules.targets import EXISTS, Target, is_event

if TYPE_CHECKING:
    from worldcoder.synthesis.rules.dynamics import Contexts, Dynamics

_FEW = 8
"""Values of an attribute up to which each may be what the first change made."""


class Stages:
    """What was true in the phases of recorded steps, as the targets of a dynamics divide them."""

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics = dynamics

    def contexts(
        self, observed: Observed, phase: float, only: Target | None = None, index: int | None = None
    ) -> Iterator[Contexts]:
        """The contexts of a phase.

        only: a target, which takes the place of what is known of its attribute. index: of one thing.
        """
        dynamics = self._dynamics
        others = self._besides(only)
        targets = [only] if only is not None else [t for t in others if t.phase == phase]
        return dynamics.contexts(
            self._scene(observed, phase, others),
            observed.action,
            targets,
            phase,
            self._next_avatar(observed, others) if phase == 0 else {},
            dynamics.origin_of(observed.scene) if phase else None,
            observed=observed,
            index=index,
        )

    def _besides(self, only: Target | None) -> list[Target]:
        """All targets, but those about the same as one; what that one follows is among them."""
        targets = self._dynamics.targets.values()
        if only is None:
            return list(targets)
        others = [t for t in targets if (t.pool, t.attribute) != (only.pool, only.attribute)]
        return others if only.follows is None else [*others, only.follows]

    def _scene(self, observed: Observed, phase: float, targets: Sequence[Target]) -> Scene:
        """The scene when the earlier phases are over."""
        done = [t for t in targets if t.phase < phase]
        hidden = [t for t in done if t.leads is not None and t.leads.phase >= phase]
        now = staged(observed, [t for t in done if t not in hidden])
        changes: dict[int, dict[str, Any]] = {}
        for target in done:
            gone = None if target in hidden else self._gone(observed, target)
            if gone is None or gone:
                for index, value in self._made_by(observed, target, targets).items():
                    if (gone is None or index in gone) and not now.is_gone(index):
                        changes.setdefault(index, {})[target.attribute] = _in(now, value)
        return now.altered(changes) if changes else now

    @staticmethod
    def _gone(observed: Observed, target: Target) -> set[int]:
        """The things of which it was not seen what the target made of them, since they were gone in the end."""
        if is_event(target.attribute):
            return set()
        there = (thing.index for kind in target.pool for thing in observed.scene.kinds.get(kind, ()))
        return {index for index in there if observed.is_gone(index)}

    def _next_avatar(self, observed: Observed, targets: Sequence[Target]) -> dict[str, Any]:
        """What the avatar is after the first phase."""
        avatar = self._dynamics.avatar_of(observed.scene)
        if avatar is None:
            return {}
        gone = observed.is_gone(avatar.index)
        values = dict(avatar.values) if gone else observed.values(avatar.index) or {}
        mine = [t for t in targets if t.pool == (avatar.kind,)]
        if gone and any(t.attribute == EXISTS and t.phase == 0 for t in mine):
            return {}
        for target in mine:
            lasting = not is_event(target.attribute)
            if lasting and target.phase == 0 and (gone or target.leads is not None):
                made = self._made_by(observed, target, targets)
                values[target.attribute] = made.get(avatar.index, avatar.values.get(target.attribute))
        later = {t.attribute for t in mine} - {t.attribute for t in mine if t.phase == 0}
        return {a: v for a, v in values.items() if a not in later}

    # ── what was not seen ────────────────────────────────────────────────────────────────────────────────

    def _made_by(self, observed: Observed, first: Target, targets: Sequence[Target]) -> dict[int, Any]:
        """What a change is supposed to have made of its attribute, by thing, of those that it changes."""
        rules = first.lists[0].rules
        known = observed.supposed.get(first.key)
        if known is not None and known[0] is first and known[1] == rules:
            return known[2]
        dynamics = self._dynamics
        early = first.phase == 0 and first.pool != (dynamics.vocabulary.avatar,)
        contexts = dynamics.contexts(
            self._scene(observed, first.phase, targets),
            observed.action,
            [first],
            first.phase,
            self._next_avatar(observed, targets) if early else {},
            dynamics.origin_of(observed.scene) if first.phase else None,
            observed=observed,
        )
        made: dict[int, Any] = {}
        for context, mask, decided in contexts:
            if decided:
                value = apply_effect(context, first.attribute, first.lists[0].effect(mask))
                if value is not context.thing.values.get(first.attribute):
                    made[context.thing.index] = value
        observed.supposed[first.key] = first, rules, made
        return made

    def explain(
        self, observed: Observed, target: Target, context: Context, mask: int
    ) -> dict[Effect, float] | None:
        """The effects that explain what became of a thing; of a first change, those that lead there.

        None where that tells nothing, or where nothing leads there.
        """
        index, attribute, second = context.thing.index, target.attribute, target.leads
        if second is None or not observed.keeps(index, attribute):
            return observed.explain(target, context)
        supposed = apply_effect(context, attribute, target.lists[0].effect(mask))
        final = _in(context.scene, observed.value(index, attribute))
        found: dict[Effect, float] = {}
        near = [supposed, context.thing.values[attribute], final]
        for values in (near, _between(context, attribute, final, second.lists[0])):
            for value in _distinct(values):
                then, explained = self.then(observed, second, index, value)
                if explained is None or second.lists[0].effect(then) in explained:
                    found = {**effects(context, attribute, value), **found}
            if found:
                break
        if len(found) > 1:
            found.pop(UNKNOWN, None)
        return found or None

    def then(
        self, observed: Observed, second: Target, index: int, value: Any
    ) -> tuple[int, dict[Effect, float] | None]:
        """What is true for the second change of a thing if the first made a value, and what explains the end."""
        first = second.follows
        assert first is not None
        key = id(observed), index, ("thing", value.index) if isinstance(value, Thing) else value
        found = second.starts.get(key)
        if found is None:
            found = 0, None
            known = observed.supposed.get(first.key)
            made = {**self._made_by(observed, first, self._besides(second)), index: value}
            observed.supposed[first.key] = first, first.lists[0].rules, made
            for context, mask, _ in self.contexts(observed, second.phase, second, index):
                if context.thing.index == index:
                    found = mask, observed.explain(second, context)
            if known is None:
                del observed.supposed[first.key]
            else:
                observed.supposed[first.key] = known
            second.starts[key] = found
        return found


def _between(context: Context, attribute: str, final: Any, second: DecisionList) -> list[Any]:
    """Values that the first change may have made, if it is none of the nearest."""
    known = context.vocabulary.values.get((context.thing.kind, attribute), {})
    values = list(known) if len(known) <= _FEW else []
    if type(final) in (int, float):
        values += [final - rule.effect[1] for rule in second.rules if rule.effect[0] == "add"]
        values += [(final - e[1]) % e[2] for e in (rule.effect for rule in second.rules) if e[0] == "turn"]
    if attribute == PLACE:
        values += [place for term in place_terms(context) if (place := context.place(term)) is not None]
    return values


def _distinct(values: Iterable[Any]) -> Iterator[Any]:
    """Each value once; things are what they are, all else is what it equals."""
    seen: list[Any] = []
    for value in values:
        if not any(value is one or (value == one and not isinstance(value, Thing)) for one in seen):
            seen.append(value)
            yield value


def _in(scene: Scene, value: Any) -> Any:
    """The same value in another phase: a thing as it is there."""
    return scene.things[value.index] if isinstance(value, Thing) else value

"""What is not known of a step: what was never met, and what the lists that fit the data disagree on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from worldcoder.synthesis.rules.effects import DELETE, KEEP, Effect, apply_effect
from worldcoder.synthesis.rules.ensemble import Probe
from worldcoder.synthesis.rules.language import Context, Literal
from worldcoder.synthesis.rules.novelty import Doubt, Key, Novelty, is_lost
from worldcoder.synthesis.rules.scene import Thing, scene_of
from worldcoder.synthesis.rules.statistics import Verb
from worldcoder.synthesis.rules.targets import Target, TargetKey, is_event
from worldcoder.world.values import Action, State

if TYPE_CHECKING:
    from worldcoder.synthesis.rules.dynamics import Contexts, Dynamics

_PROBES = 500
"""Different contexts of a target that are kept, of all that were imagined."""
_SAMPLE = 16
"""Of so many steps that are asked about, one is imagined as a whole."""
_KEPT = 6000
"""States and actions whose contexts are kept."""


class Doubts:
    """Of what was learned so far."""

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics = dynamics
        self._novelty = Novelty(dynamics.literals)
        self._foreseen: dict[tuple[State, Action], list[Contexts]] = {}
        self._foreseen_by: object = None
        self._watched: dict[tuple[State, Action], list[tuple[str, int]]] = {}  # kinds and literals
        self._probes: dict[TargetKey, dict[int, Context]] = {}  # by the literals that are true
        self._asked = 0
        self._lonely: set[tuple[State, Action]] = set()
        self._lonely_at = -1

    def forget(self) -> None:
        """Begin anew."""
        self._novelty.forget()
        self._foreseen.clear()
        self._watched.clear()
        self._probes.clear()

    def forget_foreseen(self) -> None:
        """What is foreseen has changed."""
        self._foreseen.clear()

    def foreseen(self, state: State, action: Action) -> list[Contexts]:
        """The contexts of all phases, when each comes true as the cheapest lists say.

        They are kept as long as nothing changes that others depend on: what the avatar does, and what comes earlier.
        """
        last = self._dynamics.phases[-1]
        leading = tuple(
            target.lists[0].rules
            for target in self._dynamics.targets.values()
            if target.phase < last or target.pool == (self._dynamics.vocabulary.avatar,)
        )
        if leading != self._foreseen_by or len(self._foreseen) > _KEPT:
            self._foreseen.clear()
            self._foreseen_by = leading
        found = self._foreseen.get((state, action))
        if found is None:
            found = self._foreseen[state, action] = list(self._foresee(state, action))
            for context, mask, targets in found:
                context.known.clear()
                for target in targets:
                    probes = self._probes.setdefault(target.key, {})
                    if len(probes) < _PROBES:
                        probes.setdefault(mask, context)
        return found

    def probes(self, target: Target) -> list[Probe]:
        """Contexts of a target in steps that were imagined."""
        return [(context, mask) for mask, context in self._probes.get(target.key, {}).items()]

    def _foresee(self, state: State, action: Action) -> Iterator[Contexts]:
        now = scene_of(state)
        origin = self._dynamics.origin_of(now)
        phases = self._dynamics.phases
        for phase in phases:
            targets = [t for t in self._dynamics.targets.values() if t.phase == phase]
            changes: dict[int, dict[str, Any]] = {}
            gone: set[int] = set()
            for context, mask, mine in self._dynamics.contexts(
                now, action, targets, phase, None, origin if phase else None
            ):
                yield context, mask, mine
                for target in mine if phase != phases[-1] else ():
                    effect = target.lists[0].effect(mask)
                    if effect == DELETE:
                        gone.add(context.thing.index)
                    elif not is_event(target.attribute) and effect != KEEP:
                        value = apply_effect(context, target.attribute, effect)
                        changes.setdefault(context.thing.index, {})[target.attribute] = value
            if changes or gone:
                now = now.altered(changes, gone)

    def note(self, context: Context, mask: int) -> bool:
        """Remember which literals, and which pairs of nearby ones, were met with which action; whether any is new."""
        if not self._is_watched(context):
            return False
        key = self._dynamics.vocabulary.group(context.action), context.thing.kind
        return self._novelty.note(key, mask, around=context.avatar is not None and context.direction is None)

    def _is_watched(self, context: Context) -> bool:
        """Whether novelty is looked for here: at the avatar, or everywhere in a world without one."""
        return context.phase == 0 and (context.is_avatar or context.avatar is None)

    def met(self) -> dict[Key, int]:
        """The literals that were met, by group of actions and kind."""
        return self._novelty.met

    def lonely(self, state: State, action: Action) -> bool:
        """Whether the step was taken once and then needed a rule of its own, where many did: it may be noise.

        To take it again tells. Where there is noise for certain, nothing needs to be told.
        """
        dynamics = self._dynamics
        if self._lonely_at != dynamics.version:
            self._lonely_at = dynamics.version
            alone = [] if dynamics.sieve.proven else [i for t in dynamics.targets.values() for i in t.alone()]
            steps = [(t.state, t.action) for t in (dynamics.transitions[i] for i in alone)]
            self._lonely = {step for step in steps if dynamics.sieve.contradictions.times[step] == 1}
        return (state, action) in self._lonely

    def unseen(self, state: State, action: Action) -> list[Literal]:
        """The literals about an action in a state that were never met with an action of its kind."""
        group, around = self._group(state, action)
        return [
            lit
            for kind, mask in self._watch(state, action)
            for lit in self._dynamics.literals.of(self._novelty.unseen((group, kind), mask, around=around))
        ]

    def _group(self, state: State, action: Action) -> tuple[Verb, bool]:
        """The group of an action, and whether there is an avatar that heads nowhere with it."""
        vocabulary = self._dynamics.vocabulary
        avatar = self._dynamics.avatar_of(scene_of(state))
        return vocabulary.group(action), avatar is not None and vocabulary.looks_to(avatar, action) is None

    def _watch(self, state: State, action: Action) -> list[tuple[str, int]]:
        """The kinds and literals of the contexts of a step in which novelty is looked for."""
        found = self._watched.get((state, action))
        if found is None or len(self._watched) > _KEPT:
            if len(self._watched) > _KEPT:
                self._watched.clear()
            now = scene_of(state)
            kinds = () if self._dynamics.avatar_of(now) is not None else self._dynamics.targets.values()
            targets = [t for t in kinds if t.phase == 0]
            found = self._watched[state, action] = [
                (context.thing.kind, mask)
                for context, mask, _ in self._dynamics.contexts(now, action, targets, 0, None, None)
                if self._is_watched(context)
            ]
        return found

    def of(self, state: State, action: Action, disputed: bool | None = None) -> Doubt:
        """What is not known about an action in a state. disputed: whether the lists disagree, if that is known."""
        avatar = self._dynamics.avatar_of(scene_of(state))
        group, around = self._group(state, action)
        watched = self._watch(state, action)
        pairs = sum(self._novelty.new_pairs((group, kind), m, around=around) for kind, m in watched)
        if disputed is None:
            disputed = self._is_disputed(state, action)
        else:
            self._asked += 1
            if self._asked % _SAMPLE == 1:
                self.foreseen(state, action)  # for the probes
        lost = is_lost(self._dynamics.vocabulary, avatar, action)
        return Doubt(tuple(self.unseen(state, action)), pairs, disputed, lost)

    def _is_disputed(self, state: State, action: Action) -> bool:
        for context, mask, targets in self.foreseen(state, action):
            for target in targets:
                chosen = target.votes(mask)
                if len(chosen) > 1 and len({_freeze(self._outcome(target, context, e)) for e in chosen}) > 1:
                    return True
        return False

    def _outcome(self, target: Target, context: Context, effect: Effect) -> Any:
        if is_event(target.attribute):
            return effect
        return apply_effect(context, target.attribute, effect)


def _freeze(value: Any) -> Any:
    return ("thing", id(value)) if isinstance(value, Thing) else value

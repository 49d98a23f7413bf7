"""What is learned of the dynamics: for each attribute that changes, the decision lists that fit all data.

Each target (see `targets.py`) keeps an ensemble of lists; the cheapest predicts, the disagreement of the others
says what is not known. A step has phases: targets of a later one are decided when those of the earlier ones have
come true. Which target belongs to which phase is learned: where the rules for one get long or contradict
themselves, it is tried in the others, and the shortest description decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from worldcoder.synthesis.rules.comings import Comings
from worldcoder.synthesis.rules.doubts import Doubts
from worldcoder.synthesis.rules.effects import DELETE, Effect, apply_effect
from worldcoder.synthesis.rules.language import Context
from worldcoder.synthesis.rules.lists import Literals
from worldcoder.synthesis.rules.literals import common_literals, literals, own_literals
from worldcoder.synthesis.rules.noise import Sieve, missed_by
from worldcoder.synthesis.rules.observed import Observed
from worldcoder.synthesis.rules.order import Order
from worldcoder.synthesis.rules.passages import Passages
from worldcoder.synthesis.rules.pools import Pools
from worldcoder.synthesis.rules.rows import Rows
from worldcoder.synthesis.rules.scene import PLACE, Place, Scene, Thing
from worldcoder.synthesis.rules.stages import Stages
from worldcoder.synthesis.rules.statistics import is_far
from worldcoder.synthesis.rules.targets import CREATES, EXISTS, Target, TargetKey, is_event
from worldcoder.synthesis.rules.vocabulary import Look, Vocabulary
from worldcoder.world.values import Action, State, Transition

Contexts = tuple[Context, int, list[Target]]
"""A context, the literals that are true in it, and what is decided there."""

_ROUNDS = 4
"""Changes of phases in one fit, at most."""
_SIFTS = 3
"""How often in one fit it is decided what is noise, where that changes."""
_KEPT = 100_000
"""Contexts whose literals are remembered."""
_READING = 500
"""The effort (see `Literals`) of finding out what is true in a context."""
_REREADS = 5
"""How often in one fit rows are read anew after a change of rules that they depend on."""


class Dynamics:
    """Learns from transitions; predicts; says what it doubts."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self.literals = Literals()
        self.transitions: list[Transition] = []
        self.version = 0  # grows when what is doubted may have changed
        self.targets: dict[TargetKey, Target] = {}
        self._structure: tuple[Any, ...] = ()
        self.doubts = Doubts(self)
        self._passages = Passages()
        self._comings = Comings()
        self._common: tuple[Any, int] = None, 0
        self._masks: dict[tuple[Any, ...], int] = {}
        self._outdated = False
        self.observed: list[Observed] = []
        self.stages = Stages(self)
        self._order = Order()
        self._pools = Pools()
        self._read_with: dict[TargetKey, tuple[Any, ...]] = {}  # the rules that rows depend on
        self._told: list[tuple[State, Sequence[Action]] | int] = []  # starts, and transitions by number
        self.sieve = Sieve()
        self._disturbed = False  # whether there is noise

    # ── learning ─────────────────────────────────────────────────────────────────────────────────────────

    def begin(self, state: State, actions: Sequence[Action]) -> None:
        """An episode begins here, with these actions to choose from."""
        self._told.append((state, actions))
        self.vocabulary.begin(state, actions)
        self._forget_masks()

    def observe(self, transition: Transition) -> bool:
        """Add one transition; returns whether the best rules say what it led to."""
        if self._comings.note(transition):
            self.observed = [Observed(one, self._comings.fleeting) for one in self.transitions]
            self._tell_again()
        index, observed = len(self.transitions), Observed(transition, self._comings.fleeting)
        self._told.append(index)
        self.transitions.append(transition)
        self.observed.append(observed)
        self.sieve.observe(index, transition)
        if self.sieve.proven and self.sieve.waits(index, observed.beyond(self.targets.values())):
            return self._add_rows(index, tell=False)
        self.vocabulary.observe(transition)
        self._forget_masks()
        verb = self.vocabulary.verb(transition.action)
        if any(count <= 4 for (tried, _), count in self.vocabulary.tries.items() if tried == verb):
            self.version += 1
        structure = self.vocabulary.structure()
        if structure != self._structure:
            self._structure = structure
            self._outdated = True
        return not self._outdated and self._add_rows(index)

    def fit(self) -> bool:
        """Bring all lists up to the data; returns whether anything may have changed."""
        self._sift()
        searched = self._settle()
        if searched and self._pools.reconsider(self.targets, self.vocabulary, self.literals):
            self._outdated = True
            self._settle()
        for n in range(_ROUNDS if searched else 0):
            targets, read_with = dict(self.targets), self._read_with
            order, length = self._order.copy(), self.length
            if not self._order.reconsider(self, again=n > 0):
                break
            self._outdated = True
            self._settle()
            if self.length >= length:  # what is shorter for one may be longer for those that come after it
                self.targets, self._read_with = targets, read_with
                self._order.go_back(order)
                self.doubts.forget_foreseen()
                self.version += 1
        return searched

    def _sift(self) -> None:
        """Set aside what is noise; all that was concluded from it is concluded anew."""
        if not self.sieve.proven:
            return
        if not self._disturbed:  # an order that was found before may be one that explains noise
            self._order, self._pools = Order(), Pools()
            self._disturbed = self._outdated = True
        for _ in range(_SIFTS):
            if self._outdated:
                self._rebuild()
            targets = list(self.targets.values())
            if not self.sieve.sift(targets, self.literals, self._beyond()):
                return
            self._tell_again()

    def _tell_again(self) -> None:
        """All transitions are to be taken in anew, without those that are noise."""
        self.vocabulary = Vocabulary(self._comings.fleeting)
        for told in self._told:
            if not isinstance(told, int):
                self.vocabulary.begin(*told)
            elif told not in self.sieve.aside:
                self.vocabulary.observe(self.transitions[told])
        self._structure = self.vocabulary.structure()
        self._outdated = True
        self._forget_masks()

    def _forget_masks(self) -> None:
        """The vocabulary has changed: other literals may be true."""
        self._common = None, 0
        self._masks.clear()

    def _beyond(self) -> set[int]:
        """Of what is set aside, the transitions with changes that no target speaks of."""
        targets = list(self.targets.values())
        return {i for i in self.sieve.aside if self.observed[i].beyond(targets)}

    @property
    def length(self) -> float:
        """The description length of all rules, and of what they cannot explain."""
        return sum(target.length for target in self.targets.values())

    def _settle(self) -> bool:
        """Search until no rows were read with other rules than the best; whether anything may have changed."""
        searched = False
        for _ in range(_REREADS):
            searched = self._outdated or searched  # what is written depends on more than the lists
            if self._outdated:
                self._rebuild()
            searched = self._search() or searched
            if not (searched and self._read_again()):
                break
        if self._outdated:
            self._rebuild()
            self._search()
        for target in self.targets.values():
            if target.leads is not None:
                target.prefer(self._read_with[target.key][0])
        return searched

    def _search(self) -> bool:
        """Search anew where that is due; whether it was anywhere."""
        due = [target for target in self.targets.values() if target.due]
        for target in sorted(due, key=lambda t: t.leads is not None):
            if target.leads is not None and self._read_with[target.key] != self._rules_read_with(target):
                self._read_rows(target)  # the second change comes first, since the first is learned from it
            target.fit(self.literals, self.doubts.probes(target))
            self.version += 1
        return bool(due)

    def _rebuild(self) -> None:
        """The structure has changed: read all transitions anew. Lists that still fit are kept."""
        self._outdated = False
        old = self.targets
        self.targets = {}
        others = (kind for kind in self.vocabulary.kinds if kind != self.vocabulary.avatar)
        self.literals.others = self.literals.mask(("kind", "self", kind) for kind in others)
        self.doubts.forget()
        for observed in self.observed:
            observed.supposed.clear()
        for target in (t for name in self._pools.names(self.vocabulary) for t in self._order.targets(*name)):
            self.targets[target.key] = target
            known = old.get(target.key)
            if known is not None:
                target.take_over(known)
        self._read_with = {key: self._rules_read_with(target) for key, target in self.targets.items()}
        for index in range(len(self.transitions)):
            self._add_rows(index, tell=False)
        self.version += 1
        for target in self.targets.values():
            target.recheck()

    def _add_rows(self, index: int, *, tell: bool = True) -> bool:
        """Read one transition; returns whether the best rules explain all that is new in it."""
        if tell and self.sieve.proven and not self._explains(index):
            self.sieve.doubt(index)
        aside = index in self.sieve.aside
        explained_all = not aside
        for target, mask, explained in self._explained(index):
            row = (target.aside if aside else target.rows).add(mask, explained, index)
            if row is not None and tell and not aside:
                held, best = len(target.lists), target.lists[0]
                explained_all &= best.effect(row.mask) in row.effects
                target.tell(row)
                self.version += len(target.lists) != held
        return explained_all

    def _explained(self, index: int) -> Iterator[tuple[Target, int, dict[Effect, float]]]:
        """What explains a transition, target by target."""
        observed = self.observed[index]
        for phase in self.phases:
            for context, mask, targets in self.stages.contexts(observed, phase):
                self.version += self.doubts.note(context, mask)
                for target in targets:
                    explained = self.stages.explain(observed, target, context, mask)
                    if explained is not None:
                        yield target, mask, explained

    def _explains(self, index: int) -> bool:
        """Whether the best rules explain a transition."""
        return all(target.lists[0].effect(mask) in found for target, mask, found in self._explained(index))

    def _read_again(self) -> bool:
        """Rows that were read with rules that are no longer the best are read anew; whether there were any.

        Of two changes in a step, the first is read with the second; all that comes after the first, with the first.
        Whether something goes on to exist is read with what became of it before.
        """
        reread = False
        for key, target in self.targets.items():
            rules = self._rules_read_with(target)
            known = self._read_with.get(key, rules)
            self._read_with[key] = rules
            if known == rules:
                continue
            reread = True
            if target.leads is not None and known[0] != rules[0]:
                self._outdated = True
                break
            self._read_rows(target)
        return reread

    def _read_rows(self, target: Target) -> None:
        """Read the rows of one target anew."""
        self._read_with[target.key] = self._rules_read_with(target)
        target.rows, target.aside, target.failed = Rows(), Rows(), True
        for index, observed in enumerate(self.observed):
            rows = target.aside if index in self.sieve.aside else target.rows
            for context, mask, decided in self.stages.contexts(observed, target.phase, only=target):
                explained = self.stages.explain(observed, target, context, mask) if decided else None
                if explained is not None:
                    rows.add(mask, explained, index)

    def _rules_read_with(self, target: Target) -> tuple[Any, ...]:
        """The rules that the rows of a target depend on."""
        if target.leads is not None:
            return target.lists[0].rules, target.leads.lists[0].rules
        if target.attribute != EXISTS or not target.phase:
            return ()
        return tuple(
            t.lists[0].rules
            for t in self.targets.values()
            if t.phase < target.phase and set(t.pool) & set(target.pool) and not is_event(t.attribute)
        )

    @property
    def phases(self) -> list[float]:
        """Those that there are, in order."""
        return sorted({0.0, *(target.phase for target in self.targets.values())})

    # ── contexts ─────────────────────────────────────────────────────────────────────────────────────────

    def avatar_of(self, scene: Scene) -> Thing | None:
        return scene.single(self.vocabulary.avatar) if self.vocabulary.avatar else None

    def origin_of(self, scene: Scene) -> Place | None:
        avatar = self.avatar_of(scene)
        return None if avatar is None else avatar.place

    def contexts(
        self,
        now: Scene,
        action: Action,
        targets: Sequence[Target],
        phase: float,
        next_avatar: Mapping[str, Any] | None,
        origin: Place | None,
        *,
        observed: Observed | None = None,
        index: int | None = None,
    ) -> Iterator[Contexts]:
        """Each thing that can change in a phase, the avatar first.

        now: the scene when the earlier phases are over. next_avatar: None: predict it.
        observed: what happened; without it, things that are far from the avatar and never change there are left out.
        """
        avatar = self.avatar_of(now)
        direction = self.vocabulary.looks_to(avatar, action)
        stage: dict[str, Any] = {"phase": phase, "origin": origin}
        if avatar is not None:
            mine = [t for t in targets if t.attribute == CREATES or t.pool == (avatar.kind,)]
            if mine or phase == 0:
                own = self.vocabulary.own_direction(now, avatar, action)
                context = Context(now, action, avatar, avatar, direction, self.vocabulary, own=own, **stage)
                mask = self._mask_of(context, kept=observed is not None)
                yield context, mask, mine
                if next_avatar is None:
                    next_avatar = self._predict_values(context, mask, mine) if phase == 0 else {}
        for target in targets:
            if target.attribute == CREATES or (avatar is not None and avatar.kind in target.pool):
                continue
            scene = now
            for thing in self._in_order(target, now):
                if (
                    observed is None
                    and thing.kind not in self.vocabulary.autonomous
                    and is_far(thing, avatar)
                    and not target.in_turn
                ):
                    continue
                if index is not None and index != thing.index and not target.in_turn:
                    continue
                thing, me = scene.things[thing.index], None if avatar is None else scene.things[avatar.index]
                own = self.vocabulary.own_direction(scene, thing, action)
                context = Context(
                    scene, action, thing, me, direction, self.vocabulary, next_avatar or {}, own, **stage
                )
                mask = self._mask_of(context, kept=observed is not None)
                yield context, mask, [target]
                if target.in_turn:
                    scene = self._followed(scene, target, context, mask, observed)

    def _in_order(self, target: Target, scene: Scene) -> list[Thing]:
        """The things of a target; where they go in turn, those first that are ahead in the way they drift."""
        things = [thing for kind in target.pool for thing in scene.kinds.get(kind, ())]
        drift = self.vocabulary.drift(target.pool[0]) if target.in_turn else None
        if drift is None:
            return things
        dx, dy = drift
        return sorted(things, key=lambda t: -(t.place[0] * dx + t.place[1] * dy) if t.place else 0)

    def _followed(
        self, scene: Scene, target: Target, context: Context, mask: int, observed: Observed | None
    ) -> Scene:
        """The scene when one thing has had its turn."""
        index, attribute = context.thing.index, target.attribute
        if observed is not None:
            values = observed.values(index)
            value = None if values is None else values.get(attribute)
        else:
            value = apply_effect(context, attribute, target.lists[0].effect(mask))
        if value is None or value == context.thing.values.get(attribute):
            return scene
        return scene.altered({index: {attribute: value}})

    def _mask_of(self, context: Context, *, kept: bool) -> int:
        """The literals that are true.

        kept: whether it is remembered until something new is observed: orders of effects that are tried agree on most.
        """
        if not kept:
            return self._new_mask(context)
        values = context.next_avatar.items()
        key = (
            (context.scene, context.thing.index, context.action, context.phase > 0, context.origin),
            tuple((a, type(v), v.index if isinstance(v, Thing) else v) for a, v in values),
        )
        found = self._masks.get(key)
        if found is None:
            if len(self._masks) >= _KEPT:
                self._masks.clear()
            found = self._masks[key] = self._new_mask(context)
        return found

    def _new_mask(self, context: Context) -> int:
        """The literals that are true; those that all objects share are looked for once."""
        self.literals.effort += _READING
        if context.is_avatar:
            return self.literals.mask(literals(context))
        key = context.scene, context.action, context.phase, context.next_avatar.get(PLACE)
        if key != self._common[0]:
            self._common = key, self.literals.mask(common_literals(context))
        return self._common[1] | self.literals.mask(own_literals(context))

    def _predict_values(self, context: Context, mask: int, targets: Sequence[Target]) -> dict[str, Any]:
        values = dict(context.thing.values)
        for target in targets:
            if not is_event(target.attribute):
                effect = target.lists[0].effect(mask)
                values[target.attribute] = apply_effect(context, target.attribute, effect)
            elif target.attribute == EXISTS and target.lists[0].effect(mask) == DELETE:
                return {}
        mine = [t for t in self.targets.values() if t.pool == (context.thing.kind,)]
        later = {t.attribute for t in mine} - {t.attribute for t in mine if t.phase == 0}
        return {a: v for a, v in values.items() if a not in later}

    def untested_passages(self) -> set[tuple[str, Look]]:
        """Pairs of a mover and a thing of which it was never seen whether one stops the other; see `passages.py`."""
        return self._passages.untested(self.vocabulary, self.transitions)

    def unexplained(self) -> list[int]:
        """Transitions that no rule of the language explains, by index."""
        found = {i for target in self.targets.values() for i in target.rows.contradictions} | self._beyond()
        for target in self.targets.values():
            found |= missed_by(target.lists[0], target.aside)
        return sorted(found)

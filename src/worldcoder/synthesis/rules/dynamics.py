"""What is learned of the dynamics: for each attribute that changes, the decision lists that fit all data.

A *target* is an attribute (the place counts as one) of a pool of kinds with the same attributes, whether such
an object goes on to exist, or what appears. Each target keeps an ensemble of lists; the cheapest predicts, the
disagreement of the others says what is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from worldcoder.synthesis.rules.effects import DELETE, KEEP, UNKNOWN, Effect, apply_effect, effects
from worldcoder.synthesis.rules.language import Context, Literal, literals, place_terms
from worldcoder.synthesis.rules.lists import DecisionList, Literals, Row, Rows, Rule, bits, search
from worldcoder.synthesis.rules.scene import KIND, PLACE, Scene, Thing, becomes, scene_of
from worldcoder.synthesis.rules.vocabulary import Look, Verb, Vocabulary, is_far, same_value
from worldcoder.world.values import Action, State, Transition

EXISTS = "@exists"
CREATES = "@creates"
_FOREIGN: Any = object()  # a reference to something that was not there before


@dataclass
class Target:
    """What one set of decision lists predicts.

    pool: the kinds it is about; for `CREATES`, the kind that appears, and the rule is about the avatar.
    """

    pool: tuple[str, ...]
    attribute: str
    rows: Rows = field(default_factory=Rows)
    lists: list[DecisionList] = field(default_factory=lambda: [DecisionList((Rule(0, KEEP),), 0.4)])
    searched_at: int = 0
    failed: bool = False
    _votes: dict[int, tuple[Effect, ...]] = field(default_factory=dict)
    _voters: list[DecisionList] | None = None

    def votes(self, mask: int) -> tuple[Effect, ...]:
        """The different effects that the lists foresee in a context."""
        if self._voters is not self.lists:
            self._voters = self.lists
            self._votes.clear()
        found = self._votes.get(mask)
        if found is None:
            found = self._votes[mask] = tuple(dict.fromkeys(one.effect(mask) for one in self.lists))
        return found

    def tell(self, row: Row) -> None:
        """Drop the lists that a new row falsifies."""
        before = len(self.lists)
        best = self.lists[0] if self.lists else None
        self.lists = [one for one in self.lists if one.effect(row.mask) in row.effects]
        if not self.lists or self.lists[0] is not best or 2 * len(self.lists) < before:
            self.failed = True

    @property
    def due(self) -> bool:
        """Whether the lists should be searched for again."""
        return self.failed or len(self.rows) > 1.3 * self.searched_at + 1

    def fit(self, vocabulary_of_literals: Literals) -> None:
        """Search; lists that survived stay in the ensemble."""
        found = search(self.rows, vocabulary_of_literals)
        known = {one.rules for one in found}
        for one in self.lists:
            if one.rules not in known and all(
                one.effect(r.mask) in r.effects for r in self.rows.by_mask.values()
            ):
                found.append(one)
        found.sort(key=lambda one: one.cost)
        if found:
            self.lists = [one for one in found if one.cost <= found[0].cost + 9.0][:80]
        elif not self.lists:
            self.lists = [DecisionList((Rule(0, KEEP),), 0.4)]
        self.searched_at = len(self.rows)
        self.failed = False


@dataclass(frozen=True)
class Doubt:
    """What is not known about one action in one state.

    unseen: literals never met with an action of this kind. pairs: how many pairs of nearby literals were never
    met together with it. disputed: of how many attributes the lists disagree on the next value. lost: it is
    not known where the action heads.
    """

    unseen: tuple[Literal, ...]
    pairs: int
    disputed: int
    lost: bool


class Dynamics:
    """Learns from transitions; predicts; says what it doubts."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self.literals = Literals()
        self.transitions: list[Transition] = []
        self.version = 0  # grows when what is doubted may have changed
        self.targets: dict[tuple[tuple[str, ...], str], Target] = {}
        self._structure: tuple[Any, ...] = ()
        self._seen: dict[tuple[Verb, str], int] = {}
        self._pairs: dict[tuple[Verb, str], set[tuple[int, int]]] = {}
        self._outdated = False
        self._sorted_out = 0
        self._novel_bits = 0
        self._paired_bits = 0

    # ── learning ─────────────────────────────────────────────────────────────────────────────────────────

    def observe(self, transition: Transition) -> None:
        """Add one transition."""
        self.vocabulary.observe(transition)
        self.transitions.append(transition)
        verb = self.vocabulary.verb(transition.action)
        if any(count <= 4 for (tried, _), count in self.vocabulary.tries.items() if tried == verb):
            self.version += 1
        structure = self.vocabulary.structure()
        if structure != self._structure:
            self._structure = structure
            self._outdated = True
        elif not self._outdated:
            self._add_rows(len(self.transitions) - 1)

    def fit(self) -> bool:
        """Bring all lists up to the data; returns whether any search was made."""
        searched = False
        if self._outdated:
            self._rebuild()
        for target in self.targets.values():
            if target.due:
                target.fit(self.literals)
                self.version += 1
                searched = True
        return searched

    def _rebuild(self) -> None:
        """The structure has changed: read all transitions anew. Lists that still fit are kept."""
        self._outdated = False
        old = self.targets
        self.targets = {}
        self._sorted_out = self._novel_bits = self._paired_bits = 0
        self._seen.clear()
        self._pairs.clear()
        for key in self._target_keys():
            self.targets[key] = Target(*key)
            if key in old:
                self.targets[key].lists = old[key].lists
        for index in range(len(self.transitions)):
            self._add_rows(index, tell=False)
        for target in self.targets.values():
            target.failed = True

    def _target_keys(self) -> list[tuple[tuple[str, ...], str]]:
        vocabulary = self.vocabulary
        keys: list[tuple[tuple[str, ...], str]] = []
        pools: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for kind, attribute in vocabulary.changing:
            if kind == vocabulary.avatar:
                keys.append(((kind,), attribute))
            else:
                pools.setdefault((attribute, vocabulary.attributes_of(kind)), []).append(kind)
        for kind in vocabulary.vanishing:
            if kind == vocabulary.avatar:
                keys.append(((kind,), EXISTS))
            else:
                pools.setdefault((EXISTS, vocabulary.attributes_of(kind)), []).append(kind)
        keys += [(tuple(kinds), attribute) for (attribute, _), kinds in pools.items()]
        keys += [((kind,), CREATES) for kind in vocabulary.appearing]
        return keys

    def _add_rows(self, index: int, *, tell: bool = True) -> None:
        transition = self.transitions[index]
        scene = scene_of(transition.state)
        became = becomes(transition.state, transition.next_state)
        back = {new.index: thing for thing, new in zip(scene.things, became, strict=True) if new is not None}
        avatar = self.avatar_of(scene)
        after = None if avatar is None else became[avatar.index]
        next_avatar = {} if after is None else {a: _earlier(v, back) for a, v in after.values.items()}
        for context, mask, targets in self._contexts(scene, transition.action, avatar, next_avatar):
            self._note(context, mask)
            new = became[context.thing.index]
            for target in targets:
                explained = self._explain(target, context, new, became, back, transition)
                if explained is None:
                    continue
                row = target.rows.add(mask, explained, index)
                if row is not None and tell:
                    held = len(target.lists)
                    target.tell(row)
                    self.version += len(target.lists) != held

    def _explain(
        self,
        target: Target,
        context: Context,
        new: Thing | None,
        became: Sequence[Thing | None],
        back: Mapping[int, Thing],
        transition: Transition,
    ) -> dict[Effect, float] | None:
        attribute = target.attribute
        if attribute == CREATES:
            return self._explain_creation(target.pool[0], context, became, transition)
        if attribute == EXISTS:
            return {DELETE: 1.2} if new is None else {KEEP: 0.4}
        if new is None:
            return None
        if attribute not in context.thing.values or attribute not in new.values:
            same = attribute not in context.thing.values and attribute not in new.values
            return {KEEP: 0.4} if same else {UNKNOWN: 12.0}
        if same_value(context.thing.values[attribute], new.values[attribute], became):
            value = context.thing.values[attribute]
        else:
            value = _earlier(new.values[attribute], back)
        return effects(context, attribute, value)

    def _explain_creation(
        self, kind: str, context: Context, became: Sequence[Thing | None], transition: Transition
    ) -> dict[Effect, float]:
        taken = {new.index for new in became if new is not None}
        made = [t for t in scene_of(transition.next_state).kinds.get(kind, ()) if t.index not in taken]
        if not made:
            return {KEEP: 0.4}
        if len(made) > 1 or any(isinstance(v, Thing) for v in made[0].values.values()) or made[0].name:
            return {UNKNOWN: 12.0}
        rest = tuple(sorted((a, v) for a, v in made[0].values.items() if a not in (PLACE, KIND)))
        if made[0].place is None:
            return {("create", None, rest): 2.0}
        found = {
            ("create", term, rest): 2.0 + 0.3 * abs(term[1])
            for term in place_terms(context)
            if term[0] != "off" and context.place(term) == made[0].place
        }
        return found or {UNKNOWN: 12.0}

    # ── contexts ─────────────────────────────────────────────────────────────────────────────────────────

    def avatar_of(self, scene: Scene) -> Thing | None:
        return scene.single(self.vocabulary.avatar) if self.vocabulary.avatar else None

    def _contexts(
        self, scene: Scene, action: Action, avatar: Thing | None, next_avatar: Mapping[str, Any] | None
    ) -> Iterator[tuple[Context, int, list[Target]]]:
        """Each thing that can change, the avatar first.

        next_avatar: None: predict it, and leave out things that are far from the avatar and never change there.
        """
        near = next_avatar is None
        direction = self.vocabulary.direction(avatar, action)
        if avatar is not None:
            context = Context(scene, action, avatar, avatar, direction, self.vocabulary)
            mask = self.literals.mask(literals(context))
            targets = [t for (pool, a), t in self.targets.items() if a == CREATES or pool == (avatar.kind,)]
            yield context, mask, targets
            if next_avatar is None:
                next_avatar = self._predict_values(context, mask, targets)
        for (pool, attribute), target in self.targets.items():
            if attribute == CREATES or (avatar is not None and avatar.kind in pool):
                continue
            for kind in pool:
                for thing in scene.kinds.get(kind, ()):
                    if near and kind not in self.vocabulary.autonomous and is_far(thing, avatar):
                        continue
                    context = Context(
                        scene, action, thing, avatar, direction, self.vocabulary, next_avatar or {}
                    )
                    yield context, self._mask_of(context), [target]

    def _mask_of(self, context: Context) -> int:
        key = (context.scene, context.action, context.thing.index)
        last = getattr(self, "_last_mask", None)
        if last is not None and last[0] == key and last[1] == context.next_avatar:
            return last[2]  # type: ignore[no-any-return]
        mask = self.literals.mask(literals(context))
        self._last_mask = (key, dict(context.next_avatar), mask)
        return mask

    def _predict_values(self, context: Context, mask: int, targets: Sequence[Target]) -> dict[str, Any]:
        values = dict(context.thing.values)
        for target in targets:
            if target.attribute not in (CREATES, EXISTS):
                effect = target.lists[0].effect(mask)
                values[target.attribute] = apply_effect(context, target.attribute, effect)
            elif target.attribute == EXISTS and target.lists[0].effect(mask) == DELETE:
                return {}
        return values

    def _note(self, context: Context, mask: int) -> None:
        """Remember which literals, and which pairs of nearby ones, were met with which action."""
        if not self._is_watched(context):
            return
        key = (self.vocabulary.group(context.action), context.thing.kind)
        pairs = self._pairs.setdefault(key, set())
        before = (self._novel(self._seen.get(key, 0)), len(pairs))
        self._seen[key] = self._seen.get(key, 0) | mask
        pairs.update(self._pairs_of(mask))
        if before != (self._novel(self._seen[key]), len(pairs)):
            self.version += 1

    def _is_watched(self, context: Context) -> bool:
        """Whether novelty is looked for here: at the avatar, or everywhere in a world without one."""
        return context.is_avatar or context.avatar is None

    def _novel(self, mask: int) -> int:
        """The literals of a mask whose first meeting with an action is worth something."""
        while self._sorted_out < len(self.literals.all):
            literal = self.literals.all[self._sorted_out]
            if literal[0] in _NOVEL and _is_near(literal, 1) and not _is_number(literal):
                self._novel_bits |= 1 << self._sorted_out
            if literal[0] in _PAIRED and _is_near(literal, 2) and not _is_number(literal):
                self._paired_bits |= 1 << self._sorted_out
            self._sorted_out += 1
        return mask & self._novel_bits

    def _pairs_of(self, mask: int) -> Iterator[tuple[int, int]]:
        self._novel(mask)
        chosen = list(bits(mask & self._paired_bits))
        for n, i in enumerate(chosen):
            for j in chosen[n + 1 :]:
                yield (i, j)

    def doubt(self, state: State, action: Action) -> Doubt:
        """What is not known about an action in a state."""
        scene = scene_of(state)
        avatar = self.avatar_of(scene)
        unseen: list[Literal] = []
        pairs = disputed = 0
        group = self.vocabulary.group(action)
        for context, mask, targets in self._contexts(scene, action, avatar, None):
            if self._is_watched(context):
                key = (group, context.thing.kind)
                unseen += self.literals.of(self._novel(mask) & ~self._seen.get(key, 0))
                known = self._pairs.get(key, set())
                pairs += sum(pair not in known for pair in self._pairs_of(mask))
            for target in targets:
                chosen = target.votes(mask)
                if len(chosen) > 1 and len({_freeze(self._outcome(target, context, e)) for e in chosen}) > 1:
                    disputed += 1
        return Doubt(tuple(unseen), pairs, disputed, self._is_lost(avatar, action))

    def _is_lost(self, avatar: Thing | None, action: Action) -> bool:
        """Whether it is not known where the action heads, though that could still be found out."""
        vocabulary, verb = self.vocabulary, self.vocabulary.verb(action)
        if avatar is None or vocabulary.direction(avatar, action) is not None:
            return False
        if vocabulary.facing is not None:
            value = avatar.values.get(vocabulary.facing)
            return verb in vocabulary.movers and vocabulary.tries[verb, value] < 4
        return verb not in vocabulary.effective and vocabulary.tries[verb, None] < 3

    def _outcome(self, target: Target, context: Context, effect: Effect) -> Any:
        if target.attribute in (EXISTS, CREATES):
            return effect
        return apply_effect(context, target.attribute, effect)

    def untested_passages(self) -> set[tuple[str, Look]]:
        """Pairs of a mover and a thing of which it was never seen whether one stops the other.

        Not passable as far as is known, since they were never in one place; but no step shows that one was
        stopped by the other and nothing else.
        """
        vocabulary = self.vocabulary
        stopped: set[tuple[str, Look]] = set()
        looks: dict[Look, None] = {}
        movers: dict[str, None] = {k: None for k, a in vocabulary.changing if a == PLACE}
        for transition in self.transitions:
            scene = scene_of(transition.state)
            looks.update(dict.fromkeys(vocabulary.look(t) for t in scene.things))
            avatar = self.avatar_of(scene)
            direction = vocabulary.direction(avatar, transition.action)
            if (
                avatar is None
                or avatar.place is None
                or direction is None
                or not self._moves(transition.action)
            ):
                continue
            became = becomes(transition.state, transition.next_state)
            chain, place = [avatar], avatar.place
            while chain:
                place = (place[0] + direction[0], place[1] + direction[1])
                there = scene.at(place)
                following = []
                for mover in chain:
                    new = became[mover.index]
                    stops = [t for t in there if not vocabulary.passable(mover.kind, t)]
                    if new is not None and new.place == mover.place and len(stops) == 1:
                        stopped.add((mover.kind, vocabulary.look(stops[0])))
                        if stops[0].kind in movers:
                            following.append(stops[0])
                chain = following
        return {
            (mover, look)
            for mover in movers
            for look in looks
            if (mover, look) not in vocabulary.together and (mover, look) not in stopped and look[0] != mover
        }

    def _moves(self, action: Action) -> bool:
        verb = self.vocabulary.verb(action)
        return verb in self.vocabulary.steps or verb in self.vocabulary.movers

    def unexplained(self) -> list[int]:
        """Transitions that no rule of the language explains, by index."""
        return sorted({i for target in self.targets.values() for i in target.rows.contradictions})


_NOVEL = frozenset({
    "action", "heads", "heads not", "at", "at.", "empty", "kind", "outside", "value", "not value", "any", "is", "same",
    "arg", "with", "beside",
})  # fmt: skip
_PAIRED = frozenset({
    "at", "at.", "empty", "value", "not value", "kind", "is", "any", "with", "beside",
})  # fmt: skip


def _is_near(literal: Literal, most: int) -> bool:
    """Whether a literal speaks of a place so many steps ahead at most, or of no place."""
    if len(literal) < 2 or not isinstance(literal[1], tuple):
        return True
    return bool(literal[1][0] != "off" and literal[1][1] <= most)


def _is_number(literal: Literal) -> bool:
    """Whether a literal is about one value of a number: there are too many of these to try them all."""
    return literal[0] in ("value", "not value", "arg") and type(literal[-1]) in (int, float)


def _freeze(value: Any) -> Any:
    return ("thing", id(value)) if isinstance(value, Thing) else value


def _earlier(value: Any, back: Mapping[int, Thing]) -> Any:
    """A value of the scene after in terms of the scene before."""
    return back.get(value.index, _FOREIGN) if isinstance(value, Thing) else value

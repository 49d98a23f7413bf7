"""What the data say about the world's structure: who acts, what moves where, what can share a place.

Nothing here is given. The avatar is the kind that there is one of and that changes most often; a direction is
the displacement that goes with an action, or with an attribute of the avatar; a kind stops another when the two
were never seen in one place (co-occupancy: read off states alone).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from worldcoder.synthesis.rules.bearings import find_bearings
from worldcoder.synthesis.rules.births import Births
from worldcoder.synthesis.rules.headings import Heading, OwnMoves, Remembered, Slides
from worldcoder.synthesis.rules.matching import Ways, becomes
from worldcoder.synthesis.rules.scene import KIND, PLACE, Scene, Thing, scene_of
from worldcoder.synthesis.rules.statistics import (
    Vector,
    Verb,
    count_move,
    information,
    is_far,
    outcome_of,
    repeated,
    same_value,
    standing,
    unit,
    vector_between,
    widened,
)
from worldcoder.synthesis.rules.structure import covering, links, meets, structure_of
from worldcoder.synthesis.rules.torus import Torus, brought_in, straightened
from worldcoder.world.values import Action, State, Transition

Look = tuple[Any, ...]
"""A kind, with the values of those of its attributes that change: ("Door", "open")."""

_STRIDE = 2
"""The farthest that something goes by itself in a step; what comes farther was taken there."""
_ASTRAY = 3
"""Times that things of a kind have to go elsewhere than the avatar heads, to be thought not to be pushed."""


@dataclass
class Vocabulary:
    """Counts over all transitions seen, and what follows from them. `observe` adds one. fleeting: see `comings.py`."""

    fleeting: Mapping[str, Ways] = field(default_factory=dict)
    avatar: str | None = None
    steps: dict[Verb, Vector] = field(default_factory=dict)
    facing: str | None = None
    facings: dict[Any, Vector] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._states: set[int] = set()
        self._scenes = 0
        self._transitions = 0
        self._kinds_in: Counter[str] = Counter()
        self._many: set[str] = set()
        self._changed_in: Counter[str] = Counter()
        self._moves_by_action: dict[tuple[str, Verb], Counter[Vector]] = {}
        self._moves_by_value: dict[tuple[str, str], dict[Any, Counter[Vector]]] = {}
        self._touches: dict[str, list[tuple[Thing, Verb, Vector]]] = {}
        self._own_moves: dict[str, OwnMoves] = {}
        self.headings: dict[str, Heading] = {}
        self.pushed: set[str] = set()
        self.alive: set[str] = set()  # kinds of which anything changes, comes or goes
        self.assumed: set[Any] = set()  # facings of which it is a guess where they head
        self._turned_round = False
        self.covering: list[tuple[str, str]] = []
        self._kinds_together: set[tuple[str, str]] = set()
        self.looks_change = False
        self.changing_attributes: set[str] = set()
        self.links: dict[str, list[str]] = {}
        self.meets: dict[str, list[tuple[str, str, int]]] = {}
        self._repeated: set[tuple[str, str]] = set()  # attributes that two of a kind had the same value of
        self.references: dict[tuple[str, str], None] = {}
        self._slides = Slides()
        self._remembered = Remembered()
        self._births = Births()
        self.spawners: dict[str, str] = {}  # of kinds that appear in the places of others: which
        self.torus = Torus()
        self.sways: list[Vector] = []  # ways that the avatar goes besides where its actions head
        self.rounds: dict[str, tuple[bool, bool]] = {}  # kinds that go round, along x and along y
        self.remembers: str | None = None  # the attribute of the avatar that says where it headed last
        self.remembered: dict[Any, Vector] = {}
        self.tries: Counter[tuple[Verb, Any]] = Counter()
        self.movers: dict[Verb, None] = {}
        self.autonomous: dict[str, None] = {}
        self._led_astray: Counter[str] = Counter()
        self.wilful: dict[str, None] = {}  # kinds that went elsewhere than the avatar headed
        self.effective: dict[Verb, None] = {}
        self.actions: dict[str, None] = {}
        self.verbs: dict[Verb, None] = {}
        self.most_arguments = 0
        self._names: set[str] = set()
        self.with_objects: set[Verb] = set()  # verbs of actions that name objects, which head nowhere
        self.kinds: dict[str, None] = {}
        self.frame: tuple[int, int, int, int] | None = None
        self._outcomes: dict[str, Counter[tuple[Verb, Any]]] = {}
        self.values: dict[tuple[str, str], dict[Any, None]] = {}
        self._values_of: dict[str, dict[Any, None]] = {}
        self.changing: dict[tuple[str, str], None] = {}
        self.offsets: dict[str, dict[Vector, None]] = {}
        self.vanishing: dict[str, None] = {}
        self.appearing: dict[str, None] = {}
        self._attributes: dict[str, dict[str, None]] = {}
        self.together: set[tuple[str, Look]] = set()

    def begin(self, state: State, actions: Iterable[Action]) -> None:
        """Note what there is at a start, and which actions, tried or not."""
        self.observe_scene(scene_of(state))
        for action in actions:
            self._meet(action)

    def _meet(self, action: Action) -> None:
        verb = self.verb(action)
        self.actions.setdefault(action.name)
        self.verbs.setdefault(verb)
        self.most_arguments = max(self.most_arguments, len(action.args))
        if len(action.args) > (len(verb) - 1 if isinstance(verb, tuple) else 0):
            self.with_objects.add(verb)

    # ── observation ──────────────────────────────────────────────────────────────────────────────────────

    def observe_scene(self, scene: Scene) -> None:
        """Note what a state holds: kinds, values, what shares a place."""
        if hash(scene.state) in self._states:
            return
        self._states.add(hash(scene.state))
        self._scenes += 1
        self._names.update(scene.by_name)
        # kinds come in the order in which they are met, those of which there are few first: names do not matter
        for kind, things in sorted(scene.kinds.items(), key=lambda item: standing(scene, item[1])):
            self.kinds.setdefault(kind)
            self._kinds_in[kind] += 1
            if len(things) > 1:
                self._many.add(kind)
                self._repeated.update((kind, attribute) for attribute in repeated(things))
        for thing in scene.things:
            for attribute, value in thing.values.items():
                self._attributes.setdefault(thing.kind, {}).setdefault(attribute)
                if isinstance(value, Thing):
                    self.references.setdefault((thing.kind, attribute))
                elif attribute != PLACE:
                    self.values.setdefault((thing.kind, attribute), {}).setdefault(value)
                    self._values_of.setdefault(attribute, {}).setdefault(value)
        if any(type(v) is int for place in scene.cells for v in place):
            self.frame = widened(self.frame, scene.bounds)
        self._share(scene)

    def meant(self, kind: str, place: tuple[Any, Any]) -> tuple[Any, Any]:
        """The place that something of a kind comes to that goes there."""
        if self.frame is None or kind not in self.rounds:
            return place
        return brought_in(place, self.rounds[kind], self.frame)

    def in_frame(self, place: tuple[Any, Any]) -> bool:
        """Whether a place lies among the places where anything was ever seen."""
        if self.frame is None:
            return True
        x0, y0, x1, y1 = self.frame
        return bool(x0 <= place[0] <= x1 and y0 <= place[1] <= y1)

    def _share(self, scene: Scene) -> None:
        for things in scene.cells.values():
            if len(things) > 1:
                for a in things:
                    for b in things:
                        if a is not b:
                            self.together.add((a.kind, self.look(b)))

    def observe(self, transition: Transition) -> None:
        """Note one transition."""
        scene, after = scene_of(transition.state), scene_of(transition.next_state)
        self.observe_scene(scene)
        self.observe_scene(after)
        self._transitions += 1
        name = self.verb(transition.action)
        self._meet(transition.action)
        became = becomes(transition.state, transition.next_state, self.fleeting)
        changed: dict[str, None] = {}
        looks_change = False
        for thing, new in zip(scene.things, became, strict=True):
            if new is None:
                self.vanishing.setdefault(thing.kind)
                changed.setdefault(thing.kind)
                continue
            for attribute in dict.fromkeys((*thing.values, *new.values)):
                old_value, new_value = thing.values.get(attribute), new.values.get(attribute)
                if not same_value(old_value, new_value, became):
                    changed.setdefault(thing.kind)
                    if is_far(thing, scene.single(self.avatar) if self.avatar else None):
                        self._moves_itself(thing.kind)
                    if (thing.kind, attribute) not in self.changing:
                        self.changing[thing.kind, attribute] = None
                        looks_change = looks_change or attribute != PLACE
                    if attribute == PLACE and thing.place and new.place:
                        vector = vector_between(thing.place, new.place)
                        if vector is not None and vector != (0, 0):
                            self.torus.add(thing.kind, vector)
                            if self.frame is not None and thing.kind in self.rounds:
                                vector = straightened(vector, self.rounds[thing.kind], self.frame)
                            self.offsets.setdefault(thing.kind, {}).setdefault(vector)
                            self._move(thing, name, unit(vector), 2)
                            self._own_moves.setdefault(thing.kind, OwnMoves()).add(
                                scene, name, thing, unit(vector)
                            )
                            self._slides.add(scene, thing, vector, self.look)
                            if max(map(abs, vector)) <= _STRIDE:
                                self._astray(scene, transition.action, thing, unit(vector))
        kept = {new.index for new in became if new is not None}
        made = [new for new in after.things if new.index not in kept]
        self.appearing.update(dict.fromkeys(new.kind for new in made))
        self._births.add(scene, transition.action, made)
        self._changed_in.update(changed.keys())
        for kind, things in scene.kinds.items():
            if len(things) == 1:
                outcome = outcome_of(things[0], became)
                self._outcomes.setdefault(kind, Counter())[name, outcome] += 1
                if (new := became[things[0].index]) is not None:
                    self._remembered.add(name, new)
        if changed:
            self.effective.setdefault(name)
        avatar = scene.single(self.avatar) if self.avatar else None
        if avatar is not None:
            self.tries[name, avatar.values.get(self.facing) if self.facing else None] += 1
            new_avatar = became[avatar.index]
            if new_avatar is not None and new_avatar.place != avatar.place:
                self.movers.setdefault(name)
            elif avatar.place is not None:
                self._touch(avatar, name, scene, became)
                if self.assumed and name in self.movers:
                    self._doubt_assumption(scene, avatar)
        if looks_change:  # what a thing looks like has changed: read all places again
            self.together = {
                (kind, look) for kind, look in self.together if len(look) == len(self._look(look))
            }
            self._share(scene)
            self._share(after)
        self._conclude()

    def _touch(self, avatar: Thing, action: Verb, scene: Scene, became: Sequence[Thing | None]) -> None:
        """What changes next to an avatar that stays is likely to be ahead of it."""
        if not all(type(v) is int for v in avatar.place or ()):
            return
        x, y = avatar.place or (0, 0)
        for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            beside = scene.at((x + dx, y + dy))
            changed = [
                t.kind
                for t in beside
                if (new := became[t.index]) is None
                or any(not same_value(v, new.values.get(a), became) for a, v in t.values.items())
            ]
            changed += [
                t.kind
                for t, new in zip(scene.things, became, strict=True)
                if new is not None and new.place == (x + dx, y + dy) and t.place != new.place
            ]
            touched = [kind for kind in changed if kind not in self.autonomous]
            if touched:
                self._move(avatar, action, (dx, dy), 1)
                self._touches.setdefault(touched[0], []).append((avatar, action, (dx, dy)))

    def _astray(self, scene: Scene, action: Action, thing: Thing, vector: Vector) -> None:
        """Note that something went elsewhere than the avatar heads: it was not pushed."""
        avatar = scene.single(self.avatar) if self.avatar else None
        if avatar is not None and thing is not avatar and self.direction(avatar, action) != vector:
            self._led_astray[thing.kind] += 1
            if self._led_astray[thing.kind] >= _ASTRAY:
                self.wilful.setdefault(thing.kind)

    def _moves_itself(self, kind: str) -> None:
        """Things of a kind change by themselves: that they did beside the avatar tells nothing."""
        if kind not in self.autonomous:
            self.autonomous[kind] = None
            for avatar, action, vector in self._touches.pop(kind, ()):
                self._move(avatar, action, vector, -1)

    def stops(self, mover: str) -> set[Look]:
        """What a mover comes to rest on when it slides."""
        return self._slides.stops(mover)

    def slides(self, mover: str) -> bool:
        """Whether a mover ever went farther than one step."""
        return any(max(map(abs, v)) > 1 and 0 in v for v in self.offsets.get(mover, ()))

    def _look(self, look: Look) -> Look:
        kind = look[0]
        return (kind, *(a for k, a in self.changing if k == kind and a != PLACE))

    def _move(self, thing: Thing, action: Verb, vector: Vector, weight: int) -> None:
        """Count a vector for the action and for each value of the thing."""
        count_move(self._moves_by_action, (thing.kind, action), vector, weight)
        for attribute, value in thing.values.items():
            if attribute != PLACE and not isinstance(value, Thing) and value is not None:
                by_value = self._moves_by_value.setdefault((thing.kind, attribute), {})
                count_move(by_value, value, vector, weight)

    def _conclude(self) -> None:
        self._find_structure()
        self.spawners = self._births.spawners(self)

    def _find_structure(self) -> None:
        self.avatar = self._find_avatar()
        self.rounds = self.torus.axes(self.frame)
        self.headings = {
            kind: heading
            for kind, moves in self._own_moves.items()
            if kind != self.avatar and (heading := moves.heading(led=self.avatar is not None)) is not None
        }
        self.alive = {*(kind for kind, _ in self.changing), *self.vanishing, *self.appearing}
        self._kinds_together = {(mover, look[0]) for mover, look in self.together}
        self.changing_attributes = {a for _, a in self.changing}
        self.looks_change = any(a not in (PLACE, KIND) for _, a in self.changing)
        self.covering = covering(self.kinds, self.changing, self._kinds_together, self.avatar)
        moved = [k for k, a in self.changing if a == PLACE and k != self.avatar]
        self.pushed = {k for k in moved if k not in self.autonomous}
        self.links = links(self.references, self.changing, self.avatar)
        self.meets = meets(self)
        self.steps, self.facing, self.facings, self.assumed = {}, None, {}, set()
        self.sways = []
        self.remembers, self.remembered = None, {}
        if self.avatar is None:
            return
        table = {
            verb: moves
            for (kind, verb), moves in self._moves_by_action.items()
            if kind == self.avatar and verb not in self.with_objects
        }
        if not table:
            return
        carried = self._own_moves[self.avatar].carried() if self.avatar in self._own_moves else None
        if carried is not None:
            self.headings[self.avatar], carriers = carried
            table = {verb: moves for verb, moves in table.items() if verb not in carriers} or table
        by_value = {a: moves for (kind, a), moves in self._moves_by_value.items() if kind == self.avatar}
        find_bearings(self, table, by_value, self._remembered, turned_round=self._turned_round)

    def _doubt_assumption(self, scene: Scene, avatar: Thing) -> None:
        """The avatar stayed where it might have gone on: it heads the other way if nothing was in its way."""
        value = avatar.values.get(self.facing) if self.facing else None
        vector = self.facings.get(value)
        if value not in self.assumed or vector is None or avatar.place is None:
            return
        (x, y), (dx, dy) = avatar.place, vector
        ahead, behind = scene.at((x + dx, y + dy)), scene.at((x - dx, y - dy))
        if all(self.passable(avatar.kind, t) for t in ahead) and behind:
            self._turned_round = not self._turned_round

    def _find_avatar(self) -> str | None:
        """The kind there is one of whose changes depend most on what is done."""
        best, found = 0.0, None
        for kind in self.kinds:
            if (
                kind in self._many
                or self._kinds_in[kind] * 10 < self._scenes * 9
                or not self._changed_in[kind]
            ):
                continue
            dependence = information(self._outcomes[kind]) + 1e-6 * self._changed_in[kind] / self._transitions
            if found is None or dependence > best:
                best, found = dependence, kind
        return found

    # ── what the language asks ───────────────────────────────────────────────────────────────────────────

    def structure(self) -> tuple[Any, ...]:
        """What the meaning of rows and literals depends on: when it changes, all data are read anew."""
        return structure_of(self)

    def attributes_of(self, kind: str) -> tuple[str, ...]:
        """The attributes that objects of a kind have."""
        return tuple(sorted(self._attributes.get(kind, ())))

    def look(self, thing: Thing) -> Look:
        """The kind, with the values of attributes that were seen to change."""
        extra = [
            value
            for attribute, value in sorted(thing.values.items())
            if (thing.kind, attribute) in self.changing and isinstance(value, bool | str)
        ]
        return (thing.kind, *extra)

    def passable(self, mover: str, thing: Thing) -> bool:
        """Whether a thing that looks like this was ever in one place with the mover's kind."""
        return (mover, self.look(thing)) in self.together

    def ever_passable(self, mover: str, kind: str) -> bool:
        """The same, whatever the other one looks like."""
        return (mover, kind) in self._kinds_together

    def direction(self, avatar: Thing | None, action: Action) -> Vector | None:
        """Where the avatar heads with an action, or None where that is not known."""
        if avatar is None or self.facing is None:
            return None if avatar is None else self.steps.get(self.verb(action))
        return self.facings.get(avatar.values.get(self.facing))

    def looks_to(self, avatar: Thing | None, action: Action) -> Vector | None:
        """The same; with an action that heads nowhere, where the avatar headed last."""
        way = self.direction(avatar, action)
        if way is None and avatar is not None and self.remembers is not None:
            way = self.remembered.get(avatar.values.get(self.remembers))
        return way

    def own_direction(self, scene: Scene, thing: Thing, action: Action) -> Vector | None:
        """Where a thing heads by itself, or None where it does not, or that is not known."""
        heading = self.headings.get(thing.kind)
        return None if heading is None else heading.of(scene, self.verb(action), thing)

    def drift(self, kind: str) -> Vector | None:
        """Where things of a kind mostly go by themselves."""
        moves = self._own_moves.get(kind)
        return moves.drift() if moves is not None and kind in self.autonomous else None

    def is_single(self, kind: str) -> bool:
        return kind not in self._many

    def is_numeric(self, kind: str, attribute: str) -> bool:
        """Whether all values seen are numbers."""
        return all(type(v) in (int, float) for v in self.values.get((kind, attribute), (None,)))

    def values_of(self, attribute: str) -> Mapping[Any, None]:
        """The values that an attribute was seen with, of whatever kind."""
        return self._values_of.get(attribute, {})

    def repeats(self, kind: str, attribute: str) -> bool:
        """Whether two things of a kind ever had the same value."""
        return (kind, attribute) in self._repeated

    def varies(self, kind: str, attribute: str) -> bool:
        """Whether the attribute was seen with more than one value."""
        return len(self.values.get((kind, attribute), ())) > 1

    def verb(self, action: Action) -> Verb:
        """The action without arguments that name objects."""
        words = [a for a in action.args if a not in self._names]
        return (action.name, *words) if words else action.name

    def group(self, action: Action) -> Verb:
        """Actions that head somewhere share what is learned; every other one is on its own."""
        verb = self.verb(action)
        return "step" if verb in self.steps else verb

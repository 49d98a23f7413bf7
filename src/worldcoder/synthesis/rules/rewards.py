"""Rewards: what is learned of them.

A reward is a decision list over what holds after a step, and what changed by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from worldcoder.synthesis.rules import changes
from worldcoder.synthesis.rules.effects import Effect
from worldcoder.synthesis.rules.language import Literal
from worldcoder.synthesis.rules.lists import DecisionList, Literals, Rule, search
from worldcoder.synthesis.rules.noise import Contradictions, left_out
from worldcoder.synthesis.rules.rows import Rows
from worldcoder.synthesis.rules.scene import KIND, PLACE, Scene, Thing, scene_of
from worldcoder.synthesis.rules.vocabulary import Vocabulary
from worldcoder.world.values import Action, Goal, State, Transition

COSTS: Mapping[str, float] = {
    "did": 1.2, "on": 1.5, "on.": 2.3, "was on": 2.5, "facing": 3.4, "facing.": 3.8, "near": 3.6, "near.": 4.0,
    "holds": 2.0, "holds kind": 2.2, "holds.": 2.6, "turned": 2.4, "is": 2.6, "all": 3.0, "some on": 2.8,
    "all on": 3.0, "all under": 3.2, "more on": 2.4, "fewer on": 2.4, "fewer": 2.4, "more": 2.8, "no": 2.8,
    "gone": 1.6, "least": 2.8, "most": 2.8, "moved": 2.6, "had": 2.4, "around": 3.9, "around.": 4.3,
    "put by": 3.6, "put by.": 4.4, "put around": 3.8, "put around.": 4.6,
}  # fmt: skip


def reward_literal_cost(literal: Literal) -> float:
    """The description length of a literal about a step."""
    form = literal[0]
    return COSTS[form] if form in COSTS else changes.COSTS[form]


def step_literals(vocabulary: Vocabulary, before: Scene, action: Action, after: Scene) -> Iterator[Literal]:
    """Everything that can be said of a step and is true of it."""
    yield ("did", action.name)
    yield from changes.change_literals(vocabulary, before, action, after)
    me = after.single(vocabulary.avatar) if vocabulary.avatar else None
    was = before.single(vocabulary.avatar) if vocabulary.avatar else None
    if was is not None:
        yield from (("was on", t.kind) for t in before.at(was.place) if t is not was)
        yield from (("had", attribute) for attribute, v in was.values.items() if isinstance(v, Thing))
        if me is None:
            yield ("gone",)
    if me is not None:
        yield from _avatar_literals(vocabulary, after, action, me)
        if was is not None and was.place != me.place:
            yield ("moved",)
    yield from _count_literals(vocabulary, before, after)
    yield from _put_literals(vocabulary, before, after)
    for kind, other in movable_pairs(vocabulary):
        on, total = _on(after, kind, other)
        was_on, _ = _on(before, kind, other)
        if on:
            yield ("some on", kind, other)
        if on == total and total:
            yield ("all on", kind, other)
        covered, places = _on(after, other, kind)
        if covered == places and places:
            yield ("all under", other, kind)
        if on > was_on:
            yield ("more on", kind, other)
        if on < was_on:
            yield ("fewer on", kind, other)


def _avatar_literals(vocabulary: Vocabulary, scene: Scene, action: Action, me: Thing) -> Iterator[Literal]:
    for t in scene.at(me.place):
        if t is not me:
            yield from _described("on", vocabulary, t)
    if me.place is not None and type(me.place[0]) is int:
        x, y = me.place
        direction = vocabulary.looks_to(me, action)
        if direction is not None:
            for t in scene.at((x + direction[0], y + direction[1])):
                yield from _described("facing", vocabulary, t)
        for t in _around(scene, me, _BESIDE):
            yield from _described("near", vocabulary, t)
        for t in _around(scene, me, (*_BESIDE, *_ASLANT)):
            yield from _described("around", vocabulary, t)
    for attribute, value in me.values.items():
        if isinstance(value, Thing):
            yield ("holds", attribute)
            yield ("holds kind", attribute, value.kind)
            for a, v in constants(value):
                yield ("holds.", attribute, value.kind, a, v)
        elif type(value) in (int, float):
            for seen in vocabulary.values.get((me.kind, attribute), ()):
                if type(seen) in (int, float):
                    yield ("least" if value >= seen else "most", attribute, seen)


_BESIDE = ((1, 0), (-1, 0), (0, 1), (0, -1))
_ASLANT = ((1, 1), (-1, 1), (1, -1), (-1, -1))


def _around(scene: Scene, thing: Thing, ways: Iterable[tuple[int, int]]) -> Iterator[Thing]:
    """What stands in some of the cells around a thing."""
    if thing.place is not None and type(thing.place[0]) is int and type(thing.place[1]) is int:
        x, y = thing.place
        for dx, dy in ways:
            yield from scene.at((x + dx, y + dy))


def _put_literals(vocabulary: Vocabulary, before: Scene, after: Scene) -> Iterator[Literal]:
    """What came to a place, other than the avatar, and what it is next to there."""
    for kind in dict.fromkeys(k for k, a in vocabulary.changing if a == PLACE and k != vocabulary.avatar):
        for thing in after.kinds.get(kind, ()):
            if thing.place is None or any(t.kind == kind for t in before.at(thing.place)):
                continue
            for form, ways in (("put by", _BESIDE), ("put around", (*_BESIDE, *_ASLANT))):
                for other in _around(after, thing, ways):
                    if other.kind == vocabulary.avatar:
                        continue
                    yield (form, kind, other.kind)
                    for of_thing in _varying(vocabulary, thing):
                        for of_other in _varying(vocabulary, other):
                            yield (f"{form}.", kind, *of_thing, other.kind, *of_other)


def _varying(vocabulary: Vocabulary, thing: Thing) -> list[tuple[str, Any]]:
    return [(a, v) for a, v in constants(thing) if vocabulary.varies(thing.kind, a)]


def _described(form: str, vocabulary: Vocabulary, thing: Thing) -> Iterator[Literal]:
    yield (form, thing.kind)
    yield from ((f"{form}.", thing.kind, *pair) for pair in _varying(vocabulary, thing))


def constants(thing: Thing) -> Iterator[tuple[str, Any]]:
    """The attributes of a thing that are neither place nor kind nor reference, and not None."""
    for attribute, value in thing.values.items():
        if attribute not in (PLACE, KIND) and not isinstance(value, Thing) and value is not None:
            yield attribute, value


def _count_literals(vocabulary: Vocabulary, before: Scene, after: Scene) -> Iterator[Literal]:
    for kind in vocabulary.kinds:
        was, now = before.kinds.get(kind, []), after.kinds.get(kind, [])
        if len(now) < len(was):
            yield ("fewer", kind)
        if len(now) > len(was):
            yield ("more", kind)
        if not now and kind != vocabulary.avatar:
            yield ("no", kind)
        if kind == vocabulary.avatar:
            for attribute, value in (pair for t in now for pair in constants(t)):
                if (kind, attribute) in vocabulary.changing and isinstance(value, str | bool):
                    yield ("is", kind, attribute, value)
            continue
        attributes = [
            a
            for a in vocabulary.attributes_of(kind)
            if a not in (PLACE, KIND)
            and ((kind, a) in vocabulary.changing or _is_boolean(vocabulary, kind, a))
        ]
        for attribute in attributes:
            values_now = [t.values.get(attribute) for t in now]
            values_was = [t.values.get(attribute) for t in was]
            for value in dict.fromkeys(values_now):
                if isinstance(value, Thing) or value is None:
                    continue
                if values_now.count(value) > values_was.count(value):
                    yield ("turned", kind, attribute, value)
                yield ("is", kind, attribute, value)
                if values_now.count(value) == len(values_now):
                    yield ("all", kind, attribute, value)


def _is_boolean(vocabulary: Vocabulary, kind: str, attribute: str) -> bool:
    return all(isinstance(v, bool) for v in vocabulary.values.get((kind, attribute), (None,)))


def movable_pairs(vocabulary: Vocabulary) -> list[tuple[str, str]]:
    """Kinds that move, other than the avatar, each with every other kind."""
    movable = [k for k, a in vocabulary.changing if a == PLACE and k != vocabulary.avatar]
    return [(k, other) for k in movable for other in vocabulary.kinds if other not in (k, vocabulary.avatar)]


def _on(scene: Scene, kind: str, other: str) -> tuple[int, int]:
    """How many things of a kind share a place with one of another kind, and how many there are."""
    things = scene.kinds.get(kind, [])
    return sum(any(t.kind == other for t in scene.at(thing.place)) for thing in things), len(things)


def _label(reward: float, done: bool) -> Effect:
    return ("reward", reward, done)


class Rewards:
    """What is learned of the reward of one goal.

    steps: for each transition what is true of it, as a mask of `literals`, and its reward and end.
    aside: which of them are taken for noise (`noise.py`), and need not be explained.
    """

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self.literals = Literals(reward_literal_cost)
        self.rows = Rows()
        self.transitions: list[Transition] = []
        self.steps: list[tuple[int, Effect]] = []
        self.lists: list[DecisionList] = []
        self.succeeded = False
        self._structure: tuple[Any, ...] | None = None
        self._fitted = 0
        self._unrewarded: dict[int, set[int]] = {}
        self._met = 0
        self.aside: set[int] = set()
        self._numbers: list[int] = []
        self._doubtful: set[int] = set()  # those of which it is not known what they led to
        self._contradictions = Contradictions[tuple[State, Action, State], Effect]()

    def observe(self, transition: Transition, number: int) -> None:
        """Add one transition of this goal. number: among those of all goals."""
        self._contradictions.observe(
            len(self.transitions),
            (transition.state, transition.action, transition.next_state),
            _label(transition.reward, transition.done),
        )
        self.transitions.append(transition)
        self._numbers.append(number)
        if transition.reward > 0 and transition.done:
            self.succeeded = True

    def doubt(self, numbers: Set[int]) -> None:
        """Of these transitions, numbered as those of all goals, it is doubtful what they led to."""
        doubtful = {i for i, number in enumerate(self._numbers) if number in numbers}
        if doubtful != self._doubtful:
            self._doubtful = doubtful
            self._fitted, self.lists = 0, []

    @property
    def kept(self) -> Iterator[tuple[int, Effect]]:
        """The steps that are to be explained."""
        return (step for i, step in enumerate(self.steps) if i not in self.aside)

    def fit(self, vocabulary: Vocabulary) -> None:
        """Bring the lists up to the data and to the vocabulary."""
        self.read(vocabulary)
        for i, (mask, label) in enumerate(self.steps[self._fitted :], self._fitted):
            if i not in self._doubtful:
                self.lists = [one for one in self.lists if one.effect(mask) == label]
        self._fitted = len(self.steps)
        clean = Rows() if self.lists else self._clean()
        if len(clean):  # all that was seen of a goal may be noise
            self.lists = search(clean, self.literals, beam=8)
        if not self.lists:
            self.lists = [DecisionList((Rule(0, _label(0.0, False)),), 0.0)]

    def _clean(self) -> Rows:
        """The rows without noise."""
        self.aside = set(self._doubtful)
        if self._contradictions.pairs and len(self.aside) < len(self.steps):
            label = Counter(label for _, label in self.kept).most_common(1)[0][0]
            self.aside |= left_out([[self._rows()]], self.literals, label)[0]
        return self._rows() if self.aside else self.rows

    def _rows(self) -> Rows:
        rows = Rows()
        for i, (mask, label) in enumerate(self.steps):
            if i not in self.aside:
                rows.add(mask, {label: self.price(label)}, i)
        return rows

    def read(self, vocabulary: Vocabulary) -> None:
        """Bring the rows up to the data and to the vocabulary."""
        structure = vocabulary.structure()
        if structure != self._structure:
            self._structure = structure
            self.rows = Rows()
            self.steps = []
            self._fitted = 0
            self._unrewarded = {}
            self._met = 0
            self.lists = []
        for i, t in enumerate(self.transitions[len(self.steps) :], len(self.steps)):
            mask, label = self.mask(vocabulary, t), _label(t.reward, t.done)
            self._met |= mask
            if not t.done:  # an end in failure does not refute a guess: the failure may have come first
                self._unrewarded.setdefault(mask, set()).add(i)
            self.rows.add(mask, {label: self.price(label)}, i)
            self.steps.append((mask, label))

    @staticmethod
    def price(label: Effect) -> float:
        """The description length of what a rule says is rewarded."""
        _, reward, done = label
        return 1.0 + bool(done is True) + 0.5 * bool(reward != 0)

    def mask(self, vocabulary: Vocabulary, transition: Transition) -> int:
        scenes = scene_of(transition.state), scene_of(transition.next_state)
        return self.literals.mask(step_literals(vocabulary, scenes[0], transition.action, scenes[1]))

    def has_met(self, literal: Literal) -> bool:
        """Whether a literal was true of some step."""
        return bool(self._met & self.literals.mask([literal]))

    def refuted(self, literals: Iterable[Literal]) -> bool:
        """Whether all of these were true of a step that did not end the episode."""
        wanted = self.literals.mask(literals)
        return any(mask & wanted == wanted and by - self._doubtful for mask, by in self._unrewarded.items())

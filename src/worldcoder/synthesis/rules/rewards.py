"""Rewards: what is learned of them, and what is guessed while none was seen.

A reward is a decision list over what holds after a step (and what changed by it). Before a reward that ends an
episode has been seen, one is invented (φ2 of the paper): something that could be achieved, said with the kinds
and values of the world, the simplest first, those that the goal's words mention before others. A guess that
came true without a reward is refuted and never made again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from worldcoder.synthesis.rules.language import Effect, Literal
from worldcoder.synthesis.rules.lists import DecisionList, Literals, Rows, Rule, search
from worldcoder.synthesis.rules.scene import KIND, PLACE, Scene, Thing, scene_of
from worldcoder.synthesis.rules.vocabulary import Vocabulary
from worldcoder.world.values import Action, Goal, State, Transition

COSTS: Mapping[str, float] = {
    "did": 1.2, "on": 1.5, "on.": 2.3, "was on": 2.5, "facing": 3.4, "facing.": 3.8, "near": 3.6, "near.": 4.0,
    "holds": 2.0, "holds kind": 2.2, "holds.": 2.6, "turned": 2.4, "is": 2.6, "all": 3.0, "some on": 2.8,
    "all on": 3.0, "more on": 2.4, "fewer on": 2.4, "fewer": 2.4, "more": 2.8, "no": 2.8, "gone": 1.6, "least": 2.8,
    "most": 2.8, "moved": 2.6,
}  # fmt: skip


def reward_literal_cost(literal: Literal) -> float:
    """The description length of a literal about a step."""
    return COSTS[literal[0]]


def step_literals(vocabulary: Vocabulary, before: Scene, action: Action, after: Scene) -> Iterator[Literal]:
    """Everything that can be said of a step and is true of it."""
    yield ("did", action.name)
    me = after.single(vocabulary.avatar) if vocabulary.avatar else None
    was = before.single(vocabulary.avatar) if vocabulary.avatar else None
    if was is not None:
        yield from (("was on", t.kind) for t in before.at(was.place) if t is not was)
        if me is None:
            yield ("gone",)
    if me is not None:
        yield from _avatar_literals(vocabulary, after, action, me)
        if was is not None and was.place != me.place:
            yield ("moved",)
    yield from _count_literals(vocabulary, before, after)
    for kind, other in _movable_pairs(vocabulary):
        on, total = _on(after, kind, other)
        was_on, _ = _on(before, kind, other)
        if on:
            yield ("some on", kind, other)
        if on == total and total:
            yield ("all on", kind, other)
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
        direction = vocabulary.direction(me, action)
        if direction is not None:
            for t in scene.at((x + direction[0], y + direction[1])):
                yield from _described("facing", vocabulary, t)
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            for t in scene.at((x + dx, y + dy)):
                yield from _described("near", vocabulary, t)
    for attribute, value in me.values.items():
        if isinstance(value, Thing):
            yield ("holds", attribute)
            yield ("holds kind", attribute, value.kind)
            for a, v in _constants(value):
                yield ("holds.", attribute, value.kind, a, v)
        elif type(value) in (int, float):
            for seen in vocabulary.values.get((me.kind, attribute), ()):
                if type(seen) in (int, float):
                    yield ("least" if value >= seen else "most", attribute, seen)


def _described(form: str, vocabulary: Vocabulary, thing: Thing) -> Iterator[Literal]:
    yield (form, thing.kind)
    for attribute, value in _constants(thing):
        if vocabulary.varies(thing.kind, attribute):
            yield (f"{form}.", thing.kind, attribute, value)


def _constants(thing: Thing) -> Iterator[tuple[str, Any]]:
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
            for attribute, value in (pair for t in now for pair in _constants(t)):
                if (kind, attribute) in vocabulary.changing and isinstance(value, str | bool):
                    yield ("is", kind, attribute, value)
            continue
        attributes = [a for k, a in vocabulary.changing if k == kind and a not in (PLACE, KIND)]
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


def _movable_pairs(vocabulary: Vocabulary) -> list[tuple[str, str]]:
    movable = [k for k, a in vocabulary.changing if a == PLACE and k != vocabulary.avatar]
    return [(k, other) for k in movable for other in vocabulary.kinds if other not in (k, vocabulary.avatar)]


def _on(scene: Scene, kind: str, other: str) -> tuple[int, int]:
    """How many things of a kind share a place with one of another kind, and how many there are."""
    things = scene.kinds.get(kind, [])
    return sum(any(t.kind == other for t in scene.at(thing.place)) for thing in things), len(things)


# ── guesses ──────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Guess:
    """What might be rewarded: all its literals at once. cost: the lower, the sooner it is tried."""

    literals: tuple[Literal, ...]
    cost: float

    def meaning(self) -> str:
        """The guess in words."""
        return " and ".join(_in_words(literal) for literal in self.literals)


def _in_words(literal: Literal) -> str:
    match literal:
        case ("did", action):
            return f"the action is {action}"
        case (("on" | "facing" | "near") as form, kind):
            return f"the agent is {form} {kind}"
        case (("on." | "facing." | "near.") as form, kind, attribute, value):
            return f"the agent is {form[:-1]} {kind} with {attribute} {value}"
        case ("holds kind", attribute, kind):
            return f"{attribute} {kind}"
        case ("holds.", attribute, kind, other, value):
            return f"{attribute} {kind} with {other} {value}"
        case ("no", kind):
            return f"there is no {kind} left"
        case ("fewer", kind):
            return f"a {kind} is gone"
        case ("is", kind, attribute, value):
            return f"{kind}.{attribute} is {value}"
        case ("turned", kind, attribute, value):
            return f"{kind}.{attribute} becomes {value}"
        case ("some on", kind, other):
            return f"a {kind} is on a {other}"
        case ("all on", kind, other):
            return f"every {kind} is on a {other}"
    return " ".join(map(str, literal))


def guesses(vocabulary: Vocabulary, goal: Goal, start: State) -> list[Guess]:
    """What the goal might mean, cheapest first: from its words, and without any."""
    tokens = words(final_clause(goal))
    scene = scene_of(start)
    found: dict[tuple[Literal, ...], set[str]] = {}
    for literal in _achievements(vocabulary, scene, tokens):
        found[(literal,)] = _mentions(literal)
    for (literal,), mentioned in list(found.items()):
        if literal[0] in ("facing", "facing.", "near", "near."):
            for action in vocabulary.actions:  # an action that does nothing else may be what is waited for
                if action not in vocabulary.effective and action in vocabulary.verbs:
                    found[literal, ("did", action)] = mentioned | (words(action) & tokens)
    for first, mentioned in _conditions_on_the_way(vocabulary, scene, tokens):
        for (second, *rest), also in list(found.items()):
            if not rest and second[0] in ("on", "facing", "near") and second[1] != first[1] and also & tokens:
                found[second, first] = mentioned | also
    known = set().union(*found.values()) if found else set()
    order = {token: i for i, token in enumerate(_tokens(final_clause(goal)))}
    asked = {t: 1.5 + 0.5 * order.get(t, 0) / max(len(order), 1) for t in tokens & known}
    ranked = []
    for literal_set, mentioned in found.items():
        cost = sum(map(reward_literal_cost, literal_set))
        if asked:
            cost += sum(w for t, w in asked.items() if t not in mentioned)
            cost += sum(1.5 for t in mentioned if t not in asked)
        ranked.append(Guess(literal_set, cost))
    return sorted(ranked, key=lambda g: g.cost)


def _conditions_on_the_way(
    vocabulary: Vocabulary, scene: Scene, tokens: set[str]
) -> Iterator[tuple[Literal, set[str]]]:
    """What may have to hold while the agent is somewhere: of kinds that the goal names, values that change."""
    for kind, attribute in vocabulary.changing:
        if kind != vocabulary.avatar and words(kind) & tokens and attribute not in (PLACE, KIND):
            for value in vocabulary.values.get((kind, attribute), ()):
                if isinstance(value, bool | str):
                    yield ("is", kind, attribute, value), words(kind)
        elif kind == vocabulary.avatar:
            for held in (k for k in vocabulary.kinds if words(k) & tokens and scene.kinds.get(k)):
                me = scene.single(kind)
                if me is not None and attribute in _reference_attributes(vocabulary, me):
                    yield ("holds kind", attribute, held), words(held)


def _achievements(vocabulary: Vocabulary, scene: Scene, tokens: set[str]) -> Iterator[Literal]:
    """Single things that could be brought about in a world with these kinds and values."""
    avatar = vocabulary.avatar
    me = scene.single(avatar) if avatar else None
    for kind in vocabulary.kinds:
        things = scene.kinds.get(kind, [])
        if kind == avatar or not things:
            continue
        placed = [t for t in things if t.place is not None]
        if placed and me is not None and me.place is not None:
            for form in ("on", "facing", "near"):
                yield (form, kind)
                for attribute, value in _distinct_constants(vocabulary, placed):
                    yield (f"{form}.", kind, attribute, value)
            for held in _reference_attributes(vocabulary, me):
                yield ("holds kind", held, kind)
                for attribute, value in _distinct_constants(vocabulary, things):
                    yield ("holds.", held, kind, attribute, value)
        yield ("no", kind)
        if len(things) > 1:
            yield ("fewer", kind)
        yield from _turnings(vocabulary, kind, things, tokens)
    for kind, other in _movable_pairs(vocabulary):
        if scene.kinds.get(kind) and scene.kinds.get(other):
            yield ("some on", kind, other)
            if len(scene.kinds[kind]) > 1:
                yield ("all on", kind, other)


def _distinct_constants(vocabulary: Vocabulary, things: list[Thing]) -> list[tuple[str, Any]]:
    pairs = {pair: None for t in things for pair in _constants(t) if vocabulary.varies(t.kind, pair[0])}
    return [pair for pair in pairs if isinstance(pair[1], str | bool)]


def _reference_attributes(vocabulary: Vocabulary, me: Thing) -> list[str]:
    return [a for a, v in me.values.items() if v is None or isinstance(v, Thing)]


def _turnings(vocabulary: Vocabulary, kind: str, things: list[Thing], tokens: set[str]) -> Iterator[Literal]:
    attributes = {a: None for t in things for a, v in _constants(t) if isinstance(v, str | bool)}
    for attribute in attributes:
        values = dict.fromkeys(vocabulary.values.get((kind, attribute), ()))
        if any(isinstance(v, bool) for v in values):
            values.update({True: None, False: None})
        elif (kind, attribute) in vocabulary.changing or not vocabulary.changing:
            values.update(dict.fromkeys(sorted(tokens)))
        elif len(values) <= 2:
            values.update(dict.fromkeys(sorted(tokens)))
        now = [t.values.get(attribute) for t in things]
        for value in values:
            if now.count(value) < len(now):
                yield ("turned", kind, attribute, value)


def final_clause(goal: Goal) -> str:
    """The part of a goal that says how it ends: what follows the last "then", or precedes "after"."""
    text = re.split(r"\bthen\b", goal)[-1]
    return re.split(r"\bafter\b", text)[0] or text


def words(text: str) -> set[str]:
    """The words of a name or a sentence, in lower case, a plural's s taken off."""
    return set(_tokens(text))


def _tokens(text: str) -> list[str]:
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", text)
    return [
        p.lower()[:-1]
        if len(p) > 3 and p.lower().endswith("s") and not p.lower().endswith("ss")
        else p.lower()
        for p in parts
    ]


def _mentions(literal: Literal) -> set[str]:
    """The words that a literal's kinds and values stand for."""
    form, *rest = literal
    match form:
        case "holds kind":
            return words(rest[1])
        case "holds.":
            return words(rest[1]) | words(str(rest[3]))
        case "turned" | "on." | "facing." | "near.":
            value = rest[2]
            return words(rest[0]) | (words(rest[1]) if isinstance(value, bool) else words(str(value)))
        case _:
            return set().union(*(words(str(part)) for part in rest))


# ── learning ─────────────────────────────────────────────────────────────────────────────────────────────


_NEWS = frozenset({
    "on", "on.", "gone", "fewer", "more", "no", "turned", "is", "all", "some on", "all on", "more on", "fewer on",
    "holds kind", "holds.",
})  # fmt: skip


def _label(reward: float, done: bool) -> Effect:
    return ("reward", reward, done)


class Rewards:
    """What is learned of the reward of one goal."""

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self.literals = Literals(reward_literal_cost)
        self.rows = Rows()
        self.transitions: list[Transition] = []
        self.lists: list[DecisionList] = []
        self.succeeded = False
        self._structure: tuple[Any, ...] | None = None
        self._fitted = 0
        self._unrewarded: dict[int, None] = {}
        self._met = 0

    def observe(self, transition: Transition) -> None:
        """Add one transition of this goal."""
        self.transitions.append(transition)
        if transition.reward > 0 and transition.done:
            self.succeeded = True

    def fit(self, vocabulary: Vocabulary) -> None:
        """Bring the lists up to the data and to the vocabulary."""
        structure = vocabulary.structure()
        if structure != self._structure:
            self._structure = structure
            self.rows = Rows()
            self._fitted = 0
            self._unrewarded = {}
            self._met = 0
            self.lists = []
        while self._fitted < len(self.transitions):
            t = self.transitions[self._fitted]
            mask = self.mask(vocabulary, t)
            self._met |= mask
            if not (t.done and t.reward > 0):
                self._unrewarded.setdefault(mask)
            label = _label(t.reward, t.done)
            self.rows.add(mask, {label: 1.0 + (t.done is True) + 0.5 * (t.reward != 0)}, self._fitted)
            self.lists = [one for one in self.lists if one.effect(mask) == label]
            self._fitted += 1
        if not self.lists:
            self.lists = search(self.rows, self.literals, beam=8)
        if not self.lists:
            self.lists = [DecisionList((Rule(0, _label(0.0, False)),), 0.0)]

    def mask(self, vocabulary: Vocabulary, transition: Transition) -> int:
        scenes = scene_of(transition.state), scene_of(transition.next_state)
        return self.literals.mask(step_literals(vocabulary, scenes[0], transition.action, scenes[1]))

    def is_news(self, vocabulary: Vocabulary, transition: Transition) -> bool:
        """Whether something would be true of the step that was true of no step yet."""
        new = self.mask(vocabulary, transition) & ~self._met
        return any(literal[0] in _NEWS for literal in self.literals.of(new))

    def refuted(self, guess: Guess) -> bool:
        """Whether the guess came true in a step that was not rewarded."""
        wanted = self.literals.mask(guess.literals)
        return any(mask & wanted == wanted for mask in self._unrewarded)

"""What a goal might mean, while no reward that ends an episode was seen (φ2 of the paper).

A guess is something that could be achieved, said with the kinds and values of the world: the simplest first, and
what the goal's words mention before other things. A guess that came true without a reward is refuted and never
made again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from worldcoder.synthesis.rules.language import Literal
from worldcoder.synthesis.rules.rewards import constants, movable_pairs, reward_literal_cost
from worldcoder.synthesis.rules.scene import KIND, PLACE, Scene, Thing, scene_of
from worldcoder.synthesis.rules.sentences import words_of
from worldcoder.synthesis.rules.untried import Change
from worldcoder.synthesis.rules.vocabulary import Vocabulary
from worldcoder.world.values import Goal, State

_TOLD = 1.6
"""By how much each further part of a guess is likelier where the goal tells it."""


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
        case ("all on same", kind, other, attribute):
            return f"every {kind} is on a {other} of its {attribute}"
        case ("refers", kind, attribute, target):
            return f"a {kind} is {attribute} a {target}"
        case ("all under", kind, other):
            return f"every {kind} has a {other}"
    return " ".join(map(str, literal))


def guesses(
    vocabulary: Vocabulary,
    goal: Goal,
    start: State,
    does: Mapping[str, Sequence[Change]] = MappingProxyType({}),
) -> list[Guess]:
    """What the goal might mean, cheapest first: from its words, and without any.

    does: what each action was seen to do to things. Who names an action in a goal means that this be brought about.
    """
    tokens = words(final_clause(goal))
    scene = scene_of(start)
    found: dict[tuple[Literal, ...], set[str]] = {}
    named = [(said, does[action]) for action, said in _named(goal, does)]
    for literal in _achievements(vocabulary, scene, tokens):
        by = (said for said, changes in named if any(_brings_about(change, literal) for change in changes))
        found[(literal,)] = _mentions(literal).union(*by)
    for (literal,), mentioned in list(found.items()):
        if literal[0] in ("facing", "facing.", "near", "near."):
            for action in vocabulary.actions:  # an action that does nothing else may be what is waited for
                if action not in vocabulary.effective and action in vocabulary.verbs:
                    found[literal, ("did", action)] = mentioned | (words(action) & tokens)
    for first, mentioned in _conditions_on_the_way(vocabulary, scene, tokens):
        for (second, *rest), also in list(found.items()):
            if not rest and second[0] in ("on", "facing", "near") and second[1] != first[1] and also & tokens:
                found[second, first] = mentioned | also
    told = dict(_told(vocabulary, scene, tokens))
    found.update(told)
    known = set().union(*found.values()) if found else set()
    order = {token: i for i, token in enumerate(words_of(final_clause(goal)))}
    asked = {t: 1.5 + 0.5 * order.get(t, 0) / max(len(order), 1) for t in tokens & known}
    ranked = []
    for literal_set, mentioned in found.items():
        cost = sum(map(reward_literal_cost, literal_set))
        if literal_set in told:  # each part is in the goal's words
            cost -= _TOLD * (len(literal_set) - 1)
        if asked:
            cost += sum(w for t, w in asked.items() if t not in mentioned)
            cost += sum(1.5 for t in mentioned if t not in asked)
        ranked.append(Guess(literal_set, cost))
    return sorted(ranked, key=lambda g: g.cost)


def _named(goal: Goal, actions: Iterable[str]) -> Iterator[tuple[str, set[str]]]:
    """The actions that a goal names, written in one word or several, and with which of its words."""
    tokens = words_of(final_clause(goal))
    spans = [tokens[i:j] for i in range(len(tokens)) for j in range(i + 1, min(i + 3, len(tokens)) + 1)]
    for action in actions:
        written = "".join(words_of(action))
        for span in spans:
            if written and "".join(span) == written:
                yield action, set(span)


def _brings_about(change: Change, literal: Literal) -> bool:
    """Whether a literal says what an action does to things."""
    match change, literal:
        case ("refer", a), ("holds kind" | "holds.", attribute, *_):
            return bool(a == attribute)
        case ("gone",), ("no" | "fewer", *_):
            return True
        case ("set", a, v), ("turned", _, attribute, value):
            return (a, v) == (attribute, value)
    return False


def _told(
    vocabulary: Vocabulary, scene: Scene, tokens: set[str]
) -> Iterator[tuple[tuple[Literal, ...], set[str]]]:
    """What the goal tells of a kind of thing: where it belongs, and what it should be."""
    for kind, attribute in vocabulary.references:
        if kind == vocabulary.avatar or not words(kind) & tokens or not scene.kinds.get(kind):
            continue
        should: list[Literal] = []
        mentioned = set(words(kind))
        for other, value in _distinct_constants(vocabulary, scene.kinds[kind]):
            if isinstance(value, bool) and words(other) & tokens:
                should.append(("is", kind, other, True))
                mentioned |= words(other)
            elif isinstance(value, str):
                for known in vocabulary.values.get((kind, other), ()):
                    if isinstance(known, str) and words(known) & tokens:
                        should.append(("is", kind, other, known))
                        mentioned |= words(known)
        for target in vocabulary.kinds:
            if target != kind and words(target) & tokens and scene.kinds.get(target):
                literals_ = ("refers", kind, attribute, target), *dict.fromkeys(should)
                yield literals_, mentioned | words(target)


def _conditions_on_the_way(
    vocabulary: Vocabulary, scene: Scene, tokens: set[str]
) -> Iterator[tuple[Literal, set[str]]]:
    """What may have to hold while the agent is somewhere: of kinds that the goal names, values that change."""
    for kind, attribute in vocabulary.changing:
        if kind != vocabulary.avatar and words(kind) & tokens and attribute not in (PLACE, KIND):
            known = dict.fromkeys(vocabulary.values.get((kind, attribute), ()))
            if any(isinstance(value, bool) for value in known):
                known.update({True: None, False: None})
            for value in known:
                if isinstance(value, bool | str):
                    yield ("is", kind, attribute, value), words(kind)
        elif kind == vocabulary.avatar:
            for held in (k for k in vocabulary.kinds if words(k) & tokens and scene.kinds.get(k)):
                me = scene.single(kind)
                if me is not None and attribute in _reference_attributes(vocabulary, me):
                    yield ("holds kind", attribute, held), words(held)


def kinds_needed(literals: Iterable[Literal]) -> list[str]:
    """The kinds of which there has to be something for all of this to come true."""
    kinds: dict[str, None] = {}
    for literal in literals:
        match literal:
            case ("on" | "facing" | "near" | "on." | "facing." | "near." | "turned" | "some on", kind, *_):
                kinds[kind] = None
            case ("holds kind" | "holds.", _, kind, *_):
                kinds[kind] = None
    return list(kinds)


def achievements(vocabulary: Vocabulary, start: State, goal: Goal) -> Iterator[Literal]:
    """Single things that could happen in a world with these kinds and values, good or bad."""
    yield from _achievements(vocabulary, scene_of(start), words(goal))
    for kind, other in movable_pairs(vocabulary):
        yield ("more on", kind, other)
        yield ("fewer on", kind, other)


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
    for kind, other in movable_pairs(vocabulary):
        if scene.kinds.get(kind) and scene.kinds.get(other):
            yield ("some on", kind, other)
            if len(scene.kinds[kind]) > 1:
                yield ("all on", kind, other)
            for attribute in vocabulary.attributes_of(kind):
                if attribute in vocabulary.attributes_of(other) and attribute not in (PLACE, KIND):
                    yield ("all on same", kind, other, attribute)
            if len(scene.kinds[kind]) > len(scene.kinds[other]) > 1:
                yield ("all under", other, kind)


def _distinct_constants(vocabulary: Vocabulary, things: list[Thing]) -> list[tuple[str, Any]]:
    pairs = {pair: None for t in things for pair in constants(t) if vocabulary.varies(t.kind, pair[0])}
    return [pair for pair in pairs if isinstance(pair[1], str | bool)]


def _reference_attributes(vocabulary: Vocabulary, me: Thing) -> list[str]:
    return [a for a, v in me.values.items() if v is None or isinstance(v, Thing)]


def _turnings(vocabulary: Vocabulary, kind: str, things: list[Thing], tokens: set[str]) -> Iterator[Literal]:
    attributes = {a: None for t in things for a, v in constants(t) if isinstance(v, str | bool)}
    for attribute in attributes:
        values = dict.fromkeys(vocabulary.values.get((kind, attribute), ()))
        if any(isinstance(v, bool) for v in values):
            values.update({True: None, False: None})
        elif (kind, attribute) in vocabulary.changing or not vocabulary.changing or len(values) <= 2:
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
    return set(words_of(text))


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

"""Worlds under other names, and worlds turned: what a learner has no right to notice.

`make_renamed` and `make_turned` are factories, as in `tests/synthesis/renamed_worlds.py:make_renamed`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from string import ascii_lowercase
from typing import Any

from worldcoder.envs import Environment, Start, Step, make
from worldcoder.world import Action, Obj, Ref, State

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprtv" for vowel in "aeiou"]
_KEPT = ("x", "y")
_GRAMMAR = ("then", "after")
"""Words of goals that stand for nothing in a world, but for the order of its parts; they stay."""


class Names:
    """A consistent renaming, word by word: each letter becomes a syllable, and a plural stays one.

    table: the syllables of the letters from a to z, all different. Where they are in alphabetical order, so are the
    new names of whatever was.
    """

    def __init__(self, table: Sequence[str]) -> None:
        self._there = dict(zip(ascii_lowercase, table, strict=True))
        self._back = {syllable: letter for letter, syllable in self._there.items()}

    def text(self, text: str) -> str:
        """A name or a sentence under its new name."""
        return re.sub(r"[A-Za-z][a-z]*", lambda word: self._word(word[0]), text)

    def original(self, text: str) -> str:
        """What `text` made this of."""
        return re.sub(r"[A-Za-z][a-z]*", lambda word: self._original_word(word[0]), text)

    def _word(self, word: str) -> str:
        plural = len(word) > 3 and word.endswith("s") and not word.endswith("ss")
        if word in _GRAMMAR:
            return word
        new = "".join(self._there[letter.lower()] for letter in (word[:-1] if plural else word))
        new = new[0].upper() + new[1:] if word[0].isupper() else new
        return new + "s" * plural

    def _original_word(self, word: str) -> str:
        if word in _GRAMMAR:
            return word
        stem, plural = (word[:-1], "s") if len(word) % 2 else (word, "")
        old = "".join(self._back[stem[i : i + 2].lower()] for i in range(0, len(stem), 2))
        return (old[0].upper() + old[1:] if word[0].isupper() else old) + plural


def in_order() -> Names:
    """A renaming that keeps the alphabetical order."""
    return Names(_SYLLABLES[: len(ascii_lowercase)])


def shuffled(seed: int) -> Names:
    """A renaming that keeps nothing."""
    return Names(random.Random(f"names {seed}").sample(_SYLLABLES, len(ascii_lowercase)))


class Renamed:
    """A world under other names: kinds, attributes but x and y, text, names of objects, actions, the goal."""

    def __init__(self, world: Environment, names: Names) -> None:
        self._world = world
        self._names = names

    def reset(self, seed: int) -> Start:
        state, goal = self._world.reset(seed)
        return Start(_renamed(state, self._names.text), self._names.text(goal))

    def step(self, action: Action) -> Step:
        step = self._world.step(_renamed_action(action, self._names.original))
        return step._replace(state=_renamed(step.state, self._names.text))

    def actions(self, state: State) -> Sequence[Action]:
        inside = self._world.actions(_renamed(state, self._names.original))
        return [_renamed_action(action, self._names.text) for action in inside]


Rename = Callable[[str], str]


def _renamed(state: State, rename: Rename) -> State:
    return State(
        [_renamed_object(o, rename) for o in state]
    )  # references by place hold, the order stays here


def _renamed_object(o: Obj, rename: Rename) -> Obj:
    values = {a if a in _KEPT else rename(a): _value(value, rename) for a, value in o.attributes.items()}
    return Obj(rename(o.kind), name=None if o.name is None else rename(o.name), **values)


def _value(value: Any, rename: Rename) -> Any:
    if isinstance(value, str):
        return rename(value)
    if isinstance(value, Ref):
        return Ref(rename(value.target)) if isinstance(value.target, str) else value
    return tuple(_value(part, rename) for part in value) if isinstance(value, tuple) else value


def _renamed_action(action: Action, rename: Rename) -> Action:
    return Action(rename(action.name), tuple(_value(arg, rename) for arg in action.args))


class Turned:
    """A world on a grid that is turned by so many quarters, and before that mirrored or not.

    Actions keep their names, so that "up" leads elsewhere.
    """

    def __init__(self, world: Environment, quarters: int, mirrored: bool) -> None:
        self._world = world
        self._quarters = quarters
        self._mirrored = mirrored
        self._last = (0, 0)

    def reset(self, seed: int) -> Start:
        state, goal = self._world.reset(seed)
        placed = [o for o in state if "x" in o.attributes and o.x is not None]
        self._last = max(o.x for o in placed), max(o.y for o in placed)
        return Start(self._turned(state), goal)

    def step(self, action: Action) -> Step:
        step = self._world.step(action)
        return step._replace(state=self._turned(step.state))

    def actions(self, state: State) -> Sequence[Action]:
        return self._world.actions(state)  # of worlds whose actions are everywhere the same

    def _turned(self, state: State) -> State:
        return State([self._turned_object(o) for o in state])

    def _turned_object(self, o: Obj) -> Obj:
        if o.attributes.get("x") is None:
            return o
        (x, y), (last_x, last_y) = (o.x, o.y), self._last
        if self._mirrored:
            x = last_x - x
        for _ in range(self._quarters):
            x, y, last_x, last_y = last_y - y, x, last_y, last_x
        return o.replace(x=x, y=y)


def make_renamed(*, world: str, order: bool = True, seed: int = 0) -> Environment:
    """A world under other names, in the old alphabetical order or in none."""
    return Renamed(make(world), in_order() if order else shuffled(seed))


def make_turned(*, world: str, quarters: int = 0, mirrored: bool = False) -> Environment:
    """A world that is turned."""
    return Turned(make(world), quarters, mirrored)

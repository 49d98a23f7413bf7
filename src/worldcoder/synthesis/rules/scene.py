"""A state prepared for reading: references followed, objects by kind and by place."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from worldcoder.world.values import Ref, State

Place = tuple[Any, Any]
PLACE = "@place"
"""The attribute that stands for x and y together."""
KIND = "kind"
"""The attribute that stands for the kind, since a thing may change it."""


class Thing:
    """An object of a scene. values: its attributes, references as Things, x and y as one under PLACE."""

    __slots__ = ("index", "kind", "name", "place", "values")

    def __init__(self, kind: str, name: str | None, index: int) -> None:
        self.kind = kind
        self.name = name
        self.index = index
        self.values: dict[str, Any] = {}
        self.place: Place | None = None

    def __repr__(self) -> str:
        return f"{self.kind}#{self.index}"


class Scene:
    """One state, indexed."""

    __slots__ = ("bounds", "by_name", "cells", "kinds", "state", "things")

    def __init__(self, state: State) -> None:
        self.state = state
        self.things = [Thing(o.kind, o.name, i) for i, o in enumerate(state.objects)]
        self.by_name = {t.name: t for t in self.things if t.name is not None}
        self.kinds: dict[str, list[Thing]] = {}
        self.cells: dict[Place, list[Thing]] = {}
        for o, thing in zip(state.objects, self.things, strict=True):
            self.kinds.setdefault(o.kind, []).append(thing)
            for attribute, value in o.attributes.items():
                if isinstance(value, Ref):
                    value = (
                        self.by_name[value.target]
                        if isinstance(value.target, str)
                        else self.things[value.target]
                    )
                thing.values[attribute] = value
            thing.values[KIND] = o.kind
            if "x" in thing.values and "y" in thing.values:
                place = (thing.values.pop("x"), thing.values.pop("y"))
                thing.values[PLACE] = place
                if place[0] is not None:
                    thing.place = place
                    self.cells.setdefault(place, []).append(thing)
        xs = [x for x, _ in self.cells if isinstance(x, int)]
        ys = [y for _, y in self.cells if isinstance(y, int)]
        self.bounds = (min(xs), min(ys), max(xs), max(ys)) if xs and ys else (0, 0, 0, 0)

    def altered(self, changes: Mapping[int, Mapping[str, Any]], gone: Collection[int] = ()) -> Scene:
        """The same scene with some values changed and some things gone, things keeping their numbers.

        changes: by the number of the thing; references in them are to things of this scene. The same changes give
        the same scene.
        """
        every = (
            (index, attribute, type(value), value.index if isinstance(value, Thing) else value)
            for index, values in changes.items()
            for attribute, value in values.items()
        )
        return _altered(self, tuple(sorted(every, key=lambda one: one[:2])), frozenset(gone))

    def _with(self, changes: Mapping[int, Mapping[str, Any]], gone: Collection[int]) -> Scene:
        new = Scene.__new__(Scene)
        new.state = self.state
        new.bounds = self.bounds
        new.things = [Thing(t.kind, t.name, t.index) for t in self.things]
        new.by_name, new.kinds, new.cells = {}, {}, {}
        for old, thing in zip(self.things, new.things, strict=True):
            values = {**old.values, **changes[old.index]} if old.index in changes else old.values
            thing.values = {a: new.things[v.index] if isinstance(v, Thing) else v for a, v in values.items()}
            thing.kind = thing.values[KIND]
            if thing.index in gone:
                continue
            if thing.name is not None:
                new.by_name[thing.name] = thing
            new.kinds.setdefault(thing.kind, []).append(thing)
            place = thing.values.get(PLACE)
            if place is not None and place[0] is not None:
                thing.place = place
                new.cells.setdefault(place, []).append(thing)
        return new

    def is_gone(self, index: int) -> bool:
        """Whether a thing is no longer in the scene, though it keeps its number."""
        thing = self.things[index]
        return not any(thing is one for one in self.kinds.get(thing.kind, ()))

    def at(self, place: Place | None) -> list[Thing]:
        return self.cells.get(place, []) if place is not None else []

    def single(self, kind: str) -> Thing | None:
        found = self.kinds.get(kind, ())
        return found[0] if len(found) == 1 else None


_Change = tuple[int, str, type, Any]
"""The number of a thing, an attribute, and what it becomes: its type, and its value or the number of a thing."""


@lru_cache(maxsize=2_000)
def _altered(scene: Scene, changes: Sequence[_Change], gone: Collection[int]) -> Scene:
    by_thing: dict[int, dict[str, Any]] = {}
    for index, attribute, what, value in changes:
        by_thing.setdefault(index, {})[attribute] = scene.things[value] if what is Thing else value
    return scene._with(by_thing, gone)


@lru_cache(maxsize=20_000)
def scene_of(state: State) -> Scene:
    """The scene of a state; the same state gives the same scene."""
    return Scene(state)

"""What can be said of a step in numbers and of pairs of objects: what rose and fell, what is enough, what meets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from worldcoder.synthesis.rules.language import Literal
from worldcoder.synthesis.rules.quantities import is_number
from worldcoder.synthesis.rules.scene import KIND, PLACE, Scene, Thing
from worldcoder.synthesis.rules.vocabulary import Vocabulary
from worldcoder.world.values import Action

COSTS: Mapping[str, float] = {
    "rose": 2.2, "fell": 2.2, "changed by": 2.8, "toward": 2.2, "all enough": 2.8, "more enough": 2.4,
    "fewer enough": 2.4, "refers": 2.6, "now refers": 2.6, "meets": 2.6, "lacks": 2.4, "some on same": 3.0,
    "all on same": 2.8, "sum least": 2.6, "sum below": 2.6,
}  # fmt: skip


def change_literals(vocabulary: Vocabulary, before: Scene, action: Action, after: Scene) -> Iterator[Literal]:
    """Everything of this sort that is true of a step."""
    yield from _numbers(vocabulary, before, after)
    yield from _references(vocabulary, before, after)
    yield from _on_same(vocabulary, after)
    was = before.single(vocabulary.avatar) if vocabulary.avatar else None
    direction = vocabulary.looks_to(was, action)
    if was is not None and was.place is not None and direction is not None:
        front = (was.place[0] + direction[0], was.place[1] + direction[1])
        yield from (("toward", kind) for kind in dict.fromkeys(t.kind for t in before.at(front)))


def _numbers(vocabulary: Vocabulary, before: Scene, after: Scene) -> Iterator[Literal]:
    numeric = [
        (kind, a)
        for kind, a in vocabulary.changing
        if a not in (PLACE, KIND) and vocabulary.is_numeric(kind, a)
    ]
    for kind, attribute in numeric:
        was = [t.values.get(attribute) for t in before.kinds.get(kind, ())]
        now = [t.values.get(attribute) for t in after.kinds.get(kind, ())]
        if not now or not all(map(is_number, (*was, *now))):
            continue
        total = sum(v for v in now if v is not None)
        if was:
            change = total - sum(v for v in was if v is not None)
            if change:
                yield ("rose" if change > 0 else "fell", kind, attribute)
                yield ("changed by", kind, attribute, change)
        if not vocabulary.is_single(kind):
            yield ("sum least" if total > 0 else "sum below", kind, attribute, 1)
        for other in vocabulary.attributes_of(kind):
            if other != attribute and other != KIND and vocabulary.is_numeric(kind, other):
                enough = _enough(after, kind, attribute, other)
                enough_before = _enough(before, kind, attribute, other)
                if enough == len(now):
                    yield ("all enough", kind, attribute, other)
                if enough > enough_before:
                    yield ("more enough", kind, attribute, other)
                if enough < enough_before:
                    yield ("fewer enough", kind, attribute, other)


def _enough(scene: Scene, kind: str, attribute: str, other: str) -> int:
    """Of how many things of a kind one number is at least the other."""
    return sum(t.values[attribute] >= t.values[other] for t in scene.kinds.get(kind, ()))


def _references(vocabulary: Vocabulary, before: Scene, after: Scene) -> Iterator[Literal]:
    targets: dict[tuple[str, str], list[Thing]] = {}
    for kind, attribute in vocabulary.references:
        now = [t.values.get(attribute) for t in after.kinds.get(kind, ())]
        was = [t.values.get(attribute) for t in before.kinds.get(kind, ())]
        targets[kind, attribute] = [v for v in now if isinstance(v, Thing)]
        if kind != vocabulary.avatar:
            for target in dict.fromkeys(v.kind for v in targets[kind, attribute]):
                yield ("refers", kind, attribute, target)
                if sum(isinstance(v, Thing) and v.kind == target for v in now) > sum(
                    isinstance(v, Thing) and v.kind == target for v in was
                ):
                    yield ("now refers", kind, attribute, target)
        if (kind, attribute) in vocabulary.changing and vocabulary.is_single(kind):
            for value in targets[kind, attribute]:
                yield from (("lacks", kind, attribute, a) for a, v in value.values.items() if v is None)
    pairs = list(targets)
    for i, one in enumerate(pairs):
        for other in pairs[i + 1 :]:
            if one[0] == other[0] or not (one in vocabulary.changing or other in vocabulary.changing):
                continue
            if any(a is b for a in targets[one] for b in targets[other]):
                yield ("meets", *one, *other)


def _on_same(vocabulary: Vocabulary, after: Scene) -> Iterator[Literal]:
    """What stands where something of another kind is that has the same value of an attribute."""
    for kind in (k for k, a in vocabulary.changing if a == PLACE):
        things = after.kinds.get(kind, ())
        for other in vocabulary.kinds:
            if other == kind or not things:
                continue
            for attribute in vocabulary.attributes_of(kind):
                if attribute in (PLACE, KIND) or attribute not in vocabulary.attributes_of(other):
                    continue
                matched = sum(
                    any(
                        o.kind == other and o.values.get(attribute) == t.values.get(attribute)
                        for o in after.at(t.place)
                    )
                    for t in things
                )
                if matched:
                    yield ("some on same", kind, other, attribute)
                if matched == len(things):
                    yield ("all on same", kind, other, attribute)

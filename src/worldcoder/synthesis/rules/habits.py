"""Which actions always do the same, whatever is around: little is learned where one is tried beside something new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from worldcoder.synthesis.rules.matching import becomes
from worldcoder.synthesis.rules.scene import KIND, PLACE, Thing, scene_of
from worldcoder.synthesis.rules.statistics import Verb, same_value, vector_between
from worldcoder.synthesis.rules.vocabulary import Vocabulary
from worldcoder.world.values import Transition

_OFTEN = 8
"""Times that an action has to be seen before it counts as a habit,"""
_EACH = 3
"""and for each of the ways in which the avatar was: what happened once for each of these says nothing."""


class Habits:
    """Knows the actions whose every effect was to change the avatar, and that by what it was like alone."""

    def __init__(self) -> None:
        self._forget(None)

    def _forget(self, avatar: str | None) -> None:
        self._avatar = avatar
        self._read = 0
        self._done: dict[
            Verb, dict[Hashable, Hashable]
        ] = {}  # by what the avatar was like: what became of it
        self._times: Counter[Verb] = Counter()
        self._broken: set[Verb] = set()

    def read(self, vocabulary: Vocabulary, transitions: Sequence[Transition]) -> None:
        """Take in what happened since the last time; everything where another kind is the avatar now."""
        if vocabulary.avatar != self._avatar:
            self._forget(vocabulary.avatar)
        for transition in transitions[self._read :]:
            self._note(vocabulary, transition)
        self._read = len(transitions)

    def has(self, verb: Verb) -> bool:
        """Whether an action always did the same to the avatar, in each state of it, and nothing else."""
        done = self._done.get(verb, {})
        return verb not in self._broken and self._times[verb] >= max(_OFTEN, _EACH * len(done))

    def _note(self, vocabulary: Vocabulary, transition: Transition) -> None:
        verb = vocabulary.verb(transition.action)
        scene = scene_of(transition.state)
        me = scene.single(self._avatar) if self._avatar else None
        if verb in self._broken or me is None:
            return
        became = becomes(transition.state, transition.next_state, vocabulary.fleeting)
        still = len(scene.things) == len(transition.next_state.objects) and all(
            thing is me or _stayed(thing, became) for thing in scene.things
        )
        new = became[me.index]
        change = None if new is None else _change(me, new, became)
        like = _like(me)
        if not still or not change or self._done.setdefault(verb, {}).setdefault(like, change) != change:
            self._broken.add(verb)
        self._times[verb] += 1


def _stayed(thing: Thing, became: Sequence[Thing | None]) -> bool:
    new = became[thing.index]
    return new is not None and all(same_value(v, new.values.get(a), became) for a, v in thing.values.items())


def _like(me: Thing) -> Hashable:
    return tuple((a, v) for a, v in sorted(me.values.items()) if a != PLACE and not isinstance(v, Thing))


def _change(me: Thing, new: Thing, became: Sequence[Thing | None]) -> tuple[Hashable, ...]:
    """What changed about the avatar, where it is as a displacement."""
    found: list[Hashable] = []
    for attribute, value in sorted(me.values.items()):
        after = new.values.get(attribute)
        if attribute == KIND or same_value(value, after, became):
            continue
        if attribute == PLACE and me.place and new.place:
            after = vector_between(me.place, new.place)
        found.append((attribute, isinstance(after, Thing) or after))
    return tuple(found)

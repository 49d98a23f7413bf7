"""Where things appear: before the avatar, or in the places of other things."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from worldcoder.synthesis.rules.scene import Place, Scene, Thing
from worldcoder.world.values import Action

if TYPE_CHECKING:
    from worldcoder.synthesis.rules.vocabulary import Vocabulary

_REMEMBERED = 30
"""Steps in which something of a kind appeared, of which the places are kept."""


@dataclass
class Births:
    """The steps in which things appeared, by kind: the scene before, the action, and where they did."""

    _seen: dict[str, list[tuple[Scene, Action, list[Place | None]]]] = field(default_factory=dict)

    def add(self, scene: Scene, action: Action, made: Sequence[Thing]) -> None:
        """One more step."""
        for kind in dict.fromkeys(t.kind for t in made):
            known = self._seen.setdefault(kind, [])
            if len(known) < _REMEMBERED:
                known.append((scene, action, [t.place for t in made if t.kind == kind]))

    def spawners(self, vocabulary: Vocabulary) -> dict[str, str]:
        """The kinds that appear where things of another kind are, and never before the avatar alone; with that kind."""
        found = {}
        for kind, steps in self._seen.items():
            if all(_by_avatar(vocabulary, *step) for step in steps):
                continue
            spawner = next(_beneath(vocabulary, steps), None)
            if spawner is not None:
                found[kind] = spawner
        return found


def _by_avatar(vocabulary: Vocabulary, scene: Scene, action: Action, places: Sequence[Place | None]) -> bool:
    """Whether one thing appeared where the avatar is, or ahead of it."""
    if len(places) > 1 or places[0] is None:
        return len(places) == 1
    avatar = scene.single(vocabulary.avatar) if vocabulary.avatar else None
    if avatar is None or avatar.place is None:
        return False
    x, y = avatar.place
    dx, dy = vocabulary.looks_to(avatar, action) or (0, 0)
    return places[0] in ((x, y), (x + dx, y + dy), (x + 2 * dx, y + 2 * dy))


def _beneath(
    vocabulary: Vocabulary, steps: Sequence[tuple[Scene, Action, list[Place | None]]]
) -> Iterator[str]:
    """The kinds of which something was wherever something appeared, those of which there are fewest first."""
    counts = {kind: sum(len(scene.kinds.get(kind, ())) for scene, _, _ in steps) for kind in vocabulary.kinds}
    for kind in sorted(vocabulary.kinds, key=lambda k: counts[k]):
        everywhere = all(
            any(t.kind == kind for t in scene.at(place)) for scene, _, places in steps for place in places
        )
        if kind != vocabulary.avatar and everywhere:
            yield kind

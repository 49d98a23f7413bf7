"""Which passages were never tried: what may pass what, as far as is known."""

from __future__ import annotations

from collections.abc import Sequence

from worldcoder.synthesis.rules.matching import becomes
from worldcoder.synthesis.rules.scene import PLACE, scene_of
from worldcoder.synthesis.rules.vocabulary import Look, Vocabulary
from worldcoder.world.values import Action, Transition


class Passages:
    """What stopped what in the steps that were read so far."""

    def __init__(self) -> None:
        self._read_with: object = None
        self._forget()

    def _forget(self) -> None:
        self._read = 0
        self._stopped: set[tuple[str, Look]] = set()
        self._looks: dict[Look, None] = {}

    def untested(self, vocabulary: Vocabulary, transitions: Sequence[Transition]) -> set[tuple[str, Look]]:
        """Pairs of a mover and a thing of which it was never seen whether one stops the other.

        Not passable as far as is known, since they were never in one place; but no step shows that one was
        stopped by the other and nothing else. transitions: all there are; those read before are not read again while
        the vocabulary means the same.
        """
        read_with = vocabulary.structure(), tuple(vocabulary.movers)
        if read_with != self._read_with:
            self._read_with = read_with
            self._forget()
        movers: dict[str, None] = {k: None for k, a in vocabulary.changing if a == PLACE}
        for transition in transitions[self._read :]:
            self._look_at(vocabulary, transition, movers)
        self._read = len(transitions)
        return {
            (mover, look)
            for mover in movers
            for look in self._looks
            if (mover, look) not in vocabulary.together
            and (mover, look) not in self._stopped
            and look[0] != mover
        }

    def _look_at(self, vocabulary: Vocabulary, transition: Transition, movers: dict[str, None]) -> None:
        scene = scene_of(transition.state)
        for now in (scene, scene_of(transition.next_state)):  # a door that was just opened looks new
            self._looks.update(dict.fromkeys(vocabulary.look(t) for t in now.things))
        avatar = scene.single(vocabulary.avatar) if vocabulary.avatar else None
        direction = vocabulary.direction(avatar, transition.action)
        if (
            avatar is None
            or avatar.place is None
            or direction is None
            or not _moves(vocabulary, transition.action)
        ):
            return
        became = becomes(transition.state, transition.next_state, vocabulary.fleeting)
        chain, place = [avatar], avatar.place
        while chain:
            place = (place[0] + direction[0], place[1] + direction[1])
            there = scene.at(place)
            following = []
            for mover in chain:
                new = became[mover.index]
                stops = [t for t in there if not vocabulary.passable(mover.kind, t)]
                if new is not None and new.place == mover.place and len(stops) == 1:
                    self._stopped.add((mover.kind, vocabulary.look(stops[0])))
                    if stops[0].kind in movers:
                        following.append(stops[0])
            chain = following


def _moves(vocabulary: Vocabulary, action: Action) -> bool:
    verb = vocabulary.verb(action)
    return verb in vocabulary.steps or verb in vocabulary.movers

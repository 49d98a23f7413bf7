"""Which passages were never tried: what may pass what, as far as is known."""

from __future__ import annotations

from collections.abc import Sequence

from worldcoder.synthesis.rules.scene import PLACE, becomes, scene_of
from worldcoder.synthesis.rules.vocabulary import Look, Vocabulary
from worldcoder.world.values import Action, Transition


def untested_passages(vocabulary: Vocabulary, transitions: Sequence[Transition]) -> set[tuple[str, Look]]:
    """Pairs of a mover and a thing of which it was never seen whether one stops the other.

    Not passable as far as is known, since they were never in one place; but no step shows that one was
    stopped by the other and nothing else.
    """
    stopped: set[tuple[str, Look]] = set()
    looks: dict[Look, None] = {}
    movers: dict[str, None] = {k: None for k, a in vocabulary.changing if a == PLACE}
    for transition in transitions:
        scene = scene_of(transition.state)
        looks.update(dict.fromkeys(vocabulary.look(t) for t in scene.things))
        avatar = scene.single(vocabulary.avatar) if vocabulary.avatar else None
        direction = vocabulary.direction(avatar, transition.action)
        if (
            avatar is None
            or avatar.place is None
            or direction is None
            or not _moves(vocabulary, transition.action)
        ):
            continue
        became = becomes(transition.state, transition.next_state)
        chain, place = [avatar], avatar.place
        while chain:
            place = (place[0] + direction[0], place[1] + direction[1])
            there = scene.at(place)
            following = []
            for mover in chain:
                new = became[mover.index]
                stops = [t for t in there if not vocabulary.passable(mover.kind, t)]
                if new is not None and new.place == mover.place and len(stops) == 1:
                    stopped.add((mover.kind, vocabulary.look(stops[0])))
                    if stops[0].kind in movers:
                        following.append(stops[0])
            chain = following
    return {
        (mover, look)
        for mover in movers
        for look in looks
        if (mover, look) not in vocabulary.together and (mover, look) not in stopped and look[0] != mover
    }


def _moves(vocabulary: Vocabulary, action: Action) -> bool:
    verb = vocabulary.verb(action)
    return verb in vocabulary.steps or verb in vocabulary.movers

"""Goals of several parts: what was done of them so far belongs to the state.

A step may achieve parts, and which of them count depends on what was done before. So a state is a state of the world
and the parts that are done: the product of a world with a reward machine (Toro Icarte, Klassen, Valenzano and
McIlraith, JAIR 2022, arXiv 2010.03950), here one whose states are sets of parts, each written as the bits of a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from worldcoder.planning.model import Model, Node
from worldcoder.world.values import Action

Order = tuple[tuple[int, ...], ...]
"""For each part of a goal the parts, by number, that have to be done before it counts."""

Progress = int
"""Which parts are done, as bits: part 0 is worth 1, part 1 is worth 2, part 2 is worth 4."""


def checked(order: Sequence[Sequence[int]]) -> Order:
    """An order as tuples. Raises ValueError where a part waits for itself, or for one that there is not."""
    parts = tuple(tuple(before) for before in order)
    if any(type(n) is not int or not 0 <= n < len(parts) for before in parts for n in before):
        raise ValueError(f"an order names parts from 0 to {len(parts) - 1}, got {order!r}")
    if not complete(parts, advance(parts, 0, (1 << len(parts)) - 1)):
        raise ValueError(f"in this order some parts wait for each other: {order!r}")
    return parts


def advance(order: Order, done: Progress, achieved: Progress) -> Progress:
    """What is done after a step that achieves some parts. One step may achieve a part and what comes after it."""
    while True:
        before = done
        for part, needed in enumerate(order):
            if achieved >> part & 1 and all(done >> n & 1 for n in needed):
                done |= 1 << part
        if done == before:
            return done


def complete(order: Order, done: Progress) -> bool:
    """Whether all parts are done."""
    return done == (1 << len(order)) - 1


def worth(order: Order, done: Progress, reward: float, ended: bool) -> tuple[Progress, float, bool]:
    """What a step is worth whose reward tells the parts that it achieves: (what is done then, reward, done).

    reward: the parts, as a number. ended: whether the step ends the episode in vain.
    """
    achieved = int(reward) if reward > 0 else 0
    done = advance(order, done, achieved)
    if complete(order, done):
        return done, 1.0, True
    return done, 0.0, ended


class InParts:
    """A model whose rewards tell which parts a step achieves, as one in which reaching all of them is rewarded.

    done: what is done at the start.
    """

    def __init__(self, model: Model, order: Order, done: Progress) -> None:
        self._model = model
        self._order = order
        self._done = self._after = done
        self._size = len(order)

    def start(self) -> Node:
        return self._done, self._model.start()

    def key(self, node: Node) -> int:
        return self._model.key(node[1]) << self._size | int(node[0])

    def successors(self, node: Node) -> Iterator[tuple[Action, int, float, bool]]:
        done, inner = node
        order, size = self._order, self._size
        for action, key, reward, ended in self._model.successors(inner):
            gained = 0.0
            self._after = done
            if reward > 0 or ended:
                self._after, gained, ended = worth(order, done, reward, ended)
            yield action, key << size | self._after, gained, ended

    def keep(self) -> Node:
        return self._after, self._model.keep()

    def atoms(self) -> Sequence[int]:
        return self._model.atoms()

    def changed_atoms(self) -> Sequence[int]:
        return self._model.changed_atoms()

    def unmet(self) -> int:
        """How many parts are left."""
        return self._size - self._after.bit_count()

    def replay(self, actions: Sequence[Action]) -> list[tuple[float, bool]]:
        done, steps = self._done, []
        for reward, ended in self._model.replay(actions):
            done, gained, ended = worth(self._order, done, reward, ended)
            steps.append((gained, ended))
        return steps

    def distrust(self) -> None:
        self._model.distrust()

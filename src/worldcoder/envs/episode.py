"""What every adapter has to refuse: a step at the wrong time, and an action that does not exist."""

from __future__ import annotations

from collections.abc import Sequence

from worldcoder.errors import WorldError
from worldcoder.world.values import Action


class Episode:
    """Where an environment is between `reset` and the end, and which actions it has.

    world: what the environment is called in messages. actions: every action, in order.
    """

    def __init__(self, world: str, actions: Sequence[Action]) -> None:
        self.world = world
        self.actions = tuple(actions)
        self._place = {action: i for i, action in enumerate(self.actions)}
        self._running: bool | None = None

    def begin(self) -> None:
        """Note a `reset`."""
        self._running = True

    def end(self) -> None:
        """Note that the world ended the episode, or that its time ran out."""
        self._running = False

    def index(self, action: Action) -> int:
        """The place of an action among `actions`.

        Raises WorldError before `begin`, after `end`, and for an action that the world does not have.
        """
        if self._running is None:
            raise WorldError(f"{self.world}: step() before reset(); call reset(seed) first")
        if not self._running:
            raise WorldError(f"{self.world}: step() after the end of the episode; call reset(seed) first")
        place = self._place.get(action) if isinstance(action, Action) else None
        if place is None:
            known = ", ".join(map(str, self.actions))
            shown = str(action) if isinstance(action, Action) else repr(action)
            raise WorldError(f"{self.world}: there is no action {shown!s}; expected one of: {known}")
        return place

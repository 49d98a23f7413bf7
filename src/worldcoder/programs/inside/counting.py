"""Which call of a search a program was in, when it took its worker down with it."""

from __future__ import annotations

from worldcoder.errors import ProgramError
from worldcoder.sandbox.watch import WATCH
from worldcoder.world.live import LiveState, Snapshot
from worldcoder.world.values import Action, State


class Located(BaseException):
    """The call that was looked for is about to be made."""

    def __init__(self, state: State, action: Action) -> None:
        super().__init__()
        self.state = state
        self.action = action


class Calls:
    """Counts calls, where the parent can read it even if the worker dies.

    A search is a function of its arguments. So where the worker died in call number n, the same search in a new
    worker that stops at n finds out which call that was: `Located` is raised there.
    """

    def __init__(self, stop_at: int = 0) -> None:
        self._made = 0
        self._stop_at = stop_at
        self.failed: tuple[State, Action, ProgramError] | None = None

    def count(self, live: LiveState, before: Snapshot, action: Action) -> None:
        """A program is called next, for an action in a kept state."""
        made = self._made = self._made + 1
        WATCH.position[0] = made
        if made == self._stop_at:
            live.restore(before)
            raise Located(live.freeze(), action)

    def note(self, live: LiveState, before: Snapshot, action: Action, error: ProgramError) -> None:
        """A call failed. Nothing is written to the live state that is not undone."""
        if self.failed is None or (self.failed[2].failing == "error" != error.failing):
            live.restore(before)
            self.failed = live.freeze(), action, error

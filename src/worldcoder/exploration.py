"""Where to act in order to learn: breadth-first over what the model predicts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass

from worldcoder.planning.model import Node
from worldcoder.programs import Simulator
from worldcoder.synthesis.proposer import Proposer
from worldcoder.world.values import Action, State

Path = tuple[Action, ...]


@dataclass(frozen=True)
class Lesson:
    """Actions that lead to something to learn; the last one is what is to be tried."""

    actions: Path
    why: str


class Explorer:
    """Looks for lessons from one state on.

    tried: what was done already; the world is deterministic, so doing it again teaches nothing.
    wrong: what the model is known to predict wrongly; no way leads through it.
    nodes: how many predicted states are looked at.
    """

    def __init__(
        self,
        proposer: Proposer,
        simulator: Simulator,
        actions: Callable[[State], Sequence[Action]],
        *,
        tried: Set[tuple[State, Action]],
        wrong: Set[tuple[State, Action]],
        nodes: int,
    ) -> None:
        self._proposer = proposer
        self._simulator = simulator
        self._actions = actions
        self._tried = tried
        self._wrong = wrong
        self._nodes = nodes

    def most_interesting(self) -> Lesson | None:
        """The action that would teach most for its distance: interest / (distance + 2)."""
        best, found = 0.0, None
        for node, state, path in self._states():
            if self._proposer.top_interest / (len(path) + 2) <= best:
                break  # nothing farther away can be worth more
            for action in self._new_actions(state):
                interest = self._proposer.interest(state, action)
                if interest / (len(path) + 2) > best:
                    best, found = (
                        interest / (len(path) + 2),
                        Lesson((*path, action), f"interest {interest:g}"),
                    )
            self._expand(node, state, path)
        return found

    def untried(self) -> Lesson | None:
        """The nearest action that was never chosen in its state."""
        for node, state, path in self._states():
            for action in self._new_actions(state):
                return Lesson((*path, action), "not tried yet")
            self._expand(node, state, path)
        return None

    def _new_actions(self, state: State) -> Iterator[Action]:
        return (action for action in self._actions(state) if (state, action) not in self._tried)

    def _states(self) -> Iterator[tuple[Node, State, Path]]:
        """Predicted states, nearest first; `_expand` adds those that follow one."""
        start = self._simulator.start()
        self._seen = {self._simulator.key(start)}
        self._frontier: deque[tuple[Node, Path]] = deque([(start, ())])
        for _ in range(self._nodes):
            if not self._frontier:
                return
            node, path = self._frontier.popleft()
            yield node, self._simulator.state(node), path

    def _expand(self, node: Node, state: State, path: Path) -> None:
        for action, key, _, done in self._simulator.successors(node):
            if key not in self._seen and not done and (state, action) not in self._wrong:
                self._seen.add(key)
                self._frontier.append((self._simulator.keep(), (*path, action)))

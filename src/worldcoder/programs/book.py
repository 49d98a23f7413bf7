"""What workers are told, and how far each of them has read."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from worldcoder.programs.check import Check
from worldcoder.programs.wire import Objects
from worldcoder.world.values import Action


@dataclass
class Mark:
    """How far somebody has read: so many objects and actions, and of each check so many situations."""

    objects: int = 0
    actions: int = 0
    inputs: dict[int, int] = field(default_factory=dict)

    def copy(self) -> Mark:
        return Mark(self.objects, self.actions, dict(self.inputs))


class Book:
    """The parent's tables: objects, actions and the situations of checks, by number. Lists only grow.

    Enter it (`with book:`) to use it: one thread at a time can.

    torn: somebody was interrupted while using it (Ctrl-C can come between any two steps), so that what is in
    it may contradict what workers were told. It has to be thrown away.
    """

    def __init__(self) -> None:
        self.objects = Objects()
        self.actions: list[Action] = []
        self.torn = False
        self._lock = threading.RLock()
        self._numbers: dict[Action, int] = {}

    def __enter__(self) -> Book:
        self._lock.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None and not issubclass(kind, Exception):
            self.torn = True
        self._lock.release()

    def action(self, action: Action) -> int:
        """The number of an action."""
        number = self._numbers.setdefault(action, len(self.actions))
        if number == len(self.actions):
            self.actions.append(action)
        return number

    def news(self, mark: Mark, checks: dict[int, Check], forget: list[int]) -> dict[str, Any]:
        """What is new since a mark, of the situations those of some checks; moves the mark."""
        inputs = []
        for number, check in checks.items():
            read = mark.inputs.get(number, 0)
            rows = [
                (self.objects.to_wire(state), self.action(action), goal)
                for state, action, goal in check.inputs[read:]
            ]
            mark.inputs[number] = read + len(rows)
            if rows:
                inputs.append((number, rows))
        for number in forget:
            mark.inputs.pop(number, None)
        news = {
            "objects": self.objects.rows(mark.objects),
            "actions": [a.to_json() for a in self.actions[mark.actions :]],
            "inputs": inputs,
            "forget": forget,
        }
        mark.objects, mark.actions = len(self.objects.sent), len(self.actions)
        return news

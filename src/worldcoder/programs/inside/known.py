"""What a worker was told: objects and actions by number, and the states made of them."""

from __future__ import annotations

from collections.abc import Sequence
from sys import intern
from typing import Any

from worldcoder.programs.wire import WireState
from worldcoder.world.values import Action, Obj, Part, Ref, State, part_of_state

_KEPT = 20_000
"""States that are kept."""


def interned(value: Any) -> Any:
    """The same JSON with every text as the one object that a program's code has for it.

    Python compares and looks up what is the same object fastest, and texts that were read are objects of their own:
    without this a search costs up to a quarter more here than in the process that the states came from.
    """
    if type(value) is str:
        return intern(value)
    if type(value) is list:
        return [interned(part) for part in value]
    if type(value) is dict:
        return {intern(key): interned(part) for key, part in value.items()}
    return value


class Known:
    """The worker's side of the tables.

    actions: by number. born: the objects that programs made and the parent does not know; -1 is the first.
    """

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self.born: list[Obj] = []
        self._parts: dict[int, Part] = {}
        self._numbers: dict[Any, int] = {}
        self._states: dict[tuple[int, ...], State] = {}
        self._number_of: dict[Obj, int] = {}  # by identity: states that came about by steps share objects

    def learn(self, objects: Sequence[Any], actions: Sequence[Any]) -> None:
        """More objects, as [number, object], and more actions, with the next numbers."""
        for number, row in objects:
            part = self._parts[number] = part_of_state(Obj.from_json(interned(row)))
            self._numbers[part[2]] = number
        self.actions += [Action.from_json(interned(row)) for row in actions]

    def state(self, wire: WireState) -> State:
        """The state that was sent."""
        if isinstance(wire, dict):
            return State.from_json(interned(wire["rows"]))
        numbers = tuple(wire)
        state = self._states.get(numbers)
        if state is None:
            if len(self._states) >= _KEPT:
                self._states.clear()
            parts = [self._parts[i] for i in numbers]
            if len(set(numbers)) < len(numbers):  # alike, and yet two
                state = State([part[1].replace() for part in parts])
            else:
                state = State.of_parts(parts) or State()
            self._states[numbers] = state
        return state

    def number(self, part: Part) -> int:
        """The number of an object; below 0 for one that was born here."""
        number = self._numbers.get(part[2])
        if number is None:
            self.born.append(part[1])
            number = self._numbers[part[2]] = -len(self.born)
        return number

    def numbers(self, state: State) -> list[int] | None:
        """The numbers of a state's objects; None where something refers to an object without a name."""
        found = []
        for o in state.objects:
            number = self._number_of.get(o)
            if number is None:
                if any(isinstance(v, Ref) and isinstance(v.target, int) for v in o.attributes.values()):
                    return None
                number = self._number_of[o] = self.number(part_of_state(o))
            found.append(number)
        return found

"""States on their way to a worker and back: objects are sent once and then go by numbers.

A state is the list of its objects' numbers. What a step does to a state is the numbers of the objects that it
takes away and of those that it puts there. Both sides keep a table; this is the parent's. A state in which
something refers to an object without a name cannot be taken apart into objects: it is sent whole, as `rows`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from worldcoder.errors import ValueFormError
from worldcoder.world.values import Obj, Part, Ref, State, part_of_state

Numbers = tuple[int, ...]

Change = tuple[Numbers, Numbers]
"""What a step does to a state: the objects it takes away and those it puts there, sorted, none in both."""

WireState = list[int] | dict[str, Any]
"""The numbers of the objects, or {"rows": what `State.to_json` gives}."""

_REMEMBERED = 20_000


def change(removed: Iterable[int], added: Iterable[int]) -> Change:
    """The change, in its one form."""
    gone, new = Counter(removed), Counter(added)
    both = gone & new
    if both:
        gone, new = gone - both, new - both
    return tuple(sorted(gone.elements())), tuple(sorted(new.elements()))


class Objects:
    """Every object that was ever sent or received, by number; equal objects have one number.

    sent: the numbers of those that were sent as part of a state, in that order. What a worker said is not among
    them, unless it was sent as well: no program is told what another one predicts.
    """

    def __init__(self) -> None:
        self.sent: list[int] = []
        self._place: dict[int, int] = {}  # in `sent`
        self._numbers: dict[Any, int] = {}
        self._parts: list[Part] = []
        self._names: list[str | None] = []
        self._referred: list[tuple[str, ...]] = []  # by each object, by name
        self._of_state: dict[State, Numbers | None] = {}
        self._state_of: dict[tuple[Numbers, Change], State] = {}

    def rows(self, after: int) -> list[Any]:
        """The objects that were sent, from a place on, as [number, object]."""
        return [(number, self._parts[number][1].to_json()) for number in self.sent[after:]]

    def was_sent(self, number: int, before: int) -> bool:
        """Whether an object was among the first so many that were sent."""
        return self._place.get(number, before) < before

    def number(self, o: Obj) -> int:
        """The number of an object; raises ValueFormError if it refers to one that has no name."""
        part = part_of_state(o)
        known = self._numbers.get(part[2])
        if known is not None:
            return known
        refs = [v.target for v in o.attributes.values() if isinstance(v, Ref)]
        named = tuple(target for target in refs if isinstance(target, str))
        if len(named) < len(refs):
            raise ValueFormError(f"a {o.kind} refers to an object without a name; it is no value by itself")
        number = self._numbers[part[2]] = len(self._parts)
        self._parts.append(part)
        self._names.append(o.name)
        self._referred.append(named)
        return number

    def numbers(self, state: State) -> Numbers | None:
        """The numbers of a state's objects; None for a state that is sent whole."""
        try:
            return self._of_state[state]
        except KeyError:
            pass
        numbers: Numbers | None
        try:
            numbers = tuple([self.number(o) for o in state.objects])
        except ValueFormError:
            numbers = None
        self._remember(state, numbers)
        return numbers

    def numbers_if_known(self, state: State) -> Numbers | None:
        """The same, without giving numbers to objects that have none: None where there is one."""
        if state in self._of_state:
            return self._of_state[state]
        found = []
        for o in state.objects:
            number = self._numbers.get(part_of_state(o)[2])
            if number is None:
                return None
            found.append(number)
        self._remember(state, tuple(found))
        return tuple(found)

    def _remember(self, state: State, numbers: Numbers | None) -> None:
        if len(self._of_state) >= _REMEMBERED:
            self._of_state.clear()
        self._of_state[state] = numbers

    def to_wire(self, state: State) -> WireState:
        """A state as it is sent."""
        numbers = self.numbers(state)
        if numbers is None:
            return {"rows": state.to_json()}
        for number in numbers:
            if number not in self._place:
                self._place[number] = len(self.sent)
                self.sent.append(number)
        return list(numbers)

    def change_between(self, before: State, after: State) -> Change | None:
        """What leads from one state to another; None if one of them is sent whole, or was never sent.

        No object gets a number by this: what has one is told to every worker, and what really happened is told
        to none.
        """
        one, other = self.numbers_if_known(before), self.numbers_if_known(after)
        return None if one is None or other is None else change(one, other)

    def changed(self, before: State, step: Change) -> State:
        """The state that a change leads to.

        Raises ValueFormError if it takes away what is not there, or leads to no well-formed state.
        """
        if step == _NO_CHANGE:
            return before
        numbers = self.numbers(before)
        if numbers is None:
            raise ValueFormError("a change of a state that was sent whole")
        key = numbers, step
        known = self._state_of.get(key)
        if known is None:
            left = list(numbers)
            for gone in step[0]:
                try:
                    left.remove(gone)
                except ValueError:
                    raise ValueFormError("a change takes away an object that is not there") from None
            known = self._state(left + list(step[1]))
            if len(self._state_of) >= _REMEMBERED:
                self._state_of.clear()
            self._state_of[key] = known
        return known

    def _state(self, numbers: Sequence[int]) -> State:
        parts = self._parts
        taken = [parts[i] for i in numbers]
        names = [name for name in map(self._names.__getitem__, numbers) if name is not None]
        referred = [name for i in numbers for name in self._referred[i]]
        if (
            len(set(numbers)) < len(numbers)
            or len(set(names)) < len(names)
            or not set(names).issuperset(referred)
        ):
            return State([part[1].replace() for part in taken])  # which says what is wrong, if anything
        return State.of_parts(taken) or State()


_NO_CHANGE: Change = (), ()

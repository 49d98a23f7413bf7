"""A live state that notes what a program asks it.

What a program does depends only on the answers it gets. For a state kept as a snapshot, every answer follows
from what was asked before and from a few entries of the snapshot: the versions of the objects of a kind, or
the version that stands at a place. The entries asked for are noted in order as numbers:

    0, 1, 2, ...   the version at this place of the snapshot
    -1, -2, ...    the versions, if any, at this cell

They describe the state before the call: what a program has written since follows from the answers before.
Through an object that refers to others a program reaches these as well: they count as asked for with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from worldcoder.world.live import LiveObj, LiveState, Snapshot
from worldcoder.world.objects import Version
from worldcoder.world.values import State

Entry = Version | tuple[Version, ...] | None
Where = dict[int, Entry]


class Recording(LiveState):
    """A live state turned into this class (`start_recording`) notes queries until `stop_recording`."""

    asked: dict[int, None]
    """What was asked, in order, each once."""
    whole: bool
    """Whether something was asked that depends on all objects."""

    def all(self, kind: str) -> tuple[LiveObj, ...]:
        self._ask(self._once_of_kind.get(kind, ()))
        return LiveState.all(self, kind)

    def one(self, kind: str) -> LiveObj:
        self._ask(self._once_of_kind.get(kind, ()))
        return LiveState.one(self, kind)

    def at(self, x: Any, y: Any, kind: str | None = None) -> tuple[LiveObj, ...]:
        self.asked[self._cells.get((x, y)) or self.cell(x, y)] = None
        found = LiveState.at(self, x, y, kind)
        if self.has_references:
            for o in found:
                if o._version.refs:
                    self._follow(o)
        return found

    def named(self, name: Any) -> LiveObj | None:
        found = self._by_name.get(name)
        self._ask(() if found is None else (found,))
        return super().named(name)

    def add(self, kind: str, *, name: str | None = None, **attributes: Any) -> LiveObj:
        self._ask(self._pool.get(kind, ()))
        return super().add(kind, name=name, **attributes)

    def __iter__(self) -> Iterator[LiveObj]:
        self.whole = True
        return super().__iter__()

    def __len__(self) -> int:
        self.whole = True
        return super().__len__()

    def freeze(self) -> State:
        self.whole = True
        return super().freeze()

    def become(self, state: State) -> None:
        self.whole = True
        super().become(state)

    def _ask(self, objects: Any) -> None:
        for o in objects:
            if o._place >= 0:
                self.asked[o._place] = None
            if o._version.refs:
                self._follow(o)

    def _follow(self, obj: LiveObj) -> None:
        """Note all objects that one reaches by references."""
        reached, last = {obj}, [obj]
        while last:
            for _, target in last.pop()._version.refs:
                if target not in reached:
                    reached.add(target)
                    last.append(target)
                    if target._place >= 0:
                        self.asked[target._place] = None


Recording.__name__ = LiveState.__name__  # what programs and messages see


def start_recording(live: LiveState) -> Recording:
    """The same live state, noting what it is asked."""
    live.__class__ = Recording
    assert isinstance(live, Recording)
    live.asked = {}
    live.whole = False
    return live


def stop_recording(live: Recording) -> None:
    """An ordinary live state again; `asked` and `whole` stay readable."""
    live.__class__ = LiveState  # type: ignore[assignment]


def where(snapshot: Snapshot) -> Where:
    """What stands at each cell: a version, or a tuple of several."""
    found: Where = {v.cell: v for v in snapshot}
    if len(found) < len(snapshot):
        found = {}
        for version in snapshot:
            here = found.get(version.cell)
            if here is None:
                found[version.cell] = version
            else:
                found[version.cell] = (*here, version) if isinstance(here, tuple) else (here, version)
    found.pop(0, None)
    return found

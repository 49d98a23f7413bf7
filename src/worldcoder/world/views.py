"""Two sides of one step, as a reward program sees them: the state before and the state after.

Only one live state exists, and it stands at the state after. `After` reads it as it is; `Before` shows the
objects that the step changed as they were. Both note which kinds were read, so that a reward can be reused
while none of these kinds changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from worldcoder.errors import ProgramError
from worldcoder.world.live import LiveObj, LiveState


class Reads:
    """Which kinds were read since this was made; `everything` when that cannot be told by kind."""

    __slots__ = ("everything", "kinds")

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self.everything = False


class After:
    """The state after a step."""

    __slots__ = ("_live", "_reads")

    def __init__(self, live: LiveState, reads: Reads) -> None:
        self._live = live
        self._reads = reads

    def all(self, kind: str) -> tuple[LiveObj, ...]:
        """Every object of a kind."""
        self._reads.kinds.add(kind)
        return self._live.all(kind)

    def one(self, kind: str) -> LiveObj:
        """The only object of a kind; raises ProgramError when there is none or more than one."""
        self._reads.kinds.add(kind)
        return self._live.one(kind)

    def at(self, x: Any, y: Any, kind: str | None = None) -> tuple[LiveObj, ...]:
        """The objects whose x and y are these, of one kind if given."""
        if kind is None:
            self._reads.everything = True
        else:
            self._reads.kinds.add(kind)
        return self._live.at(x, y, kind)

    def named(self, name: Any) -> LiveObj | None:
        """The object with this name, or None."""
        self._reads.everything = True
        return self._live.named(name)

    def __iter__(self) -> Iterator[LiveObj]:
        self._reads.everything = True
        return iter(self._live)

    def __len__(self) -> int:
        self._reads.everything = True
        return len(self._live)

    def add(self, kind: str, **attributes: Any) -> LiveObj:
        raise ProgramError("a reward program may not change the state; it called add")

    def remove(self, obj: LiveObj) -> None:
        raise ProgramError("a reward program may not change the state; it called remove")


class Ghost:
    """An object as it was before the step. Attributes read as on any object; it cannot be written."""

    __slots__ = ("__dict__", "_of", "name")

    def __init__(self, of: LiveObj, values: dict[str, Any]) -> None:
        object.__setattr__(self, "_of", of)
        object.__setattr__(self, "name", of.name)
        self.__dict__.update(values)

    def __setattr__(self, attribute: str, value: Any) -> None:
        raise ProgramError(f"a reward program may not change the state; it wrote {attribute}")

    def __eq__(self, other: object) -> bool:
        """An object before and the same object after are one object."""
        return other is self or other is self._of or (isinstance(other, Ghost) and other._of is self._of)

    def __hash__(self) -> int:
        return hash(self._of)

    if TYPE_CHECKING:
        kind: str
        _of: LiveObj

        def __getattr__(self, attribute: str) -> Any: ...


class Before:
    """The state before a step."""

    __slots__ = ("_ghosts", "_kinds", "_live", "_reads", "_standing")

    def __init__(self, live: LiveState, reads: Reads) -> None:
        self._live = live
        self._reads = reads
        self._standing: list[Ghost] = []  # the objects that changed and were there
        self._kinds: set[str] = set()  # what the objects that changed were and are
        self._ghosts = self._changed()

    def _changed(self) -> dict[LiveObj, Ghost | None]:
        """Each object that differs, as it was; None for one that was created."""
        ghosts: dict[LiveObj, Ghost | None] = {}
        for obj, values in self._live.values_before().items():
            self._kinds.add(obj.kind)
            if values is None:
                ghosts[obj] = None
            else:
                self._kinds.add(values["kind"])
                ghost = ghosts[obj] = Ghost(obj, values)
                self._standing.append(ghost)
        if self._live.has_references:
            for ghost in self._standing:
                for attribute, value in ghost.__dict__.items():
                    if isinstance(value, LiveObj):
                        ghost.__dict__[attribute] = ghosts.get(value) or value
        return ghosts

    def _as_before(self, now: Iterable[LiveObj], ghosts: Iterable[Ghost]) -> tuple[Any, ...]:
        """These objects without those that changed, and these ghosts, in the order of their slots."""
        found: list[Any] = [o for o in now if o not in self._ghosts]
        found.extend(ghosts)
        found.sort(key=_slot)
        return tuple(found)

    def all(self, kind: str) -> tuple[Any, ...]:
        """Every object of a kind."""
        self._reads.kinds.add(kind)
        now = self._live.all(kind)
        if kind not in self._kinds:
            return now
        ghosts = [g for g in self._standing if g.kind == kind]
        return self._as_before(now, ghosts)

    def one(self, kind: str) -> Any:
        """The only object of a kind; raises ProgramError when there is none or more than one."""
        found = self.all(kind)
        if len(found) != 1:
            raise ProgramError(f"one({kind!r}): expected exactly one {kind}, found {len(found)}")
        return found[0]

    def at(self, x: Any, y: Any, kind: str | None = None) -> tuple[Any, ...]:
        """The objects whose x and y are these, of one kind if given."""
        if kind is None:
            self._reads.everything = True
        else:
            self._reads.kinds.add(kind)
        now = self._live.at(x, y, kind)
        if (kind is not None and kind not in self._kinds) or x is None:
            return now
        ghosts = []
        for ghost in self._standing:
            values = ghost.__dict__
            if (kind is None or values["kind"] == kind) and values.get("x") == x and values.get("y") == y:
                ghosts.append(ghost)
        if not ghosts and self._ghosts.keys().isdisjoint(now):
            return now
        return self._as_before(now, ghosts)

    def named(self, name: Any) -> Any:
        """The object with this name, or None."""
        self._reads.everything = True
        now = self._live.named(name)
        ghosts = [g for g in self._standing if g.name == name and name is not None]
        return next(iter(self._as_before(() if now is None else (now,), ghosts)), None)

    def __iter__(self) -> Iterator[Any]:
        self._reads.everything = True
        return iter(self._as_before(self._live, self._standing))

    def __len__(self) -> int:
        return len(tuple(iter(self)))

    def add(self, kind: str, **attributes: Any) -> LiveObj:
        raise ProgramError("a reward program may not change the state; it called add")

    def remove(self, obj: Any) -> None:
        raise ProgramError("a reward program may not change the state; it called remove")


def _slot(obj: LiveObj | Ghost) -> int:
    return obj._of._slot if isinstance(obj, Ghost) else obj._slot

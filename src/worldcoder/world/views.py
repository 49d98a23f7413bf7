"""Two sides of one step, as a reward program sees them: the state before and the state after.

Only one live state exists, and it stands at the state after. `After` reads it as it is; `Before` shows the
objects that the step changed as they were. Both note which kinds were read, so that a reward can be reused
while none of these kinds changes.
"""

from __future__ import annotations

from collections.abc import Iterator
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

    __slots__ = ("_ghosts", "_live", "_reads")

    def __init__(self, live: LiveState, reads: Reads) -> None:
        self._live = live
        self._reads = reads
        self._ghosts: dict[LiveObj, Ghost | None] | None = None

    def _changed(self) -> dict[LiveObj, Ghost | None]:
        """Each object that differs, as it was; None for one that was created."""
        if self._ghosts is None:
            self._ghosts = {
                obj: None if values is None else Ghost(obj, values)
                for obj, values in self._live.values_before().items()
            }
            for ghost in self._ghosts.values():
                if ghost is not None:
                    for attribute, value in ghost.__dict__.items():
                        if isinstance(value, LiveObj):
                            ghost.__dict__[attribute] = self._ghosts.get(value) or value
        return self._ghosts

    def _objects(self) -> list[Any]:
        changed = self._changed()
        found: list[Any] = [o for o in self._live if o not in changed]
        found.extend(ghost for ghost in changed.values() if ghost is not None)
        return sorted(found, key=lambda o: (o._of if isinstance(o, Ghost) else o)._slot)

    def all(self, kind: str) -> tuple[Any, ...]:
        """Every object of a kind."""
        self._reads.kinds.add(kind)
        changed = self._changed()
        if not changed:
            return self._live.all(kind)
        return tuple([o for o in self._objects() if o.kind == kind])

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
        changed = self._changed()
        found: list[Any] = [o for o in self._live.at(x, y, kind) if o not in changed]
        for ghost in changed.values():
            if ghost is not None and x is not None:
                values = ghost.__dict__
                if values.get("x") == x and values.get("y") == y and kind in (None, ghost.kind):
                    found.append(ghost)
        return tuple(found)

    def named(self, name: Any) -> Any:
        """The object with this name, or None."""
        self._reads.everything = True
        return next((o for o in self._objects() if o.name == name and name is not None), None)

    def __iter__(self) -> Iterator[Any]:
        self._reads.everything = True
        return iter(self._objects())

    def __len__(self) -> int:
        self._reads.everything = True
        return len(self._objects())

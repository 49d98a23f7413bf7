"""The objects of a live state, and the versions they go through.

A `Version` is everything one object is at one time: its attributes, its place, its number in the state's
hash. Equal attributes of one object are always the same `Version`, so that states are compared, kept and
returned to without looking at values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from worldcoder.errors import ProgramError
from worldcoder.world.values import Part

if TYPE_CHECKING:
    from worldcoder.world.live import LiveState

Row = tuple[Any, ...]
"""The values of an object, its kind first, in the order of its kind's attributes."""

ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "absent"})()
"""In the log, the old value of an attribute that was not there."""
ADDED: Any = object()
"""In the log, in the place of an attribute: the object was created. The old value is what its slot held."""
REMOVED: Any = object()
"""In the log, in the place of an attribute: the object was removed."""
REPLACED: Any = object()
"""In the log, in the place of an attribute: the object as a whole became another version than the old one."""


class Version:
    """What one object is at one time.

    values: its attributes and kind, None while the object is absent.
    z: its part of the state's hash, 0 while absent.
    cell: a number below 0 for (x, y), 0 without them.
    fields: the names of its kind's attributes; None if its own are others, or if it is absent.
    refs: the attributes that refer to other objects, with these.
    ghost, part: the object as reward programs see it, and as a value; made when they are first needed, and
    only where it refers to nothing.
    last: the last ghost of a version that refers to others.
    """

    __slots__ = ("cell", "fields", "ghost", "kind", "last", "obj", "part", "refs", "row", "values", "z")

    def __init__(
        self, obj: LiveObj, row: Row, values: dict[str, Any] | None, fields: tuple[str, ...] | None, cell: int
    ) -> None:
        self.obj = obj
        self.row = row
        self.kind: str | None = None if values is None else values["kind"]
        self.values = values
        self.fields = fields
        self.cell = cell
        self.z = 0
        self.refs: tuple[tuple[str, LiveObj], ...] = ()
        self.ghost: Any = None
        self.last: Any = None
        self.part: Part | None = None


class LiveObj:
    """An object of the live state. Read and write its attributes: `box.x += 1`."""

    __slots__ = (
        "__dict__",
        "_alive",
        "_born",
        "_cell",
        "_gone",
        "_initial",
        "_live",
        "_place",
        "_slot",
        "_version",
        "_versions",
        "name",
    )

    kind: str
    name: str | None
    _alive: bool  # whether it is in the state now
    _born: str  # the kind it was made as
    _cell: tuple[Any, Any] | None  # where the index of places has it
    _gone: Version  # its version while absent
    _initial: Version  # its version when the live state was made
    _live: LiveState
    _place: int  # where snapshots have it; -1 while it never changed
    _slot: int  # its number among all objects
    _version: Version  # as of the last restore
    _versions: dict[Row, Version]

    def __setattr__(self, attribute: str, value: Any) -> None:
        values = self.__dict__
        old = values.get(attribute, ABSENT)
        if old is value:
            return
        if old is ABSENT and attribute in LiveObj.__slots__:
            raise AttributeError(f"{attribute!r} cannot be written; objects keep their names")
        live = self._live
        if attribute == "x" or attribute == "y":
            live._stale.add(self)
        elif attribute == "kind" and (not isinstance(value, str) or not value):
            raise ProgramError(f"the program set a {old}'s kind to {value!r}; a kind is a non-empty str")
        live._log.append((self, attribute, old))
        values[attribute] = value
        if attribute == "kind":
            live._regroup(self, old)
        if old is ABSENT:
            live._irregular.add(self)

    def __delattr__(self, attribute: str) -> None:
        if attribute == "kind" or attribute not in self.__dict__:
            raise AttributeError(f"{self.kind} has no attribute {attribute!r} that could be deleted")
        live = self._live
        live._log.append((self, attribute, self.__dict__.pop(attribute)))
        live._irregular.add(self)
        live._stale.add(self)

    if TYPE_CHECKING:

        def __getattr__(self, attribute: str) -> Any: ...

    def __deepcopy__(self, memo: object) -> LiveObj:
        raise TypeError("an object cannot be copied without its state; copy the state")

    def __repr__(self) -> str:
        return shown(self.__dict__, LiveObj)


def shown(values: dict[str, Any], sort: type[Any]) -> str:
    """An object as text; the objects that it refers to, which are of this sort, by their kinds."""
    inside = [
        f"{a}={f'@{v.kind}' if isinstance(v, sort) else repr(v)}" for a, v in values.items() if a != "kind"
    ]
    return f"{values['kind']}({', '.join(inside)})"


# Writes to these are no writes of a program: they go round __setattr__ and are not logged.
set_alive = LiveObj.__dict__["_alive"].__set__
set_born = LiveObj.__dict__["_born"].__set__
set_cell = LiveObj.__dict__["_cell"].__set__
set_gone = LiveObj.__dict__["_gone"].__set__
set_initial = LiveObj.__dict__["_initial"].__set__
set_live = LiveObj.__dict__["_live"].__set__
set_name = LiveObj.__dict__["name"].__set__
set_place = LiveObj.__dict__["_place"].__set__
set_slot = LiveObj.__dict__["_slot"].__set__
set_version = LiveObj.__dict__["_version"].__set__
set_versions = LiveObj.__dict__["_versions"].__set__

"""The machinery under the live state: slots for objects, their versions and numbers, the indexes.

Every object that is or ever was in a state has a slot, and keeps it. The methods of this class are not for
programs; `LiveState` builds on them.
"""

from __future__ import annotations

import random
from typing import Any

from worldcoder.errors import ProgramError
from worldcoder.world.objects import (
    LiveObj,
    Row,
    Version,
    set_alive,
    set_born,
    set_cell,
    set_gone,
    set_initial,
    set_live,
    set_name,
    set_place,
    set_slot,
    set_version,
    set_versions,
)
from worldcoder.world.values import _value_problem

_ITEMS: Any = object()  # first entry of the row of an object whose attributes are not those of its kind


class Slots:
    """The objects of a live state, with what is known of them."""

    def __init__(self) -> None:
        self._rng = random.Random(0x5EED)
        self._numbers: dict[Any, int] = {}
        self._cells: dict[tuple[Any, Any], int] = {}
        self._slots: list[LiveObj] = []
        self._dynamic: list[LiveObj] = []
        self._living: tuple[LiveObj, ...] | None = None
        self._of_kind: dict[str, tuple[LiveObj, ...]] = {}
        self._once_of_kind: dict[str, list[LiveObj]] = {}
        self._pool: dict[str, list[LiveObj]] = {}  # unnamed objects that were created, by kind
        self._by_name: dict[str, LiveObj] = {}
        self._fields: dict[str, tuple[str, ...]] = {}
        self._at: dict[tuple[Any, Any], tuple[LiveObj, ...]] = {}
        self._log: list[tuple[LiveObj, Any, Any]] = []
        self._stale: set[LiveObj] = set()
        self._irregular: set[LiveObj] = set()
        self._identified: set[LiveObj] = set()
        self._referring: dict[LiveObj, None] = {}  # the objects that ever referred to another one
        self._changes: list[Version] = []
        self.has_references = False
        self.generation = 0
        self._hash = 0
        self._sums: dict[tuple[str, ...], tuple[int, int]] = {}
        self.backdrop: Any = None

    def _new_slot(self, kind: str, name: str | None, attributes: Any, *, absent: bool = False) -> LiveObj:
        obj = LiveObj.__new__(LiveObj)
        set_live(obj, self)
        set_name(obj, name)
        set_slot(obj, len(self._slots))
        set_place(obj, -1)
        set_alive(obj, not absent)
        set_cell(obj, None)
        set_born(obj, kind)
        set_versions(obj, {})
        gone = Version(obj, (), None, None, 0)
        set_gone(obj, gone)
        set_version(obj, gone)
        set_initial(obj, gone)
        obj.__dict__.update(self._ordered(obj, kind, attributes))
        self._slots.append(obj)
        self._once_of_kind.setdefault(kind, []).append(obj)
        if name is not None:
            self._by_name[name] = obj
            self._identified.add(obj)
        if absent:
            self._make_dynamic(obj)
            if name is None:
                self._pool.setdefault(kind, []).append(obj)
        self.generation += 1
        return obj

    def _ordered(self, obj: LiveObj | None, kind: str, attributes: Any) -> dict[str, Any]:
        """The attributes in the order that all objects of the kind share, the kind first."""
        fields = self._fields.get(kind)
        if fields is None:
            fields = self._fields[kind] = ("kind", *sorted(attributes))
        if len(attributes) == len(fields) - 1:
            values = {"kind": kind}
            try:
                for field in fields[1:]:
                    values[field] = attributes[field]
                return values
            except KeyError:
                pass
        if obj is not None:
            self._irregular.add(obj)
        return {"kind": kind, **{a: attributes[a] for a in sorted(attributes)}}

    def _row_of(self, values: dict[str, Any]) -> Row:
        """The values in the order of the kind's attributes; with their names where these are others."""
        fields = self._fields[values["kind"]]
        if len(values) == len(fields):
            try:
                return tuple([values[f] for f in fields])
            except KeyError:
                pass
        return (_ITEMS, *sorted(values.items()))

    def _version(self, obj: LiveObj, values: dict[str, Any]) -> Version:
        """The version of an object that has these values."""
        row = self._row_of(values)
        version = obj._versions.get(row)
        if version is None:
            if row[0] is _ITEMS:
                fields, own = None, dict(row[1:])
                values = {"kind": own.pop("kind"), **own}
            else:
                fields = self._fields[values["kind"]]
                values = dict(zip(fields, row, strict=True))
            version = obj._versions[row] = Version(obj, row, values, fields, self._cell_of(values))
            version.z = self._number(version)
            self._may_be(obj, values["kind"])
            if self.has_references:
                version.refs = tuple([(a, v) for a, v in values.items() if isinstance(v, LiveObj)])
                if version.refs and obj not in self._referring:
                    self._referring[obj] = None
                    self._make_dynamic(obj)
                    self.generation += 1
        return version

    def cell(self, x: Any, y: Any) -> int:
        """A number below 0 for a place: the `cell` of the versions that stand there."""
        return self._cells.setdefault((x, y), -1 - len(self._cells))

    def _cell_of(self, values: dict[str, Any]) -> int:
        x = values.get("x")
        return 0 if x is None else self.cell(x, values.get("y"))

    def _number(self, version: Version) -> int:
        """The number of a version: shared by all objects that look alike, unless they are told apart."""
        row = (version.obj, version.row) if version.obj in self._identified else version.row
        number = self._numbers.get(row)
        if number is None:
            number = self._numbers[row] = self._rng.getrandbits(61) | 1
        return number

    def _meet(self, obj: LiveObj) -> Version:
        """A version never seen before: check its values, mark what it refers to, give it a number."""
        for value in obj.__dict__.values():
            if isinstance(value, LiveObj):
                if value._live is not self:
                    raise self._bad_value(obj)
                self._identify(value)
            elif _value_problem(value, reference=False):
                raise self._bad_value(obj)
        return self._version(obj, obj.__dict__)

    def _identify(self, obj: LiveObj) -> None:
        """From now on this object is told apart from others like it: something refers to it."""
        self.has_references = True
        if obj in self._identified:
            return
        self._identified.add(obj)
        self.generation += 1
        for version in obj._versions.values():
            number = self._number(version)
            if version is obj._version:
                self._hash += number - version.z
            version.z = number

    def _check_references(self) -> None:
        """Raise ProgramError if an object refers to one that is not in the state."""
        for obj in self._referring:
            for attribute, value in obj.__dict__.items():
                if obj._alive and isinstance(value, LiveObj) and not value._alive:
                    raise ProgramError(f"{obj.kind}.{attribute} refers to an object that was removed")

    def _now(self, obj: LiveObj) -> Version:
        """What an object in the state is now; raises ProgramError for a value that no state may hold."""
        values = obj.__dict__
        row = self._row_of(values) if self._irregular else tuple(values.values())
        try:
            version = obj._versions.get(row)
        except TypeError:
            raise self._bad_value(obj) from None
        return self._meet(obj) if version is None else version

    def _bad_value(self, obj: LiveObj) -> ProgramError:
        for attribute, value in obj.__dict__.items():
            if isinstance(value, LiveObj):
                if value._live is not self:
                    return ProgramError(f"{obj.kind}.{attribute} refers to an object of another state")
                continue
            problem = _value_problem(value, reference=False)
            if problem:
                return ProgramError(f"the program set {obj.kind}.{attribute} = {value!r}: {problem}")
        return ProgramError(f"the program left {obj.kind} with a value that cannot be hashed")

    def _put(self, version: Version, old: Version) -> None:
        """Make an object, now of the old version, what the version says."""
        obj = version.obj
        if version.fields is not None and version.fields is old.fields:
            obj.__dict__.update(version.values)  # type: ignore[arg-type]
        else:
            set_alive(obj, version.values is not None)
            if version.values is not None:
                obj.__dict__.clear()
                obj.__dict__.update(version.values)
            for kind in {old.kind, version.kind}:
                if kind is not None:
                    self._collect(kind)
        self._stale.add(obj)

    def _make_dynamic(self, obj: LiveObj) -> None:
        if obj._place < 0:
            set_place(obj, len(self._dynamic))
            self._dynamic.append(obj)
            self.generation += 1

    def _list_living(self) -> tuple[LiveObj, ...]:
        self._living = tuple([o for o in self._slots if o._alive])
        return self._living

    def _collect(self, kind: str) -> None:
        """Rebuild the tuple of a kind's objects, in slot order."""
        self._living = None
        found = [o for o in self._once_of_kind.get(kind, ()) if o._alive and o.kind == kind]
        found.sort(key=_slot_of)
        self._of_kind[kind] = tuple(found)

    def _regroup(self, obj: LiveObj, old: str) -> None:
        """An object's kind was written."""
        kind = obj.kind
        self._irregular.add(obj)
        self._fields.setdefault(kind, ("kind", *sorted(a for a in obj.__dict__ if a != "kind")))
        self._may_be(obj, kind)
        self._collect(old)
        self._collect(kind)

    def _may_be(self, obj: LiveObj, kind: str) -> None:
        """Note that an object can be of a kind."""
        if kind == obj._born:
            return
        once = self._once_of_kind.setdefault(kind, [])
        if obj not in once:
            once.append(obj)
            self.generation += 1

    def _reindex(self) -> None:
        index = self._at
        for obj in self._stale:
            values = obj.__dict__
            x = values.get("x")
            cell = (x, values.get("y")) if obj._alive and x is not None else None
            old = obj._cell
            if cell != old:
                try:
                    here = index.get(cell, ()) if cell is not None else ()
                except TypeError:
                    raise self._bad_value(obj) from None
                if old is not None:
                    there = index[old]
                    index[old] = tuple([o for o in there if o is not obj]) if len(there) > 1 else ()
                if cell is not None:
                    if not here:
                        index[cell] = (obj,)
                    elif here[-1]._slot < obj._slot:
                        index[cell] = (*here, obj)
                    else:
                        index[cell] = tuple(sorted((*here, obj), key=_slot_of))
                set_cell(obj, cell)
        self._stale.clear()


def _slot_of(obj: LiveObj) -> int:
    return obj._slot

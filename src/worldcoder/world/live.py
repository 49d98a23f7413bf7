"""The live state: one mutable set of objects that a program reads and writes, with everything undoable.

A program sees ordinary objects with ordinary attributes. Underneath, every write is logged and can be rolled
back, the hash of the state is kept as a sum of one random number a row (Zobrist 1970, over multisets, so
objects that are alike merge), and objects are indexed by kind and by place. Nothing is copied per call:

    live = LiveState(state)
    program(live, action)        # writes are logged
    key = live.settle()          # hash of the state the program made
    kept = live.snapshot()       # if that state is to be returned to
    live.undo()                  # the state before the call
    live.restore(kept)           # the kept one

Two states with the same `settle()` are equal; equal states can differ in it only where unnamed objects that
are referred to change places with others like them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from worldcoder.errors import ProgramError
from worldcoder.world.values import Obj, Ref, State, _value_problem

Row = tuple[Any, ...]
Snapshot = tuple["Row | None", ...]
"""A state relative to the live state it came from: one row per object that ever changed, None if absent."""

_ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "absent"})()
_ADDED: Any = object()
_REMOVED: Any = object()
_ITEMS: Any = object()  # first entry of the row of an object whose set of attributes differs from its kind's


class LiveObj:
    """An object of the live state. Read and write its attributes: `box.x += 1`."""

    __slots__ = (
        "__dict__",
        "_alive",
        "_cell",
        "_fields",
        "_initial",
        "_live",
        "_place",
        "_row",
        "_slot",
        "_z",
        "name",
    )

    kind: str
    name: str | None

    def __setattr__(self, attribute: str, value: Any) -> None:
        values = self.__dict__
        old = values.get(attribute, _ABSENT)
        if old is value:
            return
        if old is _ABSENT and attribute in LiveObj.__slots__:
            raise AttributeError(f"{attribute!r} cannot be written; objects keep their names")
        live = self._live
        live._log.append((self, attribute, old))
        values[attribute] = value
        if attribute == "x" or attribute == "y":
            live._stale.add(self)
        elif attribute == "kind":
            live._regroup(self, old)
        elif old is _ABSENT:
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

    def __repr__(self) -> str:
        inside = ", ".join(
            f"{a}={f'@{v.kind}' if isinstance(v, LiveObj) else repr(v)}"
            for a, v in self.__dict__.items()
            if a != "kind"
        )
        return f"{self.kind}({inside})"


_set_alive = LiveObj.__dict__["_alive"].__set__
_set_cell = LiveObj.__dict__["_cell"].__set__
_set_row = LiveObj.__dict__["_row"].__set__
_set_z = LiveObj.__dict__["_z"].__set__
_set_fields = LiveObj.__dict__["_fields"].__set__
_set_initial = LiveObj.__dict__["_initial"].__set__
_set_live = LiveObj.__dict__["_live"].__set__
_set_place = LiveObj.__dict__["_place"].__set__
_set_slot = LiveObj.__dict__["_slot"].__set__
_set_name = LiveObj.__dict__["name"].__set__


class LiveState:
    """The working state that the framework hands to a program."""

    def __init__(self, state: State) -> None:
        self._rng = random.Random(0x5EED)
        self._table: dict[Row, int] = {}
        self._slots: list[LiveObj] = []
        self._dynamic: list[LiveObj] = []
        self._of_kind: dict[str, tuple[LiveObj, ...]] = {}
        self._once_of_kind: dict[str, list[LiveObj]] = {}
        self._pool: dict[tuple[str, str | None], list[LiveObj]] = {}
        self._by_name: dict[str, list[LiveObj]] = {}
        self._fields: dict[str, tuple[str, ...]] = {}
        self._at: dict[tuple[Any, Any], tuple[LiveObj, ...]] = {}
        self._log: list[tuple[LiveObj, Any, Any]] = []
        self._stale: set[LiveObj] = set()
        self._irregular: set[LiveObj] = set()
        self._identified: set[LiveObj] = set()
        self._changes: list[tuple[LiveObj, Row | None, int]] = []
        self.has_references = False
        self._hash = 0
        self._sums, self._sums_at = 0, 0
        self._sums_of: tuple[str, ...] | None = None
        slots = [self._new_slot(o.kind, o.name, o.attributes) for o in state.objects]
        by_name = {o.name: o for o in slots}
        for o, live in zip(state.objects, slots, strict=True):
            for attribute, value in o.attributes.items():
                if isinstance(value, Ref):
                    target = by_name[value.target] if isinstance(value.target, str) else slots[value.target]
                    live.__dict__[attribute] = target
                    self._identified.add(target)
                    self.has_references = True
        for live in slots:
            row = self._row_of(live)
            self._install(live, row)
            _set_initial(live, row)
        for kind in list(self._once_of_kind):
            self._collect(kind)
        self._stale.update(slots)

    # ── what a program may use ───────────────────────────────────────────────────────────────────────────

    def all(self, kind: str) -> tuple[LiveObj, ...]:
        """Every object of a kind."""
        return self._of_kind.get(kind, ())

    def one(self, kind: str) -> LiveObj:
        """The only object of a kind; raises ProgramError when there is none or more than one."""
        found = self._of_kind.get(kind, ())
        if len(found) != 1:
            raise ProgramError(f"one({kind!r}): expected exactly one {kind}, found {len(found)}")
        return found[0]

    def at(self, x: Any, y: Any, kind: str | None = None) -> tuple[LiveObj, ...]:
        """The objects whose x and y are these, of one kind if given."""
        if self._stale:
            self._reindex()
        found = self._at.get((x, y), ())
        if kind is None or not found:
            return found
        return tuple([o for o in found if o.kind == kind])

    def named(self, name: Any) -> LiveObj | None:
        """The object with this name, or None."""
        return next((o for o in self._by_name.get(name, ()) if o._alive), None)

    def __iter__(self) -> Iterator[LiveObj]:
        return iter([o for o in self._slots if o._alive])

    def __len__(self) -> int:
        return sum(o._alive for o in self._slots)

    def add(self, kind: str, *, name: str | None = None, **attributes: Any) -> LiveObj:
        """Create an object; returns it."""
        if name is not None and self.named(name) is not None:
            raise ProgramError(f"add({kind!r}, name={name!r}): an object with this name exists already")
        pool = self._pool.setdefault((kind, name), [])
        made = next((o for o in pool if not o._alive), None)
        before = dict(made.__dict__) if made is not None else {}
        if made is None:
            made = self._new_slot(kind, name, attributes)
            _set_alive(made, False)
            _set_initial(made, None)
            pool.append(made)
            self._make_dynamic(made)
        else:
            made.__dict__.clear()
            made.__dict__.update(self._ordered(made, kind, attributes))
        self._log.append((made, _ADDED, before))
        _set_alive(made, True)
        self._stale.add(made)
        self._collect(kind)
        return made

    def remove(self, obj: LiveObj) -> None:
        """Take an object out of the state."""
        if not isinstance(obj, LiveObj) or obj._live is not self or not obj._alive:
            raise ProgramError(f"remove({obj!r}): this is no object of the state (removed already?)")
        self._log.append((obj, _REMOVED, None))
        _set_alive(obj, False)
        self._stale.add(obj)
        self._collect(obj.kind)

    # ── what the framework uses ──────────────────────────────────────────────────────────────────────────

    def settle(self) -> int:
        """The hash of the state as it is now; raises ProgramError for a value that no state may hold."""
        log = self._log
        changes: list[tuple[LiveObj, Row | None, int]] = []
        total = self._hash
        if log:
            table, special = self._table, bool(self._irregular or self._identified)
            known = len(self._identified)
            for obj in (log[0][0],) if len(log) == 1 else dict.fromkeys([entry[0] for entry in log]):
                if obj._alive:
                    row: Row | None = self._row_of(obj) if special else tuple(obj.__dict__.values())
                    try:
                        z = table[row]  # type: ignore[index]
                    except KeyError:
                        z = self._meet(obj)
                    except TypeError:
                        raise self._bad_value(obj) from None
                else:
                    row, z = None, 0
                if z != obj._z:
                    changes.append((obj, row, z))
                    total += z - obj._z
                    if obj._place < 0:
                        self._make_dynamic(obj)
            if len(self._identified) != known:
                return self.settle()  # some row above was numbered before its object was told apart
        self._changes = changes
        return total

    def undo(self) -> None:
        """Roll back every write since the last `restore` (or since the beginning)."""
        log = self._log
        while log:
            obj, attribute, old = log.pop()
            if attribute is _ADDED:
                _set_alive(obj, False)
                self._collect(obj.kind)
                if old:  # the slot may have been another object, removed in the same call
                    obj.__dict__.clear()
                    obj.__dict__.update(old)
                self._stale.add(obj)
            elif attribute is _REMOVED:
                _set_alive(obj, True)
                self._stale.add(obj)
                self._collect(obj.kind)
            elif old is _ABSENT:
                del obj.__dict__[attribute]
                self._stale.add(obj)
            elif attribute == "kind":
                new = obj.kind
                obj.__dict__["kind"] = old
                self._collect(new)
                self._collect(old)
            else:
                obj.__dict__[attribute] = old
                if attribute == "x" or attribute == "y":
                    self._stale.add(obj)
        self._changes = []

    def snapshot(self) -> Snapshot:
        """The state as of the last `settle`, for `restore`."""
        rows = [o._row for o in self._dynamic]
        for obj, row, _ in self._changes:
            rows[obj._place] = row
        return tuple(rows)

    def restore(self, snapshot: Snapshot) -> None:
        """Make a kept state the current one. Writes that were not kept are rolled back."""
        if self._log:
            self.undo()
        dynamic = self._dynamic
        if len(snapshot) < len(dynamic):
            snapshot += tuple([o._initial for o in dynamic[len(snapshot) :]])
        table, stale = self._table, self._stale
        regroup: set[str] = set()
        for obj, row in zip(dynamic, snapshot, strict=True):
            old = obj._row
            if row is old:
                continue
            if old is None or row is None or old[0] != row[0] or row[0] is _ITEMS:
                regroup.add(obj.kind)
                _set_alive(obj, row is not None)
                if row is not None:
                    self._fill(obj, row)
                    regroup.add(obj.kind)
            else:
                values = obj.__dict__
                values.update(zip(values, row, strict=False))
            if row is None:
                z = 0
            elif row in table and not self._identified:
                z = table[row]
            else:
                row = self._marked(obj, row)
                z = self._number(row)
            self._hash += z - obj._z
            _set_z(obj, z)
            _set_row(obj, row)
            stale.add(obj)
        for kind in regroup:
            self._collect(kind)
        self._changes = []

    def snapshot_of(self, state: State) -> Snapshot:
        """Express a state of values in the slots of this live state, for `restore`.

        Objects are assigned by name, else to a slot of their kind that already looks the same, else to any
        free one; slots are added where there are not enough.
        """
        if self._log:
            self.undo()
        assigned: list[LiveObj | None] = [None] * len(state.objects)
        free: dict[tuple[str, str | None], dict[LiveObj, None]] = {}
        for slot in self._slots:
            kind = slot._fields[0]
            free.setdefault((kind, slot.name), {})[slot] = None
        initial: dict[Row, list[LiveObj]] = {}
        for slot in self._slots:
            for row in (slot._initial, slot._row):
                if row is not None:
                    bare = row[:-1] if slot in self._identified else row
                    initial.setdefault(bare, []).append(slot)
        for i, o in enumerate(state.objects):
            if any(isinstance(v, Ref) for v in o.attributes.values()):
                continue
            row = tuple(self._ordered(None, o.kind, o.attributes).values())
            group = free.get((o.kind, o.name), {})
            for slot in initial.get(row, ()):
                if slot in group:
                    del group[slot]
                    assigned[i] = slot
                    break
        for i, o in enumerate(state.objects):
            if assigned[i] is None:
                group = free.setdefault((o.kind, o.name), {})
                if group:
                    slot = next(iter(group))
                    del group[slot]
                else:
                    slot = self._new_slot(o.kind, o.name, o.attributes)
                    _set_alive(slot, False)
                    _set_initial(slot, None)
                    self._pool.setdefault((o.kind, o.name), []).append(slot)
                    self._make_dynamic(slot)
                assigned[i] = slot
        slots = [s for s in assigned if s is not None]
        by_name = {s.name: s for s in slots}
        rows: dict[LiveObj, Row] = {}
        for o, slot in zip(state.objects, slots, strict=True):
            values = {
                a: (by_name[v.target] if isinstance(v.target, str) else slots[v.target])
                if isinstance(v, Ref)
                else v
                for a, v in o.attributes.items()
            }
            for v in values.values():
                if isinstance(v, LiveObj):
                    self._identify(v)
            ordered = self._ordered(slot, o.kind, values)
            row = tuple(ordered.values())
            if tuple(ordered) != slot._fields:
                self._irregular.add(slot)
                row = (_ITEMS, *sorted(ordered.items()))
            rows[slot] = row
        final: dict[LiveObj, Row | None] = {}
        for slot in self._slots:
            wanted = rows.get(slot)
            if wanted is not None and slot in self._identified:
                wanted = (*wanted, slot)
            if wanted is not None and wanted == slot._initial:
                wanted = slot._initial
            if wanted != slot._initial:
                self._make_dynamic(slot)
            final[slot] = wanted
        return tuple(final[slot] for slot in self._dynamic)

    def hash_of(self, snapshot: Snapshot) -> int:
        """What `settle` gives in the state that a snapshot keeps; the current state stays as it is."""
        dynamic = self._dynamic
        if len(snapshot) < len(dynamic):
            snapshot += tuple([o._initial for o in dynamic[len(snapshot) :]])
        total = self._hash
        for obj, row in zip(dynamic, snapshot, strict=True):
            if row is not obj._row:
                total -= obj._z
                if row is not None:
                    total += self._number(self._marked(obj, row))
        return total

    def atoms(self) -> list[int]:
        """One number for what each object that ever changed is now; for novelty measures."""
        numbers = [o._z for o in self._dynamic]
        for obj, _, z in self._changes:
            numbers[obj._place] = z
        return numbers

    def values_before(self) -> dict[LiveObj, dict[str, Any] | None]:
        """What each written object was at the last `restore`, with those that refer to them; None: absent."""
        before: dict[LiveObj, dict[str, Any] | None] = {}
        for obj, attribute, old in reversed(self._log):
            if obj._row is None:
                before[obj] = None
            elif attribute is _ADDED:
                before[obj] = dict(old)
            else:
                values = before.get(obj)
                if values is None:
                    values = before[obj] = dict(obj.__dict__)
                if attribute is not _REMOVED:
                    if old is _ABSENT:
                        values.pop(attribute, None)
                    else:
                        values[attribute] = old
        if self._identified and before:
            for obj in self._slots:
                if obj._alive and obj not in before:
                    values = obj.__dict__
                    if any(isinstance(v, LiveObj) and v in before for v in values.values()):
                        before[obj] = dict(values)
        return before

    @property
    def changes(self) -> list[tuple[LiveObj, Row | None, int]]:
        """What differs since the last `restore`, as of `settle`: (object, its row or None, its number)."""
        return self._changes

    @property
    def irregular(self) -> bool:
        """Whether some object changed its kind or its set of attributes, or has others than its kind."""
        return bool(self._irregular)

    @property
    def writes(self) -> int:
        """How many writes were logged since the last `restore` or `undo`."""
        return len(self._log)

    def fingerprint(self, kinds: tuple[str, ...]) -> tuple[int, ...]:
        """What the objects of some kinds were before and are after the step that was settled, as numbers."""
        if self._sums_of is not kinds or self._sums_at != self._hash:
            wanted = set(kinds)
            self._sums_of, self._sums_at = kinds, self._hash
            self._sums = sum([o._z for o in self._dynamic if o._row is not None and o.kind in wanted])
        delta = 0
        for obj, _, z in self._changes:
            if obj.kind in kinds:
                delta += z - obj._z
        return self._sums, delta

    @property
    def exact_hash(self) -> bool:
        """Whether equal states always have equal hashes here: no object is identified or irregular."""
        return not self._irregular and all(o.name is not None for o in self._identified)

    def become(self, state: State) -> None:
        """Make the current state equal to a value, as writes that `undo` rolls back."""
        wanted = self.snapshot_of(state)
        for obj, row in zip(self._dynamic, wanted, strict=True):
            if row is obj._row or row == obj._row:
                continue
            if obj._alive:
                self._log.append((obj, _REMOVED, None))
                _set_alive(obj, False)
                self._collect(obj.kind)
            if row is not None:
                self._log.append((obj, _ADDED, dict(obj.__dict__)))
                self._fill(obj, row)
                _set_alive(obj, True)
                self._collect(obj.kind)
            self._stale.add(obj)

    def __deepcopy__(self, memo: object) -> LiveState:
        """A state of its own, for programs that copy what they get and return the copy."""
        return LiveState(self.freeze())

    def freeze(self) -> State:
        """The current state as a value; raises ProgramError if it is not a well-formed state."""
        made: dict[LiveObj, Obj] = {}
        alive = [o for o in self._slots if o._alive]
        place = {o: i for i, o in enumerate(alive)}
        for o in alive:
            attributes = {}
            for attribute, value in o.__dict__.items():
                if attribute == "kind":
                    continue
                if isinstance(value, LiveObj):
                    if value not in place:
                        raise ProgramError(f"{o.kind}.{attribute} refers to an object that was removed")
                    value = Ref(value.name if value.name is not None else place[value])
                attributes[attribute] = value
            try:
                made[o] = Obj(o.kind, name=o.name, **attributes)
            except ValueError as error:
                raise ProgramError(str(error)) from None
        return State(made.values())

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────

    def _new_slot(self, kind: str, name: str | None, attributes: Any) -> LiveObj:
        obj = LiveObj.__new__(LiveObj)
        _set_live(obj, self)
        _set_name(obj, name)
        _set_slot(obj, len(self._slots))
        _set_place(obj, -1)
        _set_alive(obj, True)
        _set_cell(obj, None)
        _set_row(obj, None)
        _set_z(obj, 0)
        values = self._ordered(obj, kind, attributes)
        _set_fields(obj, self._fields[kind])
        obj.__dict__.update(values)
        self._slots.append(obj)
        self._once_of_kind.setdefault(kind, []).append(obj)
        if name is not None:
            self._by_name.setdefault(name, []).append(obj)
            self._identified.add(obj)
        return obj

    def _ordered(self, obj: LiveObj | None, kind: str, attributes: Any) -> dict[str, Any]:
        """The attributes in the order that all objects of the kind share, the kind first."""
        fields = self._fields.get(kind)
        if fields is None:
            fields = self._fields[kind] = ("kind", *sorted(attributes))
        if len(attributes) == len(fields) - 1 and all(f in attributes for f in fields[1:]):
            return {"kind": kind, **{f: attributes[f] for f in fields[1:]}}
        if obj is not None:
            self._irregular.add(obj)
        return {"kind": kind, **{a: attributes[a] for a in sorted(attributes)}}

    def _row_of(self, obj: LiveObj) -> Row:
        if obj in self._irregular and tuple(obj.__dict__) != self._fields.get(obj.kind):
            row: Row = (_ITEMS, *sorted(obj.__dict__.items()))
        else:
            row = tuple(obj.__dict__.values())
        return (*row, obj) if obj in self._identified else row

    def _marked(self, obj: LiveObj, row: Row) -> Row:
        return (*row, obj) if obj in self._identified and row[-1] is not obj else row

    def _fill(self, obj: LiveObj, row: Row) -> None:
        values = obj.__dict__
        values.clear()
        if row[0] is _ITEMS:
            pairs = row[1:-1] if row[-1] is obj else row[1:]
            ordered = dict(pairs)
            values["kind"] = ordered.pop("kind")
            values.update(ordered)
        else:
            values.update(zip(self._fields[row[0]], row, strict=False))

    def _install(self, obj: LiveObj, row: Row) -> None:
        """Take a row as the object's own in the current state."""
        z = self._number(row)
        self._hash += z - obj._z
        _set_row(obj, row)
        _set_z(obj, z)

    def _number(self, row: Row) -> int:
        z = self._table.get(row)
        if z is None:
            z = self._table[row] = self._rng.getrandbits(61) | 1
        return z

    def _meet(self, obj: LiveObj) -> int:
        """A row never seen before: check its values, mark what it refers to, give it a number."""
        for value in obj.__dict__.values():
            if isinstance(value, LiveObj):
                if value._live is not self:
                    raise self._bad_value(obj)
                self._identify(value)
            elif _value_problem(value, reference=False):
                raise self._bad_value(obj)
        return self._number(self._row_of(obj))

    def _identify(self, obj: LiveObj) -> None:
        """From now on this object is told apart from others like it: something refers to it."""
        self.has_references = True
        if obj in self._identified:
            return
        self._identified.add(obj)
        if obj._row is not None:
            row = (*obj._row, obj)
            z = self._number(row)
            self._hash += z - obj._z
            _set_z(obj, z)
            _set_row(obj, row)
        if obj._initial is not None:
            _set_initial(obj, (*obj._initial, obj))

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

    def _make_dynamic(self, obj: LiveObj) -> None:
        if obj._place < 0:
            _set_place(obj, len(self._dynamic))
            self._dynamic.append(obj)

    def _collect(self, kind: str | None) -> None:
        """Rebuild the tuple of a kind's objects, in slot order."""
        if kind is not None:
            self._of_kind[kind] = tuple(
                sorted(
                    {o for o in self._once_of_kind.get(kind, ()) if o._alive and o.kind == kind},
                    key=lambda o: o._slot,
                )
            )

    def _regroup(self, obj: LiveObj, old: str) -> None:
        """An object's kind was written."""
        kind = obj.kind
        if not isinstance(kind, str) or not kind:
            raise ProgramError(f"the program set a {old}'s kind to {kind!r}; a kind is a non-empty str")
        self._irregular.add(obj)
        self._fields.setdefault(kind, tuple(obj.__dict__))
        if obj not in self._once_of_kind.setdefault(kind, []):
            self._once_of_kind[kind].append(obj)
        self._collect(old)
        self._collect(kind)

    def _reindex(self) -> None:
        index = self._at
        for obj in self._stale:
            values = obj.__dict__
            x = values.get("x")
            cell = (x, values.get("y")) if obj._alive and x is not None else None
            old = obj._cell
            if cell != old:
                if old is not None:
                    index[old] = tuple([o for o in index[old] if o is not obj])
                if cell is not None:
                    try:
                        here = index.get(cell, ())
                    except TypeError:
                        raise self._bad_value(obj) from None
                    index[cell] = (
                        tuple(sorted((*here, obj), key=lambda o: o._slot)) if here else (obj,)
                    )
                _set_cell(obj, cell)
        self._stale.clear()

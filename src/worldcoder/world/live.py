"""The live state: one mutable set of objects that a program reads and writes, with everything undoable.

A program sees ordinary objects with ordinary attributes. Underneath, every write is logged and can be rolled
back, the hash of the state is kept as a sum of one random number an object (Zobrist 1970, over multisets, so
objects that are alike merge), and objects are indexed by kind and by place. Nothing is copied per call:

    live = LiveState(state)
    program(live, action)        # writes are logged
    key = live.settle()          # hash of the state the program made
    kept = live.snapshot()       # if that state is to be returned to
    live.undo()                  # the state before the call
    live.restore(kept)           # the kept one

Two states with the same `settle()` are equal; equal states can differ in it only where unnamed objects that
are referred to change places with others like them (see `exact_hash`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from worldcoder.errors import ProgramError
from worldcoder.world.objects import (
    ABSENT,
    ADDED,
    REMOVED,
    REPLACED,
    LiveObj,
    Row,
    Version,
    set_alive,
    set_initial,
    set_version,
)
from worldcoder.world.slots import Slots
from worldcoder.world.values import Obj, Part, Ref, State, part_of_state

__all__ = ["LiveObj", "LiveState", "Snapshot"]

_written: Any = itemgetter(0)  # the object of an entry of the log

Snapshot = tuple[Version, ...]
"""A state relative to the live state it came from: the version of each object that ever changed."""


class LiveState(Slots):
    """The working state that the framework hands to a program.

    has_references: whether some object refers or ever referred to another one.
    generation: grows when objects that never changed do, or new ones come up; what was learned about the
    places of a snapshot before then is out of date.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
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
            version = self._version(live, dict(live.__dict__))
            self._hash += version.z
            set_version(live, version)
            set_initial(live, version)
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
        if len(found) == 1:
            return found if found[0].kind == kind else ()
        return tuple([o for o in found if o.kind == kind])

    def named(self, name: Any) -> LiveObj | None:
        """The object with this name, or None."""
        found = self._by_name.get(name)
        return found if found is not None and found._alive else None

    def __iter__(self) -> Iterator[LiveObj]:
        return iter(self._living or self._list_living())

    def __len__(self) -> int:
        return len(self._living or self._list_living())

    def add(self, kind: str, *, name: str | None = None, **attributes: Any) -> LiveObj:
        """Create an object; returns it."""
        if not isinstance(kind, str) or not kind:
            raise ProgramError(f"add({kind!r}): a kind is a non-empty str")
        if name is not None and (not isinstance(name, str) or self.named(name) is not None):
            problem = "an object has this name already" if isinstance(name, str) else "a name is a str"
            raise ProgramError(f"add({kind!r}, name={name!r}): {problem}")
        if name is None:
            made = next((o for o in self._pool.get(kind, ()) if not o._alive), None)
        else:
            made = self._by_name.get(name)
        if made is None:
            made = self._new_slot(kind, name, attributes, absent=True)
            before: dict[str, Any] = {}
        else:
            before = dict(made.__dict__)
            made.__dict__.clear()
            made.__dict__.update(self._ordered(made, kind, attributes))
            self._may_be(made, kind)
        self._log.append((made, ADDED, before))
        set_alive(made, True)
        self._stale.add(made)
        self._collect(kind)
        return made

    def remove(self, obj: LiveObj) -> None:
        """Take an object out of the state."""
        if not isinstance(obj, LiveObj) or obj._live is not self or not obj._alive:
            raise ProgramError(f"remove({obj!r}): this is no object of the state (removed already?)")
        self._log.append((obj, REMOVED, None))
        set_alive(obj, False)
        self._stale.add(obj)
        self._collect(obj.kind)

    # ── what the framework uses ──────────────────────────────────────────────────────────────────────────

    def settle(self) -> int:
        """The hash of the state as it is now; raises ProgramError for a value that no state may hold."""
        log = self._log
        total = self._hash
        changes: list[Version] = []
        if log:
            known = len(self._identified)
            irregular = self._irregular
            for obj in dict.fromkeys(map(_written, log)):
                version: Version | None = None
                if not obj._alive:
                    version = obj._gone
                elif not irregular:  # `_now`, where nothing is new
                    try:
                        version = obj._versions.get(tuple(obj.__dict__.values()))
                    except TypeError:
                        raise self._bad_value(obj) from None
                version = version or self._now(obj)
                old = obj._version
                if version is not old:
                    changes.append(version)
                    total += version.z - old.z
                    if obj._place < 0:
                        self._make_dynamic(obj)
            if self.has_references:
                self._check_references()
                if len(self._identified) != known:
                    return self.settle()  # a number above was read before its object was told apart
        self._changes = changes
        return total

    def undo(self) -> None:
        """Roll back every write since the last `restore` (or since the beginning)."""
        log = self._log
        while log:
            obj, attribute, old = log.pop()
            if attribute is ADDED:
                set_alive(obj, False)
                self._collect(obj.kind)
                if old:  # the slot may have been another object, removed in the same call
                    obj.__dict__.clear()
                    obj.__dict__.update(old)
                self._stale.add(obj)
            elif attribute is REPLACED:
                now = obj.kind if obj._alive else None
                set_alive(obj, old.values is not None)
                if old.values is not None:
                    obj.__dict__.clear()
                    obj.__dict__.update(old.values)
                if now != old.kind:
                    for kind in {now, old.kind}:
                        if kind is not None:
                            self._collect(kind)
                self._stale.add(obj)
            elif attribute is REMOVED:
                set_alive(obj, True)
                self._stale.add(obj)
                self._collect(obj.kind)
            elif old is ABSENT:
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
        versions = [o._version for o in self._dynamic]
        for version in self._changes:
            versions[version.obj._place] = version
        return tuple(versions)

    def restore(self, snapshot: Snapshot) -> None:
        """Make a kept state the current one. Writes that were not kept are rolled back."""
        if self._log:
            self.undo()
        for version in self.padded(snapshot):
            old = version.obj._version
            if version is not old:
                self._put(version, old)
                self._hash += version.z - old.z
                set_version(version.obj, version)
        self._changes = []

    def padded(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the objects that had not changed yet when it was taken."""
        dynamic = self._dynamic
        if len(snapshot) == len(dynamic):
            return snapshot
        return snapshot + tuple([o._initial for o in dynamic[len(snapshot) :]])

    def snapshot_of(self, state: State) -> Snapshot:
        """Express a state of values in the slots of this live state, for `restore`.

        Objects are assigned by name, else to a slot of their kind that already looks the same, else to any
        free one; slots are added where there are not enough.
        """
        if self._log:
            self.undo()
        assigned: list[LiveObj | None] = [None] * len(state.objects)
        free: dict[Any, dict[LiveObj, None]] = {}
        alike: dict[Row, list[LiveObj]] = {}
        for slot in self._slots:
            free.setdefault(slot._born if slot.name is None else (slot.name,), {})[slot] = None
            for version in {slot._initial: None, slot._version: None}:
                if version.values is not None:
                    alike.setdefault(version.row, []).append(slot)
        for i, o in enumerate(state.objects):
            if any(isinstance(v, Ref) for v in o.attributes.values()):
                continue
            row = self._row_of(self._ordered(None, o.kind, o.attributes))
            group = free.get(o.kind if o.name is None else (o.name,), {})
            for slot in alike.get(row, ()):
                if slot in group:
                    del group[slot]
                    assigned[i] = slot
                    break
        slots: list[LiveObj] = []
        for i, o in enumerate(state.objects):
            slot_or_none = assigned[i]
            if slot_or_none is None:
                group = free.get(o.kind if o.name is None else (o.name,), {})
                if group:
                    slot_or_none = next(iter(group))
                    del group[slot_or_none]
                else:
                    slot_or_none = self._new_slot(o.kind, o.name, o.attributes, absent=True)
            slots.append(slot_or_none)
        by_name = {s.name: s for s in slots}
        wanted = {slot: slot._gone for slot in self._slots}
        for o, slot in zip(state.objects, slots, strict=True):
            values = dict(o.attributes)
            for attribute, value in values.items():
                if isinstance(value, Ref):
                    target = by_name[value.target] if isinstance(value.target, str) else slots[value.target]
                    values[attribute] = target
                    self._identify(target)
            wanted[slot] = self._version(slot, self._ordered(slot, o.kind, values))
        for slot, version in wanted.items():
            if version is not slot._initial:
                self._make_dynamic(slot)
        return tuple(wanted[slot] for slot in self._dynamic)

    def hash_of(self, snapshot: Snapshot) -> int:
        """What `settle` gives in the state that a snapshot keeps; the current state stays as it is."""
        return self._hash + sum([v.z - v.obj._version.z for v in self.padded(snapshot)])

    @property
    def changes(self) -> list[Version]:
        """What differs since the last `restore`, as of `settle`: the new versions."""
        return self._changes

    def before(self) -> Snapshot:
        """The state as of the last `restore`."""
        return tuple([o._version for o in self._dynamic])

    def lost(self) -> bool:
        """Whether the step that was settled, or failed to, took an object away that was there."""
        return any(not obj._alive and obj._version.values is not None for obj, _, _ in self._log)

    def referring(self) -> list[int]:
        """Where snapshots have the objects that ever referred to another one."""
        return [o._place for o in self._referring]

    @property
    def hash_before(self) -> int:
        """The hash of the state as of the last `restore`."""
        return self._hash

    def fingerprint(self, kinds: tuple[str, ...]) -> tuple[int, int]:
        """What the objects of some kinds were before and are after the step that was settled, as numbers."""
        before, at = self._sums.get(kinds, (0, None))
        if at != self._hash:
            before = sum([part_of(o._version, kinds) for o in self._dynamic])
            self._sums[kinds] = before, self._hash
        delta = 0
        for version in self._changes:
            if version.kind in kinds:
                delta += version.z
            if version.obj._version.kind in kinds:
                delta -= version.obj._version.z
        return before, delta

    @property
    def exact_hash(self) -> bool:
        """Whether equal states always have equal hashes here: nothing without a name was ever referred to."""
        return all(o.name is not None for o in self._identified)

    def become(self, state: State) -> None:
        """Make the current state equal to a value, as writes that `undo` rolls back."""
        self.advance([v for v in self.snapshot_of(state) if v is not v.obj._version])

    def advance(self, versions: Sequence[Version]) -> None:
        """Give objects that nobody wrote to other versions, as writes that `undo` rolls back."""
        for version in versions:
            self._log.append((version.obj, REPLACED, version.obj._version))
            self._put(version, version.obj._version)
        self._changes = list(versions)

    def __deepcopy__(self, memo: object) -> LiveState:
        """A state of its own, for programs that copy what they get and return the copy."""
        return LiveState(self.freeze())

    __copy__ = None

    def freeze(self) -> State:
        """The current state as a value; raises ProgramError if it is not a well-formed state."""
        written = {entry[0] for entry in self._log}
        parts, links = [], []
        for obj in LiveState.__iter__(self):
            version = self._now(obj) if obj in written else obj._version
            parts.append(version.part or self._part(version))
            if version.refs:
                links.append(version)
        if links:
            return self._freeze_linked(parts, links)
        return State.of_parts(parts) or State()

    def part(self, version: Version) -> Part:
        """An object as a part of a state; what it refers to without a name is left open."""
        return version.part or self._part(version)

    def _part(self, version: Version) -> Part:
        assert version.values is not None
        values = {a: v for a, v in version.values.items() if a != "kind"}
        unnamed = [attribute for attribute, target in version.refs if target.name is None]
        for attribute, target in version.refs:
            values[attribute] = Ref(0 if target.name is None else target.name)
        made = Obj(version.values["kind"], name=version.obj.name, **values)
        part = version.part = part_of_state(made, unnamed)
        return part

    def _freeze_linked(self, parts: list[Part], links: list[Version]) -> State:
        """`freeze` where objects refer to others."""
        outs = []
        for version in links:
            out = {}
            for attribute, target in version.refs:
                if not target._alive:
                    raise ProgramError(f"{version.kind}.{attribute} refers to an object that was removed")
                now = self._now(target)
                if target.name is None:
                    out[attribute] = now.part or self._part(now)
            outs.append((version.part or self._part(version), out))
        state = State.of_parts(parts, outs)
        if state is not None:
            return state
        made: list[Obj] = []
        place = {o: i for i, o in enumerate(LiveState.__iter__(self))}
        for o in place:
            attributes = {}
            for attribute, value in o.__dict__.items():
                if isinstance(value, LiveObj):
                    if value not in place:
                        raise ProgramError(f"{o.kind}.{attribute} refers to an object that was removed")
                    value = Ref(value.name if value.name is not None else place[value])
                if attribute != "kind":
                    attributes[attribute] = value
            try:
                made.append(Obj(o.kind, name=o.name, **attributes))
            except ValueError as error:
                raise ProgramError(str(error)) from None
        return State(made)


def part_of(version: Version, kinds: tuple[str, ...]) -> int:
    """What a version adds to the number of all objects of some kinds, relative to how it all began."""
    first = version.obj._initial
    return (version.z if version.kind in kinds else 0) - (first.z if first.kind in kinds else 0)

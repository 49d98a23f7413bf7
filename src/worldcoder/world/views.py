"""The two sides of one step, as a reward program sees them: a `View` of the state before, one of that after.

A view reads a snapshot, wherever the live state stands, and hands out ghosts: objects that can be read and
not written. The ghost of a version is made once, so that a view costs next to nothing. What a program reads
is noted in `Reads`, so that a reward can be reused while nothing that was read differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from worldcoder.errors import ProgramError
from worldcoder.world.live import LiveObj, LiveState, Snapshot
from worldcoder.world.objects import Version, shown
from worldcoder.world.recording import Where, where


class Reads:
    """What was read since this was made.

    kinds: of the objects that were read, or looked for. everything: something was read that cannot be told by
    kind. asked: the same as the questions of `worldcoder.world.recording`, about the state before the step;
    None where they are not noted. whole: something was read that depends on all objects.
    """

    __slots__ = ("asked", "everything", "kinds", "whole")

    def __init__(self, *, questions: bool = False) -> None:
        self.kinds: set[str] = set()
        self.everything = False
        self.asked: dict[int, None] | None = {} if questions else None
        self.whole = False


class Ghost:
    """An object as it is in one state. Attributes read as on any object; it cannot be written."""

    __slots__ = ("__dict__", "_of", "name")

    def __init__(self, of: LiveObj, values: dict[str, Any]) -> None:
        object.__setattr__(self, "_of", of)
        object.__setattr__(self, "name", of.name)
        self.__dict__.update(values)

    def __setattr__(self, attribute: str, value: Any) -> None:
        raise ProgramError(f"a reward program may not change the state; it wrote {attribute}")

    def __delattr__(self, attribute: str) -> None:
        raise ProgramError(f"a reward program may not change the state; it deleted {attribute}")

    def __eq__(self, other: object) -> bool:
        """An object before and the same object after are one object."""
        return other is self or (isinstance(other, Ghost) and other._of is self._of)

    def __hash__(self) -> int:
        return hash(self._of)

    def __repr__(self) -> str:
        return shown(self.__dict__, Ghost)

    if TYPE_CHECKING:
        kind: str
        name: str | None
        _of: LiveObj

        def __getattr__(self, attribute: str) -> Any: ...


Place = tuple[Any, Any]
KNOWN = 20_000
"""For how many combinations of versions it is known what they are as objects of a kind."""


class Backdrop:
    """What never changed in a live state, prepared for views; out of date with the next generation."""

    def __init__(self, live: LiveState) -> None:
        self.live = live
        self.generation = live.generation
        self.members = _MembersByKind(live)
        self.standing = _Standing(self.members)
        self._fixed: dict[Place, tuple[Ghost, ...]] | None = None

    @property
    def fixed(self) -> dict[Place, tuple[Ghost, ...]]:
        """The objects that never changed, by place."""
        if self._fixed is None:
            still = [o for o in self.live._slots if o._place < 0]
            self._fixed = _by_place([_ghost_of(o._version) for o in still])
        return self._fixed


class Members:
    """What can be of one kind.

    still: the objects of the kind that never changed. places: where snapshots have the others.
    pick: takes their versions out of a snapshot. known: what `View.all` said of such versions.
    """

    __slots__ = ("known", "pick", "places", "still")

    def __init__(self, still: tuple[Ghost, ...], places: tuple[int, ...]) -> None:
        self.still = still
        self.places = places
        self.pick: Callable[[Snapshot], Any] = itemgetter(*places) if places else _nothing
        self.known: dict[Any, tuple[Ghost, ...]] = {}


def _nothing(snapshot: Snapshot) -> Any:
    return ()


class _MembersByKind(dict[str, Members]):
    def __init__(self, live: LiveState) -> None:
        super().__init__()
        self._live = live

    def __missing__(self, kind: str) -> Members:
        slots = sorted(self._live._once_of_kind.get(kind, ()), key=lambda o: o._slot)
        still = tuple([_ghost_of(o._version) for o in slots if o._place < 0])
        found = self[kind] = Members(still, tuple([o._place for o in slots if o._place >= 0]))
        return found


class _Standing(dict[str | None, dict[Place, tuple[Ghost, ...]] | None]):
    """By kind: its objects by place; None where some can change."""

    def __init__(self, members: _MembersByKind) -> None:
        super().__init__()
        self._members = members

    def __missing__(self, kind: str | None) -> dict[Place, tuple[Ghost, ...]] | None:
        found = None
        if kind is not None:
            members = self._members[kind]
            found = None if members.places else _by_place(members.still)
        self[kind] = found
        return found


def _ghost_of(version: Version) -> Ghost:
    """The ghost of a version that refers to nothing."""
    ghost: Ghost | None = version.ghost
    if ghost is None:
        assert version.values is not None and not version.refs
        ghost = version.ghost = Ghost(version.obj, version.values)
    return ghost


def _by_place(ghosts: Iterable[Ghost]) -> dict[Place, tuple[Ghost, ...]]:
    found: dict[Place, tuple[Ghost, ...]] = {}
    for ghost in ghosts:
        x = ghost.__dict__.get("x")
        if x is not None:
            place = x, ghost.__dict__.get("y")
            found[place] = (*found.get(place, ()), ghost)
    return found


def backdrop(live: LiveState) -> Backdrop:
    """The backdrop of a live state as it is known now."""
    found: Backdrop | None = live.backdrop
    if found is None or found.generation != live.generation:
        found = live.backdrop = Backdrop(live)
    return found


class View:
    """A state that can be read."""

    __slots__ = ("_backdrop", "_made", "_reads", "_snapshot", "_standing", "_where")

    def __init__(
        self, behind: Backdrop, snapshot: Snapshot, reads: Reads, standing: Where | None = None
    ) -> None:
        """snapshot: padded. standing: what stands where in it, if that is known."""
        self._backdrop = behind
        self._snapshot = snapshot
        self._reads = reads
        self._standing = behind.standing
        self._where = standing
        self._made: dict[Version, Ghost] | None = None  # the ghosts of versions that refer to others

    def all(self, kind: str) -> tuple[Any, ...]:
        """Every object of a kind."""
        reads, snapshot = self._reads, self._snapshot
        reads.kinds.add(kind)
        members = self._backdrop.members[kind]
        places = members.places
        if not places:
            return members.still
        if reads.asked is not None:
            reads.asked.update(dict.fromkeys(places))
        versions = members.pick(snapshot)
        known = members.known.get(versions)
        if known is not None:
            return known
        there = [v for v in (versions if len(places) > 1 else (versions,)) if v.kind == kind]
        found = [v.ghost or self._ghost(v) for v in there]
        if members.still:
            found.extend(members.still)
            found.sort(key=_slot)
        if not any(v.refs for v in there):
            if len(members.known) >= KNOWN:
                members.known.clear()
            members.known[versions] = tuple(found)
        return tuple(found)

    def one(self, kind: str) -> Any:
        """The only object of a kind; raises ProgramError when there is none or more than one."""
        found = self.all(kind)
        if len(found) != 1:
            raise ProgramError(f"one({kind!r}): expected exactly one {kind}, found {len(found)}")
        return found[0]

    def at(self, x: Any, y: Any, kind: str | None = None) -> tuple[Any, ...]:
        """The objects whose x and y are these, of one kind if given."""
        reads = self._reads
        if kind is None:
            reads.everything = True
        else:
            reads.kinds.add(kind)
            standing = self._standing[kind]
            if standing is not None:
                return standing.get((x, y), ())
        live = self._backdrop.live
        if reads.asked is not None:
            reads.asked[live.cell(x, y)] = None
        if self._where is None:
            self._where = where(self._snapshot)
        here = self._where.get(live._cells.get((x, y), 0))
        fixed = self._backdrop.fixed.get((x, y), ())
        versions = () if here is None else here if isinstance(here, tuple) else (here,)
        found = [g for g in fixed if kind is None or g.kind == kind]
        found += [v.ghost or self._ghost(v) for v in versions if kind is None or v.kind == kind]
        if len(found) > 1:
            found.sort(key=_slot)
        return tuple(found)

    def named(self, name: Any) -> Any:
        """The object with this name, or None."""
        self._reads.everything = True
        obj = self._backdrop.live._by_name.get(name)
        return None if obj is None else self._look(obj)

    def __iter__(self) -> Iterator[Any]:
        self._reads.everything = self._reads.whole = True
        seen = [self._look(o) for o in self._backdrop.live._slots]
        return iter([ghost for ghost in seen if ghost is not None])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def add(self, kind: str, **attributes: Any) -> LiveObj:
        raise ProgramError("a reward program may not change the state; it called add")

    def remove(self, obj: Any) -> None:
        raise ProgramError("a reward program may not change the state; it called remove")

    def _look(self, obj: LiveObj) -> Ghost | None:
        """An object as it is in this state, None if it is not there."""
        version = obj._version
        if obj._place >= 0:
            version = self._snapshot[obj._place]
            if self._reads.asked is not None:
                self._reads.asked[obj._place] = None
        if version.values is None:
            return None
        return version.ghost or self._ghost(version)

    def _ghost(self, version: Version) -> Ghost:
        """The ghost of a version; what it refers to counts as read."""
        if not version.refs:
            return _ghost_of(version)
        if self._made is None:
            self._made = {}
        ghost = self._made.get(version)
        if ghost is None:
            assert version.values is not None
            ghost = self._made[version] = Ghost(version.obj, version.values)
            for attribute, target in version.refs:
                other = self._look(target)
                if other is None:
                    raise ProgramError(f"{version.kind}.{attribute} refers to an object that was removed")
                self._reads.kinds.add(other.kind)
                ghost.__dict__[attribute] = other
            last = version.last
            if last is not None and all(last.__dict__[a] is ghost.__dict__[a] for a, _ in version.refs):
                ghost = self._made[version] = last  # the same object where nothing that is seen of it changed
            version.last = ghost
        return ghost


def _slot(ghost: Ghost) -> int:
    return ghost._of._slot

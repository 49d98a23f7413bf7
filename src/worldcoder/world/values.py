"""The values everything else speaks of: objects, states, actions, transitions.

All of them are immutable and hashable. A state is a set of objects. Two states are equal when one becomes the
other by renaming objects that have no name: two boxes without names can be exchanged, two named ones cannot.
Attribute values are compared as Python compares them.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from worldcoder.errors import ValueFormError
from worldcoder.world.ties import break_ties

Goal = str
"""A goal is a sentence; what it means is for the reward program to say."""


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to another object of the same state.

    target: the object's name, or, for an object without a name, its place in `State.objects`.
    """

    target: str | int

    def __repr__(self) -> str:
        return f"@{self.target}"


class Obj:
    """One object: a kind, an optional name and attributes.

    The name is the identity that the environment gives; without one the object is exchangeable. Attribute
    values are int, float, bool, str, None, tuples of these, or a reference: `Ref("name")`, or another `Obj`
    of the same state. Attributes read as Python attributes: `obj.x`.

    Raises ValueFormError for a value of another type.
    """

    __slots__ = ("attributes", "kind", "name")

    kind: str
    name: str | None
    attributes: Mapping[str, Any]

    def __init__(self, kind: str, /, *, name: str | None = None, **attributes: Any) -> None:
        if not isinstance(kind, str) or not kind:
            raise ValueFormError(f"an object's kind is a non-empty str, got {kind!r}")
        if name is not None and not isinstance(name, str):
            raise ValueFormError(f"the name of a {kind} is a str or None, got {name!r}")
        if "kind" in attributes:
            raise ValueFormError(f"a {kind} cannot have an attribute 'kind'; rename it")
        for attribute, value in attributes.items():
            problem = _value_problem(value, reference=True)
            if problem:
                raise ValueFormError(f"{kind}.{attribute} = {value!r}: {problem}")
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "attributes", attributes)

    def __getattr__(self, attribute: str) -> Any:
        if attribute in Obj.__slots__:  # only while an instance is being rebuilt
            raise AttributeError(attribute)
        try:
            return self.attributes[attribute]
        except KeyError:
            known = ", ".join(self.attributes) or "none"
            raise AttributeError(f"{self.kind} has no attribute {attribute!r}; it has: {known}") from None

    def __setattr__(self, attribute: str, value: Any) -> None:
        raise AttributeError(f"an Obj is immutable; build a new one with replace({attribute}=...)")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.kind, self.name, dict(self.attributes))

    def replace(self, **changes: Any) -> Obj:
        """The same object with some attributes changed or added."""
        return Obj(self.kind, name=self.name, **{**self.attributes, **changes})

    def to_json(self) -> list[Any]:
        """Plain values: [kind, name, {attribute: value}]; undone by `from_json`."""
        return [self.kind, self.name, {a: _value_to_json(v) for a, v in self.attributes.items()}]

    @classmethod
    def from_json(cls, row: Any) -> Obj:
        """The object that `to_json` wrote; raises ValueFormError on anything else."""
        match row:
            case [str(kind), None | str() as name, dict(attributes)] if "name" not in attributes:
                return cls(kind, name=name, **{a: _value_from_json(v) for a, v in attributes.items()})
        raise ValueFormError(f"an object is [kind, name, attributes], got {row!r:.200}")

    def __repr__(self) -> str:
        name = f"[{self.name}]" if self.name is not None else ""
        inside = ", ".join(f"{a}={_show(v)}" for a, v in self.attributes.items())
        return f"{self.kind}{name}({inside})"


def _rebuild(kind: str, name: str | None, attributes: dict[str, Any]) -> Obj:
    return Obj(kind, name=name, **attributes)


def _show(value: Any) -> str:
    if isinstance(value, Obj):
        return f"@{value.name or value.kind}"
    return repr(value)


def _value_problem(value: Any, *, reference: bool) -> str | None:
    """What is wrong with an attribute value, or None."""
    if value is None or type(value) in (int, bool, str):
        return None
    if type(value) is float:
        return None if math.isfinite(value) else "a float must be finite"
    if isinstance(value, Ref | Obj):
        return None if reference else "a reference may not stand inside a tuple"
    if type(value) is tuple:
        for part in value:
            problem = _value_problem(part, reference=False)
            if problem:
                return problem
        return None
    return (
        f"expected int, float, bool, str, None, a tuple of these, or a reference, got {type(value).__name__}"
        " (convert numpy numbers with int())"
    )


def sort_key(value: Any) -> tuple[Any, ...]:
    """An order over all attribute values, whatever their types."""
    if value is None:
        return (0,)
    if isinstance(value, bool | int | float):
        return (1, value)
    if isinstance(value, str):
        return (2, value)
    if isinstance(value, tuple):
        return (3, tuple(sort_key(part) for part in value))
    if isinstance(value, Ref):
        return (4, isinstance(value.target, int), value.target)
    raise AssertionError(value)


Part = tuple[tuple[Any, ...], Obj, tuple[Any, ...]]
"""What a state needs to know of an object: its place in the canonical order, itself, its part of the key."""


def part_of_state(o: Obj, unnamed: Container[str] = ()) -> Part:
    """The part for an object; `unnamed` are its attributes that refer to objects without a name."""
    fields = sorted(o.attributes.items(), key=_first)
    values = tuple([(a, (5,) if a in unnamed else sort_key(value)) for a, value in fields])
    return (o.kind, o.name or "", values), o, (o.kind, o.name, tuple(fields))


_first = itemgetter(0)


class State:
    """An immutable set of objects, compared and hashed up to the renaming of objects that have no name.

    objects: in a canonical order, so that equal states list equal objects; references in it are `Ref`.

    Raises ValueFormError when two objects have one name or a reference has no target in the state.
    """

    __slots__ = ("_by_name", "_hash", "_key", "objects")

    objects: tuple[Obj, ...]

    def __init__(self, objects: Iterable[Obj] = ()) -> None:
        self.objects, self._key = _canonical(tuple(objects))
        self._hash: int | None = None
        self._by_name: dict[str, Obj] | None = None

    @classmethod
    def of_parts(
        cls, parts: list[Part], links: Sequence[tuple[Part, Mapping[str, Part]]] = ()
    ) -> State | None:
        """The state of objects that are known to be well-formed, made without looking into them.

        links: which parts refer to unnamed objects, by which attributes, to which. No two parts may hold the
        same Obj, or objects of one name. None if the order hangs on what refers to what.
        """
        parts.sort(key=_first)
        if links:
            place = {id(part): i for i, part in enumerate(parts)}
            involved = {place[id(part)] for one, out in links for part in (one, *out.values())}
            for i in involved:
                if any(0 <= j < len(parts) and parts[j][0] == parts[i][0] for j in (i - 1, i + 1)):
                    return None
            for one, out in links:
                o = one[1].replace(**{a: Ref(place[id(part)]) for a, part in out.items()})
                parts[place[id(one)]] = part_of_state(o)
        state = cls.__new__(cls)
        state.objects = tuple([part[1] for part in parts])
        state._key = tuple([part[2] for part in parts])
        state._hash = state._by_name = None
        return state

    def __getstate__(self) -> tuple[Any, ...]:
        return self.objects, self._key  # not the hash: another process has others

    def __setstate__(self, parts: tuple[Any, ...]) -> None:
        self.objects, self._key = parts
        self._hash = self._by_name = None

    def __deepcopy__(self, memo: Any) -> State:
        return self  # nothing in it changes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return self is other or (hash(self) == hash(other) and self._key == other._key)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self._key)
        return self._hash

    def __len__(self) -> int:
        return len(self.objects)

    def __iter__(self) -> Iterator[Obj]:
        return iter(self.objects)

    def all(self, kind: str) -> tuple[Obj, ...]:
        """Every object of a kind, in canonical order."""
        return tuple(o for o in self.objects if o.kind == kind)

    def one(self, kind: str) -> Obj:
        """The only object of a kind; raises ValueFormError when there is none or more than one."""
        found = self.all(kind)
        if len(found) != 1:
            raise ValueFormError(f"one({kind!r}): expected exactly one {kind}, found {len(found)}")
        return found[0]

    def at(self, x: Any, y: Any, kind: str | None = None) -> tuple[Obj, ...]:
        """The objects whose x and y are these, of one kind if given."""
        return tuple(
            o
            for o in self.objects
            if o.attributes.get("x") == x
            and o.attributes.get("y") == y
            and x is not None
            and (kind is None or o.kind == kind)
        )

    def named(self, name: str) -> Obj | None:
        """The object with this name, or None."""
        if self._by_name is None:
            self._by_name = {o.name: o for o in self.objects if o.name is not None}
        return self._by_name.get(name)

    def follow(self, ref: Ref) -> Obj:
        """The object a reference points to."""
        found = self.named(ref.target) if isinstance(ref.target, str) else self.objects[ref.target]
        if found is None:
            raise ValueFormError(f"{ref} points to no object of this state")
        return found

    def __repr__(self) -> str:
        return f"State({len(self.objects)} objects)"

    def __str__(self) -> str:
        """One line an object. A reference to an unnamed object reads `@i`, and line i is marked `#i`."""
        targets = {v.target for o in self.objects for v in o.attributes.values() if isinstance(v, Ref)}
        return "\n".join(f"{o!r} #{i}" if i in targets else repr(o) for i, o in enumerate(self.objects))

    def to_json(self) -> list[list[Any]]:
        """Plain lists and dicts: [[kind, name, {attribute: value}], ...]; undone by `from_json`."""
        return [o.to_json() for o in self.objects]

    @classmethod
    def from_json(cls, rows: Any) -> State:
        """The state that `to_json` wrote; raises ValueFormError on anything else."""
        if not isinstance(rows, list):
            raise ValueFormError(f"a state is a list of [kind, name, attributes], got {type(rows).__name__}")
        return cls([Obj.from_json(row) for row in rows])


def _value_to_json(value: Any) -> Any:
    if isinstance(value, Ref):
        return {"ref": value.target}
    if isinstance(value, tuple):
        return {"tuple": [_value_to_json(part) for part in value]}
    return value


def _value_from_json(value: Any) -> Any:
    if isinstance(value, dict):
        match value:
            case {"ref": (str() | int()) as target}:
                return Ref(target)
            case {"tuple": list(parts)}:
                return tuple(_value_from_json(part) for part in parts)
        raise ValueFormError(f"expected a value, {{'ref': ...}} or {{'tuple': [...]}}, got {value!r}")
    return value


# ── canonical order ──────────────────────────────────────────────────────────────────────────────────────


def _canonical(objects: tuple[Obj, ...]) -> tuple[tuple[Obj, ...], tuple[Any, ...]]:
    """Sort the objects so that isomorphic sets come out equal; returns them and the comparison key."""
    by_name: dict[str, int] = {}
    position: dict[int, int] = {}
    for i, o in enumerate(objects):
        if not isinstance(o, Obj):
            raise ValueFormError(f"a State holds Obj, got {type(o).__name__}: {o!r}")
        if id(o) in position:  # the same Obj listed twice is two equal objects only if nothing refers to it
            objects = (*objects[:i], Obj(o.kind, name=o.name, **o.attributes), *objects[i + 1 :])
            o = objects[i]
        position[id(o)] = i
        if o.name is not None:
            if o.name in by_name:
                raise ValueFormError(f"two objects have the name {o.name!r}; names are unique in a state")
            by_name[o.name] = i

    edges: list[dict[str, int]] = []  # references to unnamed objects, by position
    plain: list[tuple[Any, ...]] = []  # everything else, as a sort key
    for o in objects:
        out: dict[str, int] = {}
        fixed: list[tuple[Any, ...]] = []
        for attribute in sorted(o.attributes):
            value = o.attributes[attribute]
            if isinstance(value, Ref | Obj):
                target = _target(o, attribute, value, by_name, position, len(objects))
                name = objects[target].name
                if name is None:
                    out[attribute] = target
                    fixed.append((attribute, (5,)))
                else:
                    fixed.append((attribute, (4, False, name)))
            else:
                fixed.append((attribute, sort_key(value)))
        edges.append(out)
        plain.append((o.kind, o.name or "", tuple(fixed)))

    order = sorted(range(len(objects)), key=plain.__getitem__)
    if any(edges):
        order = break_ties(plain, edges, order)
    rank = {old: new for new, old in enumerate(order)}
    result = tuple(_resolved(objects[old], edges[old], rank, objects, by_name, position) for old in order)
    key = tuple(
        (o.kind, o.name, tuple(sorted(o.attributes.items(), key=lambda item: item[0]))) for o in result
    )
    return result, key


def _target(
    o: Obj, attribute: str, value: Ref | Obj, by_name: dict[str, int], position: dict[int, int], n: int
) -> int:
    if isinstance(value, Obj):
        if id(value) in position:
            return position[id(value)]
        if value.name is not None and value.name in by_name:
            return by_name[value.name]
    elif isinstance(value.target, str):
        if value.target in by_name:
            return by_name[value.target]
    elif 0 <= value.target < n:
        return value.target
    raise ValueFormError(
        f"{o.kind}.{attribute} refers to {_show(value)}, which is not in the state; add that object to it"
    )


def _resolved(
    o: Obj,
    out: dict[str, int],
    rank: dict[int, int],
    objects: tuple[Obj, ...],
    by_name: dict[str, int],
    position: dict[int, int],
) -> Obj:
    changes: dict[str, Any] = {a: Ref(rank[target]) for a, target in out.items()}
    for attribute, value in o.attributes.items():
        if attribute not in out and isinstance(value, Ref | Obj):
            target = _target(o, attribute, value, by_name, position, len(objects))
            changes[attribute] = Ref(objects[target].name or "")
    return o.replace(**changes) if changes else o


# ── actions and transitions ──────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Action:
    """What the agent can do: a name and arguments.

    args: str (an object's name or any word), int, bool or None.
    """

    name: str
    args: tuple[str | int | bool | None, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueFormError(f"an action's name is a non-empty str, got {self.name!r}")
        if type(self.args) is not tuple or not all(
            a is None or type(a) in (str, int, bool) for a in self.args
        ):
            raise ValueFormError(f"{self.name}: args is a tuple of str, int, bool or None, got {self.args!r}")

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.args))})" if self.args else self.name

    def to_json(self) -> list[Any]:
        return [self.name, *self.args]

    @classmethod
    def from_json(cls, row: Any) -> Action:
        if not isinstance(row, list) or not row:
            raise ValueFormError(f"an action is [name, argument, ...], got {row!r}")
        return cls(row[0], tuple(row[1:]))


@dataclass(frozen=True, slots=True)
class Transition:
    """One step in a world, under one goal.

    reward: as the environment gave it. done: the world ended the episode (not a time limit).
    """

    state: State
    goal: Goal
    action: Action
    next_state: State
    reward: float
    done: bool

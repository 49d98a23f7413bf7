"""What a test is about, in words: the action, and what is around the objects that it touches.

Two tests have the same context when the action is the same and its objects are of the same kinds, in the
same condition and in the same surroundings. Contexts are read off the states alone, in any world. Which
object acts, and in which direction an action points, is found in a sample of transitions: the actor is the
single object that changes most, a direction is what displacements agree on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from math import gcd
from typing import Any

from worldcoder.envs import Step
from worldcoder.world.difference import match
from worldcoder.world.drawing import cells_of
from worldcoder.world.values import Action, Obj, Ref, State

Case = tuple[State, Action, Step]
"""A state, an action, and what it led to."""

_AGREE = 0.9  # share of displacements that must point the same way
_FEW_VALUES = 8  # an attribute with more different numbers than this is a quantity, not a condition
_FEW_CHANGES = 4

_Vector = tuple[int, int]
_Change = tuple[Obj, str, _Vector | None]
"""An object, what changed of it in words, and how far it moved."""

_SIDES = ((0, -1), (1, 0), (0, 1), (-1, 0))


class Contexts:
    """Puts tests into contexts, by what a sample of transitions shows about a world.

    actor: the kind of which there is always one object and that changes most often; None if there is none.
    """

    def __init__(self, cases: Iterable[Case]) -> None:
        cases = list(cases)
        self.actor = _actor(cases)
        self._quantities = _quantities(cases)
        self._directions = _Directions(cases, self.actor)
        self._rewards = {step.reward for _, _, step in cases}
        self._cells: tuple[State | None, Mapping[_Vector, tuple[Obj, ...]]] = (None, {})

    def before(self, state: State, action: Action) -> str:
        """What can be said of a test before the action is tried."""
        subjects = self._subjects(state, action)
        if not subjects:
            return str(action)
        parts = [self._scene(state, o, self._directions.of(o, action, state)) for o in subjects]
        if len(subjects) > 1:
            parts += [_relation(subjects[0], other) for other in subjects[1:]]
        return f"{' '.join(_words(action, state))}: {'; '.join(p for p in parts if p)}"

    def of(self, state: State, action: Action, step: Step, predicted: State | None) -> tuple[str, ...]:
        """The contexts of a test: one for those who act, and one for each other object that it touches.

        An object is touched when it changed, or when the model predicts that it changes.
        """
        changes = _changes(state, step.state)
        summary = sorted({f"{o.kind} {what}" for o, what, _ in changes})
        if len(summary) > _FEW_CHANGES:
            summary = [*summary[:_FEW_CHANGES], "more"]
        outcome = [*(summary or ["nothing changes"]), *self._rewarded(step)]
        found = {f"{self.before(state, action)} → {', '.join(outcome)}": None}
        others = {id(o) for o in state} - {id(o) for o in self._subjects(state, action)}

        def add(said: str, changes: list[_Change]) -> None:
            for o, what, displacement in changes:
                if id(o) in others:
                    scene = self._scene(state, o, _unit(displacement))
                    found[f"{' '.join(_words(action, state))}: {scene} → {said}{what}"] = None

        add("", changes)
        if predicted is not None and predicted != step.state:
            add("predicted: ", _changes(state, predicted))
        return tuple(found)

    def _rewarded(self, step: Step) -> list[str]:
        if len(self._rewards) <= _FEW_VALUES:
            reward = f"reward {step.reward:g}"
        else:
            reward = f"reward {'above' if step.reward > 0 else 'below' if step.reward < 0 else 'of'} 0"
        return [reward, "the end"] if step.done else [reward]

    def _subjects(self, state: State, action: Action) -> list[Obj]:
        """Who acts, and whom the action names."""
        actors = state.all(self.actor) if self.actor is not None else ()
        named = [o for arg in action.args if isinstance(arg, str) and (o := state.named(arg)) is not None]
        return list({id(o): o for o in (*actors, *named)}.values())

    def _scene(self, state: State, o: Obj, direction: _Vector | None) -> str:
        """An object and what is around it: ahead where there is a direction, on all four sides where not."""
        text = self._condition(state, o)
        place = _place(o)
        if place is None:
            holders = sorted({f"{h.kind}.{a}" for h, a in _holders(state, o)})
            return f"{text} of {', '.join(holders)}" if holders else text
        if self._cells[0] is not state:
            self._cells = state, cells_of(state)
        cells = self._cells[1]
        x, y = place

        def cell(dx: int, dy: int) -> str:
            there = sorted(self._condition(state, p) for p in cells.get((x + dx, y + dy), ()) if p is not o)
            return " + ".join(there) or "nothing"

        here = cell(0, 0)
        if here != "nothing":
            text += f" on {here}"
        if direction is None:
            sides = Counter(cell(dx, dy) for dx, dy in _SIDES)
            return f"{text}, around {', '.join(f'{n}× {what}' for what, n in sorted(sides.items()))}"
        dx, dy = direction
        return f"{text}, ahead {cell(dx, dy)}, then {cell(2 * dx, 2 * dy)}"

    def _condition(self, state: State, o: Obj, *, follow: bool = True) -> str:
        """Kind and attributes; places and quantities aside, and references as what they refer to."""
        values = []
        for attribute, value in o.attributes.items():
            if attribute in ("x", "y"):
                continue
            if isinstance(value, Ref):
                value = self._condition(state, state.follow(value), follow=False) if follow else "…"
            elif (o.kind, attribute) in self._quantities:
                continue
            values.append(f"{attribute}={value}")
        return f"{o.kind}({', '.join(values)})" if values else o.kind


def _words(action: Action, state: State) -> list[str]:
    """The action's name and its arguments; objects by their kinds."""
    words = [action.name]
    for arg in action.args:
        target = state.named(arg) if isinstance(arg, str) else None
        words.append(str(arg) if target is None else target.kind)
    return words


def _relation(one: Obj, other: Obj) -> str:
    """How far an object that the action names is from the one that acts."""
    apart = _displacement(one, other)
    if apart is None:
        return ""
    distance = abs(apart[0]) + abs(apart[1])
    return f"{other.kind} is {'here' if distance == 0 else 'beside' if distance == 1 else 'elsewhere'}"


def _holders(state: State, o: Obj) -> list[tuple[Obj, str]]:
    """Who refers to an object, and by which attribute."""
    return [
        (h, a) for h in state for a, v in h.attributes.items() if isinstance(v, Ref) and state.follow(v) is o
    ]


def _changes(before: State, after: State) -> list[_Change]:
    """Every object that is not afterwards what it was, those that come included."""
    if before == after:
        return []
    became = match(before, after)
    result: list[_Change] = []
    for o, j in zip(before.objects, became, strict=True):
        if j is None:
            result.append((o, "goes", None))
            continue
        new = after.objects[j]
        changed = [
            a
            for a in {**o.attributes, **new.attributes}
            if not _same(o.attributes.get(a), new.attributes.get(a), became)
        ]
        if new.kind != o.kind:
            changed.append(f"becomes {new.kind}")
        if changed:
            places = [a for a in changed if a in ("x", "y")]
            rest = sorted(a for a in changed if a not in ("x", "y"))
            result.append((o, " and ".join((["moves"] if places else []) + rest), _displacement(o, new)))
    came = set(range(len(after.objects))) - {j for j in became if j is not None}
    result.extend((after.objects[j], "comes", None) for j in sorted(came))
    return result


def _same(old: Any, new: Any, became: tuple[int | None, ...]) -> bool:
    if isinstance(old, Ref) and isinstance(new, Ref) and isinstance(old.target, int):
        return became[old.target] == new.target
    return bool(old == new)


def _displacement(old: Obj, new: Obj) -> _Vector | None:
    """From one place to the other; None where one of them is nowhere."""
    one, other = _place(old), _place(new)
    return None if one is None or other is None else (other[0] - one[0], other[1] - one[1])


def _place(o: Obj) -> _Vector | None:
    x, y = o.attributes.get("x"), o.attributes.get("y")
    return (x, y) if type(x) is int and type(y) is int else None


def _unit(vector: _Vector | None) -> _Vector | None:
    """The direction of a displacement, so that far and near agree."""
    if vector is None or vector == (0, 0):
        return None
    n = gcd(*vector)
    return vector[0] // n, vector[1] // n


# ── what a sample of transitions shows ───────────────────────────────────────────────────────────────────


def _actor(cases: list[Case]) -> str | None:
    single: set[str] | None = None
    changed: Counter[str] = Counter()
    for state, _, step in cases:
        counts = Counter(o.kind for o in state)
        alone = {kind for kind, n in counts.items() if n == 1}
        single = alone if single is None else single & alone
        changed.update({o.kind for o, _, _ in _changes(state, step.state)})
    most = [(n, kind) for kind, n in changed.items() if kind in (single or ())]
    return max(most)[1] if most else None


def _quantities(cases: list[Case]) -> set[tuple[str, str]]:
    """The attributes with too many different numbers to tell conditions apart by."""
    values: defaultdict[tuple[str, str], set[Any]] = defaultdict(set)
    for state, _, _ in cases:
        for o in state:
            for attribute, value in o.attributes.items():
                if isinstance(value, int | float | tuple):
                    values[o.kind, attribute].add(value)
    return {key for key, seen in values.items() if len(seen) > _FEW_VALUES}


class _Directions:
    """Where an object's action points: what its displacements agree on, given some words or attributes."""

    def __init__(self, cases: list[Case], actor: str | None) -> None:
        moves: list[tuple[Obj, Action, State, _Vector]] = []
        for state, action, step in cases:
            for o, _, displacement in _changes(state, step.state):
                vector = _unit(displacement)
                if vector is not None and (o.kind == actor or (o.name is not None and o.name in action.args)):
                    moves.append((o, action, state, vector))
        kinds = sorted({o.kind for o, *_ in moves})
        self._tables = {kind: self._learn([m for m in moves if m[0].kind == kind]) for kind in kinds}

    def _learn(
        self, moves: list[tuple[Obj, Action, State, _Vector]]
    ) -> tuple[_Key, dict[Any, _Vector]] | None:
        """The first key for which the moves agree: the action's words, an attribute, or both together."""
        attributes = sorted({a for o, *_ in moves for a, v in o.attributes.items() if not isinstance(v, Ref)})
        attributes = [a for a in attributes if a not in ("x", "y")]
        keys = [_by_words, *(_by_attribute(a) for a in attributes), *(_by_both(a) for a in attributes)]
        for key in keys:
            table: defaultdict[Any, Counter[_Vector]] = defaultdict(Counter)
            for o, action, state, vector in moves:
                table[key(o, action, state)][vector] += 1
            agreed = sum(counts.most_common(1)[0][1] for counts in table.values())
            if agreed >= _AGREE * len(moves):
                return key, {k: counts.most_common(1)[0][0] for k, counts in table.items()}
        return None

    def of(self, o: Obj, action: Action, state: State) -> _Vector | None:
        """The direction, or None where none is known."""
        learned = self._tables.get(o.kind)
        if learned is None:
            return None
        key, table = learned
        return table.get(key(o, action, state))


_Key = Callable[[Obj, Action, State], Any]


def _by_words(o: Obj, action: Action, state: State) -> Any:
    return tuple(_words(action, state))


def _by_attribute(attribute: str) -> _Key:
    return lambda o, action, state: o.attributes.get(attribute)


def _by_both(attribute: str) -> _Key:
    return lambda o, action, state: (_by_words(o, action, state), o.attributes.get(attribute))

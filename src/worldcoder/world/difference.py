"""What differs between two states: which object became which, and the change in words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from worldcoder.world.values import Obj, Ref, State


@lru_cache(maxsize=20_000)
def match(before: State, after: State) -> tuple[int | None, ...]:
    """For each object of `before`, the index in `after.objects` of what it became, or None if it is gone.

    Objects with names are matched by name. The others are matched within their kind: first those that did not
    change, then the pairs that changed least, smallest change first; then partners are exchanged as long as that
    makes less of it all together, so that of a row that moved on each is taken to have moved one
    step, and not the last to have jumped ahead. What is left over on both sides at one place, with the same
    attributes, has changed its kind.
    """
    result: list[int | None] = [None] * len(before.objects)
    free: dict[str, list[int]] = {}
    names: dict[str, int] = {}
    for j, o in enumerate(after.objects):
        if o.name is not None:
            names[o.name] = j
        else:
            free.setdefault(o.kind, []).append(j)
    rest: dict[str, list[int]] = {}
    unchanged: dict[tuple[object, ...], list[int]] = {}
    for indices in free.values():
        for j in reversed(indices):
            unchanged.setdefault(_look(after.objects[j]), []).append(j)
    taken: set[int] = set()
    for i, o in enumerate(before.objects):
        if o.name is not None:
            result[i] = names.get(o.name)
            continue
        same = unchanged.get(_look(o))
        if same:
            result[i] = same.pop()
            taken.add(result[i])  # type: ignore[arg-type]
        else:
            rest.setdefault(o.kind, []).append(i)
    for kind, sources in rest.items():
        targets = [j for j in free.get(kind, ()) if j not in taken]
        pairs = sorted(
            (_distance(before.objects[i], after.objects[j]), i, j) for i in sources for j in targets
        )
        used: set[int] = set()
        for _, i, j in pairs:
            if result[i] is None and j not in used:
                result[i] = j
                used.add(j)
                taken.add(j)
        _exchange(before, after, result, kind)
    left = [j for indices in free.values() for j in indices if j not in taken]
    if left:
        for i, o in enumerate(before.objects):
            if result[i] is None and o.name is None:
                for j in left:
                    new = after.objects[j]
                    if (
                        new.attributes.keys() == o.attributes.keys()
                        and _placed(new) == _placed(o) is not None
                    ):
                        result[i] = j
                        left.remove(j)
                        break
    return tuple(result)


def _exchange(before: State, after: State, result: list[int | None], kind: str) -> None:
    """Exchange partners so that the sum of the changes is least."""
    paired = {
        i: j
        for i, o in enumerate(before.objects)
        if o.kind == kind and o.name is None and (j := result[i]) is not None
    }
    change = {i: _distance(before.objects[i], after.objects[j]) for i, j in paired.items()}
    far = [i for i, much in change.items() if much]
    if not far:
        return
    involved = [
        i
        for i, j in paired.items()
        if change[i] or any(_distance(before.objects[f], after.objects[j]) < change[f] for f in far)
    ]
    if not 1 < len(involved) <= _MOST_EXCHANGED:
        return
    targets = [paired[i] for i in involved]
    costs = [[_distance(before.objects[i], after.objects[j]) for j in targets] for i in involved]
    for i, n in zip(involved, assignment(costs), strict=True):
        result[i] = targets[n]


def assignment(costs: list[list[float]]) -> list[int]:
    """For each row of a square table a column of its own, so that the sum is least (Kuhn 1955, with potentials)."""
    size = len(costs)
    row_price, column_price = [0.0] * (size + 1), [0.0] * (size + 1)
    row_of = [size] * (size + 1)  # by column; the last one stands for none
    for row in range(size):
        row_of[size], column = row, size
        least, came_from = [float("inf")] * size, [size] * size
        done = [False] * (size + 1)
        while row_of[column] != size or column == size:
            done[column] = True
            r, best, following = row_of[column], float("inf"), size
            for c in range(size):
                if not done[c]:
                    price = costs[r][c] - row_price[r] - column_price[c]
                    if price < least[c]:
                        least[c], came_from[c] = price, column
                    if least[c] < best:
                        best, following = least[c], c
            for c in range(size + 1):
                if done[c]:
                    row_price[row_of[c]] += best
                    column_price[c] -= best
                elif c < size:
                    least[c] -= best
            column = following
        while column != size:
            row_of[column] = row_of[came_from[column]]
            column = came_from[column]
    found = [0] * size
    for column in range(size):
        found[row_of[column]] = column
    return found


_MOST_EXCHANGED = 16
"""Objects of a kind among which partners are exchanged; where more change at once, the first guess has to do."""


def _placed(o: Obj) -> tuple[object, object] | None:
    x, y = o.attributes.get("x"), o.attributes.get("y")
    return None if x is None or y is None else (x, y)


def _look(o: Obj) -> tuple[object, ...]:
    """What an object looks like, references aside."""
    return (o.kind, *((a, None if isinstance(v, Ref) else v) for a, v in sorted(o.attributes.items())))


def _distance(a: Obj, b: Obj) -> float:
    """How much changed: a flag is least, a step a little more, then another attribute, or another named object that
    is referred to; a leap is much, however far, and aslant more than in a row or column, where it may be the way round.

    So of two lamps side by side that are both switched, neither is taken for the other that came over.
    """
    total, across = 0.0, []
    for attribute in {*a.attributes, *b.attributes}:
        old, new = a.attributes.get(attribute), b.attributes.get(attribute)
        if old == new or (isinstance(old, Ref) and isinstance(new, Ref) and not _named(old, new)):
            continue
        if attribute in ("x", "y") and isinstance(old, int) and isinstance(new, int):
            across.append(abs(old - new))
        else:
            total += 0.9 if isinstance(old, bool) and isinstance(new, bool) else 1.2
    if across:
        total += (
            (1.0 if len(across) == 1 else 2.2)
            if max(across) == 1
            else 5.7 + 0.3 * len(across) + 0.1 * sum(across)
        )
    return total


def _named(*references: Ref) -> bool:
    """Whether what is referred to has names: other numbers may be the same objects."""
    return all(isinstance(one.target, str) for one in references)


def describe_change(before: State, after: State) -> list[str]:
    """The difference in words, one line an object that changed, came or went; empty when equal."""
    if before == after:
        return []
    became = match(before, after)
    lines = []
    for i, j in enumerate(became):
        o = before.objects[i]
        if j is None:
            lines.append(f"{_label(o)} is gone")
            continue
        new = after.objects[j]
        parts = []
        if new.kind != o.kind:
            parts.append(f"becomes a {new.kind}")
        for attribute in dict.fromkeys((*o.attributes, *new.attributes)):
            old_value, new_value = o.attributes.get(attribute), new.attributes.get(attribute)
            if _same_value(old_value, new_value, became):
                continue
            parts.append(f"{attribute} {_word(before, old_value)} → {_word(after, new_value)}")
        if parts:
            lines.append(f"{_label(o)}: {', '.join(parts)}")
    came = set(range(len(after.objects))) - {j for j in became if j is not None}
    lines.extend(f"{_label(after.objects[j])} appears" for j in sorted(came))
    return lines


def _same_value(old: object, new: object, became: Sequence[int | None]) -> bool:
    if isinstance(old, Ref) and isinstance(new, Ref) and isinstance(old.target, int):
        return became[old.target] == new.target
    return old == new


def _label(o: Obj) -> str:
    place = f" at ({o.attributes['x']}, {o.attributes['y']})" if {"x", "y"} <= set(o.attributes) else ""
    return f"{o.kind} {o.name}" if o.name else f"{o.kind}{place}"


def _word(state: State, value: object) -> str:
    return _label(state.follow(value)) if isinstance(value, Ref) else repr(value)

"""Recorded steps as text: what never changes once, each step with what there was, what was done and what changed.

A *scene* is what never changes, such as the ground of one level; it is written once and has a letter. A step
lists the rest of its state, or how that differs from an earlier step of the scene where that is shorter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from worldcoder.llm.tokens import count_tokens
from worldcoder.synthesis.llm.words import letters
from worldcoder.world.difference import describe_change
from worldcoder.world.values import Action, Obj, Ref, State, Transition

Row = tuple[str, tuple[str, ...], str]
"""An object as it is listed: its kind, what its attributes are called, their values."""

MANY = 12
"""Objects of a state from which on it is tried to write it as the difference from another one."""
NEAR = 2
"""How far from what changes the ground is shown, where a scene is too large to be shown as a whole."""


@dataclass(frozen=True)
class Example:
    """A step to be shown.

    said: what a program says of it, in words; empty where nobody asks. index: in the data; -1: it was only imagined,
    and what really happens there is not known.
    """

    state: State
    action: Action
    next_state: State | None
    reward: float | None = None
    done: bool | None = None
    said: str = ""
    index: int = -1

    @classmethod
    def of(cls, transition: Transition, index: int, *, said: str = "", rewards: bool = False) -> Example:
        """A recorded step. rewards: whether its reward is shown."""
        t = transition
        reward, done = (t.reward, t.done) if rewards else (None, None)
        return cls(t.state, t.action, t.next_state, reward, done, said, index)


@lru_cache(maxsize=20_000)
def changes(before: State, after: State) -> str:
    """What changes from one state to another, in words."""
    return "; ".join(describe_change(before, after)) or "nothing changes"


def outcome(reward: float, done: bool) -> str:
    """A reward and an end, in words."""
    return f"reward {reward:g}, {'the episode ends' if done else 'the episode goes on'}"


def changed_kinds(before: State, after: State) -> set[str]:
    """The kinds of the objects that are in one of two states and not in the other."""
    old, new = ({(o.kind, o.name, tuple(o.attributes.items())): o.kind for o in s} for s in (before, after))
    return {kind for key, kind in [*old.items(), *new.items()] if key not in old or key not in new}


def rows_of(state: State, objects: Iterable[Obj]) -> list[Row]:
    """Objects of a state, as they are listed."""
    found = []
    for o in objects:
        names = (*(("name",) if o.name is not None else ()), *o.attributes)
        values = [
            *((o.name,) if o.name is not None else ()),
            *(_value(state, v) for v in o.attributes.values()),
        ]
        found.append((o.kind, names, f"({', '.join(values)})"))
    return found


def _value(state: State, value: object) -> str:
    if not isinstance(value, Ref):
        return repr(value)
    target = state.follow(value)
    if target.name is not None:
        return f"the {target.kind} {target.name}"
    place = target.attributes.get("x"), target.attributes.get("y")
    return f"the {target.kind}" if None in place else f"the {target.kind} at ({place[0]}, {place[1]})"


def listing(rows: Sequence[Row]) -> list[str]:
    """Rows as lines, one for each kind."""
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for kind, names, values in rows:
        groups.setdefault((kind, names), []).append(values)
    return [
        f"  {kind} ({', '.join(names)}): {' '.join(values)}" if names else f"  {kind}: {len(values)}"
        for (kind, names), values in groups.items()
    ] or ["  nothing"]


@dataclass
class Album:
    """Writes steps, as many as fit.

    moving: the kinds that were seen to change; all others are ground. tokens: how many the text may have.
    """

    moving: frozenset[str]
    tokens: int
    parts: list[str] = field(default_factory=list)
    shown: list[int] = field(default_factory=list)
    used: int = 0
    _scenes: dict[tuple[Row, ...], tuple[str, list[tuple[int, State]]]] = field(default_factory=dict)
    _known: set[tuple[State, Action]] = field(default_factory=set)

    def add(self, example: Example) -> bool:
        """Show a step; False if it is shown already or does not fit."""
        key = example.state, example.action
        if key in self._known:
            return False
        for whole in (True, False):
            scene, text = self._text(example, whole)
            need = count_tokens(text) + 2
            if self.used + need <= self.tokens:
                self._known.add(key)
                self.shown.append(example.index)
                self.used += need
                self.parts.append(text)
                if scene is not None:
                    _, states = self._scenes.setdefault(scene, (letters(len(self._scenes)), []))
                    states.append((len(self._known), example.state))
                return True
        return False

    def start(self, state: State) -> str:
        """A state on its own, which later steps can be compared with; empty if it does not fit."""
        scene, text = self._state_text(state, "The start")
        need = count_tokens(text) + 2
        if self.used + need > self.tokens:
            return ""
        self.used += need
        _, states = self._scenes.setdefault(scene, (letters(len(self._scenes)), []))
        states.append((0, state))
        return text

    @property
    def text(self) -> str:
        return "\n\n".join(self.parts)

    def _text(self, example: Example, whole: bool) -> tuple[tuple[Row, ...] | None, str]:
        title = f"Step {len(self._known) + 1}"
        if whole:
            scene, head = self._state_text(example.state, title)
        else:
            scene, head = None, self._near_text(example, title)
        lines = [head, f"Action: {example.action}"]
        if example.next_state is not None:
            lines.append(f"What happened: {changes(example.state, example.next_state)}")
        else:
            lines.append("What happens is not known; this was only tried in imagination.")
        if example.reward is not None and example.done is not None:
            lines.append(f"What it gave: {outcome(example.reward, example.done)}")
        if example.said:
            lines.append(f"Your program says: {example.said}")
        return scene, "\n".join(lines)

    def _state_text(self, state: State, title: str) -> tuple[tuple[Row, ...], str]:
        """A state, and its scene before it where that was not shown yet."""
        scene = tuple(rows_of(state, (o for o in state if o.kind not in self.moving)))
        rows = rows_of(state, (o for o in state if o.kind in self.moving))
        known = self._scenes.get(scene)
        letter = letters(len(self._scenes)) if known is None else known[0]
        lines = []
        if known is None and scene:
            lines = [f"Scene {letter}:", *listing(scene), ""]
        where = f"{title}, in scene {letter}" if scene else title
        body = [f"{where}, with", *listing(rows)]
        if known is not None and len(rows) > MANY:
            number, other = known[1][0]
            name = f"step {number}" if number else "the start"
            short = [f"{where}, as in {name}, but for this: {changes(other, state)}"]
            body = min(body, short, key=lambda text: len("\n".join(text)))
        return scene, "\n".join([*lines, *body])

    def _near_text(self, example: Example, title: str) -> str:
        """A state too large to be shown: what changes in it, and what is near."""
        state, after = example.state, example.next_state
        kinds = set(self.moving) if after is None else changed_kinds(state, after) or set(self.moving)
        counts: dict[str, int] = {}
        for o in state:
            counts[o.kind] = counts.get(o.kind, 0) + 1
        few = {k for k in kinds if counts.get(k, 0) <= MANY}
        spots = {(o.attributes.get("x"), o.attributes.get("y")) for o in state if o.kind in few}
        near = [o for o in state if o.kind in few or _is_near(o, spots)]
        head = f"{title}, in a large scene of which only what is near is shown, with"
        return "\n".join([head, *listing(rows_of(state, near))])


def _is_near(o: Obj, spots: set[tuple[object, object]]) -> bool:
    x, y = o.attributes.get("x"), o.attributes.get("y")
    if not isinstance(x, int) or not isinstance(y, int):
        return False
    return any((x + dx, y + dy) in spots for dx in range(-NEAR, NEAR + 1) for dy in range(-NEAR, NEAR + 1))

"""What is handed on from one run to the next: a model, and the data that it was learned from.

    runs/keys/model/   transition.py, reward.py, model.json   the programs (see `saving.py`)
                       data.json                              the episodes: starts, goals, what each action led to

The data are the regression set of whoever goes on with the model: what held of them has to hold in the next world.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from worldcoder.errors import ModelFormatError, ValueFormError
from worldcoder.programs.model import WorldModel
from worldcoder.programs.program import Program
from worldcoder.world.values import Action, Goal, State, Transition

FORMAT = 1


@dataclass(frozen=True)
class Episode:
    """A start, its goal, and what was done from there. world: the environment, as it is named."""

    world: str
    goal: Goal
    start: State
    transitions: tuple[Transition, ...]


@dataclass(frozen=True)
class Knowledge:
    """A model, and what it was learned from.

    model: None where nothing was written yet. episodes: none for a model that somebody wrote.
    """

    model: WorldModel | None = None
    episodes: tuple[Episode, ...] = ()

    @property
    def transitions(self) -> list[Transition]:
        """All of them, in the order in which they happened."""
        return list(chain.from_iterable(episode.transitions for episode in self.episodes))

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions that were taken, in the order in which they came up."""
        return tuple(dict.fromkeys(t.action for t in self.transitions))

    @property
    def worlds(self) -> tuple[str, ...]:
        """The environments, as they are named, in the order in which they came up."""
        return tuple(dict.fromkeys(episode.world for episode in self.episodes))

    @property
    def solved_goals(self) -> set[Goal]:
        """The goals under which an episode ended with a reward."""
        return {t.goal for t in self.transitions if t.done and t.reward > 0}

    def with_episodes(self, *more: Episode, model: WorldModel | None = None) -> Knowledge:
        """The same with more data, and another model if one is given."""
        return Knowledge(model or self.model, (*self.episodes, *more))

    # ── is it about this world? ──────────────────────────────────────────────────────────────────────────

    def foreign(self, state: State, actions: Sequence[Action]) -> str | None:
        """How a world differs so that nothing known can be of use in it; None where it is of this kind.

        Kinds that are new, or missing, are no difference, nor are actions that are only more or fewer. state,
        actions: of a start of that world.
        """
        if not self.episodes:
            return None  # somebody wrote the model, and alone knows what it is about
        known, given = ({a.name for a in some} for some in (self.actions, actions))
        if not (known <= given or given <= known):
            return f"its actions are {_listed(given)}, those known {_listed(known)}"
        shapes, here = self.shapes(), shapes_of([state])
        both = [kind for kind in here if kind in shapes]
        if not both:
            return f"its kinds are {_listed(here)}, those known {_listed(shapes)}"
        for kind in both:
            if not here[kind] & shapes[kind]:
                now, then = (_listed(min(of[kind], key=sorted)) for of in (here, shapes))
                return f"a {kind} has {now}; where the model was learned it had {then}"
        return None

    def shapes(self) -> dict[str, set[frozenset[str]]]:
        """Each kind that was met, with the attributes that objects of it had."""
        starts = (episode.start for episode in self.episodes)
        return shapes_of(chain(starts, (t.next_state for t in self.transitions)))

    # ── as JSON ──────────────────────────────────────────────────────────────────────────────────────────

    def data_to_json(self) -> dict[str, Any]:
        """The data as plain values; objects and states are written once each, and then go by numbers."""
        objects: dict[str, int] = {}
        rows: list[Any] = []
        states: dict[tuple[int, ...], int] = {}

        def number(state: State) -> int:
            found = []
            for row in state.to_json():
                key = repr(row)
                if key not in objects:
                    objects[key] = len(rows)
                    rows.append(row)
                found.append(objects[key])
            return states.setdefault(tuple(found), len(states))

        episodes = [
            {
                "world": e.world,
                "goal": e.goal,
                "start": number(e.start),
                "steps": [
                    [t.action.to_json(), number(t.next_state), t.reward, t.done] for t in e.transitions
                ],
            }
            for e in self.episodes
        ]
        return {
            "format": FORMAT,
            "objects": rows,
            "states": [list(s) for s in states],
            "episodes": episodes,
        }

    @classmethod
    def data_from_json(cls, values: Any, model: WorldModel | None = None) -> Knowledge:
        """What `data_to_json` wrote, with a model. Raises ModelFormatError for anything else."""
        try:
            if values["format"] != FORMAT:
                raise ModelFormatError(
                    f"the data have format {values['format']!r}, this version reads {FORMAT}; update worldcoder"
                )
            rows = values["objects"]
            states = [State.from_json([rows[i] for i in numbers]) for numbers in values["states"]]
            return cls(model, tuple(_episode(row, states) for row in values["episodes"]))
        except (KeyError, TypeError, IndexError, ValueError, ValueFormError) as error:
            raise ModelFormatError(f"the data are not as they were written: {error!r:.200}") from None

    def to_json(self) -> dict[str, Any]:
        """Model and data as plain values."""
        programs = None
        if self.model is not None:
            every = (self.model.transition, *self.model.rewards.values())
            programs = [[p.source, p.kind, p.goal, p.origin, p.parent, p.comment, p.order] for p in every]
        return {"programs": programs, "data": self.data_to_json()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Knowledge:
        """What `to_json` wrote. Raises ModelFormatError for anything else."""
        model = None
        if values["programs"] is not None:
            transition, *rewards = map(_program, values["programs"])
            model = WorldModel(transition, {str(p.goal): p for p in rewards})
        return cls.data_from_json(values["data"], model)


def _program(row: Sequence[Any]) -> Program:
    source, kind, goal, origin, parent, comment, *order = row
    return Program(source, kind, goal, origin, parent, comment, tuple(map(tuple, order[0])) if order else ())


def _episode(row: Mapping[str, Any], states: Sequence[State]) -> Episode:
    goal, start = row["goal"], states[row["start"]]
    transitions, state = [], start
    for action, after, reward, done in row["steps"]:
        next_state = states[after]
        transitions.append(
            Transition(state, goal, Action.from_json(action), next_state, float(reward), bool(done))
        )
        state = next_state
    return Episode(row["world"], goal, start, tuple(transitions))


def shapes_of(states: Iterable[State]) -> dict[str, set[frozenset[str]]]:
    """The kinds in some states, each with the attributes that objects of it have."""
    found: dict[str, set[frozenset[str]]] = {}
    for kind, attributes in _shapes(states):
        found.setdefault(kind, set()).add(attributes)
    return found


def _shapes(states: Iterable[State]) -> Iterator[tuple[str, frozenset[str]]]:
    for state in states:
        yield from ((o.kind, frozenset(o.attributes)) for o in state.objects)


def _listed(names: Iterable[str]) -> str:
    """Some names in a line, not too many."""
    some = sorted(names)
    return ", ".join(some[:8]) + (", …" if len(some) > 8 else "") if some else "none"

"""A kitchen: doors, a tap, an oven, food to clean, slice, heat and cool.

There is no grid. Food, a Tomato, Potato or Carrot, and the Knife are `kept_in` the Fridge, the Oven, the Cupboard,
the Sink or the Table, for which the goal says "on"; that is None for what the Cook is `holding`. Fridge, oven and
cupboard are `open` or not, oven and sink are `running` or not. What can be done in a state, and what it does:

  open(place)          one that has a door and is not open. The oven stops running.
  close(place)         one that is open.
  toggle(place)        the sink, or the oven if it is not open: it runs if it did not, and stops if it ran.
  take(thing)          food or the knife: with empty hands, from a place without a door or with an open one.
  put(thing, place)    what is held, to such a place. Sink and oven have room for one thing only.
  clean(thing, sink)   what is in the sink while that is running, if it is not sliced: it is `clean`.
  slice(food, knife)   food on the table that is not sliced, with the Knife in hand: it is `sliced`. If the Knife
                       was not clean, the food is no longer clean either; the Knife never is afterwards.
  heat(food, oven)     food in the oven while that is running: its `warmth` is "hot". If it was hot already it is
                       "burnt": the episode ends in failure, with -1.
  cool(food, fridge)   food in the fridge while that is not open: its `warmth` is "cold".

Nothing else changes by itself: what is hot stays hot. The goal is a sentence, "put a clean sliced tomato in the
fridge": as soon as any thing of that kind is all that, and kept in that place, the episode ends, which gives 1.
The words are hot, cold, clean and sliced; what the sentence does not say does not matter.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, NamedTuple

from worldcoder.envs.lab.base import LabWorld, Outcome, thing
from worldcoder.world.values import Action, Goal, Obj, Ref, State

_PLACES = {"fridge": "Fridge", "oven": "Oven", "cupboard": "Cupboard", "sink": "Sink", "table": "Table"}
_DOORS = ("fridge", "oven", "cupboard")
_SWITCHED = ("oven", "sink")
_FOODS = ("Tomato", "Potato", "Carrot")


class Thing(NamedTuple):
    """Food, or the knife, which has no warmth and is never sliced."""

    name: str
    kind: str
    kept_in: str | None
    clean: bool = False
    sliced: bool = False
    warmth: str = "mild"


class Task(NamedTuple):
    """What the goal asks for: a kind of food, what it should be, and where."""

    kind: str
    words: tuple[str, ...]
    place: str

    def __str__(self) -> str:
        preposition = "on" if self.place == "table" else "in"
        return f"put a {' '.join((*self.words, self.kind.lower()))} {preposition} the {self.place}"

    def met_by(self, it: Thing) -> bool:
        """Whether a thing is what was asked for."""
        words = {it.warmth, "clean" if it.clean else "", "sliced" if it.sliced else ""}
        return it.kind == self.kind and it.kept_in == self.place and words >= set(self.words)


class Room(NamedTuple):
    """What is open, what is running, and the things."""

    task: Task
    open: frozenset[str]
    running: frozenset[str]
    things: tuple[Thing, ...]


class Kitchen(LabWorld[Room]):
    """A kitchen; see the module for the rules."""

    world = "kitchen"
    glyphs: ClassVar = {
        "Cook": "@", "Fridge": "F", "Oven": "O", "Cupboard": "C", "Sink": "S", "Table": "T",
        "Knife": "k", "Tomato": "t", "Potato": "p", "Carrot": "c",
    }  # fmt: skip
    lengths = range(5, 15)

    def actions(self, state: State) -> Sequence[Action]:
        """What can be done in a state."""
        places = [o for o in state if o.name in _PLACES]
        things = tuple(
            Thing(o.name, o.kind, o.kept_in and o.kept_in.target, o.clean, o.attributes.get("sliced", False))
            for o in state
            if "kept_in" in o.attributes and o.name
        )
        opened = frozenset(o.name or "" for o in places if o.attributes.get("open"))
        running = frozenset(o.name or "" for o in places if o.attributes.get("running"))
        return list(_choices(opened, running, things))

    def offered(self, now: Room) -> Sequence[Action]:
        """What can be done in a situation."""
        return list(_choices(now.open, now.running, now.things))

    def tried(self, now: Room) -> Sequence[Action]:
        """What can be done and may help, for there is much else."""
        words = {*now.task.words, now.task.place}
        tools = {"sliced": ["knife", "table", "sink"], "clean": ["sink"], "hot": ["oven"], "cold": ["fridge"]}
        names = {"table", now.task.place, *(name for word in words for name in tools.get(word, ()))}
        wanted = [it for it in now.things if it.kind == now.task.kind or it.name in names]
        names |= {it.name for it in wanted} | {it.kept_in for it in wanted if it.kept_in}
        return [a for a in self.offered(now) if names.issuperset(map(str, a.args))]

    def goal_of(self, level: Room) -> Goal:
        """The sentence of the task."""
        return str(level.task)

    def after(self, now: Room, action: Action) -> Outcome[Room]:
        """The rules."""
        name, what = action.name, str(action.args[0])
        if name == "open":
            new = now._replace(open=now.open | {what}, running=now.running - {what})
        elif name == "close":
            new = now._replace(open=now.open - {what})
        elif name == "toggle":
            new = now._replace(running=now.running ^ {what})
        else:
            new = now._replace(things=tuple(_changed(it, now, action) for it in now.things))
        if any(it.warmth == "burnt" for it in new.things):
            return Outcome(new, -1.0, True)
        done = any(map(now.task.met_by, new.things))
        return Outcome(new, float(done), done)

    def objects(self, now: Room) -> Iterator[Obj]:
        """The cook, the places and the things."""
        held = next((it.name for it in now.things if it.kept_in is None), None)
        yield thing("Cook", name="cook", holding=held and Ref(held))
        for name, kind in _PLACES.items():
            has = {"open": name in now.open} if name in _DOORS else {}
            has |= {"running": name in now.running} if name in _SWITCHED else {}
            yield thing(kind, name=name, **has)
        for it in now.things:
            food = {} if it.kind == "Knife" else {"sliced": it.sliced, "warmth": it.warmth}
            yield thing(it.kind, name=it.name, kept_in=it.kept_in and Ref(it.kept_in), clean=it.clean, **food)

    def draft(self, rng: random.Random) -> Room | None:
        """Some food and a knife, here and there, and something to do with them."""
        kinds = [rng.choice(_FOODS) for _ in range(rng.randint(3, 4))]
        words = sorted(rng.sample(["clean", "cold", "hot", "sliced"], rng.randint(1, 3)))
        task = Task(kinds[0], tuple(words), rng.choice(["fridge", "cupboard", "table"]))
        if {"hot", "cold"} <= set(words):
            return None
        things = [Thing("knife", "Knife", rng.choice(["table", "cupboard", "sink"]), rng.random() < 0.5)]
        for kind in kinds:
            number = sum(it.kind == kind for it in things) + 1
            place, clean = rng.choice(["fridge", "cupboard", "table"]), rng.random() < 0.2
            things.append(Thing(f"{kind.lower()} {number}", kind, place, clean))
        opened = frozenset(door for door in _DOORS if rng.random() < 0.3)
        return Room(task, opened, frozenset(["sink"] if rng.random() < 0.3 else []), tuple(things))


def _choices(opened: frozenset[str], running: frozenset[str], things: Iterable[Thing]) -> Iterator[Action]:
    """What can be done, in a fixed order."""
    things = sorted(things)
    usable = [name for name in _PLACES if name not in _DOORS or name in opened]
    yield from (Action("close" if door in opened else "open", (door,)) for door in _DOORS)
    yield from (Action("toggle", (name,)) for name in _SWITCHED if name not in opened)
    held = next((it for it in things if it.kept_in is None), None)
    if held is None:
        yield from (Action("take", (it.name,)) for it in things if it.kept_in in usable)
    else:
        full = {it.kept_in for it in things} & {"sink", "oven"}
        yield from (Action("put", (held.name, name)) for name in usable if name not in full)
    for it in things:
        food = it.kind != "Knife"
        if it.kept_in == "sink" and "sink" in running and not it.sliced:
            yield Action("clean", (it.name, "sink"))
        if food and it.kept_in == "table" and not it.sliced and held is not None and held.kind == "Knife":
            yield Action("slice", (it.name, held.name))
        if food and it.kept_in == "oven" and "oven" in running:
            yield Action("heat", (it.name, "oven"))
        if food and it.kept_in == "fridge" and "fridge" not in opened:
            yield Action("cool", (it.name, "fridge"))


def _changed(it: Thing, now: Room, action: Action) -> Thing:
    """What an action makes of a thing."""
    match action.name, *action.args:
        case "take", it.name:
            return it._replace(kept_in=None)
        case "put", it.name, str(place):
            return it._replace(kept_in=place)
        case "clean", it.name, _:
            return it._replace(clean=True)
        case "heat", it.name, _:
            return it._replace(warmth="burnt" if it.warmth == "hot" else "hot")
        case "cool", it.name, _:
            return it._replace(warmth="cold")
        case "slice", it.name, knife:
            blade = next(other for other in now.things if other.name == knife)
            return it._replace(sliced=True, clean=it.clean and blade.clean)
        case "slice", _, it.name:
            return it._replace(clean=False)
    return it


def make_env(*, max_steps: int = 100) -> Kitchen:
    """A kitchen without a grid: food to be cleaned, sliced, heated, cooled and put where it belongs.

    max_steps: actions after which an episode is truncated. For a room of your own: `Kitchen(Room(...))`.
    """
    return Kitchen(max_steps=max_steps)

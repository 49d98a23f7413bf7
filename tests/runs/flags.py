"""Relatives of the room: other goals, other rules, other kinds, for tests of what is handed on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from worldcoder.envs import Start, Step
from worldcoder.world.values import Action, Obj, State

STEPS = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}
SIZE = 7


class Field:
    """Walk in a walled field, on it things to walk to; seeds place them."""

    goals: tuple[str, ...] = ("walk to the flag",)
    actions_here: tuple[str, ...] = tuple(STEPS)

    def reset(self, seed: int) -> Start:
        self.at = (1 + seed % 5, 1 + seed // 5 % 5)
        self.goal = self.goals[seed % len(self.goals)]
        self.things = {"Flag": (5, 5 - seed % 3), "Tree": (1 + seed % 2, 5)}
        return Start(self.state(), self.goal)

    def step(self, action: Action) -> Step:
        self.at = self.moved(action.name)
        done = self.at == self.things[self.goal.split()[-1].capitalize()]
        return Step(self.state(), float(done), done, False)

    def moved(self, name: str) -> tuple[int, int]:
        (x, y), (dx, dy) = self.at, STEPS[name]
        ahead = (x + dx, y + dy)
        return self.at if {*ahead} & {0, SIZE - 1} else ahead

    def actions(self, state: State) -> Sequence[Action]:
        return [Action(name) for name in self.actions_here]

    def state(self) -> State:
        ring = [(x, y) for x in range(SIZE) for y in range(SIZE) if {x, y} & {0, SIZE - 1}]
        walls = [Obj("Wall", x=x, y=y) for x, y in ring]
        things = [Obj(kind, x=x, y=y) for kind, (x, y) in self.things.items()]
        return State([*walls, *things, Obj("Walker", x=self.at[0], y=self.at[1])])


class Ice(Field):
    """Two steps at a time where there is ice."""

    def reset(self, seed: int) -> Start:
        super().reset(seed)
        self.ice = {(x, y) for x in (2, 3) for y in (2, 3, 4)}
        return Start(self.state(), self.goal)

    def moved(self, name: str) -> tuple[int, int]:
        if self.at in self.ice:
            self.at = super().moved(name)
        return super().moved(name)

    def state(self) -> State:
        ice = [Obj("Ice", x=x, y=y) for x, y in sorted(getattr(self, "ice", ()))]
        return State([*super().state().objects, *ice])


class Many(Field):
    goals = ("walk to the flag", "walk to the tree")


class Other(Field):
    goals = ("run until you see the flag",)


class Contrary(Field):
    """East is west."""

    def moved(self, name: str) -> tuple[int, int]:
        return super().moved({"east": "west", "west": "east"}.get(name, name))


class Turtle(Field):
    actions_here = ("turn", "ahead")

    def moved(self, name: str) -> tuple[int, int]:
        return self.at


class Garden(Field):
    def state(self) -> State:
        return State([Obj("Gardener", x=self.at[0], y=self.at[1]), Obj("Bed", x=3, y=3)])


class Heavy(Field):
    def state(self) -> State:
        others = [o for o in super().state().objects if o.kind != "Walker"]
        return State([*others, Obj("Walker", x=self.at[0], y=self.at[1], weight=80)])


def make_field() -> Any:
    """As the room."""
    return Field()


def make_many() -> Any:
    """Two goals, in turn."""
    return Many()


def make_other() -> Any:
    """Another goal."""
    return Other()


def make_ice() -> Any:
    """Something new."""
    return Ice()


def make_contrary() -> Any:
    """The opposite."""
    return Contrary()


def make_turtle() -> Any:
    """Other actions."""
    return Turtle()


def make_garden() -> Any:
    """Other kinds."""
    return Garden()


def make_heavy() -> Any:
    """A kind with another attribute."""
    return Heavy()


class Hopeless(Field):
    """Nothing is ever rewarded."""

    goals = ("become rich",)

    def step(self, action: Action) -> Step:
        self.at = self.moved(action.name)
        return Step(self.state(), 0.0, False, False)


def make_hopeless() -> Any:
    """No goal can be reached."""
    return Hopeless()


class Silent(Field):
    """The goal is not told."""

    goals = ("",)

    def step(self, action: Action) -> Step:
        self.at = self.moved(action.name)
        done = self.at == self.things["Flag"]
        return Step(self.state(), float(done), done, False)


class Foreign(Silent):
    goals = ("走到旗子",)


class Bare(Silent):
    """The goal is about what is not there."""

    goals = ("walk to the tree",)

    def state(self) -> State:
        return State([o for o in super().state().objects if o.kind != "Tree"])


def make_silent() -> Any:
    """An empty goal."""
    return Silent()


def make_foreign() -> Any:
    """A goal in another language."""
    return Foreign()


def make_bare() -> Any:
    """A goal about what is not there."""
    return Bare()


class Noisy(Hopeless):
    """Where a step leads is anybody's guess."""

    taken = 0

    def moved(self, name: str) -> tuple[int, int]:
        self.taken = self.taken * 5 % 97 + 3
        return (1 + self.taken % 5, 1 + self.taken // 7 % 5)


def make_noisy() -> Any:
    """No program can tell."""
    return Noisy()

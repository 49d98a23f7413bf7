"""Tracks and points, an express to drive, and a freight train that drives itself.

There is no grid: a Track `leads` to another one, or to none, where it is a dead end. Points are tracks too,
with a second one, to which they `divert`. The rails run one way only.

  go              the Express goes to where its `track` leads.
  hold            it stays.
  throw(points)   it stays, and these Points lead to what they would `divert` to, and the other way round;
                  but not while a train stands on them: then nothing changes.

What is thrown is thrown first. Then both trains go at once: in every step, whatever the action, the Freight
goes to where its track leads; on a dead end it stays for good. After that

  both trains are on one track, or each where the other was    they collide: the episode ends, with -1;
  the Express is on a dead end                                 it cannot get away: the same;
  the Express is at the track of a Station                     the Station is `served`; the first time, this
                                                               gives 1.

Trains that follow one another may go at once, one onto the track that the other leaves. When all Stations are
served the episode ends, which gives 5 more.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import ClassVar, NamedTuple

from worldcoder.envs.lab.base import LabWorld, Outcome, thing
from worldcoder.world.values import Action, Obj, Ref, State


class Line(NamedTuple):
    """The tracks by name, and where everything is on them.

    tracks: each with what it leads to. points: those of them that divert, each with what it leads to
    and what it diverts to, as they are set now. stations: each with its track.
    """

    tracks: tuple[tuple[str, str | None], ...]
    points: tuple[tuple[str, str, str], ...]
    stations: tuple[tuple[str, str], ...]
    express: str
    freight: str
    served: frozenset[str] = frozenset()


class Railway(LabWorld[Line]):
    """Two trains on a line; see the module for the rules."""

    world = "railway"
    goal = "serve every station with the express"
    glyphs: ClassVar = {"Track": "-", "Points": "<", "Station": "S", "Express": "E", "Freight": "F"}
    lengths = range(10, 22)
    effort = 1200

    def actions(self, state: State) -> Sequence[Action]:
        """To go, to hold, and to throw each of the points."""
        return _choices(tuple(points.name or "" for points in state.all("Points")))

    def offered(self, now: Line) -> Sequence[Action]:
        """The same, in a situation."""
        return _choices(tuple(name for name, _, _ in now.points))

    def after(self, now: Line, action: Action) -> Outcome[Line]:
        """The rules."""
        if action.name == "throw" and action.args[0] not in (now.express, now.freight):
            points = ((n, b, a) if n == action.args[0] else (n, a, b) for n, a, b in now.points)
            now = now._replace(points=tuple(points))
        leads = {**dict(now.tracks), **{name: to for name, to, _ in now.points}}
        express = (leads[now.express] or now.express) if action.name == "go" else now.express
        freight = leads[now.freight] or now.freight
        new = now._replace(express=express, freight=freight)
        if express == freight or (express, freight) == (now.freight, now.express) or leads[express] is None:
            return Outcome(new, -1.0, True)
        served = now.served | {station for station, track in now.stations if track == express}
        done = len(served) == len(now.stations)
        reward = float(len(served) - len(now.served) + 5 * done)
        return Outcome(new._replace(served=served), reward, done)

    def scenery(self, level: Line) -> Iterable[Obj]:
        """The tracks without points."""
        return [thing("Track", name=name, leads=to and Ref(to)) for name, to in level.tracks]

    def objects(self, now: Line) -> Iterable[Obj]:
        """Points, stations and trains."""
        for name, to, divert in now.points:
            yield thing("Points", name=name, leads=Ref(to), divert=Ref(divert))
        for name, track in now.stations:
            yield thing("Station", name=name, track=Ref(track), served=name in now.served)
        yield thing("Express", name="express", track=Ref(now.express))
        yield thing("Freight", name="freight", track=Ref(now.freight))

    def draft(self, rng: random.Random) -> Line | None:
        """A main line that goes round, with a siding, a siding of that siding, and a spur that is a dead end."""
        length = rng.randint(6, 9)
        main = [f"main {i}" for i in range(length)]
        leads: dict[str, str | None] = {main[i]: main[(i + 1) % length] for i in range(length)}
        first, second = rng.sample(range(length), 2)
        siding = [f"siding {i}" for i in range(rng.randint(2, 4))]
        leads |= dict(zip(siding, [*siding[1:], main[(first + rng.randint(2, 4)) % length]], strict=True))
        spur = [f"spur {i}" for i in range(rng.randint(1, 2))]
        leads |= dict(zip(spur, [*spur[1:], None], strict=True))
        loop = [f"loop {i}" for i in range(rng.randint(1, 2))]
        leads |= dict(zip(loop, [*loop[1:], rng.choice(main)], strict=True))
        branches = {main[first]: siding[0], main[second]: spur[0], siding[0]: loop[0]}
        points = []
        for name, branch in sorted(branches.items()):
            ways = [leads.pop(name) or "", branch]
            rng.shuffle(ways)
            points.append((name, ways[0], ways[1]))
        stops = [rng.choice(siding[1:]), rng.choice(loop), rng.choice(main)]
        stations = tuple(
            (f"{word} station", stop) for word, stop in zip(("west", "north", "east"), stops, strict=True)
        )
        express, freight = rng.sample(main, 2)
        return Line(tuple(leads.items()), tuple(points), stations, express, freight)

    def good(self, level: Line, solution: Sequence[Action]) -> bool:
        """Long enough, and with points to throw more than once."""
        return super().good(level, solution) and sum(action.name == "throw" for action in solution) > 1


@lru_cache
def _choices(points: tuple[str, ...]) -> tuple[Action, ...]:
    return Action("go"), Action("hold"), *(Action("throw", (name,)) for name in sorted(points))


def make_env(*, max_steps: int = 150) -> Railway:
    """An express to drive over points, and a freight train that drives itself.

    max_steps: actions after which an episode is truncated. For a line of your own: `Railway(Line(...))`.
    """
    return Railway(max_steps=max_steps)

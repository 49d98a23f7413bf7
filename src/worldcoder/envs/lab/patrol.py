"""Guards who walk to and fro, and a shield that wears off by contact.

A step has three parts:

 1. The Scout goes up, down, left or right, unless a Wall is there; or waits. If he comes onto a Battery it is
    gone, and his `charges` grow by 2.
 2. Every Guard whose cell the Scout stands on now is in contact with him.
 3. Every Guard goes one cell in his `heading`; before a Wall he turns round instead and stays where he is for
    this step. Guards do not stand in each other's way. Every Guard who is on the Scout's cell now is in
    contact with him.

Guards and Scout who change places meet in part 2, before the Guard has gone. A Guard is in contact at most once
a step, also if he was before he turned round and still is. Each contact uses up one of the `charges`, and
gives -0.2; if there are fewer charges than Guards in contact, the `charges` are 0, and the episode ends in
failure, with -1 in all. Otherwise, if the Scout is on the Exit, the episode ends, which gives 1.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple

from worldcoder.envs.lab.base import LabWorld, Outcome, thing
from worldcoder.envs.lab.grids import BACK, MOVES, WAYS, Cell, beside, inside, only, placed, read_map, room
from worldcoder.world.values import Action, Obj

_LEGEND = {
    "#": ["Wall"], "@": ["Scout"], "+": ["Battery"], "E": ["Exit"],
    "^": ["up"], "v": ["down"], "<": ["left"], ">": ["right"],
}  # fmt: skip


class Grounds(NamedTuple):
    """Where everything is; a guard is his cell and his heading."""

    walls: frozenset[Cell]
    exit: Cell
    batteries: frozenset[Cell]
    scout: Cell
    charges: int
    guards: tuple[tuple[Cell, str], ...]


class Patrol(LabWorld[Grounds]):
    """Grounds with guards; see the module for the rules."""

    world = "patrol"
    goal = "reach the exit past the guards"
    glyphs: ClassVar = {"Scout": "@", "Wall": "#", "Battery": "+", "Exit": "E", "Guard": "G"}
    moves = (*MOVES, Action("wait"))
    lengths = range(8, 20)

    def after(self, now: Grounds, action: Action) -> Outcome[Grounds]:
        """The rules."""
        scout, charges = now.scout, now.charges
        if action.name in WAYS and beside(scout, action.name) not in now.walls:
            scout = beside(scout, action.name)
        if scout in now.batteries:
            charges += 2
        guards = tuple(_walked(cell, heading, now.walls) for cell, heading in now.guards)
        contacts = sum(
            scout in (before, after) for (before, _), (after, _) in zip(now.guards, guards, strict=True)
        )
        new = now._replace(
            scout=scout,
            batteries=now.batteries - {scout},
            guards=guards,
            charges=max(charges - contacts, 0),
        )
        if contacts > charges:
            return Outcome(new, -1.0, True)
        done = scout == now.exit
        return Outcome(new, round(done - 0.2 * contacts, 10), done)

    def scenery(self, level: Grounds) -> Iterable[Obj]:
        """The walls and the exit."""
        return [*placed("Wall", level.walls), *placed("Exit", [level.exit])]

    def objects(self, now: Grounds) -> Iterable[Obj]:
        """The scout, the guards and the batteries."""
        yield from placed("Battery", now.batteries)
        for (x, y), heading in now.guards:
            yield thing("Guard", x=x, y=y, heading=heading)
        x, y = now.scout
        yield thing("Scout", x=x, y=y, charges=now.charges)

    def draft(self, rng: random.Random) -> Grounds | None:
        """A room with pillars, three guards and a battery."""
        walls = room(rng, 9, 8, rng.randint(5, 8))
        floor = inside(9, 8, walls)
        rng.shuffle(floor)
        scout, leave, battery, *rest = floor
        guards = tuple((rest[i], rng.choice(list(WAYS))) for i in range(3))
        if any(beside(cell, way) in walls and beside(cell, BACK[way]) in walls for cell, way in guards):
            return None
        return Grounds(walls, leave, frozenset({battery}), scout, rng.randint(0, 1), guards)

    def good(self, level: Grounds, solution: Sequence[Action]) -> bool:
        """Long enough, and not to be walked as if no guard were there."""
        alone = self.solution(level._replace(guards=())) or ()
        outcome = Outcome(level)
        for action in alone:
            outcome = self.after(outcome.now, action)
            if outcome.now.charges < level.charges or outcome.done:
                break
        return super().good(level, solution) and outcome.reward < 1


def _walked(cell: Cell, heading: str, walls: frozenset[Cell]) -> tuple[Cell, str]:
    """A guard after his part of a step."""
    ahead = beside(cell, heading)
    return (cell, BACK[heading]) if ahead in walls else (ahead, heading)


def read(text: str, charges: int = 1) -> Grounds:
    """A level from a map: `#` wall, `@` scout, `+` battery, `E` exit, `^ v < >` guards by their headings."""
    on = read_map(text, _LEGEND)
    guards = tuple((cell, heading) for heading in WAYS for cell in on[heading])
    leave, scout = only("exit", on["Exit"]), only("scout", on["Scout"])
    return Grounds(frozenset(on["Wall"]), leave, frozenset(on["Battery"]), scout, charges, guards)


def make_env(*, level: str | None = None, charges: int = 1, max_steps: int = 100) -> Patrol:
    """A scout among guards who walk to and fro, with a shield that has few charges.

    level: a map for every seed, see `read`; without one each seed has its own. charges: what the scout of that
    map starts with. max_steps: actions after which an episode is truncated.
    """
    return Patrol(None if level is None else read(level, charges), max_steps=max_steps)

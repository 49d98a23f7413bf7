"""Magnet: a robot that pulls steel.

A Robot has a place, and its magnet is `on` or not. Walls and Steel are obstacles for it: nothing can be pushed. There
are Sockets on the floor.

up, down, left, right   the robot goes there, if there is no obstacle
switch                  the magnet is switched on or off
Then, if the magnet is on, in each of the four directions the nearest thing (steel or wall) is looked for, as seen
from the robot: if it is steel, and not right beside the robot, it moves one cell towards the robot.

A piece of steel that comes onto a socket is worth 1, one that leaves a socket -1, and every action besides costs
0.02. When all sockets have steel the episode ends with 10.
"""

from typing import ClassVar, NamedTuple

from worldcoder import Action
from worldcoder.envs.lab.base import LabWorld, Outcome, thing
from worldcoder.envs.lab.grids import WAYS, beside, inside, placed, room


class Yard(NamedTuple):
    robot: tuple
    on: bool
    steel: frozenset
    sockets: frozenset
    walls: frozenset


class Magnet(LabWorld[Yard]):
    world = "magnet"
    goal = "steel on every socket"
    glyphs: ClassVar = {"Robot": "R", "Wall": "#", "Steel": "s", "Socket": "o"}
    moves = tuple(Action(name) for name in (*WAYS, "switch"))
    lengths = range(6, 25)
    effort = 12000

    def draft(self, rng):
        walls = room(rng, 7, 7, 4)
        robot, *cells = rng.sample(inside(7, 7, walls), 5)
        steel, sockets = frozenset(cells[:2]), frozenset(cells[2:4])
        return Yard(robot, False, steel, sockets, walls)

    def after(self, now, action):
        robot, on, steel, sockets, walls = now
        if action.name == "switch":
            on = not on
        else:
            to = beside(robot, action.name)
            if to not in walls and to not in steel:
                robot = to
        if on:
            for way in WAYS:
                cells = [robot]
                while cells[-1] not in walls and (cells[-1] not in steel):
                    cells.append(beside(cells[-1], way))
                if cells[-1] in steel and len(cells) > 2:
                    steel = steel - {cells[-1]} | {cells[-2]}
        new = Yard(robot, on, steel, sockets, walls)
        if sockets <= steel:
            return Outcome(new, 10.0, True)
        return Outcome(new, round(len(steel & sockets) - len(now.steel & sockets) - 0.02, 2))

    def objects(self, now):
        return [thing("Robot", x=now.robot[0], y=now.robot[1], on=now.on), *placed("Steel", now.steel)]

    def scenery(self, level):
        return [*placed("Wall", level.walls), *placed("Socket", level.sockets)]


def make_env():
    """A robot with a magnet, two pieces of steel and two sockets."""
    return Magnet()

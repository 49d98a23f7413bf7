"""A skater on ice, and gates that switches of their colour open and close.

The floor is ice everywhere but on patches of Sand. The Skater sets out up, down, left or right and slides on,
cell by cell, until something stops him:

  a Wall, or a Gate that is `shut`    he stops before it; if it is next to him, he does not move at all;
  Sand                                he stops on it;
  a Hole                              he falls in: the episode ends in failure, with -1;
  the Flag                            he has arrived: the episode ends, with 1.

A Gate that is not shut is ice like any other. Whenever he comes onto a Switch, in passing too, every Gate of
its `color` that was shut opens and every one that was open shuts, at once: so a gate that is further ahead
may open, or shut, while he is sliding towards it. A Switch does not stop him. Standing on one, or setting out
from it, changes nothing. All other steps give 0.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple

from worldcoder.envs.lab.base import LabWorld, Outcome, thing
from worldcoder.envs.lab.grids import MOVES, Cell, beside, closed, inside, only, placed, read_map, rim
from worldcoder.world.values import Action, Obj

_LEGEND = {
    "#": ["Wall"], "@": ["Skater"], ",": ["Sand"], "o": ["Hole"], "F": ["Flag"],
    "r": ["red switch"], "b": ["blue switch"],
    "R": ["red shut"], "B": ["blue shut"], "(": ["red open"], "[": ["blue open"],
}  # fmt: skip


class Rink(NamedTuple):
    """Where everything is; switches and gates with their colours."""

    walls: frozenset[Cell]
    sand: frozenset[Cell]
    holes: frozenset[Cell]
    flag: Cell
    switches: tuple[tuple[Cell, str], ...]
    gates: tuple[tuple[Cell, str], ...]
    skater: Cell
    shut: frozenset[Cell]


class Ice(LabWorld[Rink]):
    """A rink with switches and gates; see the module for the rules."""

    world = "ice"
    goal = "slide to the flag"
    glyphs: ClassVar = {
        "Skater": "@", "Wall": "#", "Sand": ",", "Hole": "o", "Flag": "F", "Switch": "*", "Gate": "H",
    }  # fmt: skip
    moves = MOVES
    lengths = range(5, 16)

    def after(self, now: Rink, action: Action) -> Outcome[Rink]:
        """The rules."""
        cell, shut = now.skater, now.shut
        ahead = beside(cell, action.name)
        while ahead not in now.walls and ahead not in shut:
            cell, ahead = ahead, beside(ahead, action.name)
            for place, color in now.switches:
                if place == cell:
                    shut ^= {gate for gate, its in now.gates if its == color}
            if cell in now.sand or cell in now.holes or cell == now.flag:
                break
        new = now._replace(skater=cell, shut=shut)
        if cell in now.holes:
            return Outcome(new, -1.0, True)
        return Outcome(new, float(cell == now.flag), cell == now.flag)

    def scenery(self, level: Rink) -> Iterable[Obj]:
        """All but the skater and the gates."""
        for kind, cells in (("Wall", level.walls), ("Sand", level.sand), ("Hole", level.holes)):
            yield from placed(kind, cells)
        yield from placed("Flag", [level.flag])
        for (x, y), color in level.switches:
            yield thing("Switch", x=x, y=y, color=color)

    def objects(self, now: Rink) -> Iterable[Obj]:
        """The skater and the gates."""
        for (x, y), color in now.gates:
            yield thing("Gate", x=x, y=y, color=color, shut=(x, y) in now.shut)
        x, y = now.skater
        yield thing("Skater", x=x, y=y)

    def draft(self, rng: random.Random) -> Rink | None:
        """A rink with a fence across it; two gates in the fence, and a third elsewhere."""
        width, height, middle = 9, 8, rng.randint(3, 5)
        fence = {(middle, y) for y in range(1, height - 1)}
        rest = inside(width, height, fence)
        rng.shuffle(rest)
        doors = rng.sample(sorted(fence), 2)
        walls = rim(width, height) | (fence - set(doors)) | {rest.pop() for _ in range(rng.randint(4, 7))}
        skater = next(cell for cell in rest if cell[0] < middle)
        flag = next(cell for cell in rest if cell[0] > middle)
        rest = [cell for cell in rest if cell not in (skater, flag)]
        colors = rng.sample(["red", "blue"], 2)
        gates = tuple(zip([*doors, rest.pop()], [*colors, rng.choice(colors)], strict=True))
        switches = tuple((rest.pop(), color) for color in (*colors, rng.choice(colors)))
        shut = frozenset(doors) if rng.random() < 0.6 else frozenset([doors[0], gates[2][0]])
        sand, holes = (frozenset(rest.pop() for _ in range(n)) for n in (2, rng.randint(1, 2)))
        return Rink(walls, sand, holes, flag, switches, gates, skater, shut)

    def good(self, level: Rink, solution: Sequence[Action]) -> bool:
        """Long enough, and not to be solved without switches."""
        return super().good(level, solution) and self.solution(level._replace(switches=())) is None


def read(text: str) -> Rink:
    """A level from a map: `#` wall, `@` skater, `,` sand, `o` hole, `F` flag, `r` and `b` switches.

    Gates are `R` and `B` where they are shut, and `(` and `[` where they are open. Raises LevelFormatError
    for a map from which the skater could slide away.
    """
    on = read_map(text, _LEGEND)
    colors = ("red", "blue")
    switches = tuple((cell, color) for color in colors for cell in on[f"{color} switch"])
    gates = tuple((cell, color) for color in colors for cell in on[f"{color} shut"] + on[f"{color} open"])
    walls, sand, holes = (frozenset(on[kind]) for kind in ("Wall", "Sand", "Hole"))
    skater, flag = only("skater", on["Skater"]), only("flag", on["Flag"])
    closed(skater, walls)
    shut = frozenset(on["red shut"] + on["blue shut"])
    return Rink(walls, sand, holes, flag, switches, gates, skater, shut)


def make_env(*, level: str | None = None, max_steps: int = 100) -> Ice:
    """A skater who slides until something stops him, and gates with switches.

    level: a map for every seed, see `read`; without one each seed has its own. max_steps: actions after which
    an episode is truncated.
    """
    return Ice(None if level is None else read(level), max_steps=max_steps)

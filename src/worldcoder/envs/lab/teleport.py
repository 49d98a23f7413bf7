"""Sokoban with a pair of gates: what steps onto a gate comes out at the other.

The Player goes up, down, left or right. Ahead of him may be

  a Wall           nothing moves;
  a Box            it is pushed one cell on; if there is a Wall or another Box, nothing moves;
  anything else    he steps there.

There is one pair of Gates, never side by side. The pair is off while a Box stands on either of them; a gate
that is off is plain floor. A push is settled before the Player follows:

 1. The Box leaves its cell. If it comes onto a Gate, and no other Box stands on a Gate, it comes out at the
    other Gate; unless the Player is standing there, from where he pushes: then it stays on the first.
 2. The Player steps onto the cell ahead. If that is a Gate, and no Box stands on a Gate now, he comes out at
    the other one.

So who pushes a Box off a Gate steps onto a Gate that works again, and is gone to the other one. Standing on a
gate, or bumping against something from there, does nothing.

Every step costs 0.1; a Box that comes onto a Target gives 1, one that leaves it takes 1; with all Boxes on
Targets the episode ends, which gives 10. Each level has two halls with a door between them and a gate in each.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple

from worldcoder.envs.lab.base import LabWorld, Outcome, thing
from worldcoder.envs.lab.grids import MOVES, Cell, beside, inside, only, placed, reachable, read_map, rim
from worldcoder.errors import LevelFormatError
from worldcoder.world.values import Action, Obj

_LEGEND = {
    "#": ["Wall"], "@": ["Player"], "+": ["Player", "Target"], "$": ["Box"], "*": ["Box", "Target"],
    ".": ["Target"], "O": ["Gate"], "B": ["Gate", "Box"], "P": ["Gate", "Player"],
}  # fmt: skip


class Halls(NamedTuple):
    """Where everything is."""

    walls: frozenset[Cell]
    targets: frozenset[Cell]
    gates: frozenset[Cell]
    player: Cell
    boxes: frozenset[Cell]


class Teleport(LabWorld[Halls]):
    """Boxes, targets, and two gates; see the module for the rules."""

    world = "teleport"
    goal = "push every box onto a target"
    glyphs: ClassVar = {"Player": "@", "Box": "$", "Target": ".", "Wall": "#", "Gate": "O"}
    moves = MOVES
    lengths = range(8, 20)

    def after(self, now: Halls, action: Action) -> Outcome[Halls]:
        """The rules."""
        ahead, boxes = beside(now.player, action.name), now.boxes
        if ahead in now.walls:
            return Outcome(now, -0.1)
        if ahead in boxes:
            beyond = beside(ahead, action.name)
            if beyond in now.walls or beyond in boxes:
                return Outcome(now, -0.1)
            boxes -= {ahead}
            boxes |= {_exit(beyond, now.gates, boxes, now.player)}
        new = now._replace(player=_exit(ahead, now.gates, boxes), boxes=boxes)
        done = boxes == now.targets
        gained = len(boxes & now.targets) - len(now.boxes & now.targets)
        return Outcome(new, round(gained - 0.1 + 10 * done, 10), done)

    def scenery(self, level: Halls) -> Iterable[Obj]:
        """Walls, targets, gates."""
        yield from placed("Wall", level.walls)
        yield from placed("Target", level.targets)
        yield from placed("Gate", level.gates)

    def objects(self, now: Halls) -> Iterable[Obj]:
        """Boxes and the player."""
        x, y = now.player
        return [*placed("Box", now.boxes), thing("Player", x=x, y=y)]

    def draft(self, rng: random.Random) -> Halls | None:
        """Two halls with a door between them, each with a gate; targets where play at random leads to."""
        width, height, middle = 9, 7, rng.randint(3, 5)
        walls = set(rim(width, height)) | {(middle, y) for y in range(height)}
        walls |= set(rng.sample(inside(width, height, walls), rng.randint(1, 2)))
        walls.remove((middle, rng.randint(1, height - 2)))
        floor = inside(width, height, walls)
        if len(reachable(floor[0], walls)) != len(floor):
            return None
        rng.shuffle(floor)
        gates = []
        for hall in ([c for c in floor if c[0] < middle], [c for c in floor if c[0] > middle]):
            gates.append(next((cell for cell in hall if _passed(cell, floor)), hall[0]))
        player, *boxes = [cell for cell in floor if cell not in gates][:3]
        now = level = Halls(frozenset(walls), frozenset(), frozenset(gates), player, frozenset(boxes))
        for _ in range(150):
            now = self.after(now, rng.choice(MOVES)).now
        if now.boxes & (level.boxes | level.gates):
            return None
        return level._replace(targets=now.boxes) if rng.random() < 0.5 else _turned(level, now.boxes)

    def good(self, level: Halls, solution: Sequence[Action]) -> bool:
        """Long enough, and with a box or the player going through the gates."""
        now, through = level, False
        for action in solution:
            before, now = now, self.after(now, action).now
            moved = [
                (before.player, now.player),
                *zip(before.boxes - now.boxes, now.boxes - before.boxes, strict=True),
            ]
            through = through or any(abs(a[0] - b[0]) + abs(a[1] - b[1]) > 1 for a, b in moved)
        return super().good(level, solution) and through


def _passed(cell: Cell, floor: list[Cell]) -> bool:
    """Whether a box can be pushed on over a cell."""
    axes = (("left", "right"), ("up", "down"))
    return any(all(beside(cell, way) in floor for way in axis) for axis in axes)


def _turned(level: Halls, targets: frozenset[Cell]) -> Halls:
    """A level with x and y exchanged."""
    walls, targets, gates, boxes = (
        frozenset((y, x) for x, y in cells) for cells in (level.walls, targets, level.gates, level.boxes)
    )
    return Halls(walls, targets, gates, level.player[::-1], boxes)


def _exit(cell: Cell, gates: frozenset[Cell], boxes: frozenset[Cell], player: Cell | None = None) -> Cell:
    """Where something that steps onto a cell comes out; `boxes` are the other ones."""
    if cell not in gates or boxes & gates:
        return cell
    (other,) = gates - {cell}
    return cell if other == player else other


def read(text: str) -> Halls:
    """A level from a map: `# @ $ .` as in Sokoban, `O` a gate, `B` a box on one, `P` the player on one.

    Raises LevelFormatError for a map without two gates apart, or without as many boxes as targets.
    """
    on = read_map(text, _LEGEND)
    gates = on["Gate"]
    if len(gates) != 2 or sum(abs(a - b) for a, b in zip(*gates, strict=True)) < 2:
        raise LevelFormatError(f"expected two gates that are not side by side, found them at {gates}")
    if len(on["Box"]) != len(on["Target"]):
        raise LevelFormatError(
            f"expected a target for each of {len(on['Box'])} boxes, got {len(on['Target'])}"
        )
    walls, targets, boxes = (frozenset(on[kind]) for kind in ("Wall", "Target", "Box"))
    return Halls(walls, targets, frozenset(gates), only("player", on["Player"]), boxes)


def make_env(*, level: str | None = None, max_steps: int = 200) -> Teleport:
    """Sokoban in two halls with a pair of teleport gates.

    level: a map for every seed, see `read`; without one each seed has its own. max_steps: actions after which
    an episode is truncated.
    """
    return Teleport(None if level is None else read(level), max_steps=max_steps)

"""A farm: beds to water, fruit that ripens and rots, and belts that carry everything.

A step has five parts, in this order:

 1. The Farmer acts.
    up, down, left, right   he goes there, unless a Wall is there.
    water                   the Plant where he stands gets `wet` 2, whatever it had.
    pick                    with empty hands only: he takes up the Fruit that lies where he stands; if none
                            does and a Plant with `growth` 3 is here, its `growth` is 0 again, he holds a new
                            Fruit with `fresh` 12, and this gives 0.25. A held Fruit has x and y None.
    drop                    what he holds lies where he stands, unless a Fruit lies there already.
    wait                    nothing.
 2. The Belts run. What stands on a Belt, the Farmer and every Fruit that lies there, goes one cell in the
    Belt's `heading`, once. Before a Wall it stays. A Fruit also stays if there is one in the next cell that
    stays itself or is on no Belt; where that one goes on, it follows, so that a queue moves as a whole. Of two
    that would come to one cell the one whose heading comes first in up, down, left, right goes, the other
    stays. Fruit does not stop the Farmer, nor he the Fruit.
 3. A Fruit that lies on the Stall is sold: it is gone, the Stall's `sold` grows by one, and this gives 1.
 4. Every Plant with `wet` above 0 and a `growth` below 3 has `growth` one more and `wet` one less.
 5. Every Fruit that is left, lying or held, has `fresh` one less. At 0 it has rotted: it is gone, which takes
    0.5.

When `sold` is `wanted` the episode ends. The Stall stands on a belt that leaves the field and comes back to it:
the Farmer may drop fruit on it and get off, or ride along, or walk on it, which is twice as fast.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import ClassVar, NamedTuple

from worldcoder.envs.lab.base import LabWorld, Outcome, thing
from worldcoder.envs.lab.grids import MOVES, WAYS, Cell, beside, only, placed, read_map
from worldcoder.world.values import Action, Obj

_LEGEND = {
    "#": ["Wall"], "@": ["Farmer"], "S": ["Stall"], "0": ["0"], "1": ["1"], "2": ["2"], "3": ["3"],
    "^": ["up"], "v": ["down"], "<": ["left"], ">": ["right"],
}  # fmt: skip

_RIPE = 3
_FRESH = 12


class Plant(NamedTuple):
    """A bed and what grows in it."""

    cell: Cell
    growth: int
    wet: int = 0


class Fruit(NamedTuple):
    """A fruit; its cell is None in the farmer's hands."""

    cell: Cell | None
    fresh: int


class Farm(NamedTuple):
    """Where everything is."""

    walls: frozenset[Cell]
    belts: tuple[tuple[Cell, str], ...]
    stall: Cell
    wanted: int
    sold: int
    farmer: Cell
    plants: tuple[Plant, ...]
    fruits: frozenset[Fruit] = frozenset()


class Belts(LabWorld[Farm]):
    """A farm with belts; see the module for the rules."""

    world = "belts"
    goal = "sell as many fruits as are wanted"
    glyphs: ClassVar = {"Farmer": "@", "Wall": "#", "Belt": "=", "Plant": "p", "Fruit": "o", "Stall": "S"}
    moves = (*MOVES, *(Action(name) for name in ("water", "pick", "drop", "wait")))
    lengths = range(10, 30)
    effort = 1500
    stages = True

    def after(self, now: Farm, action: Action) -> Outcome[Farm]:
        """The rules."""
        acted = _acted(now, action.name)
        harvested = len(acted.fruits) - len(now.fruits)
        belts = dict(now.belts)
        farmer, fruits = acted.farmer, _carried(acted, belts)
        if farmer in belts and beside(farmer, belts[farmer]) not in now.walls:
            farmer = beside(farmer, belts[farmer])
        left = [fruit for fruit in fruits if fruit.cell != now.stall]
        aged = frozenset(fruit._replace(fresh=fruit.fresh - 1) for fruit in left if fruit.fresh > 1)
        plants, sold = tuple(map(_grown, acted.plants)), len(fruits) - len(left)
        new = now._replace(farmer=farmer, fruits=aged, plants=plants, sold=now.sold + sold)
        reward = sold + 0.25 * harvested - 0.5 * (len(left) - len(aged))
        return Outcome(new, reward, new.sold >= now.wanted)

    def scenery(self, level: Farm) -> Iterable[Obj]:
        """Walls and belts."""
        yield from placed("Wall", level.walls)
        for (x, y), heading in level.belts:
            yield thing("Belt", x=x, y=y, heading=heading)

    def objects(self, now: Farm) -> Iterator[Obj]:
        """The farmer, the plants, the fruit and the stall."""
        for (x, y), growth, wet in now.plants:
            yield thing("Plant", x=x, y=y, growth=growth, wet=wet)
        for cell, fresh in now.fruits:
            yield thing("Fruit", x=cell and cell[0], y=cell and cell[1], fresh=fresh)
        x, y = now.stall
        yield thing("Stall", x=x, y=y, sold=now.sold, wanted=now.wanted)
        x, y = now.farmer
        yield thing("Farmer", x=x, y=y)

    def draft(self, rng: random.Random) -> Farm | None:
        """A field with two plants, and a belt that goes out of it, past the stall, and back."""
        width, height = rng.choice([(4, 3), (3, 4), (4, 4)])
        field = [(x, y) for x in range(1, width + 1) for y in range(1, height + 1)]
        out, back = rng.sample(range(1, height + 1), 2)
        far = width + rng.randint(2, 3)
        turn = "down" if back > out else "up"
        belts = [((x, out), "right") for x in range(width - 1, far)]
        belts += [((far, y), turn) for y in range(out, back, 1 if back > out else -1)]
        belts += [((x, back), "left") for x in range(far, width, -1)]
        stall = rng.choice([cell for cell, _ in belts[3:]])
        spots = [spot for spot in field if spot not in dict(belts)]
        rng.shuffle(spots)
        farmer, stray, *beds = spots[:4]
        plants = tuple(Plant(bed, rng.randint(0, 2)) for bed in sorted(beds))
        belts.append((stray, rng.choice(list(WAYS))))
        ground = {*field, *dict(belts)}
        walls = frozenset((x, y) for x in range(far + 2) for y in range(height + 2)) - ground
        return Farm(walls, tuple(belts), stall, 2, 0, farmer, plants)


def _acted(now: Farm, name: str) -> Farm:
    """The farmer's part of a step."""
    here = now.farmer
    held = next((fruit for fruit in now.fruits if fruit.cell is None), None)
    lying = next((fruit for fruit in now.fruits if fruit.cell == here), None)
    plant = next((plant for plant in now.plants if plant.cell == here), None)
    if name in WAYS and beside(here, name) not in now.walls:
        return now._replace(farmer=beside(here, name))
    if name == "water" and plant:
        return now._replace(plants=_with(now.plants, plant, plant._replace(wet=2)))
    if name == "pick" and not held and lying:
        return now._replace(fruits=now.fruits - {lying} | {lying._replace(cell=None)})
    if name == "pick" and not held and plant and plant.growth == _RIPE:
        plants = _with(now.plants, plant, plant._replace(growth=0))
        return now._replace(plants=plants, fruits=now.fruits | {Fruit(None, _FRESH)})
    if name == "drop" and held and not lying:
        return now._replace(fruits=now.fruits - {held} | {held._replace(cell=here)})
    return now


def _with(plants: tuple[Plant, ...], old: Plant, new: Plant) -> tuple[Plant, ...]:
    return tuple(new if plant == old else plant for plant in plants)


def _grown(plant: Plant) -> Plant:
    if plant.wet and plant.growth < _RIPE:
        return plant._replace(growth=plant.growth + 1, wet=plant.wet - 1)
    return plant


def _carried(now: Farm, belts: dict[Cell, str]) -> list[Fruit]:
    """The fruit after the belts have run."""
    lying = {fruit.cell: fruit for fruit in now.fruits if fruit.cell is not None}
    goes: dict[Cell, Cell] = {}  # from each cell whose fruit may go on, to the next
    taken: set[Cell] = set()
    for cell in sorted((c for c in lying if c in belts), key=lambda c: list(WAYS).index(belts[c])):
        to = beside(cell, belts[cell])
        if to not in now.walls and to not in taken:
            goes[cell] = to
            taken.add(to)
    while stuck := [cell for cell, to in goes.items() if to in lying and to not in goes]:
        for cell in stuck:
            del goes[cell]
    return [f if f.cell is None else f._replace(cell=goes.get(f.cell, f.cell)) for f in now.fruits]


def read(text: str, wanted: int = 1) -> Farm:
    """A level from a map: `#` wall, `@` farmer, `S` stall, `0` to `3` plants by their stage, `^ v < >` belts."""
    on = read_map(text, _LEGEND)
    belts = tuple((cell, heading) for heading in WAYS for cell in on[heading])
    plants = tuple(Plant(cell, stage) for stage in range(_RIPE + 1) for cell in on[str(stage)])
    stall, farmer = only("stall", on["Stall"]), only("farmer", on["Farmer"])
    return Farm(frozenset(on["Wall"]), belts, stall, wanted, 0, farmer, plants)


def make_env(*, level: str | None = None, wanted: int = 1, max_steps: int = 200) -> Belts:
    """A farm with plants that want water, fruit that rots, and conveyor belts.

    level: a map for every seed, see `read`; without one each seed has its own. wanted: how many fruits are to
    be sold there. max_steps: actions after which an episode is truncated.
    """
    return Belts(None if level is None else read(level, wanted), max_steps=max_steps)

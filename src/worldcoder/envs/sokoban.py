"""Sokoban, with the rules and rewards of gym-sokoban 0.0.6.

Every step costs 0.1; pushing a box onto a target gives 1, pushing it off takes 1; when all are on targets the
game gives 10 and is over. After `max_steps` actions it is cut off.

One difference: gym-sokoban counts boxes on targets from zero, so that a box that stands on a target from the
start is rewarded at the first step, whatever that step is. Here it is not, so that the reward is a function
of the state, the action and the next state. Generated levels never begin like that; those of a file may.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from worldcoder.envs.contract import Start, Step
from worldcoder.envs.episode import Episode
from worldcoder.envs.sokoban_generator import check_options, generate_level
from worldcoder.envs.sokoban_levels import Cell, Level, read_levels
from worldcoder.errors import LevelFormatError, WorldError
from worldcoder.world.values import Action, Obj, State

GOAL = "win the game"

_DIRECTIONS: dict[str, Cell] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}

PUSHES = tuple(Action(name) for name in _DIRECTIONS)
"""The four pushes of gym-sokoban, by their directions; a push towards a free cell moves the player."""

ALL_ACTIONS = (
    Action("no operation"),
    *(Action(f"push {name}") for name in _DIRECTIONS),
    *(Action(f"move {name}") for name in _DIRECTIONS),
)
"""All nine actions of gym-sokoban, under its names and in its order."""


class Sokoban:
    """Push every box onto a target.

    States have one Player and any number of Box, Target and Wall, all with whole `x` and `y`, y growing
    downwards; nothing has a name, and floor is where nothing is. The goal is "win the game".

    level: the level of a seed. max_steps: actions after which an episode is truncated. actions: "push" for
    up, down, left and right, which push; "all" for the nine actions of gym-sokoban.
    """

    glyphs: ClassVar = {"Player": "@", "Box": "$", "Target": ".", "Wall": "#"}

    def __init__(
        self, level: Callable[[int], Level], *, max_steps: int = 120, actions: Literal["push", "all"] = "push"
    ) -> None:
        if max_steps < 1:
            raise WorldError(f"sokoban: max_steps={max_steps}: expected at least 1")
        self._level_of = level
        self._max_steps = max_steps
        self._episode = Episode("sokoban", PUSHES if actions == "push" else ALL_ACTIONS)

    def reset(self, seed: int) -> Start:
        """Begin the level of a seed."""
        level = self._level_of(seed)
        self._walls = level.walls
        self._targets = level.targets
        self._player = level.player
        self._boxes = {cell: _obj("Box", cell) for cell in level.boxes}
        self._fixed = [_obj("Wall", c) for c in level.walls] + [_obj("Target", c) for c in level.targets]
        self._steps = 0
        self._episode.begin()
        return Start(self._state(), GOAL)

    def step(self, action: Action) -> Step:
        """Act; see the module for what is rewarded."""
        self._episode.index(action)
        self._steps += 1
        before = self._on_target()
        verb, _, direction = action.name.rpartition(" ")
        if direction in _DIRECTIONS:
            self._move(_DIRECTIONS[direction], push=verb != "move")
        after = self._on_target()
        done = after == len(self._boxes)
        # Rounded, since the reward is meant as 0.9 and not as what -0.1 + 1 gives in binary.
        reward = round(-0.1 + (after > before) - (after < before) + 10 * done, 10)
        truncated = not done and self._steps >= self._max_steps
        if done or truncated:
            self._episode.end()
        return Step(self._state(), reward, done, truncated)

    def actions(self, state: State) -> Sequence[Action]:
        """Every action, in every state."""
        return self._episode.actions

    def _move(self, by: Cell, *, push: bool) -> None:
        dx, dy = by
        x, y = self._player
        ahead = (x + dx, y + dy)
        if ahead in self._walls:
            return
        if ahead in self._boxes:
            beyond = (x + 2 * dx, y + 2 * dy)
            if not push or beyond in self._walls or beyond in self._boxes:
                return
            del self._boxes[ahead]
            self._boxes[beyond] = _obj("Box", beyond)
        self._player = ahead

    def _on_target(self) -> int:
        return sum(cell in self._targets for cell in self._boxes)

    def _state(self) -> State:
        return State([*self._fixed, *self._boxes.values(), _obj("Player", self._player)])


def _obj(kind: str, cell: Cell) -> Obj:
    return Obj(kind, x=cell[0], y=cell[1])


def make_env(
    levels: str | None = None,
    /,
    *,
    size: int = 7,
    width: int | None = None,
    height: int | None = None,
    boxes: int = 2,
    max_steps: int = 120,
    actions: Literal["push", "all"] = "push",
) -> Sokoban:
    """Sokoban: push every box onto a target; generated levels, or those of an XSB file.

    levels: `FILE` plays level `seed` of an XSB file, counted from 0 and going round; `FILE#7` always plays
    level 7, the one that Boxoban's files head with `; 7`. Without a file every seed has its own generated
    level. size, boxes: of generated levels, outer walls included; width and height where they differ.

    Raises LevelFormatError for a file that cannot be read, WorldError for options that do not fit.
    """
    if levels is None:
        w, h = width or size, height or size
        check_options(w, h, boxes)
        return Sokoban(_Generated(w, h, boxes), max_steps=max_steps, actions=actions)
    if (size, width, height, boxes) != (7, None, None, 2):
        raise WorldError("sokoban: the file decides size, width, height and boxes; leave these options out")
    return Sokoban(_from_file(levels), max_steps=max_steps, actions=actions)


class _Generated:
    """The generated level of a seed; a class, not a closure, so that environments can be pickled."""

    def __init__(self, width: int, height: int, boxes: int) -> None:
        self._options = width, height, boxes

    def __call__(self, seed: int) -> Level:
        return generate_level(*self._options, seed)


class _Listed:
    """The level of a seed out of a list, going round."""

    def __init__(self, levels: Sequence[Level]) -> None:
        self._levels = tuple(levels)

    def __call__(self, seed: int) -> Level:
        return self._levels[seed % len(self._levels)]

    def __deepcopy__(self, memo: object) -> _Listed:
        return self  # nothing in it changes


def _from_file(text: str) -> _Listed:
    """The levels of `FILE` or the one of `FILE#N`."""
    match = re.fullmatch(r"(?P<file>.+)#(?P<number>[^#/\\]*)", text)
    if match is None or Path(text).is_file():
        return _Listed(read_levels(text))
    file, number = match["file"], match["number"]
    if not re.fullmatch(r"[0-9]+", number):
        raise LevelFormatError(f"{text}: expected a level's number after #, got {number!r}; write {file}#0")
    levels = read_levels(file)
    if int(number) >= len(levels):
        raise LevelFormatError(
            f"{file}: no level {number}; it has {len(levels)}, numbered from 0 to {len(levels) - 1}"
        )
    return _Listed(levels[int(number) : int(number) + 1])

"""A Gymnasium environment as a world of objects: the frozen lake, with its map in the state.

    pip install 'worldcoder[gymnasium]'
    worldcoder learn examples/frozen_lake.py:make_env

Gymnasium's FrozenLake observes one number, the agent's square. One function turns it into objects: the agent,
the holes and the goal, each with x and y. Nothing else is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import gymnasium

from worldcoder.envs import Environment
from worldcoder.envs.gymnasium import from_gymnasium
from worldcoder.world.values import Obj

KINDS = {b"H": "Hole", b"G": "Goal"}


def make_env(*, map_name: Literal["4x4", "8x8"] = "4x4") -> Environment:
    """FrozenLake without slipping: walk to the goal, fall into no hole."""
    lake = gymnasium.make("FrozenLake-v1", map_name=map_name, is_slippery=False)
    squares = lake.get_wrapper_attr("desc").tolist()
    width = len(squares[0])
    # What never moves is built once and stands in every state.
    fixed = [
        Obj(KINDS[letter], x=x, y=y)
        for y, row in enumerate(squares)
        for x, letter in enumerate(row)
        if letter in KINDS
    ]
    fixed.append(Obj("Lake", width=width, height=len(squares)))

    def objects(observation: Any, info: dict[str, Any]) -> Iterable[Obj]:
        y, x = divmod(int(observation), width)
        return [*fixed, Obj("Agent", x=x, y=y)]

    return from_gymnasium(
        lake,
        objects,
        goal="walk to the goal",
        actions=["left", "down", "right", "up"],
        glyphs={"Agent": "@", "Hole": "O", "Goal": "G"},
    )

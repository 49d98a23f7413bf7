"""Program text."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from worldcoder.planning.parts import Order

Kind = Literal["transition", "reward"]

PARAMETERS: dict[Kind, int] = {"transition": 2, "reward": 3}
"""How many arguments each kind of program takes: (state, action) and (state, action, next_state)."""


@dataclass(frozen=True)
class Program:
    """The text of one program, and where it came from.

    source: Python that defines a function named like `kind`.
    goal: the goal that a reward program is for; None for a transition program.
    origin: who wrote it ("rules", "user", a model's name).
    parent: the id of the program it was made from, if any.
    order: of a reward program for a goal of several parts, for each part those that have to be done before it; its
    rewards then tell which parts a step achieves (`joining.py`). Empty for every other program.
    """

    source: str
    kind: Kind
    goal: str | None = None
    origin: str = "user"
    parent: str | None = None
    comment: str = field(default="", compare=False)
    order: Order = ()

    @cached_property
    def id(self) -> str:
        """A short name for the text: equal texts of one kind have equal ids."""
        order = f"\0{self.order}" if self.order else ""
        return hashlib.sha256(f"{self.kind}\0{self.goal}\0{self.source}{order}".encode()).hexdigest()[:12]

    @property
    def lines(self) -> int:
        """Lines of code, without blank lines and comments."""
        stripped = [line.strip() for line in self.source.splitlines()]
        return sum(bool(line) and not line.startswith("#") for line in stripped)

"""Which program to refine next: REx, and simpler choices at equal budgets behind the same ask and tell.

    bandit = rex(random.Random(0))
    bandit.add("root", 0.0)
    arm = bandit.ask()                  # refine this program ...
    bandit.tell(arm, [("new", 0.4)])    # ... and say what came of it

REx (Tang et al., "Code Repair with LLMs gives an Exploration-Exploitation Tradeoff", NeurIPS 2024, arXiv
2405.17503, Algorithm 1) takes refining a program for pulling an arm. It draws for each program from

    Beta(1 + C·h, 1 + C·(1 − h) + n)

with h the program's value (the share of the data it reproduces) and n how often it was refined (a refinement in
flight counts), and refines the one with the largest draw. WorldCoder (arXiv 2402.12275) uses C = 5. A search that
begins from nothing has the empty program as its first arm, of value 0, whose refinement is a first program.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from worldcoder.errors import ValueFormError

C = 5.0
"""How much a program's value weighs against the number of times it was refined; the paper's."""

Child = tuple[str, float]
"""A program that came of a refinement: its name and its value."""


@dataclass
class Arm:
    """A program that can be refined.

    value: from 0 to 1. refined: refinements that were carried out. pending: those in flight.
    parent: the arm of whose refinement it came; None for a root.
    """

    value: float
    refined: int = 0
    pending: int = 0
    parent: str | None = None

    @property
    def refinements(self) -> int:
        """Refinements carried out or in flight: each of these counts until it is known what came of it."""
        return self.refined + self.pending


class Bandit(Protocol):
    """Chooses what to refine: ask and tell, several refinements in flight if wanted."""

    @property
    def arms(self) -> Mapping[str, Arm]:
        """The arms by name, in the order in which they came."""
        ...

    def add(self, name: str, value: float) -> None:
        """A program that came from elsewhere: a root. One that is known already only has its value set."""
        ...

    def ask(self) -> str:
        """The arm to refine next, which has one refinement more in flight."""
        ...

    def tell(self, name: str, children: Sequence[Child] = ()) -> None:
        """A refinement is done, and these programs came of it: none, one or several."""
        ...

    def withdraw(self, name: str) -> None:
        """A refinement that was asked for did not take place, and does not count."""
        ...

    def rescore(self, values: Mapping[str, float]) -> None:
        """The values of arms have changed: there are more data."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Plain values; undone by `from_json`."""
        ...


Choice = Callable[[Mapping[str, Arm], random.Random], str]
"""What makes a strategy: the arm to refine, out of at least one."""


class Strategy:
    """A bandit that is made of a function that chooses.

    Calls in the wrong order raise ValueError: asking with no arm, telling what was not asked.
    """

    def __init__(self, choose: Choice, rng: random.Random) -> None:
        self._choose = choose
        self._rng = rng
        self._arms: dict[str, Arm] = {}

    @property
    def arms(self) -> Mapping[str, Arm]:
        return self._arms

    def add(self, name: str, value: float) -> None:
        self._set(name, value, None)

    def ask(self) -> str:
        if not self._arms:
            raise ValueError("ask: there is no arm yet; add one first")
        name = self._choose(self._arms, self._rng)
        self._arms[name].pending += 1
        return name

    def tell(self, name: str, children: Sequence[Child] = ()) -> None:
        self._done(name, "tell").refined += 1
        for child, value in children:
            self._set(child, value, name)

    def withdraw(self, name: str) -> None:
        self._done(name, "withdraw")

    def rescore(self, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            if name not in self._arms:
                raise ValueError(f"rescore: there is no arm {name!r}")
            self._arms[name].value = _checked(value)

    def to_json(self) -> dict[str, Any]:
        return {
            "arms": [
                {"name": n, "value": a.value, "refined": a.refined, "pending": a.pending, "parent": a.parent}
                for n, a in self._arms.items()
            ]
        }

    def restore(self, values: Any) -> None:
        """Take the arms that `to_json` wrote in the place of one's own.

        What was in flight then is lost and does not count. Raises ValueFormError on anything else.
        """
        try:
            found = {
                str(row["name"]): Arm(_checked(row["value"]), int(row["refined"]), 0, row["parent"])
                for row in values["arms"]
            }
        except (TypeError, KeyError, ValueError) as error:
            raise ValueFormError(f"expected what a bandit's to_json writes: {error!r}") from None
        self._arms = found

    def _set(self, name: str, value: float, parent: str | None) -> None:
        known = self._arms.get(name)
        if known is None:
            self._arms[name] = Arm(_checked(value), parent=parent)
        else:
            known.value = _checked(value)

    def _done(self, name: str, call: str) -> Arm:
        arm = self._arms.get(name)
        if arm is None or not arm.pending:
            raise ValueError(f"{call}: no refinement of {name!r} is in flight; ask first")
        arm.pending -= 1
        return arm


def _checked(value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"the value of an arm is from 0 to 1, got {value!r}")
    return float(value)


# ── strategies ───────────────────────────────────────────────────────────────────────────────────────────


def posterior(arm: Arm, c: float = C) -> tuple[float, float]:
    """The two parameters of the Beta distribution that an arm's draw comes from (REx, Algorithm 1)."""
    return 1 + c * arm.value, 1 + c * (1 - arm.value) + arm.refinements


def rex(rng: random.Random, *, c: float = C) -> Strategy:
    """Thompson sampling over the arms, as the module says."""
    if c < 0:
        raise ValueError(f"C of REx is not negative, got {c!r}")

    def choose(arms: Mapping[str, Arm], rng: random.Random) -> str:
        draws = [(rng.betavariate(*posterior(arm, c)), name) for name, arm in arms.items()]
        return max(draws, key=lambda draw: draw[0])[1]

    return Strategy(choose, rng)


def breadth_first(rng: random.Random, *, width: int = 3) -> Strategy:
    """Each program is refined `width` times, in the order in which they came; then all of them once more."""
    if width < 1:
        raise ValueError(f"the width is at least 1, got {width!r}")

    def choose(arms: Mapping[str, Arm], rng: random.Random) -> str:
        return min(arms, key=lambda name: arms[name].refinements // width)

    return Strategy(choose, rng)


def greedy(rng: random.Random) -> Strategy:
    """Always the program of the highest value; of equals the one refined least, then the latest."""

    def choose(arms: Mapping[str, Arm], rng: random.Random) -> str:
        latest_first = reversed(list(arms))
        return max(latest_first, key=lambda name: (arms[name].value, -arms[name].refinements))

    return Strategy(choose, rng)


def best_of_n(rng: random.Random) -> Strategy:
    """Only roots are refined, in turn: n independent programs, of which the best is taken."""

    def choose(arms: Mapping[str, Arm], rng: random.Random) -> str:
        roots = [name for name, arm in arms.items() if arm.parent is None]
        return min(roots, key=lambda name: arms[name].refinements)

    return Strategy(choose, rng)


STRATEGIES: Mapping[str, Callable[[random.Random], Strategy]] = {
    "rex": rex,
    "breadth-first": breadth_first,
    "greedy": greedy,
    "best-of-n": best_of_n,
}
"""Ways to choose what to refine, by name."""

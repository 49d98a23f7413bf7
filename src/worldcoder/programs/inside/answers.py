"""What goes back from a worker: tables that only grow, and numbers of their entries."""

from __future__ import annotations

from typing import Any

from worldcoder.errors import ProgramError
from worldcoder.programs.inside.known import Known
from worldcoder.programs.wire import Change, change
from worldcoder.world.live import LiveState
from worldcoder.world.objects import Version
from worldcoder.world.values import State

CHANGE, STATE, ERROR = range(3)
"""An outcome is one number: 3 · the entry + which table it is in."""


class Answers:
    """The tables of one worker: changes, whole states, errors, verdicts."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self._born = 0
        self._changes: dict[Change, int] = {}
        self._states: dict[State, int] = {}
        self._errors: dict[tuple[str, str], int] = {}
        self._verdicts: dict[tuple[float, bool], int] = {}
        self._new: dict[str, list[Any]] = {}
        self.flush()

    def flush(self) -> dict[str, list[Any]]:
        """What is new in the tables since the last time."""
        new, self._new = self._new, {name: [] for name in ("changes", "states", "errors", "verdicts")}
        new["born"] = [o.to_json() for o in self.known.born[self._born :]]
        self._born = len(self.known.born)
        return new

    def change(self, step: Change) -> int:
        """A change, as an outcome."""
        number = self._changes.get(step)
        if number is None:
            number = self._changes[step] = len(self._changes)
            self._new["changes"].append(step)
        return 3 * number + CHANGE

    def state(self, state: State) -> int:
        """A whole state, as an outcome."""
        number = self._states.get(state)
        if number is None:
            number = self._states[state] = len(self._states)
            self._new["states"].append(state.to_json())
        return 3 * number + STATE

    def from_nothing(self, state: State) -> int:
        """A state, as what leads to it from the state without objects."""
        numbers = self.known.numbers(state)
        return self.state(state) if numbers is None else self.change(((), tuple(sorted(numbers))))

    def error(self, error: ProgramError) -> int:
        """How a program failed, as an outcome or a verdict."""
        said = error.failing, str(error)[:1000]
        number = self._errors.get(said)
        if number is None:
            number = self._errors[said] = len(self._errors)
            self._new["errors"].append(said)
        return 3 * number + ERROR

    def verdict(self, reward: float, done: bool) -> int:
        """Reward and done."""
        number = self._verdicts.get((reward, done))
        if number is None:
            number = self._verdicts[reward, done] = len(self._verdicts)
            self._new["verdicts"].append([reward, done])
        return 3 * number


class Steps:
    """The outcomes of steps on one live state."""

    def __init__(self, live: LiveState, answers: Answers) -> None:
        self._live = live
        self._answers = answers
        self._outcomes: dict[tuple[Version, ...], int] = {}
        self._numbers: dict[Version, int] = {}

    def outcome(self) -> int:
        """What the step that was just settled led to."""
        live = self._live
        if live.has_references and not live.exact_hash:
            return self._answers.state(live.freeze())
        changes = live.changes
        key = (*changes, *[v.obj._version for v in changes])
        known = self._outcomes.get(key)
        if known is None:
            step = change(self._of([v.obj._version for v in changes]), self._of(changes))
            known = self._outcomes[key] = self._answers.change(step)
        return known

    def _of(self, versions: list[Version]) -> list[int]:
        found = []
        for version in versions:
            if version.values is not None:
                number = self._numbers.get(version)
                if number is None:
                    number = self._answers.known.number(self._live.part(version))
                    self._numbers[version] = number
                found.append(number)
        return found

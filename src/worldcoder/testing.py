"""Contract tests for what users of worldcoder add to it.

from worldcoder.testing import check_environment

def test_my_world():
    check_environment(make_env)
"""

from __future__ import annotations

import copy
import keyword
import math
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from worldcoder.envs.contract import Environment, Start, Step
from worldcoder.errors import WorldError
from worldcoder.world.objects import LiveObj
from worldcoder.world.values import Action, Goal, Obj, State

__all__ = ["Checked", "check_environment"]

_Known = dict[tuple[Goal, State, Action], tuple[str, Step]]
"""What every state and action led to under a goal, and where that was seen."""

_RESERVED = frozenset({*dir(Obj), *dir(LiveObj)})
"""What already means something on an object: kind, name, replace, ..."""

_UNKNOWN = Action("an action that no world has")


@dataclass(frozen=True, slots=True)
class Checked:
    """What a passed check has seen.

    steps: how many were taken. ended: whether any episode ended, so that the rule on stepping after the end
    was put to the test. branched: whether `copy.deepcopy` is supported, so that branches were compared.
    """

    steps: int
    ended: bool
    branched: bool


def check_environment(
    factory: Callable[[], Environment], *, seeds: Iterable[int] = range(3), steps: int = 60
) -> Checked:
    """Check an environment against its contract.

    factory: builds a fresh environment. seeds: the episodes to try. steps: random actions in each.

    Checked are: that `reset` is reproducible; that everything returned has the right type; that attributes have
    names that a program can write, and that x and y are int or None; that no state changes after it was
    returned; that `actions` is a function of the state; that two environments with one seed and the same
    actions agree; that a state and an action decide what comes next; that a wrong call raises WorldError and
    changes nothing; and, where `copy.deepcopy` works, that a copy is independent.

    Raises AssertionError, which says what broke and where.
    """
    seeds = list(seeds)
    _require(bool(seeds) and steps > 0, "check_environment: expected at least one seed and one step")
    known: _Known = {}
    walks = [_Walk(factory, seed, known).go(steps) for seed in seeds]
    return Checked(
        steps=sum(len(walk.taken) for walk in walks),
        ended=any(walk.ended for walk in walks),
        branched=any(walk.branched for walk in walks),
    )


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _require_refusal(environment: Environment, action: Action, when: str) -> None:
    try:
        step = environment.step(action)
    except WorldError:
        return
    except Exception as error:
        raise AssertionError(f"{when}: expected WorldError, got {type(error).__name__}: {error}") from error
    raise AssertionError(f"{when}: expected WorldError, got {step!r}")


def _check_objects(state: State, when: str) -> None:
    """Programs write attributes as `o.x`, and reckon with places."""
    for o in state:
        for attribute, value in o.attributes.items():
            where = f"{when}: {o.kind} has the attribute {attribute!r}"
            _require(
                attribute.isidentifier() and not keyword.iskeyword(attribute),
                f"{where}, which is no Python identifier; programs write o.{_identifier(attribute)}: rename it",
            )
            _require(
                attribute not in _RESERVED,
                f"{where}, which is reserved: it means something else on every object; rename it",
            )
            _require(
                attribute not in ("x", "y") or value is None or type(value) is int,
                f"{when}: {o.kind}.{attribute} is {value!r} ({type(value).__name__}), expected an int, or None"
                " for what is nowhere: x and y are places; count in whole steps, or give it another name",
            )


def _identifier(name: str) -> str:
    """A name like this one that Python can read."""
    words = re.sub(r"\W+", "_", name).strip("_") or "attribute"
    return f"{words}_" if keyword.iskeyword(words) else f"_{words}" if words[0].isdigit() else words


def _act(environment: Environment, action: Action, where: str) -> Step:
    try:
        return environment.step(action)
    except Exception as error:
        raise AssertionError(
            f"step({action}), {where}: an action of actions(state) raised {type(error).__name__}: {error}"
        ) from error


class _Walk:
    """One episode of random actions, checked at every step."""

    def __init__(self, factory: Callable[[], Environment], seed: int, known: _Known) -> None:
        self.factory = factory
        self.seed = seed
        self.taken: list[tuple[Action, Step]] = []
        self.ended = False
        self.branched = False
        self._rng = random.Random(seed)
        self._returned: list[tuple[State, Any, str]] = []  # every state, as it read when it was returned
        self._known = known

    def go(self, steps: int) -> _Walk:
        environment = self.factory()
        start = self._reset(environment)
        elsewhere = self.factory()
        self._check_start(elsewhere.reset(self.seed + 1), f"reset({self.seed + 1})")
        state = start.state
        for i in range(steps):
            actions = self._actions(environment, elsewhere, state, i)
            action = self._rng.choice(actions)
            step = self._step(environment, action, i)
            self._check_decided((start.goal, state, action), step, self._place(i))
            state = step.state
            if step.done or step.truncated:
                self.ended = True
                _require_refusal(environment, action, f"step() after the end, {self._place(i + 1)}")
                break
        self._check_kept()
        self._replay(environment, start, "the same environment after another reset")
        self._replay(self.factory(), start, "a second environment")
        # From here on episodes are known to repeat, so a difference is the fault of what is tried in between.
        self._check_refusals(start)
        self._check_copies(start)
        return self

    def _place(self, i: int) -> str:
        return f"seed {self.seed}, step {i}"

    def _moment(self) -> int:
        """A step with something before it and something after, where there is one."""
        return self._rng.randint(1, 8) % len(self.taken)

    # ── one call at a time ───────────────────────────────────────────────────────────────────────────────

    def _reset(self, environment: Environment) -> Start:
        start = environment.reset(self.seed)
        when = f"reset({self.seed})"
        self._check_start(start, when)
        self._returned.append((start.state, start.state.to_json(), when))
        return start

    def _check_start(self, start: Start, when: str) -> None:
        _require(isinstance(start, Start), f"{when}: expected Start, got {type(start).__name__}")
        _require(
            isinstance(start.state, State), f"{when}: expected a State, got {type(start.state).__name__}"
        )
        _check_objects(start.state, when)
        _require(
            isinstance(start.goal, str) and bool(start.goal.strip()),
            f"{when}: expected the goal to be a sentence, got {start.goal!r}",
        )

    def _actions(
        self, environment: Environment, elsewhere: Environment, state: State, i: int
    ) -> Sequence[Action]:
        when = f"actions(state), {self._place(i)}"
        actions = environment.actions(state)
        _require(
            isinstance(actions, Sequence) and not isinstance(actions, str),
            f"{when}: expected a sequence, which has an order, got {type(actions).__name__}",
        )
        _require(len(actions) > 0, f"{when}: expected at least one action, got none")
        for action in actions:
            _require(isinstance(action, Action), f"{when}: expected Action values, got {action!r}")
        _require(len(set(actions)) == len(actions), f"{when}: an action is listed twice: {_names(actions)}")
        again = environment.actions(state)
        _require(
            list(again) == list(actions),
            f"{when}: got {_names(actions)}, then {_names(again)} when asked again",
        )
        other = elsewhere.actions(state)
        _require(
            list(other) == list(actions),
            f"{when}: got {_names(actions)}, but {_names(other)} from an environment in another state;"
            " actions may depend on the state that is given and on nothing else",
        )
        return actions

    def _step(self, environment: Environment, action: Action, i: int) -> Step:
        when = f"step({action}), {self._place(i)}"
        step = _act(environment, action, self._place(i))
        _require(isinstance(step, Step), f"{when}: expected Step, got {type(step).__name__}")
        _require(isinstance(step.state, State), f"{when}: expected a State, got {type(step.state).__name__}")
        _check_objects(step.state, when)
        _require(
            type(step.reward) in (int, float) and math.isfinite(step.reward),
            f"{when}: expected the reward to be a finite float, got {step.reward!r}"
            f" ({type(step.reward).__name__})",
        )
        for field in ("done", "truncated"):
            value = getattr(step, field)
            _require(
                type(value) is bool,
                f"{when}: expected {field} to be a bool, got {value!r} ({type(value).__name__})",
            )
        self.taken.append((action, step))
        self._returned.append((step.state, step.state.to_json(), when))
        return step

    # ── over several calls ───────────────────────────────────────────────────────────────────────────────

    def _check_decided(self, case: tuple[Goal, State, Action], step: Step, place: str) -> None:
        """A state and an action decide the next state, the reward and done, though not truncated."""
        earlier, before = self._known.setdefault(case, (place, step))
        difference = _difference(before, step)
        _require(
            difference is None,
            f"step({case[2]}), {place}: the same state and action gave something else at {earlier}:"
            f" {difference}; what decides it has to be in the state",
        )

    def _check_kept(self) -> None:
        for state, text, when in self._returned:
            _require(
                state.to_json() == text,
                f"the state returned by {when} changed afterwards: it was {text}, it is {state.to_json()};"
                " build new objects instead of changing returned ones",
            )

    def _check_refusals(self, start: Start) -> None:
        """A refused action changes nothing."""
        environment = self.factory()
        _require_refusal(environment, self.taken[0][0], "step() before reset()")
        at = self._moment()

        def refuse() -> None:
            _require_refusal(environment, _UNKNOWN, f"step() with an unknown action, {self._place(at)}")

        self._replay(environment, start, f"an environment that refused an action at step {at}", at, refuse)

    def _check_copies(self, start: Start) -> None:
        """Environment, copy and copy of the same moment each go their own way, where copying works."""
        environment = self.factory()
        at = self._moment()
        copies: list[Environment] = []

        def branch() -> None:
            try:
                copies.extend(copy.deepcopy(environment) for _ in range(2))
            except Exception:  # a world need not be copyable
                copies.clear()
                return
            state = self.taken[at - 1][1].state if at else start.state
            for _ in range(20):  # the one copy acts until it is elsewhere, so that what is shared shows
                action = self._rng.choice(copies[0].actions(state))
                step = _act(copies[0], action, f"a copy made by copy.deepcopy at step {at}")
                if step.state != state or step.done or step.truncated:
                    return

        self._replay(environment, start, f"an environment whose copy has acted since step {at}", at, branch)
        if copies:
            self.branched = True
            self._compare(copies[1], f"a copy made by copy.deepcopy at step {at}", at)

    def _replay(
        self,
        environment: Environment,
        start: Start,
        who: str,
        at: int = 0,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """Take the steps of the walk again, doing something else before step `at`."""
        again = environment.reset(self.seed)
        _require(
            again.goal == start.goal,
            f"reset({self.seed}): {who} has the goal {again.goal!r}, not {start.goal!r}",
        )
        _require(
            again.state == start.state,
            f"reset({self.seed}): {who} starts in another state: {_states(start.state, again.state)}",
        )
        self._compare(environment, who, 0, at)
        if meanwhile is not None:
            meanwhile()
        self._compare(environment, who, at)

    def _compare(self, environment: Environment, who: str, since: int, until: int | None = None) -> None:
        for i, (action, step) in enumerate(self.taken[since:until], start=since):
            difference = _difference(step, _act(environment, action, f"{who}, {self._place(i)}"), time=True)
            _require(
                difference is None,
                f"step({action}), {self._place(i)}: {who} disagrees: {difference};"
                " the seed and the actions have to decide all that happens",
            )


def _difference(one: Step, other: Step, *, time: bool = False) -> str | None:
    """How two steps differ, or None; `truncated`, which is a matter of time, counts only if asked for."""
    for field in ("reward", "done", "truncated")[: 3 if time else 2]:
        if getattr(one, field) != getattr(other, field):
            return f"{field} was {getattr(one, field)!r}, then {getattr(other, field)!r}"
    return None if one.state == other.state else _states(one.state, other.state)


def _states(one: State, other: State) -> str:
    """The lines in which two states differ."""
    left, right = str(one).splitlines(), str(other).splitlines()
    only_left = [line for line in left if line not in right]
    only_right = [line for line in right if line not in left]
    return f"there was {'; '.join(only_left[:3]) or 'less'}, then {'; '.join(only_right[:3]) or 'less'}"


def _names(actions: Iterable[Action]) -> str:
    return f"[{', '.join(map(str, actions))}]"

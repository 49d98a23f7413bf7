"""Loaded programs: a transition and a reward that run on a live state, however they are written."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable
from math import isfinite
from types import CodeType
from typing import Any

from worldcoder.errors import ProgramError
from worldcoder.programs.inside.loading import failed, load_namespace
from worldcoder.sandbox.watch import OUTSIDE, WATCH, CallTimeout
from worldcoder.world.live import LiveObj, LiveState, Snapshot
from worldcoder.world.recording import Where
from worldcoder.world.values import Action, Obj, Ref, State
from worldcoder.world.views import Backdrop, Reads, View, backdrop

Verdict = tuple[float, bool, int]
"""What a reward program says of a step: reward, done, and the open parts of the goal (-1: not counted)."""


class TransitionFunction:
    """A loaded transition program. Calling it changes the live state, however the program is written.

    It may write to the state it gets, return a collection of that state's objects, or return a copy.
    """

    def __init__(self, source: str) -> None:
        self._function = load_namespace(source, "transition")["transition"]

    def __call__(self, live: LiveState, action: Action) -> None:
        """Raises ProgramError for whatever goes wrong inside."""
        WATCH.ticks = 0
        try:
            result = self._function(live, action)
            if result is not live and result is not None:
                live.become(_as_state(result))
        except BaseException as error:
            raise failed(error, "transition") from None
        finally:
            WATCH.ticks = OUTSIDE
        if WATCH.over:
            raise failed(CallTimeout(), "transition")


def _as_state(result: Any) -> State:
    """A state from whatever a program returned instead of changing the one it got."""
    if isinstance(result, LiveState):
        return result.freeze()
    if isinstance(result, State):
        return result
    if not isinstance(result, Iterable) or isinstance(result, str | bytes):
        raise ProgramError(
            f"transition() returned {type(result).__name__}; return the state, or a collection of its objects"
        )
    items = list(result)
    place = {id(o): i for i, o in enumerate(items)}
    objects = []
    for o in items:
        if isinstance(o, LiveObj):
            attributes = {
                a: _reference(o, a, v, place, items) if isinstance(v, LiveObj) else v
                for a, v in o.__dict__.items()
                if a != "kind"
            }
            objects.append(Obj(o.kind, name=o.name, **attributes))
        elif isinstance(o, Obj):
            objects.append(o)
        else:
            raise ProgramError(
                f"transition() returned a collection that holds {type(o).__name__}, not objects"
            )
    return State(objects)


def _reference(o: LiveObj, attribute: str, target: LiveObj, place: dict[int, int], items: list[Any]) -> Ref:
    if id(target) in place:
        return Ref(target.name if target.name is not None else place[id(target)])
    raise ProgramError(f"{o.kind}.{attribute} refers to an object that is not in what transition() returned")


class RewardFunction:
    """A loaded reward program, with a memory of the results that cannot have changed.

    A result is reused while the action is the same (or the program's code never reads it) and no kind that
    the program ever read differs, before or after. A program that reads by other ways than kinds is simply
    called each time.

    kinds: what the program was seen to read; None if it reads by other ways.
    reads_action: whether the program may look at the action.
    counts: whether the open parts of the goal are counted along; set it for a search that asks for them.
    """

    def __init__(self, source: str) -> None:
        self._counter = _Counter()
        self._function = load_namespace(source, "reward")["reward"]
        counting = load_namespace(source, "reward")
        counting.setdefault("all", self._counter.all)  # a program that defines its own `all` means that one
        self._counting = counting["reward"]
        self._results: dict[Any, Verdict] = {}
        self.kinds: tuple[str, ...] | None = ()
        self.counts = False
        self.reads_action = _reads_argument(self._function, 1)

    def __call__(self, live: LiveState, action: Action) -> tuple[float, bool]:
        """Reward and done of the step that was just made and settled; raises ProgramError."""
        reward, done, _ = self.verdict(live, action)
        return reward, done

    def fresh(self, live: LiveState, action: Action) -> tuple[float, bool]:
        """The same, computed anew whatever is remembered."""
        reward, done, _ = self.judge(live, live.before(), live.snapshot(), action, Reads())
        return reward, done

    def verdict(self, live: LiveState, action: Action) -> Verdict:
        """Reward, done and, if this function `counts`, the open parts of the goal; raises ProgramError."""
        kinds = self.kinds
        if kinds is None:
            return self.judge(live, live.before(), live.snapshot(), action, Reads())
        key: Any = live.fingerprint(kinds)
        if self.reads_action:
            key = key, action.name, action.args
        found = self._results.get(key)
        if found is None or (self.counts and found[2] < 0):
            found = self.judge(live, live.before(), live.snapshot(), action, Reads())
            if self.kinds is kinds:
                self._results[key] = found
        return found

    def judge(
        self,
        live: LiveState,
        before: Snapshot,
        after: Snapshot,
        action: Action,
        reads: Reads,
        standing: Where | None = None,
    ) -> Verdict:
        """The same for a step between two kept states, computed anew; notes what is read.

        standing: what stands where before the step, if that is known.
        The open parts are the items that fail in the program's calls of `all`. This is the goal count of
        width search (Lipovetzky & Geffner 2012), read off the program itself: a program that says "all boxes
        stand on a target" counts the boxes that do not.
        """
        behind = backdrop(live)
        if self.counts:
            self._counter.failed = 0
            try:
                result = self._run(self._counting, behind, before, after, action, reads, standing)
                return *_checked(result), self._counter.failed
            except ProgramError:
                pass  # perhaps at an item that the program itself would not look at
        result = self._run(self._function, behind, before, after, action, reads, standing)
        return *_checked(result), 0 if self.counts else -1

    def relevant(self, action: Action) -> Any:
        """What of an action the program can tell from that of another; None if it never looks at actions."""
        return (action.name, action.args) if self.reads_action else None

    def forget(self) -> None:
        """Start anew with another live state: what is remembered holds for one live state only."""
        self._results.clear()
        self.kinds = ()

    def distrust(self) -> None:
        """Remember nothing from now on, until `forget`."""
        self.forget()
        self.kinds = None

    def _run(
        self,
        function: Callable[..., Any],
        behind: Backdrop,
        before: Snapshot,
        after: Snapshot,
        action: Action,
        reads: Reads,
        standing: Where | None,
    ) -> Any:
        WATCH.ticks = 0
        try:
            result = function(View(behind, before, reads, standing), action, View(behind, after, reads))
        except BaseException as error:
            raise failed(error, "reward") from None
        finally:
            WATCH.ticks = OUTSIDE
        if WATCH.over:
            raise failed(CallTimeout(), "reward")
        if self.kinds is not None:
            if reads.everything:
                self.distrust()
            elif not reads.kinds.issubset(self.kinds):
                self.kinds = tuple(sorted(reads.kinds.union(self.kinds)))
                self._results.clear()
        return result


def _checked(result: Any) -> tuple[float, bool]:
    """What a reward program returned, if it is a reward and done; raises ProgramError."""
    if type(result) is tuple and len(result) == 2:
        reward, done = result
        if type(reward) is float and type(done) is bool and isfinite(reward):
            return result
    try:
        match result:
            case (bool() | int() | float() as reward, bool() | int() as done) if isfinite(reward):
                return float(reward), bool(done)
        raise ProgramError(f"reward() returned {result!r:.80}; expected (number, bool), the number finite")
    except ProgramError:
        raise
    except BaseException as error:  # of a class of the program's own
        raise failed(error, "reward") from None


def _reads_argument(function: Any, index: int) -> bool:
    """Whether a function may read one of its arguments; False only where its code shows that it does not."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_argcount <= index:
        return True
    name = code.co_varnames[index]
    if {"locals", "vars", "eval", "exec", "dir", "_getframe", "inspect"} & set(code.co_names):
        return True
    return any(step.argval == name or name in _names(step.argval) for step in dis.get_instructions(code))


def _names(argument: Any) -> tuple[Any, ...]:
    """The names an instruction carries, where it carries several; those that an inner function uses."""
    if isinstance(argument, tuple):
        return argument
    return argument.co_freevars if isinstance(argument, CodeType) else ()


class _Counter:
    """Stands in for the built-in `all` and counts what fails, without stopping at the first."""

    def __init__(self) -> None:
        self.failed = 0

    def all(self, items: Iterable[Any]) -> bool:
        failed = 0
        for item in items:
            if not item:
                failed += 1
        self.failed += failed
        return failed == 0

"""A world model at work: its programs run on one live state, step by step, for predictions and planning."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from worldcoder.errors import ProgramError
from worldcoder.programs.program import describe, load_namespace
from worldcoder.world.live import LiveObj, LiveState, Snapshot
from worldcoder.world.values import Action, Obj, Ref, State
from worldcoder.world.views import After, Before, Reads

Actions = Sequence[Action] | Callable[[State], Sequence[Action]]
"""The actions there are: the same in every state, or a function of the state (slower: states are built)."""


@dataclass(frozen=True)
class Prediction:
    """What a model says an action leads to.

    state: None when the program failed; `error` then says how.
    """

    state: State | None
    reward: float
    done: bool
    error: str | None = None


class TransitionFunction:
    """A loaded transition program. Calling it changes the live state, however the program is written."""

    def __init__(self, source: str) -> None:
        self._function = load_namespace(source, "transition")["transition"]

    def __call__(self, live: LiveState, action: Action) -> None:
        """Raises ProgramError for whatever goes wrong inside."""
        try:
            result = self._function(live, action)
            if result is not live and result is not None:
                live.become(_as_state(result))
        except ProgramError as error:
            raise ProgramError(describe(error)) from None
        except Exception as error:
            raise ProgramError(f"the transition program failed: {describe(error)}") from None


def _as_state(result: Any) -> State:
    """A state from whatever a program returned instead of changing the one it got."""
    if isinstance(result, LiveState):
        return result.freeze()
    if isinstance(result, State):
        return result
    if not isinstance(result, Iterable):
        raise ProgramError(
            f"transition() returned {type(result).__name__}; return the state, or a collection of its objects"
        )
    items = list(result)
    place = {id(o): i for i, o in enumerate(items)}
    objects = []
    for o in items:
        if isinstance(o, LiveObj):
            attributes = {
                a: Ref(place[id(v)]) if isinstance(v, LiveObj) and id(v) in place else v
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


class RewardFunction:
    """A loaded reward program, with a memory of the results that cannot have changed.

    A result is reused while the action is the same and no kind that the program ever read differs, before or
    after. A program that reads by other ways than kinds is simply called each time.
    """

    def __init__(self, source: str) -> None:
        self._counter = _Counter()
        self._namespace = load_namespace(source, "reward")
        self._function = self._namespace["reward"]
        counting = load_namespace(source, "reward")
        counting["all"] = self._counter.all
        self._counting = counting["reward"]
        self._kinds: tuple[str, ...] = ()
        self._memo: dict[Any, tuple[float, bool]] = {}
        self._memoize = True

    def __call__(self, live: LiveState, action: Action) -> tuple[float, bool]:
        """Reward and done of the step that was just made and settled; raises ProgramError."""
        if not self._memoize or live.has_references:
            return self._call(live, action)
        key = (action, live.fingerprint(self._kinds))
        found = self._memo.get(key)
        if found is None:
            found = self._call(live, action)
            if self._memoize:
                self._memo[action, live.fingerprint(self._kinds)] = found
        return found

    def fresh(self, live: LiveState, action: Action) -> tuple[float, bool]:
        """The same, computed anew whatever is remembered."""
        return self._call(live, action)

    def _call(self, live: LiveState, action: Action) -> tuple[float, bool]:
        reads = Reads()
        result = self._run(self._function, live, action, reads)
        match result:
            case (bool() | int() | float() as reward, bool() | int() as done):
                pass
            case _:
                raise ProgramError(f"reward() returned {result!r}; expected (number, bool)")
        if reads.everything or live.irregular:
            self._memoize = False
        elif not reads.kinds <= set(self._kinds):
            self._kinds = tuple(sorted(reads.kinds | set(self._kinds)))
            self._memo.clear()
        return float(reward), bool(done)

    def _run(self, function: Callable[..., Any], live: LiveState, action: Action, reads: Reads) -> Any:
        writes = live.writes
        try:
            result = function(Before(live, reads), action, After(live, reads))
        except ProgramError as error:
            raise ProgramError(describe(error)) from None
        except Exception as error:
            raise ProgramError(f"the reward program failed: {describe(error)}") from None
        if live.writes != writes:
            raise ProgramError("a reward program may not change the state; this one wrote an attribute")
        return result

    def forget(self) -> None:
        """Start anew with another live state: what is remembered holds for one live state only."""
        self._memo.clear()
        self._memoize = True

    def unmet(self, live: LiveState, action: Action) -> int:
        """How many parts of the goal are open: the items that fail in the program's calls of `all`.

        This is the goal count of width search (Lipovetzky & Geffner 2012), read off the program itself: a
        program that says "all boxes stand on a target" counts the boxes that do not. 0 where it has no such
        parts.
        """
        self._counter.failed = 0
        self._run(self._counting, live, action, Reads())
        return self._counter.failed


class _Counter:
    """Stands in for the built-in `all` and counts what fails, without stopping at the first."""

    def __init__(self) -> None:
        self.failed = 0

    def all(self, items: Iterable[Any]) -> bool:
        failed = builtins.sum(not item for item in items)
        self.failed += failed
        return failed == 0


class Simulator:
    """One transition function and one reward function on one live state: a model that can be searched.

    crashed: how often a program failed during a search; such a step leads nowhere.
    last_error: how it failed last.
    """

    def __init__(
        self,
        transition: TransitionFunction,
        reward: RewardFunction | None,
        state: State,
        actions: Actions,
    ) -> None:
        self._transition = transition
        self._reward = reward
        self._actions = actions
        self._live = LiveState(state)
        self._start = self._live.snapshot()
        self._action: Action | None = None
        self.crashed = 0
        self.last_error: str | None = None
        if reward is not None:
            reward.forget()

    # ── planning.Model ───────────────────────────────────────────────────────────────────────────────────

    def start(self) -> Snapshot:
        return self._start

    def key(self, node: Snapshot) -> int:
        return self._live.hash_of(node)

    def successors(self, node: Snapshot) -> Iterator[tuple[Action, int, float, bool]]:
        live, transition, reward = self._live, self._transition, self._reward
        live.restore(node)
        actions = self._actions
        for action in actions if isinstance(actions, Sequence) else actions(live.freeze()):
            try:
                transition(live, action)
                key = live.settle()
                gained, done = (0.0, False) if reward is None else reward(live, action)
            except ProgramError as error:
                self.crashed += 1
                self.last_error = str(error)
            else:
                self._action = action
                yield action, key, gained, done
            live.undo()

    def keep(self) -> Snapshot:
        return self._live.snapshot()

    def atoms(self) -> list[int]:
        return self._live.atoms()

    def changed_atoms(self) -> list[int]:
        return [z for _, row, z in self._live.changes if row is not None]

    def unmet(self) -> int:
        if self._reward is None or self._action is None:
            return 0
        try:
            return self._reward.unmet(self._live, self._action)
        except ProgramError:
            return 0

    def replay(self, actions: Sequence[Action]) -> list[tuple[float, bool]]:
        """Reward and done of each action from the start, computed with nothing remembered."""
        node, steps = self._start, []
        for action in actions:
            node, prediction = self.step(node, action)
            if prediction.state is None:
                break
            steps.append((prediction.reward, prediction.done))
        return steps

    def distrust(self) -> None:
        """Remember nothing from now on."""

    # ── predictions ──────────────────────────────────────────────────────────────────────────────────────

    def state(self, node: Snapshot) -> State:
        """The state that a node stands for."""
        self._live.restore(node)
        return self._live.freeze()

    def step(self, node: Snapshot, action: Action) -> tuple[Snapshot, Prediction]:
        """One step from a node; the node after it, and what is predicted. Never raises for a bad program."""
        live = self._live
        live.restore(node)
        reward, done = 0.0, False
        try:
            self._transition(live, action)
            live.settle()
            kept, state = live.snapshot(), live.freeze()
            if self._reward is not None:
                reward, done = self._reward(live, action)
        except ProgramError as error:
            live.undo()
            return node, Prediction(None, 0.0, False, str(error))
        live.undo()
        return kept, Prediction(state, reward, done)

    def predict(self, state: State, action: Action) -> Prediction:
        """What the model says `action` leads to in `state`. Never raises for a bad program."""
        return self.step(self._live.snapshot_of(state), action)[1]

"""A world model at work: its programs run on one live state, step by step, for predictions and planning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from worldcoder.errors import ProgramError
from worldcoder.programs.inside.counting import Calls
from worldcoder.programs.inside.functions import RewardFunction, TransitionFunction, Verdict
from worldcoder.programs.inside.memory import Memory, Node
from worldcoder.programs.prediction import Actions, Prediction
from worldcoder.world.live import LiveState
from worldcoder.world.values import Action, State


class Simulator:
    """One transition function and one reward function on one live state: a model that can be searched.

    Calls of the transition program are remembered where that pays (`Memory`); `remember=False` runs the
    program for each step.

    crashed: how often a program failed during a search; such a step leads nowhere.
    last_error: how it failed last.
    calls: counts the calls of the programs in searches.
    """

    def __init__(
        self,
        transition: TransitionFunction,
        reward: RewardFunction | None,
        state: State,
        actions: Actions,
        *,
        remember: bool = True,
        calls: Calls | None = None,
    ) -> None:
        self._transition = transition
        self._reward = reward
        self._actions = actions
        self._live = live = LiveState(state)
        self._start = live.settle(), live.snapshot()
        self._calls = calls = calls or Calls()
        self._memory = Memory(live, transition, reward, calls) if remember else None
        self._remembered = False  # whether the current step is the memory's
        self._action: Action | None = None
        self._kept: Node | None = None
        self._verdict: Verdict = (0.0, False, 0)
        self._crashed = 0
        self._last_error: str | None = None
        if reward is not None:
            reward.forget()

    # ── planning.Model ───────────────────────────────────────────────────────────────────────────────────

    def start(self) -> Node:
        """The node of the state that the simulator was made with."""
        return self._start

    def key(self, node: Node) -> int:
        """The hash of the node's state."""
        return self._live.hash_of(node[1])

    def successors(self, node: Node) -> Iterator[tuple[Action, int, float, bool]]:
        """One step for each action whose programs run without an error."""
        if callable(self._actions):
            self._live.restore(node[1])
            actions = self._actions(self._live.freeze())
        else:
            actions = self._actions
        if self._memory is not None and self._memory.pays():
            self._remembered = True
            return self._memory.successors(node, actions)
        self._remembered = False
        return self._run(node, actions)

    def _run(self, node: Node, actions: Sequence[Action]) -> Iterator[tuple[Action, int, float, bool]]:
        live, transition, reward = self._live, self._transition, self._reward
        live.restore(node[1])
        gained, done, calls = 0.0, False, self._calls
        for action in actions:
            calls.count(live, node[1], action)
            try:
                transition(live, action)
                self._key = key = live.settle()
                if reward is not None:
                    self._verdict = gained, done, _ = reward.verdict(live, action)
            except ProgramError as error:
                self._crashed += 1
                self._last_error = str(error)
                calls.note(live, node[1], action, error)
            else:
                self._action = action
                self._kept = None
                yield action, key, gained, done
            live.undo()

    def keep(self) -> Node:
        """The node after the current step."""
        if self._remembered and self._memory is not None:
            return self._memory.keep()
        if self._kept is None:
            self._kept = self._key, self._live.snapshot()
        return self._kept

    def atoms(self) -> list[int]:
        """A number for what each object that can change is after the current step."""
        if self._remembered and self._memory is not None:
            return self._memory.atoms()
        return [v.z for v in self.keep()[1] if v.z]

    def changed_atoms(self) -> list[int]:
        """Those of `atoms` that the current step brought about."""
        if self._remembered and self._memory is not None:
            return self._memory.changed_atoms()
        return [v.z for v in self._live.changes if v.z]

    def unmet(self) -> int:
        """How many parts of the goal are open, by the reward program; 0 where it has none."""
        if self._remembered and self._memory is not None:
            return self._memory.unmet()
        if self._reward is None or self._action is None:
            return 0
        if self._verdict[2] < 0:
            self._reward.counts = True
            self._verdict = self._reward.verdict(self._live, self._action)
        return self._verdict[2]

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
        self._memory = None
        if self._reward is not None:
            self._reward.distrust()

    @property
    def crashed(self) -> int:
        return self._crashed + (0 if self._memory is None else self._memory.crashed)

    @property
    def last_error(self) -> str | None:
        return self._last_error or (None if self._memory is None else self._memory.last_error)

    # ── predictions ──────────────────────────────────────────────────────────────────────────────────────

    def state(self, node: Node) -> State:
        """The state that a node stands for."""
        self._live.restore(node[1])
        return self._live.freeze()

    def step(self, node: Node, action: Action) -> tuple[Node, Prediction]:
        """One step from a node; the node after it, and what is predicted. Never raises for a bad program."""
        live = self._live
        live.restore(node[1])
        reward, done = 0.0, False
        try:
            self._transition(live, action)
            kept = live.settle(), live.snapshot()
            state = live.freeze()
            if self._reward is not None:
                reward, done = self._reward.fresh(live, action)
        except ProgramError as error:
            return node, Prediction(None, 0.0, False, str(error), error.failing)
        finally:
            live.undo()
        return kept, Prediction(state, reward, done)

    def predict(self, state: State, action: Action) -> Prediction:
        """What the model says `action` leads to in `state`. Never raises for a bad program."""
        return self.step((0, self._live.snapshot_of(state)), action)[1]

"""The agent: observe, synthesise when the model is wrong, plan, act.

The loop is Algorithm 1 of WorldCoder (Tang, Key, Ellis, NeurIPS 2024, arXiv 2402.12275). Two conditions are
held up after every step: φ1, the model reproduces all transitions; φ2, it admits a plan to a rewarded end. The
agent follows the plan; where there is none it goes where its hypotheses disagree, to learn how there could be.

An agent is asked and told: `begin`, then `act` and `observe` in turn.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from worldcoder.planning import Budget, Plan, Status, plan
from worldcoder.programs import Check, Program, RewardFunction, Simulator, TransitionFunction, WorldModel
from worldcoder.programs.simulator import Actions
from worldcoder.synthesis.proposer import Proposer, RewardProposal
from worldcoder.world.values import Action, Goal, State, Transition

Why = Literal["random", "plan", "guess", "explore"]


@dataclass(frozen=True)
class AgentConfig:
    """How the agent behaves. The defaults are the paper's where it has one.

    epsilon: share of random actions. min_data: transitions before the first synthesis.
    optimism: whether rewards are invented before any was seen (φ2).
    plan_nodes: nodes a search may generate. guess_nodes: the same, for each invented reward.
    explore_nodes: predicted states looked at in search of something to learn.
    patience: how much dearer (in nats) than the cheapest guess another may be and still go before exploring.
    """

    epsilon: float = 0.05
    min_data: int = 10
    optimism: bool = True
    plan_nodes: int = 200_000
    guess_nodes: int = 20_000
    explore_nodes: int = 250
    patience: float = 2.5


@dataclass(frozen=True)
class Decision:
    """What the agent does next, and why. action None: nothing is left to do here, begin again."""

    action: Action | None
    why: Why
    note: str = ""


@dataclass
class Counts:
    """What the agent has done so far."""

    actions: int = 0
    episodes: int = 0
    successes: int = 0
    wrong_guesses: int = 0
    adopted_at: int = 0
    syntheses: int = 0


class Agent:
    """Learns one world. Everything random comes from `rng`; with the same rng and world it does the same."""

    def __init__(
        self,
        proposer: Proposer,
        *,
        config: AgentConfig = AgentConfig(),  # noqa: B008 - frozen
        rng: random.Random,
        actions: Callable[[State], Sequence[Action]],
        planner: Callable[..., Plan] = plan,
        clock: Callable[[str], Timer] | None = None,
    ) -> None:
        self.proposer = proposer
        self.config = config
        self.counts = Counts()
        self.model: WorldModel | None = None
        self.phi1 = 0.0
        self.phi2: Status | None = None
        self.guess: RewardProposal | None = None
        self.goal: Goal = ""
        self._rng = rng
        self._actions = actions
        self._planner = planner
        self._clock = clock or (lambda name: Timer())
        self._check = Check()
        self._start: State | None = None
        self._starts: dict[tuple[State, Goal], None] = {}
        self._action_sets: set[tuple[Action, ...]] = set()
        self._queue: deque[tuple[State, Action, Why, str]] = deque()
        self._transition: TransitionFunction | None = None
        self._program: Program | None = None
        self._learned: dict[Goal, RewardProposal] = {}
        self._unreachable: dict[tuple[State, str, str], Status] = {}
        self._quiet: set[State] = set()

    # ── ask and tell ─────────────────────────────────────────────────────────────────────────────────────

    def begin(self, state: State, goal: Goal) -> None:
        """An episode starts."""
        self.counts.episodes += 1
        self.goal = goal
        self._start = state
        self._starts.setdefault((state, goal))
        self._queue.clear()
        self.proposer.begin(state, goal, self._known_actions(state))

    def act(self, state: State) -> Decision:
        """Choose an action."""
        actions = self._known_actions(state)
        if self.counts.actions < self.config.min_data or self.model is None:
            return Decision(self._rng.choice(actions), "random", "first data")
        if self._rng.random() < self.config.epsilon:
            self._queue.clear()
            return Decision(self._rng.choice(actions), "random", "ε")
        if not self._queue or self._queue[0][0] != state:
            self._queue.clear()
            self._plan(state)
        if self._queue:
            _, action, why, note = self._queue.popleft()
            return Decision(action, why, note)
        if state == self._start:
            return Decision(self._rng.choice(actions), "random", "nothing else to do")
        return Decision(None, "explore", "nothing left to learn or to reach from here")

    def observe(self, transition: Transition) -> None:
        """Take in what an action led to, and mend the model if it was wrong."""
        self.counts.actions += 1
        rewarded = transition.reward > 0 and transition.done
        self.counts.successes += rewarded
        self._known_actions(transition.next_state)
        self.proposer.observe(transition)
        self._check.add(transition)
        if self.counts.actions < self.config.min_data:
            return
        if self.guess is not None and not self._queue:
            self._judge(self.guess, transition)
        with self._clock("synthesis"):
            self._synthesise()
        if not self._predicted(transition):
            self._queue.clear()

    # ── synthesis ────────────────────────────────────────────────────────────────────────────────────────

    def _synthesise(self) -> None:
        """Bring the model up to the data. A program that reproduces less than the present one is not taken."""
        changed = self.proposer.fit() or self._program is None
        program = self.proposer.transition_program() if changed or self._failing() else self._program
        assert program is not None
        if self._program is None or program.source != self._program.source:
            self.counts.syntheses += 1
            function = TransitionFunction(program.source)
            share = self._reproduced(function)
            if self._transition is None or share >= self._reproduced(self._transition):
                self._program, self._transition = program, function
                self.counts.adopted_at = self.counts.actions
                self._unreachable.clear()
                self._quiet.clear()
        assert self._start is not None
        reward = next(self.proposer.reward_programs(self.goal, self._start))
        known = self._learned.get(self.goal)
        if known is None or known.program.source != reward.program.source:
            self._learned[self.goal] = reward
            self.counts.adopted_at = self.counts.actions
        rewards = {goal: proposal.program for goal, proposal in self._learned.items()}
        assert self._program is not None
        self.model = WorldModel(self._program, rewards)
        self.phi1 = self._score()

    def _failing(self) -> bool:
        return self._transition is None or bool(self._check.run(self._transition, {}, stop_after=1))

    def _reproduced(self, function: TransitionFunction) -> float:
        return 1 - len(self._check.run(function, {})) / max(len(self._check), 1)

    def _score(self) -> float:
        """φ1: the share of transitions that the model reproduces, reward and end included."""
        rewards = {goal: RewardFunction(p.program.source) for goal, p in self._learned.items()}
        return 1 - len(self._check.run(self._transition, rewards)) / max(len(self._check), 1)

    def _predicted(self, transition: Transition) -> bool:
        """Whether the plan in hand still holds after this step."""
        return bool(self._queue) and self._queue[0][0] == transition.next_state

    def _judge(self, guess: RewardProposal, transition: Transition) -> None:
        """The plan to a guessed reward has been carried out: was it rewarded?"""
        self.guess = None
        if not (transition.done and transition.reward > 0):
            simulator = self._simulator(transition.state, guess.program)
            prediction = simulator.predict(transition.state, transition.action)
            if prediction.done and prediction.state == transition.next_state:
                self.counts.wrong_guesses += 1

    # ── planning ─────────────────────────────────────────────────────────────────────────────────────────

    def _plan(self, state: State) -> None:
        """Fill the queue: a plan to a reward, else the way to something worth trying."""
        self.guess = None
        self.phi2 = None
        with self._clock("planning"):
            self._plan_to_reward(state)

    def _plan_to_reward(self, state: State) -> None:
        assert self._start is not None
        cheapest: float | None = None
        explored = False
        for proposal in self.proposer.reward_programs(self.goal, self._start):
            if proposal.learned:
                if self._try(state, proposal, self.config.plan_nodes):
                    return
                continue
            if not self.config.optimism or proposal.cost == float("inf"):
                continue
            cheapest = proposal.cost if cheapest is None else cheapest
            if not explored and proposal.cost > cheapest + self.config.patience:
                explored = True
                if self._explore(state):
                    return
            if self._try(state, proposal, self.config.guess_nodes):
                self.guess = proposal
                return
        if not explored:
            self._explore(state)

    def _try(self, state: State, proposal: RewardProposal, nodes: int) -> bool:
        """Whether there is a plan to what the proposal rewards; if so it is in the queue."""
        assert self._program is not None
        key = (state, self._program.source, proposal.program.source)
        if key in self._unreachable:
            self.phi2 = self._unreachable[key]
            return False
        simulator = self._simulator(state, proposal.program)
        found = self._planner(simulator, budget=Budget(nodes=nodes))
        self.phi2 = found.status
        if not found.found:
            self._unreachable[key] = found.status
            return False
        why: Why = "plan" if proposal.learned else "guess"
        self._enqueue(simulator, found.actions, why, proposal.meaning)
        return True

    def _enqueue(self, simulator: Simulator, actions: Sequence[Action], why: Why, note: str) -> None:
        node = simulator.start()
        for action in actions:
            state = simulator.state(node)
            self._queue.append((state, action, why, note))
            node, _ = simulator.step(node, action)

    def _simulator(self, state: State, reward: Program | None) -> Simulator:
        assert self._transition is not None
        function = None if reward is None else RewardFunction(reward.source)
        return Simulator(self._transition, function, state, self._action_source(state))

    def _explore(self, state: State) -> bool:
        """Queue the way to what would teach most for its distance: interest / (distance + 2)."""
        if state in self._quiet:
            return False
        with self._clock("exploring"):
            reward = self._learned.get(self.goal)
            simulator = self._simulator(state, None if reward is None else reward.program)
            best, way = 0.0, None
            start = simulator.start()
            seen = {simulator.key(start)}
            frontier: deque[tuple[object, State, tuple[Action, ...]]] = deque([(start, state, ())])
            looked = 0
            while frontier and looked < self.config.explore_nodes:
                node, here, path = frontier.popleft()
                looked += 1
                if 3.0 / (len(path) + 2) <= best:
                    break
                for action in self._known_actions(here):
                    worth = self.proposer.interest(here, action) / (len(path) + 2)
                    if worth > best:
                        best, way = worth, (*path, action)
                    following, prediction = simulator.step(node, action)  # type: ignore[arg-type]
                    if prediction.state is None or prediction.done:
                        continue
                    key = simulator.key(following)
                    if key not in seen:
                        seen.add(key)
                        frontier.append((following, prediction.state, (*path, action)))
            if way is None:
                self._quiet.add(state)
                return False
            self._enqueue(simulator, way, "explore", f"interest {best * (len(way) + 1):.0f}")
            return True

    @property
    def planned(self) -> int:
        """Actions left of the plan in hand."""
        return len(self._queue)

    @property
    def curious(self) -> bool:
        """Whether the last search for something to learn found anything."""
        return not self._quiet

    # ── actions ──────────────────────────────────────────────────────────────────────────────────────────

    def _known_actions(self, state: State) -> tuple[Action, ...]:
        actions = tuple(self._actions(state))
        self._action_sets.add(actions)
        return actions

    def _action_source(self, state: State) -> Actions:
        """The actions themselves while they were the same in every state seen; else the function."""
        if len(self._action_sets) == 1:
            return self._known_actions(state)
        return self._actions


@dataclass
class Timer:
    """A stopwatch that does nothing; an experiment puts a real one in its place."""

    seconds: float = field(default=0.0)

    def __enter__(self) -> Timer:
        return self

    def __exit__(self, *exc: object) -> None:
        return None



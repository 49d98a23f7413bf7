"""The agent: observe, synthesise when the model is wrong, plan, act.

The loop is Algorithm 1 of WorldCoder (Tang, Key, Ellis, NeurIPS 2024, arXiv 2402.12275). Two conditions are
held up after every step: φ1, the model reproduces all transitions; φ2, it admits a plan to a rewarded end. The
agent follows the plan; where there is none it goes where its hypotheses disagree, to learn how there could be.

An agent is asked and told: `begin`, then `act` and `observe` in turn.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

from worldcoder.exploration import Explorer
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
    patience: float = 1.5


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


class Agent:
    """Learns one world.

    actions: which actions there are in a state. planner: the search for plans. clock: a stopwatch by name
    ("synthesis", "planning", "exploring"). Everything random comes from `rng`; with the same rng and the same
    world the agent does the same.

    model: what was learned so far. phi1: the share of transitions that it reproduces. phi2: how the last search
    for a plan ended. guess: the invented reward that is being tried. settled: set this once the goal was reached;
    from then on the agent acts only to learn.
    """

    def __init__(
        self,
        proposer: Proposer,
        *,
        config: AgentConfig = AgentConfig(),
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
        self.settled = False
        self._rng = rng
        self._actions = actions
        self._planner = planner
        self._clock = clock or (lambda name: Timer())
        self._check = Check()
        self._start: State | None = None
        self._action_sets: set[tuple[Action, ...]] = set()
        self._queue: deque[tuple[State, Action, Why, str]] = (
            deque()
        )  # the plan: where it should be, what to do
        self._transition: TransitionFunction | None = None
        self._program: Program | None = None
        self._learned: dict[Goal, RewardProposal] = {}
        # by reward program: how a search of so many nodes ended
        self._without_plan: dict[str, tuple[Status, int]] = {}
        self._quiet: set[State] = set()  # where nothing to learn was found
        self._tried: set[tuple[State, Action]] = set()
        self._wrong: set[tuple[State, Action]] = set()
        self._disappointed: str | None = None
        self._promise: tuple[tuple[State, str], bool] | None = None

    # ── ask and tell ─────────────────────────────────────────────────────────────────────────────────────

    def begin(self, state: State, goal: Goal) -> None:
        """An episode starts."""
        self.counts.episodes += 1
        self.goal = goal
        self._start = state
        self._queue.clear()
        self._without_plan.clear()
        self._disappointed = None
        self.proposer.begin(state, goal, self._known_actions(state))

    def act(self, state: State) -> Decision:
        """Choose an action."""
        actions = self._known_actions(state)
        if self.counts.actions < self.config.min_data or self.model is None:
            return Decision(self._rng.choice(actions), "random", "first data")
        if not self.settled and self._rng.random() < self.config.epsilon:
            self._queue.clear()
            return Decision(self._rng.choice(actions), "random", "ε")
        if not self._queue or self._queue[0][0] != state:
            self._queue.clear()
            self._plan(state)
        if self._queue:
            _, action, why, note = self._queue.popleft()
            return Decision(action, why, note)
        if not self.settled and (state == self._start or not self._promises_goal()):
            return Decision(self._rng.choice(actions), "random", "nothing else to do")
        return Decision(None, "explore", "nothing left to learn or to reach from here")

    def observe(self, transition: Transition) -> None:
        """Take in what an action led to, and mend the model if it was wrong."""
        self.counts.actions += 1
        rewarded = transition.reward > 0 and transition.done
        self.counts.successes += rewarded
        self._known_actions(transition.next_state)
        self._tried.add((transition.state, transition.action))
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

    def finish(self) -> WorldModel | None:
        """The model, with what it says of its evidence brought up to date; None while there is none."""
        if self.model is not None:
            self.model = WorldModel(self.proposer.evidence(), self.model.rewards)
        return self.model

    # ── synthesis ────────────────────────────────────────────────────────────────────────────────────────

    def _synthesise(self) -> None:
        """Bring the model up to the data. A program that reproduces less than the present one is not taken."""
        changed = self.proposer.fit() or self._program is None
        program = self.proposer.transition_program() if changed or self._failing() else self._program
        assert program is not None
        if self._program is None or program.source != self._program.source:
            function = TransitionFunction(program.source)
            share = self._reproduced(function)
            if self._transition is None or share >= self._reproduced(self._transition):
                self._program, self._transition = program, function
                self._without_plan.clear()
                self._quiet.clear()
        assert self._start is not None
        reward = next(self.proposer.reward_programs(self.goal, self._start))
        self._learned[self.goal] = reward
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
        missed = self._check.run(self._transition, rewards)
        self._wrong = self._often_wrong([m.index for m in missed if m.what in ("state", "error")])
        return 1 - len(missed) / max(len(self._check), 1)

    def _often_wrong(self, missed: Sequence[int]) -> set[tuple[State, Action]]:
        """What was predicted wrongly twice and at least every other time: more than noise."""
        if not missed:
            return set()
        steps = [(t.state, t.action) for t in self._check.transitions]
        seen, wrong = Counter(steps), Counter(steps[i] for i in missed)
        return {step for step, n in wrong.items() if n >= 2 and 2 * n >= seen[step]}

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
        """First what was learned or is likeliest, then exploration, then all other guesses with more nodes."""
        assert self._start is not None
        config = self.config
        if self.settled:
            self._explore(state)
            return
        likely = self._likely()
        learned = bool(likely) and likely[0].learned
        nodes = config.plan_nodes if learned else config.guess_nodes // 4
        if self._try_all(state, likely, nodes) or (config.optimism and self._hope(state, likely, nodes)):
            return
        if likely and self.phi2 is Status.UNREACHABLE and state != self._start and self._promises_goal():
            return  # something was done that cannot be undone: begin again
        if self._explore(state) or learned:
            return
        guesses = [p for p in self.proposer.reward_programs(self.goal, self._start) if p.cost < float("inf")]
        self._try_all(state, guesses if config.optimism else [], config.guess_nodes)

    def _try_all(self, state: State, guesses: Sequence[RewardProposal], nodes: int) -> bool:
        if len(guesses) > 1 and not self._any_reachable(state, guesses, nodes):
            return False
        for proposal in guesses:
            if self._try(state, proposal, nodes):
                self.guess = None if proposal.learned else proposal
                return True
        return False

    def _any_reachable(self, state: State, guesses: Sequence[RewardProposal], nodes: int) -> bool:
        """Whether it is not proved that none of the guesses can be reached: one search in place of many."""
        open_ones = [
            g for g in guesses if self._without_plan.get(g.program.source, _UNKNOWN)[0] is not _NEVER
        ]
        if not open_ones:
            self.phi2 = Status.UNREACHABLE
            return False
        any_of = self.proposer.any_of(open_ones)
        if any_of is None or len(open_ones) == 1:
            return True
        self.phi2 = self._planner(self._simulator(state, any_of), budget=Budget(nodes=nodes)).status
        if self.phi2 is not Status.FOUND:
            for guess in open_ones:
                self._without_plan[guess.program.source] = self.phi2, nodes
        return self.phi2 is Status.FOUND

    def _hope(self, state: State, proposals: Sequence[RewardProposal], nodes: int) -> bool:
        """Try the same with a transition program that lets pass what was never seen to be stopped."""
        program = self.proposer.optimistic_program()
        if program is None or program.source == self._disappointed:
            return False
        known = self.phi2
        function = TransitionFunction(program.source)
        any_of = self.proposer.any_of(proposals) if len(proposals) > 1 else None
        if any_of is not None:
            simulator = self._simulator(state, any_of, function)
            if not self._planner(simulator, budget=Budget(nodes=nodes)).found:
                proposals = ()
        for proposal in proposals:
            simulator = self._simulator(state, proposal.program, function)
            found = self._planner(simulator, budget=Budget(nodes=nodes))
            note = f"hoping that {proposal.meaning or 'it is reached'}"
            if found.found and self._enqueue(simulator, found.actions, "guess", note):
                return True
        self._disappointed = program.source
        self.phi2 = known
        return False

    def _try(self, state: State, proposal: RewardProposal, nodes: int) -> bool:
        """Whether there is a plan to what the proposal rewards; if so it is in the queue."""
        key = proposal.program.source
        status, tried = self._without_plan.get(key, _UNKNOWN)
        if status is Status.UNREACHABLE or tried >= nodes:
            self.phi2 = status  # true from any state that the model leads to, until the model changes
            return False
        simulator = self._simulator(state, proposal.program)
        found = self._planner(simulator, budget=Budget(nodes=nodes))
        self.phi2 = found.status
        if not found.found:
            self._without_plan[key] = found.status, nodes
            return False
        why: Why = "plan" if proposal.learned else "guess"
        if not self._enqueue(simulator, found.actions, why, proposal.meaning):
            self._without_plan[key] = Status.BUDGET, nodes
            return False
        return True

    def _enqueue(self, simulator: Simulator, actions: Sequence[Action], why: Why, note: str) -> bool:
        """Put a way into the queue, unless it leads through what the model is known to predict wrongly."""
        node, steps = simulator.start(), []
        for action in actions:
            state = simulator.state(node)
            if (state, action) in self._wrong:
                return False
            steps.append((state, action, why, note))
            node, _ = simulator.step(node, action)
        self._queue.extend(steps)
        return True

    def _simulator(
        self, state: State, reward: Program | None, transition: TransitionFunction | None = None
    ) -> Simulator:
        transition = transition or self._transition
        assert transition is not None
        function = None if reward is None else RewardFunction(reward.source)
        return Simulator(transition, function, state, self._action_source(state))

    def _explore(self, state: State) -> bool:
        """Queue the way to what would teach most for its distance: interest / (distance + 2)."""
        if state in self._quiet:
            return False
        with self._clock("exploring"):
            reward = self._learned.get(self.goal)
            simulator = self._simulator(state, None if reward is None else reward.program)
            explorer = Explorer(
                self.proposer,
                simulator,
                self._known_actions,
                tried=self._tried,
                wrong=self._wrong,
                nodes=self.config.explore_nodes,
            )
            found = explorer.most_interesting()
            if found is None and self._seek_news(state):
                return True
            if found is None and not self.settled and not self._promises_goal():
                found = (
                    explorer.untried()
                )  # the hypotheses agree, and yet no goal is in sight: all may be wrong
            if found is None:
                self._quiet.add(state)
                return False
            self._enqueue(simulator, found.actions, "explore", found.why)
            return True

    def _seek_news(self, state: State) -> bool:
        """Queue a way to a step of whose reward nothing seen so far tells."""
        assert self._start is not None
        program = self.proposer.news_program(self.goal, self._start)
        if program is None or program.source in self._without_plan:
            return False
        simulator, nodes = self._simulator(state, program), self.config.guess_nodes
        found = self._planner(simulator, budget=Budget(nodes=nodes))
        if found.found and self._enqueue(simulator, found.actions, "explore", "news of the reward"):
            return True
        self._without_plan[program.source] = found.status, nodes
        return False

    def _promises_goal(self) -> bool:
        """Whether there is a plan from the start of the episode (φ2) to something likely, hoping included."""
        assert self._start is not None and self._program is not None
        key = (self._start, self._program.source)
        if self._promise is None or self._promise[0] != key:
            likely = self._likely()
            any_of = self.proposer.any_of(likely) if len(likely) > 1 else None
            rewards = [p.program for p in likely] if any_of is None else [any_of]
            hopeful = self.proposer.optimistic_program() if self.config.optimism else None
            transitions = [None] if hopeful is None else [None, TransitionFunction(hopeful.source)]
            found = False
            for transition, reward in product(transitions, rewards):
                simulator = self._simulator(self._start, reward, transition)
                found = found or self._planner(simulator, budget=Budget(nodes=self.config.guess_nodes)).found
            self._promise = key, found
        return self._promise[1]

    def _likely(self) -> list[RewardProposal]:
        """What was learned of the goal, or else the guesses that go before exploring."""
        assert self._start is not None
        likely: list[RewardProposal] = []
        for proposal in self.proposer.reward_programs(self.goal, self._start):
            if proposal.learned:
                return [proposal]
            too_dear = likely and proposal.cost > likely[0].cost + self.config.patience
            if too_dear or proposal.cost == float("inf") or not self.config.optimism:
                break
            likely.append(proposal)
        return likely

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


_NEVER = Status.UNREACHABLE
_UNKNOWN = (Status.BUDGET, -1)


@dataclass
class Timer:
    """A stopwatch that does nothing; an experiment puts a real one in its place."""

    seconds: float = field(default=0.0)

    def __enter__(self) -> Timer:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

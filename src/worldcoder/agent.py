"""The agent: observe, synthesise when the model is wrong, plan, act.

The loop is Algorithm 1 of WorldCoder (Tang, Key, Ellis, NeurIPS 2024, arXiv 2402.12275). Two conditions are
held up after every step: φ1, the model reproduces all transitions; φ2, it admits a plan to a rewarded end. The
agent follows the plan; where there is none it goes where its hypotheses disagree, to learn how there could be.

An agent is asked and told: `begin`, then `act` and `observe` in turn. It holds programs and never runs one: a
runner does, in locked workers. A program that fails there is a result like any other.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence

from worldcoder.agent_values import AgentConfig as AgentConfig
from worldcoder.agent_values import Counts as Counts
from worldcoder.agent_values import Decision as Decision
from worldcoder.agent_values import Timer as Timer
from worldcoder.agent_values import Why as Why
from worldcoder.exploration import Disputed, Explorer, KnownSteps
from worldcoder.planning import Plan, Status
from worldcoder.programs import Actions, Knowledge, Program, Runner, Simulation, WorldModel, default_runner
from worldcoder.quests import Quests
from worldcoder.searching import EpisodeSoFar, Searches
from worldcoder.searching import search as search
from worldcoder.synthesis.learner import Learner
from worldcoder.synthesis.proposer import BOLDEST, Counterexample, Proposer, RewardProposal
from worldcoder.world.values import Action, Goal, State, Transition


class Agent:
    """Learns one world.

    actions: which actions there are in a state. planner: the search for plans, from a simulation and a budget.
    clock: a stopwatch by name ("synthesis", "planning", "exploring"). runner: who runs the programs; a common one
    where left out. Everything random comes from `rng`: with the same one, in the same world, it does the same.

    model: what was learned so far. learner: who brings it up to the data. phi2: how the last search for a plan
    ended. guess: the invented reward that is being tried. settled: set this once the goal was reached; from then
    on the agent acts only to learn.
    """

    def __init__(
        self,
        proposer: Proposer,
        *,
        config: AgentConfig = AgentConfig(),  # noqa: B008 - frozen
        rng: random.Random,
        actions: Callable[[State], Sequence[Action]],
        planner: Callable[..., Plan] = search,
        clock: Callable[[str], Timer] | None = None,
        runner: Runner | None = None,
    ) -> None:
        self.proposer = proposer
        self.config = config
        self.counts = Counts()
        self.model: WorldModel | None = None
        self.phi2: Status | None = None
        self.guess: RewardProposal | None = None
        self.goal: Goal = ""
        self.settled = False
        self._rng = rng
        self._actions = actions
        self._clock = clock or (lambda name: Timer())
        self._runner = runner or default_runner()
        self.learner = Learner(proposer, self._runner)
        self._episode = EpisodeSoFar(self._runner)
        sources = self._action_source, self._episode.progress
        self._searches = Searches(proposer, self.learner, self._runner, planner, *sources)
        self._quests = Quests(proposer, self._searches, config.guess_nodes)
        self._start: State | None = None
        self._action_sets: set[tuple[Action, ...]] = set()
        self._queue: deque[tuple[State, Action, Why, str]] = deque()  # where it should be, what to do
        self._without_plan: dict[str, tuple[Status, int]] = {}  # by reward: how so many nodes ended
        self._quiet: set[State] = set()  # where nothing to learn was found
        self._tried: dict[tuple[State, Action], State] = {}  # what was done, and what it led to last
        self._known_steps = KnownSteps()
        self._disputed = Disputed(proposer.disputes, self._searches.simulation)
        self._first_data = config.min_data
        self._to_fit = False  # whether the proposer was given data that it has not looked at
        self._in_vain: Counter[str] = Counter()  # guesses that came true without a reward, by program
        self._disappointed: set[tuple[int, str]] = set()  # boldness, program: nothing can be reached with it

    @property
    def phi1(self) -> float:
        """The share of transitions that the model reproduces."""
        return self.learner.phi1

    @property
    def failures(self) -> Sequence[tuple[Program, Counterexample]]:
        """Programs that looped, crashed, kept something, ...: each with the first step that shows it."""
        return self.learner.failures

    def inherit(self, known: Knowledge) -> None:
        """Begin with what was learned before, in this world or another one of its kind; before the first `begin`.

        Its programs are the present ones until they are wrong, and its data are to be explained as well.
        """
        for episode in known.episodes:
            self.proposer.begin(episode.start, episode.goal, known.actions)
            for transition in episode.transitions:
                self.proposer.observe(transition)
                self._tried[transition.state, transition.action] = transition.next_state
        self.learner.inherit(known)
        self.model = self.learner.model
        self._to_fit = bool(len(self.learner.check))
        if self.model is not None:
            self._first_data = 0 if self._to_fit else 1

    # ── ask and tell ─────────────────────────────────────────────────────────────────────────────────────

    def begin(self, state: State, goal: Goal) -> None:
        """An episode starts."""
        self.counts.episodes += 1
        self.goal = goal
        if state != self._start:
            self._searches.patience.renew()
        self._start = state
        self._episode.begin()
        for known in (self._queue, self._without_plan, self._disappointed):
            known.clear()
        self.proposer.begin(state, goal, self._known_actions(state))
        if self._to_fit:
            self._to_fit = False
            with self._clock("synthesis"):
                self.proposer.fit()

    def act(self, state: State) -> Decision:
        """Choose an action."""
        actions = self._known_actions(state)
        if self.counts.actions < self._first_data or self.model is None:
            note = "first data" if self.counts.actions < self._first_data else "no program that runs yet"
            return Decision(self._rng.choice(actions), "random", note)
        if not self.settled and self.phi1 < 1 and self._rng.random() < self.config.epsilon:
            self._queue.clear()
            return Decision(self._rng.choice(actions), "random", "ε")
        if not self._queue or self._queue[0][0] != state:
            self._queue.clear()
            self._plan(state)
        if self._queue:
            return Decision(*self._queue.popleft()[1:])
        if not self.settled and (state == self._start or not self._promises_goal()):
            return Decision(self._rng.choice(actions), "random", "nothing else to do")
        self._searches.patience.renew()  # what is hoped for from the start is to be found there
        return Decision(None, "explore", "nothing left to learn or to reach from here")

    def observe(self, transition: Transition) -> None:
        """Take in what an action led to, and mend the model if it was wrong."""
        self.counts.actions += 1
        self._searches.patience.now = self.counts.actions
        self.counts.successes += transition.reward > 0 and transition.done
        self._known_actions(transition.next_state)
        self._tried[transition.state, transition.action] = transition.next_state
        self._episode.add(transition)
        self.proposer.observe(transition)
        self.learner.check.add(transition)
        if self.counts.actions < self._first_data:
            self.counts.surprises += 1
            return
        if self.guess is not None and not self._queue:
            self._judge(self.guess, transition)
        with self._clock("synthesis"):
            self._synthesise()
        self.counts.surprises += not self.learner.foreseen
        self._quests.note(transition.state, transition.action, foreseen=self.learner.foreseen)
        if self._queue and (self._queue[0][0] != transition.next_state or not self.learner.foreseen):
            self._queue.clear()  # the plan in hand does not hold any more, or what it hoped for is known now

    def finish(self) -> WorldModel | None:
        """The model, with what it says of its evidence brought up to date; None while there is none."""
        if self.model is not None:
            evidence, untouched = self.proposer.evidence, self.learner.untouched
            transition, *rewards = (
                program if program in untouched else evidence(program)
                for program in (self.model.transition, *self.model.rewards.values())
            )
            self.model = WorldModel(transition, dict(zip(self.model.rewards, rewards, strict=True)))
        return self.model

    # ── synthesis ────────────────────────────────────────────────────────────────────────────────────────

    def _synthesise(self) -> None:
        """Bring the model up to the data, and forget what is not true of it any more."""
        assert self._start is not None
        changed = self.learner.fit(self.goal, self._start)
        self.model = self.learner.model
        if changed:
            self._quiet.clear()
        if changed or self.learner.surprised:
            self._without_plan.clear()
            self._disappointed.clear()
        # a proof holds wherever the model leads; what a budget did not suffice for may be nearer now
        self._without_plan = {k: found for k, found in self._without_plan.items() if found[0] is _NEVER}

    def _judge(self, guess: RewardProposal, transition: Transition) -> None:
        """The plan to a guessed reward has been carried out: was it rewarded?"""
        self.guess = None
        if not (transition.done and transition.reward > 0):
            done = self._episode.progress(guess.program, without=1)
            simulation = self._searches.simulation(transition.state, guess.program, progress=done)
            prediction = simulation.predict(transition.state, transition.action)
            if prediction.done and prediction.state == transition.next_state:
                self.counts.wrong_guesses += 1
                self._in_vain[guess.program.id] += 1

    # ── planning ─────────────────────────────────────────────────────────────────────────────────────────

    def _plan(self, state: State) -> None:
        """Fill the queue: a plan to a reward, else the way to something worth trying."""
        self.guess = self.phi2 = None
        with self._clock("planning"):
            self._plan_to_reward(state)

    def _plan_to_reward(self, state: State) -> None:
        """First what was learned or is likeliest, then exploration, then all other guesses with more nodes."""
        config = self.config
        if self.settled:
            self._explore(state)
            return
        likely = self._likely()
        learned = bool(likely) and likely[0].learned
        nodes = config.plan_nodes if learned else config.guess_nodes // 4
        hope = max(nodes, config.guess_nodes)
        if self._try_all(state, likely, nodes):
            return
        lost = bool(likely) and all(p.is_lost(state) for p in likely)
        if config.optimism and not lost and self._hope(state, likely, hope, range(BOLDEST)):
            return
        lost = lost or (bool(likely) and self.phi2 is Status.UNREACHABLE)
        if lost and state != self._start and self._promises_goal():
            return  # something was done that cannot be undone: begin again
        if self._explore(state, untried=False):
            return
        if config.optimism and self._hope(state, likely, hope, [BOLDEST]):
            return
        if self._explore(state) or learned:
            return
        guesses = [p for p in self._proposals() if p.cost < float("inf")]
        self._try_all(state, guesses if config.optimism else [], config.guess_nodes)

    def _try_all(self, state: State, guesses: Sequence[RewardProposal], nodes: int) -> bool:
        if len(guesses) > 1:
            nodes = self._nodes_for_one(state, guesses, nodes)
        for proposal in guesses if nodes else ():
            if self._try(state, proposal, nodes):
                self.guess = None if proposal.learned else proposal
                return True
        return False

    def _nodes_for_one(self, state: State, guesses: Sequence[RewardProposal], nodes: int) -> int:
        """How many nodes a search for one of the guesses is worth, by one search for any of them: 0 if none is found.

        Those that are much farther away than the nearest one are not looked for.
        """
        open_ones = [g for g in guesses if self._without_plan.get(g.program.id, _UNKNOWN)[0] is not _NEVER]
        any_of = self.proposer.any_of(open_ones) if len(open_ones) > 1 else None
        if any_of is None:
            return nodes
        found = self._searches.search("any", state, any_of, nodes)[1]
        self.phi2 = found.status
        if found.found:
            return min(nodes, _FARTHER * max(1, found.nodes))
        for guess in open_ones:
            self._without_plan[guess.program.id] = self.phi2, nodes
        return 0

    def _hope(
        self, state: State, proposals: Sequence[RewardProposal], nodes: int, boldness: Sequence[int]
    ) -> bool:
        """Try the same with transition programs that hope for what was never seen to fail."""
        known = self.phi2
        for bold in boldness:
            hopeless = (bold, self._searches.program.id)
            program = self.proposer.optimistic_program(bold)
            if program is None or hopeless in self._disappointed:
                continue
            status = self._hope_for(state, proposals, nodes, program, bold)
            if status is Status.FOUND:
                return True
            if status is Status.UNREACHABLE:  # and will be when there is less to hope for
                self._disappointed.add(hopeless)
        self.phi2 = known
        return False

    def _hope_for(
        self, state: State, proposals: Sequence[RewardProposal], nodes: int, program: Program, bold: int
    ) -> Status:
        """How the search for a way with a hopeful program ended; a way that was found is in the queue."""
        any_of = self.proposer.any_of(proposals) if len(proposals) > 1 else None
        ended, purpose, first = Status.UNREACHABLE, f"hope {bold}", max(1, nodes // _CAREFUL)
        for reward in [any_of] if any_of is not None else [p.program for p in proposals]:
            simulation, found = self._searches.search(purpose, state, reward, nodes, program, first=first)
            for _ in range(_VAIN_HOPES):
                vain = self._vain(simulation, found)
                if vain is None:
                    break
                self.learner.leave_out(program, vain)
                simulation, found = self._searches.search(purpose, state, reward, nodes, program, first=first)
            if found.found and self._vain(simulation, found) is None:
                hopeful = simulation, found, program
                simulation, found, by = self._searches.sobered(bold, reward, nodes, hopeful, self._vain)
                meaning = self._searches.meaning(simulation, found, proposals, by)
                if self._enqueue(simulation, found.actions, "guess", f"hoping that {meaning}"):
                    return Status.FOUND
            if found.status is not Status.UNREACHABLE:
                ended = Status.BUDGET
        return ended

    def _vain(self, simulation: Simulation, found: Plan) -> tuple[State, Action] | None:
        """The first step of a hopeful way that was tried already and led elsewhere."""
        state = simulation.state
        steps = simulation.follow(found.actions) if found.actions else ()
        for action, step in zip(found.actions, steps, strict=False):
            if step.state is None:
                return None
            if self._tried.get((state, action), step.state) != step.state:
                return state, action
            state = step.state
        return None

    def _try(self, state: State, proposal: RewardProposal, nodes: int) -> bool:
        """Whether there is a plan to what the proposal rewards; if so it is in the queue."""
        key = proposal.program.id
        status, tried = self._without_plan.get(key, _UNKNOWN)
        if status is Status.UNREACHABLE or tried >= nodes:
            self.phi2 = status  # true from any state that the model leads to, until the model changes
            return False
        simulation, found = self._searches.search(key, state, proposal.program, nodes)
        self.phi2 = found.status
        if not found.found:
            self._without_plan[key] = found.status, nodes
            return False
        simulation, found = self._searches.cautiously(state, proposal.program, nodes, found)
        why: Why = "plan" if proposal.learned else "guess"
        if not self._enqueue(simulation, found.actions, why, proposal.meaning):
            self._without_plan[key] = Status.BUDGET, nodes
            return False
        return True

    def _enqueue(self, simulation: Simulation, actions: Sequence[Action], why: Why, note: str) -> bool:
        """Put a way into the queue, unless it leads through what the model is known to predict wrongly."""
        state, steps = simulation.state, []
        for action, step in zip(actions, simulation.follow(actions), strict=False):
            if step.state is None or (state, action) in self.learner.wrong:
                return False
            steps.append((state, action, why, note))
            state = step.state
        self._queue.extend(steps)
        return len(steps) == len(actions)

    def _explore(self, state: State, *, untried: bool = True) -> bool:
        """Queue the way to what would teach most for its distance: interest / (distance + 2).

        untried: where nothing is doubtful, to what was not done yet.
        """
        if state in self._quiet:
            return False
        assert self._start is not None
        with self._clock("exploring"):
            learned = self.learner.rewards.get(self.goal)
            reward = None if learned is None or learned.program.order else learned.program
            explorer = Explorer(
                self.proposer,
                self._searches.simulation(state, reward),
                self._known_actions,
                tried=self._tried.keys(),
                wrong=self.learner.wrong.union(self.learner.without(self._searches.program, reward)),
                nodes=self.config.explore_nodes,
                known=self._known_steps.of(self._searches.program, reward),
                disputed=self._disputed.seen_from(state, (self.goal, self._start)),
            )
            found = explorer.most_interesting()
            reached = next((p.learned for p in self._proposals()), False)  # else guesses look for its reward
            least, news = 0.0 if found is None else found.worth, found is None or reached
            sought = self._quests.best(state, (self.goal, self._start), least, self._without_plan, news=news)
            far = sought is not None and self._enqueue(sought[0], sought[1].actions, "explore", sought[2])
            if found is None and not (not untried or far or self.settled or self._promises_goal()):
                found = explorer.untried()  # all agree, and yet no goal is in sight: all may be wrong
            for fault in explorer.faults(self.goal):
                self.learner.fault(fault, self._searches.program, reward)
            if found is not None and not far:
                self._queue.extend((*step, "explore", found.why) for step in found.way)
            elif not far and untried:
                self._quiet.add(state)
            return found is not None or far

    def _promises_goal(self) -> bool:
        """Whether there is a plan from the start of the episode (φ2) to something likely, hoping included."""
        assert self._start is not None
        return self._searches.promises(
            self._start, self._likely_rewards, self.config.guess_nodes, hopes=self.config.optimism
        )

    def _likely_rewards(self) -> list[Program]:
        """What the likely ones reward, as one program where that can be said in one."""
        likely = self._likely()
        any_of = self.proposer.any_of(likely) if len(likely) > 1 else None
        return [p.program for p in likely] if any_of is None else [any_of]

    def _proposals(self) -> Iterator[RewardProposal]:
        """Rewards that are proposed, without guesses that came true twice without one."""
        assert self._start is not None
        inherited = self.learner.inherited(self.goal)
        if inherited is not None:
            yield inherited
        for proposal in self.proposer.reward_programs(self.goal, self._start):
            if inherited is not None and not proposal.learned:
                return
            if proposal.learned or self._in_vain[proposal.program.id] < 2:
                yield proposal

    def _likely(self) -> list[RewardProposal]:
        """What was learned of the goal, or else the guesses that go before exploring; the likeliest first."""
        likely: list[RewardProposal] = []
        for proposal in self._proposals():
            dearest = likely[0].cost + self.config.patience if likely else _DEAREST
            guessing = self.config.optimism and not (likely and likely[0].learned)
            if not proposal.learned and (not guessing or proposal.cost > dearest):
                break
            likely.append(proposal)
        return likely

    # ── actions ──────────────────────────────────────────────────────────────────────────────────────────

    def _known_actions(self, state: State) -> tuple[Action, ...]:
        actions = tuple(self._actions(state))
        if actions not in self._action_sets:
            self._action_sets.add(actions)
            self._without_plan.clear()  # what was proved was proved for fewer actions
        return actions

    def _action_source(self, state: State) -> Actions:
        """The actions themselves while they were the same in every state seen; else the function."""
        if len(self._action_sets) == 1:
            return self._known_actions(state)
        return self._actions


_VAIN_HOPES = 3
"""Steps that are left out of a search for a hopeful way, one after the other, because they led elsewhere."""
_FARTHER = 40
"""So many times the nodes to the nearest of all guesses are worth it for one that is likelier."""
_CAREFUL = 8
"""The first search for a hopeful way has such a part of its nodes."""
_DEAREST = 1e9
_NEVER = Status.UNREACHABLE
_UNKNOWN = (Status.BUDGET, -1)

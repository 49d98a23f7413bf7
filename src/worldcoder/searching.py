"""Searches for plans with programs that may fail, and how much those may cost that are in vain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from worldcoder.planning import Budget, Plan, Status
from worldcoder.planning.parts import Progress
from worldcoder.planning.patience import Patience
from worldcoder.programs import Actions, Program, Runner, Simulation
from worldcoder.synthesis.learner import Learner
from worldcoder.synthesis.proposer import BOLDEST, Proposer, RewardProposal
from worldcoder.world.values import Action, State, Transition

Step = tuple[State, Action]

_NOTHING_KNOWN = Plan(Status.BUDGET, (), (), 0, 0.0, "none")
_DETOUR = 15
"""How many more steps a plan may have for each hope less."""
_SOBERINGS = 5
"""Searches for a plan that hopes less often than another one."""
_CAUTION = 20_000
"""Nodes of a search for a plan without what only failed so far."""
_SEARCHES = 3
"""Searches that are made in the place of one, where programs fail in what they imagine."""


def search(simulation: Simulation, *, budget: Budget) -> Plan:
    """The search for plans that is used unless another one is given."""
    return simulation.plan(budget=budget)


class EpisodeSoFar:
    """The steps of an episode, and which parts of its goal they did."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self.begin()

    def begin(self) -> None:
        """A new episode."""
        self._steps: list[Transition] = []
        self._done: dict[str, tuple[int, Progress]] = {}  # by reward program: after so many steps

    def add(self, transition: Transition) -> None:
        """One more step."""
        self._steps.append(transition)

    def progress(self, reward: Program, without: int = 0) -> Progress:
        """Which parts are done by a reward program for a goal of several. without: so many of the last steps."""
        if not reward.order:
            return 0
        steps = len(self._steps) - without
        known, progress = self._done.get(reward.id, (0, 0))
        if known > steps:
            known, progress = 0, 0
        for transition in self._steps[known:steps]:
            progress = self._runner.advance(reward, progress, transition)
        self._done[reward.id] = steps, progress
        return progress


class Searches:
    """Searches with the present programs, or with others in their place.

    planner: the search for plans, from a simulation and a budget. actions: which ones to plan with in a state.
    progress: which parts of a goal are done in the present episode, by a reward program for a goal of several parts.
    """

    def __init__(
        self,
        proposer: Proposer,
        learner: Learner,
        runner: Runner,
        planner: Callable[..., Plan],
        actions: Callable[[State], Actions],
        progress: Callable[[Program], Progress],
    ) -> None:
        self.patience = Patience()
        self._proposer = proposer
        self._learner = learner
        self._runner = runner
        self._planner = planner
        self._actions = actions
        self._progress = progress
        self._promise: tuple[tuple[State, str], tuple[int, str] | None] | None = None

    @property
    def program(self) -> Program:
        """The present transition program."""
        assert self._learner.program is not None
        return self._learner.program

    def simulation(
        self,
        state: State,
        reward: Program | None,
        transition: Program | None = None,
        *,
        progress: Progress | None = None,
    ) -> Simulation:
        """A model at work from a state on, without the steps in which its programs are known to fail.

        progress: which parts of the goal are done there, if not those of the present episode.
        """
        program = transition or self.program
        without = self._learner.without(program, reward)
        if progress is None:
            progress = 0 if reward is None else self._progress(reward)
        return self._runner.simulation(
            program, reward, state, self._actions(state), without=without, progress=progress
        )

    def search(
        self,
        purpose: str,
        state: State,
        reward: Program,
        nodes: int,
        transition: Program | None = None,
        *,
        first: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Simulation, Plan]:
        """Plan. Where a program fails in an imagined step, that step is left out, and the search made again.

        purpose: searches for one purpose that are in vain again and again have to wait for their turn. first: nodes
        of the first of them, if not all.
        """
        program, learner = transition or self.program, self._learner
        nodes = self.patience.nodes(purpose, nodes, first)
        for _ in range(_SEARCHES):
            simulation = self.simulation(state, reward, program, progress=progress)
            found = _NOTHING_KNOWN
            if learner.hopeless(program, reward):
                break
            found = self._planner(simulation, budget=Budget(nodes=nodes))
            fault, in_vain = found.fault, not found.found
            if not (fault and learner.fault(fault, program, reward, in_vain=in_vain) and in_vain):
                break
        if found.status is Status.UNREACHABLE and learner.without(program, reward):
            found = replace(found, status=Status.BUDGET)  # not everything was looked at
        self.patience.note(purpose, found.status)
        return simulation, found

    def meaning(
        self, simulation: Simulation, plan: Plan, proposals: Sequence[RewardProposal], transition: Program
    ) -> str:
        """What the first of the proposals that a plan would reach means."""
        for proposal in proposals:
            steps = self.simulation(simulation.state, proposal.program, transition).follow(plan.actions)
            if steps and steps[-1].done and steps[-1].reward > 0 and proposal.meaning:
                return proposal.meaning
        return "it is reached"

    def cautiously(self, state: State, reward: Program, nodes: int, found: Plan) -> tuple[Simulation, Plan]:
        """A plan without what only failed so far, where there is one that is not much longer; else what was found."""
        simulation = self.simulation(state, reward)
        program = self._proposer.cautious_program(steps_of(simulation, found))
        if program is not None:
            cautious, other = self.search("caution", state, reward, min(nodes, _CAUTION), program)
            if other.found and len(other.actions) <= len(found.actions) + _DETOUR:
                return cautious, other
        return simulation, found

    def hoped(self, simulation: Simulation, plan: Plan) -> list[Step]:
        """The steps of a hopeful plan of which the present program says something else."""
        steps = steps_of(simulation, plan)
        hopes = simulation.follow(plan.actions)
        said = self.simulation(simulation.state, None).predict_all(steps)
        return [
            step for step, hope, known in zip(steps, hopes, said, strict=False) if known.state != hope.state
        ]

    def sobered(
        self,
        boldness: int,
        reward: Program,
        nodes: int,
        hopeful: tuple[Simulation, Plan, Program],
        vain: Callable[[Simulation, Plan], Step | None],
    ) -> tuple[Simulation, Plan, Program]:
        """A plan that hopes less often, and the program it is made with, where that is not much longer.

        Each hope is likelier to fail than not. So what is hoped for on a way is left out, one after the other, and
        what can be had by what is known is not hoped for.
        """
        state, best, without = hopeful[0].state, hopeful, list[Step]()
        fewest, left = self.hoped(*best[:2]), self.hoped(*best[:2])
        for _ in range(_SOBERINGS):
            if len(fewest) < 2 or not left:
                break
            step = left.pop(0)
            program = self._proposer.optimistic_program(boldness, (*without, step))
            if program is None:
                continue
            simulation, found = self.search(f"sober {boldness}", state, reward, nodes, program)
            if not found.found or vain(simulation, found) is not None:
                continue
            without.append(step)
            left = self.hoped(simulation, found)  # there may be better ways without these as well
            longer = len(found.actions) - len(best[1].actions)
            if len(left) < len(fewest) and longer <= _DETOUR * (len(fewest) - len(left)):
                best, fewest = (simulation, found, program), list(left)
        return best

    def promises(
        self, start: State, rewards: Callable[[], Sequence[Program]], nodes: int, *, hopes: bool
    ) -> bool:
        """Whether there is a plan from the start of an episode to one of the rewards, hoping included.

        What was not promised is not while the program stays; what was hoped for has to be hoped for still.
        """
        key = (start, self.program.id)
        if self._promise is None or self._promise[0] != key or not self._still_hoped_for(self._promise[1]):
            self._promise = key, self._find_promise(start, rewards(), nodes, BOLDEST if hopes else 0)
        return self._promise[1] is not None

    def _still_hoped_for(self, by: tuple[int, str] | None) -> bool:
        if by is None or by[0] < 0:
            return True
        program = self._proposer.optimistic_program(by[0])
        return program is not None and program.id == by[1]

    def _find_promise(
        self, start: State, rewards: Sequence[Program], nodes: int, boldness: int
    ) -> tuple[int, str] | None:
        """With which program there is a plan, and how bold it is; -1: the present one. The boldest come last."""
        for bold in range(-1, boldness):
            program = self.program if bold < 0 else self._proposer.optimistic_program(bold)
            for reward in rewards if program is not None else ():
                found = self.search(f"promise {bold}", start, reward, nodes, program, progress=0)[1]
                if found.found and program is not None:
                    return bold, program.id
        return None


def steps_of(simulation: Simulation, plan: Plan) -> list[Step]:
    """The steps of a plan, as far as its model has something to say of them."""
    state, steps = simulation.state, list[Step]()
    for action, step in zip(plan.actions, simulation.follow(plan.actions), strict=False):
        steps.append((state, action))
        if step.state is None:
            break
        state = step.state
    return steps

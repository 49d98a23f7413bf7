"""The model so far, and how it becomes a better one.

A proposer proposes, a runner holds what it proposes against the data, and here is decided what becomes the
model. What is wrong with a program goes back to the proposer as counterexamples, each of them once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from itertools import islice

from worldcoder.programs import ANY_GOAL, Check, Fault, Knowledge, Mismatch, Program, Runner, WorldModel
from worldcoder.programs.prediction import FAILING
from worldcoder.synthesis.proposer import WRONG, Counterexample, Proposer, RewardProposal
from worldcoder.world.values import Action, Goal, State

Step = tuple[State, Action]

MOST_FAULTS = 6
"""Searches in vain because a program failed, after which nothing is planned with it any more."""

_TRIES = 3
"""Reward programs that are looked at, where those before turn out to be unfit to run."""


class Learner:
    """Keeps the model up to the data.

    A transition program that reproduces fewer transitions than the present one is not taken; what the proposer takes
    for noise does not count. One that says something else when it is run again in another worker is not taken in the
    place of one that does not.

    It can begin with what is known (`inherit`). Then the programs of before stay as they are while they hold, and
    none is taken that loses any of the earlier data.

    model: None until there is a program that runs. phi1: the share of transitions that it reproduces, reward
    and end included. surprised: whether it does not reproduce the latest one; foreseen:
    whether it said what that one would lead to before it learned from it. wrong: the steps that it is known
    to predict wrongly. failures: programs that failed as no program may, each with the first counterexample of
    its kind. regressions: how many of the earlier data the model reproduced once and does not any more.
    """

    def __init__(self, proposer: Proposer, runner: Runner) -> None:
        self.proposer = proposer
        self.check = Check()
        self.model: WorldModel | None = None
        self.phi1 = 0.0
        self.surprised = False
        self.foreseen = False
        self.regressions = 0
        self.program: Program | None = None
        self.rewards: dict[Goal, RewardProposal] = {}
        self.wrong: set[Step] = set()
        self.failures: list[tuple[Program, Counterexample]] = []
        self._runner = runner
        self._news = False  # whether the proposer was told of something bad, and should be asked again
        self._told: dict[str, int] = {}  # by program: up to which transition its mismatches were told
        self._missed_by: dict[
            str, int
        ] = {}  # by program that was not taken: transitions it did not reproduce
        self._noise: set[int] = set()  # what was taken for noise then
        self._repeats: dict[str, bool] = {}  # by program: whether it says the same when it is run again
        self._unfit: set[str] = set()  # reward programs that are no better than none
        self._out: dict[str, dict[Step, None]] = {}  # by program: steps in which it fails badly
        self._faults: Counter[tuple[str, ...]] = Counter()
        self._heard: set[tuple[str, ...]] = set()
        self._earlier = 0  # transitions that were inherited
        self._held: set[int] = set()  # of these, what the inherited model reproduces
        self._inherited: dict[Goal, Program] = {}  # reward programs that nothing contradicts
        self._original: Program | None = None  # the inherited transition program, while it holds

    # ── what was known before ────────────────────────────────────────────────────────────────────────────

    def inherit(self, known: Knowledge) -> None:
        """Begin with a model of before, and with the data that it was learned from as a regression set.

        Its reward programs are used for their goals where a reward was seen, or where somebody wrote them.
        """
        for transition in known.transitions:
            self.check.add(transition)
        self._earlier = len(self.check)
        model = known.model
        if model is None:
            return
        self._says_the_same(model.transition)
        self.program = self._original = model.transition
        missed = self._runner.check(self.check, model.transition, model.rewards)
        self._held = set(range(self._earlier)) - {m.index for m in missed}
        met = {transition.goal for transition in self.check.transitions}
        for goal, program in model.rewards.items():
            if goal not in met or goal in known.solved_goals:
                self._inherited[goal] = program
                self.rewards[goal] = RewardProposal(program, learned=True)
        self.model = model

    @property
    def untouched(self) -> list[Program]:
        """The inherited programs that are in use as they are."""
        return [p for p in (self._original, *self._inherited.values()) if p is not None]

    def regressions_among(self, missed: Set[int]) -> int:
        """How many of these transitions the inherited model reproduced."""
        return len(self._held & missed)

    def inherited(self, goal: Goal) -> RewardProposal | None:
        """The reward program of before for a goal, while no transition contradicts it."""
        program = self._inherited.get(goal) or self._inherited.get(ANY_GOAL)
        if program is None:
            return None
        if any(self.check.transitions[m.index].goal == goal for m in self._wrong_rewards(goal, program)):
            self._inherited = {g: p for g, p in self._inherited.items() if p is not program}
            return None
        return RewardProposal(program, learned=True)

    def _wrong_rewards(self, goal: Goal, program: Program) -> list[Mismatch]:
        """What a reward program says wrongly of steps as they were."""
        return self._runner.check(self.check, None, {goal: program})

    def _loses(self, missed: Iterable[Mismatch], present: Iterable[Mismatch]) -> bool:
        """Whether something of the earlier data would not be reproduced any more."""
        known = {m.index for m in present}
        lost = (m.index for m in missed if m.index not in known and m.index not in self.proposer.noise)
        return any(index < self._earlier for index in lost)

    def _count(self, missed: Iterable[Mismatch]) -> int:
        return sum(m.index not in self.proposer.noise for m in missed)

    # ── the data ─────────────────────────────────────────────────────────────────────────────────────────

    def fit(self, goal: Goal, start: State) -> bool:
        """Bring the model up to the data; whether it has another transition program now."""
        self.foreseen = False
        if self.model is not None:  # what is new, for all of its programs in one request
            before = self._runner.check(self.check, self.model.transition, self.model.rewards)
            self.foreseen = not before or before[-1].index < len(self.check) - 1
        wrong = [] if self.program is None else self._missed(self.program)
        ask = self.proposer.fit() or self._news or self.program is None or bool(wrong)
        if self._original is not None and self.program is self._original and not (wrong or self._news):
            ask = False  # what was learned before is left as it is while it holds
        self._news = False
        changed = False
        if ask:
            program = self.proposer.transition_program()
            if self.program is None or program.source != self.program.source:
                missed = self._better(program, wrong)
                if missed is not None:
                    self.program, wrong, changed = program, missed, True
        if self.program is not None:
            not_by = {m.index for m in wrong}
            self._choose_reward(self.program, goal, start, not_by)
            self.model = WorldModel(self.program, {g: p.program for g, p in self.rewards.items()})
            self._score(self.model, not_by)
        return changed

    def _missed(self, program: Program) -> list[Mismatch]:
        """What a transition program does not reproduce; the proposer hears of what is new in it."""
        missed = self._runner.check(self.check, program)
        self._tell(program, missed)
        return missed

    def _better(self, program: Program, present: Sequence[Mismatch]) -> list[Mismatch] | None:
        """What a program does not reproduce, if it is to take the place of the present one; else None."""
        sound = self.program is not None and self._repeats[self.program.id]
        if self.proposer.noise != self._noise:
            self._noise = set(self.proposer.noise)
            self._missed_by.clear()
        known = self._missed_by.get(program.id, 0)  # and it has not become better meanwhile
        if self.program is not None and known > self._count(present):
            return None
        if sound and self._repeats.get(program.id) is False:
            return None
        missed = self._missed(program)
        if self.program is None:
            if _fails_everywhere(missed, len(self.check)):
                return None
        elif (self._count(missed), _any_bad(missed)) > (self._count(present), _any_bad(present)):
            self._missed_by[program.id] = self._count(missed)
            return None
        if self._loses(missed, present):
            self._missed_by[program.id] = len(self.check) + 1  # and will not become better
            return None
        return missed if self._says_the_same(program) or not sound else None

    def _says_the_same(self, program: Program, goal: Goal | None = None) -> bool:
        """Whether a program says the same again, in another worker and another order.

        goal: of a reward program, which is run on the steps of the present transition program.
        """
        known = self._repeats.get(program.id)
        if known is None:
            if goal is None:
                impure = self._runner.replay(self.check, program)
            else:
                assert self.program is not None
                impure = self._runner.replay(self.check, self.program, {goal: program})
            known = self._repeats[program.id] = impure is None
            if impure is not None:
                transition = self.check.transitions[impure.index]
                self._refute(program, [Counterexample.recorded(impure, transition)])
        return known

    def _choose_reward(self, transition: Program, goal: Goal, start: State, not_by: Set[int]) -> None:
        """The likeliest reward program that can be run; where there is none, the present one stays."""
        inherited = self.inherited(goal)
        if inherited is not None:
            self.rewards[goal] = inherited
            return
        proposals = islice(self.proposer.reward_programs(goal, start), _TRIES)
        likeliest = None
        present = self.rewards.get(goal)
        known = [] if present is None or not self._earlier else self._wrong_rewards(goal, present.program)
        for proposal in proposals:
            if self._earlier and self._loses(self._wrong_rewards(goal, proposal.program), known):
                continue
            likeliest = likeliest or proposal
            if self._can_be_run(transition, proposal.program, goal, not_by):
                self.rewards[goal] = proposal
                return
        if likeliest is not None:
            self.rewards.setdefault(goal, likeliest)

    def _can_be_run(self, transition: Program, reward: Program, goal: Goal, not_by: Set[int]) -> bool:
        if reward.id in self._repeats or reward.id in self._unfit:
            return reward.id not in self._unfit and self._repeats[reward.id]
        wrong = _by_reward(self._runner.check(self.check, transition, {goal: reward}), not_by)
        self._tell(reward, wrong)
        asked = sum(t.goal == goal and i not in not_by for i, t in enumerate(self.check.transitions))
        if _any_bad(wrong) or _fails_everywhere(wrong, asked):
            self._unfit.add(reward.id)
            return False
        # a transition program that does not repeat itself would be mistaken for the reward program
        return not self._repeats[transition.id] or self._says_the_same(reward, goal)

    def _score(self, model: WorldModel, not_by: Set[int]) -> None:
        """φ1: the share of transitions that the model reproduces, reward and end included."""
        missed = self._runner.check(self.check, model.transition, model.rewards)
        self.phi1 = 1 - len(missed) / max(len(self.check), 1)
        self.surprised = bool(missed) and missed[-1].index == len(self.check) - 1
        self.regressions = self.regressions_among({m.index for m in missed})
        self.wrong = self._often_wrong([m.index for m in missed if m.what not in ("reward", "done")])
        by_reward = _by_reward(missed, not_by)
        for goal, reward in model.rewards.items():
            mine = [m for m in by_reward if self.check.transitions[m.index].goal == goal]
            self._tell(reward, mine)
            if _any_bad(mine):
                self._unfit.add(reward.id)

    def _often_wrong(self, missed: Sequence[int]) -> set[Step]:
        """What was predicted wrongly twice and at least every other time: more than noise."""
        if not missed:
            return set()
        steps = [(t.state, t.action) for t in self.check.transitions]
        seen, wrong = Counter(steps), Counter(steps[i] for i in missed)
        return {step for step, n in wrong.items() if n >= 2 and 2 * n >= seen[step]}

    # ── what is wrong with programs ──────────────────────────────────────────────────────────────────────

    def fault(
        self, fault: Fault, transition: Program, reward: Program | None, *, in_vain: bool = False
    ) -> bool:
        """A program failed in a step that was only imagined. in_vain: and so a search found nothing.

        Returns whether that step will be left out from now on (see `without`), so that it is worth while to
        search again.
        """
        found = Counterexample.imagined(fault)
        kind = transition.id, "" if reward is None else reward.id, fault.error
        if not found.bad and kind in self._heard:
            return False
        self._heard.add(kind)
        guilty = self._guilty(fault, transition, reward)
        for program in guilty:
            self._refute(program, [found])
        if not found.bad:
            return False
        self._faults[tuple(program.id for program in guilty)] += in_vain
        if fault.state is None or fault.action is None:
            return False
        step = fault.state, fault.action
        new = any(step not in self._out.get(program.id, {}) for program in guilty)
        for program in guilty:
            self._out.setdefault(program.id, {})[step] = None
        return new

    def _guilty(self, fault: Fault, transition: Program, reward: Program | None) -> tuple[Program, ...]:
        """Which program it was; both where that cannot be told."""
        if reward is None:
            return (transition,)
        if fault.state is None or fault.action is None or fault.failing == "impure":
            return transition, reward
        alone = self._runner.simulation(transition, None, fault.state, (fault.action,))
        failed = alone.predict(fault.state, fault.action).failing is not None
        return (transition,) if failed else (reward,)

    def leave_out(self, program: Program, step: Step) -> None:
        """Make no plan with a program that takes this step: it is known to lead elsewhere."""
        self._out.setdefault(program.id, {})[step] = None

    def without(self, *programs: Program | None) -> tuple[Step, ...]:
        """The steps in which one of these programs is known to fail badly, or was found to be wrong."""
        found: dict[Step, None] = {}
        for program in programs:
            if program is not None:
                found.update(self._out.get(program.id, {}))
        return tuple(found)

    def hopeless(self, *programs: Program | None) -> bool:
        """Whether so many searches with these programs were in vain that none should be made with them."""
        ids = {program.id for program in programs if program is not None}
        return sum(n for key, n in self._faults.items() if ids.issuperset(key)) >= MOST_FAULTS

    def _tell(self, program: Program, wrong: Iterable[Mismatch]) -> None:
        """What is wrong with a program, as far as it was seen and not told before."""
        told = self._told.get(program.id, 0)
        self._told[program.id] = len(self.check)
        new = [m for m in wrong if m.index >= told and m.seen]
        if new:
            transitions = self.check.transitions
            self._refute(program, [Counterexample.recorded(m, transitions[m.index]) for m in new])

    def _refute(self, program: Program, found: Sequence[Counterexample]) -> None:
        self.proposer.refute(program, found)
        for one in found:
            if one.bad:
                self._news = True
                if not any(p.id == program.id and c.what == one.what for p, c in self.failures):
                    self.failures.append((program, one))


def _by_reward(missed: Sequence[Mismatch], not_by: Set[int]) -> list[Mismatch]:
    """What is missed by reward programs. A transition program that keeps something may miss other steps now."""
    return [m for m in missed if m.index not in not_by and m.what != "state"]


def _any_bad(wrong: Sequence[Mismatch]) -> bool:
    return any(m.what not in WRONG for m in wrong)


def _fails_everywhere(wrong: Sequence[Mismatch], asked: int) -> bool:
    """Whether a program never said anything; it may not even load."""
    return bool(wrong) and len(wrong) >= asked and all(m.what in FAILING for m in wrong)

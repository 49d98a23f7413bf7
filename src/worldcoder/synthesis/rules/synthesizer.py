"""The embedded synthesizer: a proposer of programs that needs no model, no key and no network."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import islice
from typing import Any

from worldcoder.programs import Program
from worldcoder.programs.joining import joined
from worldcoder.synthesis.proposer import Counterexample, RewardProposal
from worldcoder.synthesis.rules.alternatives import combinations
from worldcoder.synthesis.rules.composing import Composing, Part
from worldcoder.synthesis.rules.dynamics import Dynamics
from worldcoder.synthesis.rules.emit import emit_transition
from worldcoder.synthesis.rules.emit_reward import emit_reward, fails, worthless
from worldcoder.synthesis.rules.guesses import Guess, achievements, guesses, kinds_needed, words
from worldcoder.synthesis.rules.habits import Habits
from worldcoder.synthesis.rules.interest import NAMED, Interest, Sort, sort_of
from worldcoder.synthesis.rules.lifting import Lifting, Reading
from worldcoder.synthesis.rules.lists import DecisionList
from worldcoder.synthesis.rules.novelty import Doubt
from worldcoder.synthesis.rules.rewards import Rewards
from worldcoder.synthesis.rules.untried import Touch, Untried
from worldcoder.synthesis.rules.votes import MARK, REWARD
from worldcoder.world.values import Action, Goal, State, Transition

_READ = 100.0
"""By how much what other goals teach is likelier than any guess,"""
_UNFOUNDED = 10.0
"""and by how much it costs more than it would, where nothing in the words says that it is meant."""

_BRAVE = 1.0
"""By how much what other goals teach is likelier with the failures that they know of."""
_LAST = 0.1
"""How much of its interest is left to what is known to end the episode in vain."""
_OWN = 3
"""Of what was seen of a clause as a goal of its own, how many hypotheses are looked at."""
_ALTERNATIVES = 50
"""Combinations of hypotheses that are looked at, where the best ones failed as programs."""


class RulesSynthesizer:
    """Learns decision lists from transitions and writes them as programs.

    A program whose code stays the same stays the same program, though what it says of its evidence grows old.
    """

    name = "rules"

    def __init__(self) -> None:
        self.dynamics = Dynamics()
        self.rewards: dict[Goal, Rewards] = {}
        self._program: Program | None = None
        self._chosen: dict[Any, DecisionList] = {}  # for some targets, another list than the cheapest
        self._stale = True
        self._refuted: set[str] = set()  # code that is not to be run
        self._reward_of: dict[str, Program] = {}  # by code
        self._words: set[str] = set()
        # by boldness, and by what is not hoped for
        self._optimists: dict[tuple[int, tuple[Touch, ...]], tuple[tuple[int, str], Program | None]] = {}
        self._untried = Untried()
        self._habits = Habits()
        self._guess_of: dict[Program, Guess] = {}
        self._lifting = Lifting()
        self._composing = Composing(self._clause)
        self._ending: set[str] = set()  # actions that end an episode in vain, by what other goals teach
        self._reading_of: dict[Program, Reading] = {}
        self._interest = Interest()
        self._doubts: dict[tuple[State, Action], tuple[Sort | None, float]] = {}  # and how much of it counts
        self._sorts: dict[tuple[State, Action], Sort] = {}  # of what was looked at in this episode
        self._version = -1
        self._marking: tuple[object, Program | None] = None, None
        self._guesses: dict[Goal, tuple[object, list[Guess]]] = {}

    def begin(self, state: State, goal: Goal, actions: Sequence[Action]) -> None:
        self.dynamics.begin(state, actions)
        self.rewards.setdefault(goal, Rewards(goal))
        self._composing.begin(goal)
        names = [*self.dynamics.vocabulary.kinds, *self.dynamics.vocabulary.actions]
        self._ending = set()
        self._doubts.clear()
        self._sorts.clear()
        self._words = words(goal) & set().union(*map(words, names))

    def observe(self, transition: Transition) -> None:
        foreseen = self.dynamics.observe(transition)
        sort = self._sorts.pop((transition.state, transition.action), None)
        if sort is not None:
            self._interest.note(sort, surprised=not foreseen)
        self._composing.observe(transition)
        rewards = self.rewards.setdefault(transition.goal, Rewards(transition.goal))
        rewards.observe(transition, len(self.dynamics.transitions) - 1)

    def refute(self, program: Program, counterexamples: Sequence[Counterexample]) -> None:
        """Code that failed badly is not proposed again. What it said wrongly is in the transitions anyway."""
        if any(found.bad and found.state is not None for found in counterexamples):
            self._refuted.add(code_of(program))
            self._stale = True

    def fit(self) -> bool:
        changed = self.dynamics.fit()
        for rewards in self.rewards.values() if self.dynamics.sieve.proven else ():
            rewards.doubt(self.noise)
        self._stale = self._stale or changed
        return changed

    def transition_program(self) -> Program:
        if self._program is None or self._stale:
            program = self._best_transition()
            if self._program is None or code_of(program) != code_of(self._program):
                parent = None if self._program is None else self._program.id
                self._program = replace(program, parent=parent)
            self._stale = False
        return self._program

    def _best_transition(self) -> Program:
        """What the cheapest hypotheses say, of those whose programs can be run; where none can, the cheapest."""
        ensembles = {key: target.lists for key, target in self.dynamics.targets.items()}
        for chosen in islice(combinations(ensembles), _ALTERNATIVES):
            self._chosen = chosen
            program = self._transition()
            if code_of(program) not in self._refuted:
                return program
        self._chosen = {}
        return self._program or self._transition()

    def _transition(self) -> Program:
        return Program(emit_transition(self.dynamics, self._chosen), "transition", origin=self.name)

    def optimistic_program(
        self, boldness: int = 0, without: Sequence[tuple[State, Action]] = ()
    ) -> Program | None:
        touches = self._untried.like(self.dynamics.vocabulary, without)
        key = len(self.dynamics.transitions), self.transition_program().id
        known = self._optimists.get((boldness, touches))
        if known is None or known[0] != key:
            if touches:  # those that leave out other hopes of before are not asked for again
                self._optimists = {k: v for k, v in self._optimists.items() if not k[1] or v[0] == key}
            program = self._hopeful(boldness, touches)
            if known and known[1] and program and code_of(program) == code_of(known[1]):
                program = known[1]
            known = self._optimists[boldness, touches] = key, program
        return known[1] if known[1] is None or code_of(known[1]) not in self._refuted else None

    def _hopeful(self, boldness: int, without: Sequence[Touch]) -> Program | None:
        dynamics = self.dynamics
        avatar = dynamics.vocabulary.avatar
        kinds = {ahead[0] for _, ahead, _ in without}
        passages = {
            (mover, look)
            for mover, look in dynamics.untested_passages()
            if mover != avatar or look[0] not in kinds
        }
        if not boldness and not passages:
            return None
        source: str | None = emit_transition(dynamics, self._chosen, passages=passages)
        if boldness:
            self._untried.read(dynamics.vocabulary, dynamics.transitions)
            source = self._untried.hopeful(str(source), dynamics.vocabulary, boldness, without)
        return None if source is None else Program(source, "transition", origin=self.name)

    def cautious_program(self, steps: Sequence[tuple[State, Action]]) -> Program | None:
        dynamics, source = self.dynamics, self.transition_program().source
        self._untried.read(dynamics.vocabulary, dynamics.transitions)
        cautious = self._untried.cautious(source, dynamics.vocabulary, steps)
        return None if cautious is None else Program(cautious, "transition", origin=self.name)

    def any_of(self, proposals: Sequence[RewardProposal]) -> Program | None:
        found = [self._guess_of.get(p.program) for p in proposals]
        guesses_ = [g for g in found if g is not None]
        goal = proposals[0].program.goal
        if len(guesses_) < len(proposals) or goal is None:
            return None
        rewards = self.rewards[goal]
        return self._unless_refuted(self._reward(rewards, rewards.lists[0], *guesses_))

    def _reward(self, rewards: Rewards, decisions: DecisionList, *guesses_: Guess) -> Program:
        source = emit_reward(rewards, self.dynamics.vocabulary, decisions, *guesses_)
        program = Program(source, "reward", goal=rewards.goal, origin=self.name)
        return self._known(program)

    def _known(self, program: Program) -> Program:
        """The reward program that has the same code, if there was one before."""
        return self._reward_of.setdefault(code_of(program), program)

    def _unless_refuted(self, program: Program) -> Program | None:
        return None if self._refuted and code_of(program) in self._refuted else program

    def reward_programs(self, goal: Goal, start: State) -> Iterator[RewardProposal]:
        rewards = self.rewards.setdefault(goal, Rewards(goal))
        yield from self._composed(rewards)
        rewards.fit(self.dynamics.vocabulary)
        best = rewards.lists[0]
        if rewards.succeeded:
            learned, needs = self._best_reward(rewards), self._needs(rewards, best)
            yield RewardProposal(learned, True, needs=needs)
            reading = self._reading_of.get(learned)
            brave = None if reading is None else self._bravely(reading, rewards)
            if brave is not None:
                yield RewardProposal(
                    brave[0], True, "failures that only other goals knew left out", _BRAVE, needs
                )
            return
        read, unfounded = list(self._read(rewards)), list[RewardProposal]()
        for i, (program, reading) in enumerate(read):
            if not i:
                self._beware(reading, rewards)
                brave = self._bravely(reading, rewards)
                read += [] if brave is None else [brave]
            needs = self._needs(rewards, reading.decisions)
            if reading.founded:
                yield RewardProposal(program, False, reading.meaning, reading.cost - _READ, needs)
            else:
                cost = reading.cost + _UNFOUNDED
                unfounded.append(RewardProposal(program, False, reading.meaning, cost, needs))
        guessed = self._guessed(rewards, best, start)
        yield from heapq.merge(unfounded, guessed, key=lambda proposal: proposal.cost)
        yield RewardProposal(self._reward(rewards, best), False, "nothing more to guess", float("inf"))

    def _guessed(self, rewards: Rewards, best: DecisionList, start: State) -> Iterator[RewardProposal]:
        for guess in self._open_guesses(rewards, start):
            program = self._reward(rewards, best, guess)
            if self._unless_refuted(program) is not None:
                self._guess_of[program] = guess
                needs = self._lasting(kinds_needed(guess.literals))
                yield RewardProposal(program, False, guess.meaning(), guess.cost, needs)

    def _needs(self, rewards: Rewards, decisions: DecisionList) -> tuple[str, ...]:
        """The kinds without which nothing is rewarded, by what a list says."""
        rewarding = [rule for rule in decisions.rules if rule.effect[1] > 0 and rule.effect[2]]
        needed = [kinds_needed(rewards.literals.of(rule.condition)) for rule in rewarding]
        return (
            self._lasting(kind for kind in needed[0] if all(kind in other for other in needed))
            if needed
            else ()
        )

    def _lasting(self, kinds: Iterable[str]) -> tuple[str, ...]:
        """Those of which nothing ever came to be, so that what is gone is gone for good."""
        return tuple(kind for kind in kinds if kind not in self.dynamics.vocabulary.appearing)

    def taught(self, goal: Goal) -> Iterator[RewardProposal]:
        """What other goals that were reached say of one that was not, the likeliest first."""
        rewards = self.rewards.setdefault(goal, Rewards(goal))
        yield from self._composed(rewards)
        for program, reading in self._read(rewards):
            if reading.founded:
                yield RewardProposal(program, False, reading.meaning, reading.cost - _READ)

    def _composed(self, rewards: Rewards) -> Iterator[RewardProposal]:
        """What a goal of several clauses rewards by what was learned of goals like these."""
        vocabulary = self.dynamics.vocabulary
        compounds = self._lifting.compounds(self.rewards, vocabulary)
        if rewards.goal not in compounds:
            return
        for one in self._composing.compositions(rewards.goal, compounds, vocabulary):
            parts = [
                Program(
                    emit_reward(part.rewards, vocabulary, part.decisions, like=part.like),
                    "reward",
                    goal=part.rewards.goal,
                )
                for part in one.parts
            ]
            program = self._known(joined(rewards.goal, parts, one.order, origin=self.name))
            if self._unless_refuted(program) is not None:
                yield RewardProposal(program, rewards.succeeded, one.meaning, one.cost - _READ)

    def _clause(self, goal: Goal) -> Sequence[Part]:
        """What a clause may reward: by goals like it, and by what was seen of it where it is a goal elsewhere."""
        rewards = self.rewards.get(goal) or Rewards(goal)
        readings = self._lifting.readings(goal, {**self.rewards, goal: rewards}, self.dynamics.vocabulary)
        found = [Part(rewards, one.decisions, one.goals, one.cost - readings[0].cost) for one in readings]
        if rewards.succeeded:
            rewards.fit(self.dynamics.vocabulary)
            found += [Part(rewards, one, (), float(len(found))) for one in rewards.lists[:_OWN]]
        return found

    def _read(self, rewards: Rewards) -> Iterator[tuple[Program, Reading]]:
        """What other goals say of this one, the likeliest first; of what was seen of it nothing contradicts."""
        for reading in self._lifting.readings(rewards.goal, self.rewards, self.dynamics.vocabulary):
            found = self._read_as(rewards, reading)
            if found is not None:
                yield found

    def _read_as(self, rewards: Rewards, reading: Reading) -> tuple[Program, Reading] | None:
        """The program of a reading, unless it cannot be run."""
        source = emit_reward(rewards, self.dynamics.vocabulary, reading.decisions, like=reading.goals)
        program = self._known(Program(source, "reward", goal=rewards.goal, origin=self.name))
        if self._unless_refuted(program) is None:
            return None
        self._reading_of[program] = reading
        return program, reading

    def _bravely(self, reading: Reading, rewards: Rewards) -> tuple[Program, Reading] | None:
        """The same without failures that only other goals knew: there may be no other way; None where it has none."""
        decisions = reading.decisions
        met = {id(decisions.rule(mask)) for mask, _ in rewards.steps}
        rules = tuple(rule for rule in decisions.rules if id(rule) in met or not fails(rule))
        if len(rules) == len(decisions.rules):
            return None
        brave = replace(reading, decisions=DecisionList(rules, decisions.cost), cost=reading.cost + _BRAVE)
        return self._read_as(rewards, brave)

    def _beware(self, reading: Reading, rewards: Rewards) -> None:
        """Note which actions always end the episode without a reward, unless they are what is rewarded."""
        ending = set()
        for name in self.dynamics.vocabulary.actions:
            _, reward, done = reading.decisions.effect(rewards.literals.mask([("did", name)]))
            if done and reward <= 0:
                ending.add(name)
        if ending != self._ending:
            self._ending = ending
            self._doubts.clear()

    def _best_reward(self, rewards: Rewards) -> Program:
        """What the cheapest list says, of those whose programs can be run; where none can, the cheapest.

        What holds for other goals as well, said with their words, goes before what was seen of this one alone.
        """
        lifted = (program for program, reading in self._read(rewards) if reading.founded)
        every = (self._reward(rewards, decisions) for decisions in rewards.lists)
        can_be_run = (program for program in every if self._unless_refuted(program) is not None)
        return next(lifted, None) or next(can_be_run, None) or self._reward(rewards, rewards.lists[0])

    def _open_guesses(self, rewards: Rewards, start: State) -> list[Guess]:
        vocabulary = self.dynamics.vocabulary
        self._untried.read(vocabulary, self.dynamics.transitions)
        does = self._untried.does
        key = (vocabulary.structure(), start, tuple(does.items()))
        known = self._guesses.get(rewards.goal)
        if known is None or known[0] != key:
            known = key, guesses(vocabulary, rewards.goal, start, does)
            self._guesses[rewards.goal] = known
        return [guess for guess in known[1] if not rewards.refuted(guess.literals)]

    @property
    def noise(self) -> Set[int]:
        return self.dynamics.sieve.aside

    @property
    def top_interest(self) -> float:
        named = NAMED if self._words else 1.0
        return named * self._interest.of("unseen")

    def interest(
        self, state: State, action: Action, above: float = 0.0, *, disputed: bool | None = None
    ) -> float:
        if self._version != self.dynamics.version:
            self._version = self.dynamics.version
            self._doubts.clear()
            self._habits.read(self.dynamics.vocabulary, self.dynamics.transitions)
        step = state, action
        if step not in self._doubts:
            met: tuple[Sort, ...] = ("lonely", "disputed", "unpaired", "usual")
            if above >= max(map(self._interest.of, met)) and not self.dynamics.doubts.unseen(state, action):
                return 0.0
            self._doubts[step] = self._weigh(self.dynamics.doubts.of(state, action, disputed), state, action)
        sort, share = self._doubts[step]
        if sort is None:
            return 0.0
        self._sorts[step] = sort
        return share * self._interest.of(sort)

    def news_program(self, goal: Goal, start: State) -> Program | None:
        rewards, vocabulary = self.rewards.setdefault(goal, Rewards(goal)), self.dynamics.vocabulary
        rewards.fit(vocabulary)
        news = [
            Guess((lit,), 0.0) for lit in achievements(vocabulary, start, goal) if not rewards.has_met(lit)
        ]
        if not news:
            return None
        return self._unless_refuted(self._reward(rewards, worthless(rewards.lists[0]), *news))

    def disputes(self, goal: Goal, start: State) -> tuple[Program, Program] | None:
        transition = self._marking_program()
        if transition is None:
            return None
        rewards = self.rewards.setdefault(goal, Rewards(goal))
        rewards.fit(self.dynamics.vocabulary)
        source = emit_reward(rewards, self.dynamics.vocabulary, worthless(rewards.lists[0]))
        reward = self._known(
            Program(source + REWARD.format(mark=MARK), "reward", goal=goal, origin=self.name)
        )
        refuted = self._unless_refuted(transition) is None or self._unless_refuted(reward) is None
        return None if refuted else (transition, reward)

    def _marking_program(self) -> Program | None:
        """The program that marks what is disputed; it is asked for several times between two transitions."""
        key = self.dynamics.version, len(self.dynamics.transitions), len(self._refuted)
        if self._marking[0] != key:
            source = emit_transition(self.dynamics, self._chosen, votes=True)
            program = Program(source, "transition", origin=self.name)
            self._marking = key, program if MARK in source else None
        return self._marking[1]

    def _weigh(self, doubt: Doubt, state: State, action: Action) -> tuple[Sort | None, float]:
        """What is not known of a step, and how much of its interest counts."""
        sort = sort_of(doubt, usual=self._habits.has(self.dynamics.vocabulary.verb(action)))
        if sort != "unseen" and self.dynamics.doubts.lonely(state, action):
            sort = "lonely"
        share = _LAST if action.name in self._ending else 1.0
        # what the goal speaks of is looked at first
        if sort == "unseen" and any(self._words & words(str(p)) for lit in doubt.unseen for p in lit[1:]):
            share *= NAMED
        return sort, share

    def evidence(self, program: Program) -> Program:
        """The same code, with its evidence counted anew."""
        if program.order:
            return program
        if program.goal is None:
            fresh = emit_transition(self.dynamics, self._chosen)
        else:
            rewards, guess = self.rewards[program.goal], self._guess_of.get(program)
            rewards.fit(self.dynamics.vocabulary)  # what other goals were read with may have changed
            guesses_ = () if guess is None else (guess,)
            reading = self._reading_of.get(program)
            decisions = rewards.lists[0] if reading is None else reading.decisions
            like = () if reading is None else reading.goals
            fresh = emit_reward(rewards, self.dynamics.vocabulary, decisions, *guesses_, like=like)
        renewed = replace(program, source=fresh)
        return renewed if code_of(renewed) == code_of(program) else program


def code_of(program: Program) -> str:
    """The text without comments and the docstring's count: programs alike in it do the same."""
    return re.sub(r"^ +# .*\n|  # .*|\d+ transitions", "", program.source, flags=re.MULTILINE)

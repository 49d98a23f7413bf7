"""The embedded synthesizer: a proposer of programs that needs no model, no key and no network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from worldcoder.programs import Program
from worldcoder.synthesis.proposer import RewardProposal
from worldcoder.synthesis.rules.dynamics import Doubt, Dynamics
from worldcoder.synthesis.rules.emit import emit_transition
from worldcoder.synthesis.rules.emit_reward import emit_reward, worthless
from worldcoder.synthesis.rules.guesses import Guess, achievements, guesses, words
from worldcoder.synthesis.rules.rewards import Rewards
from worldcoder.synthesis.rules.scene import scene_of
from worldcoder.world.values import Action, Goal, State, Transition


class RulesSynthesizer:
    """Learns decision lists from transitions and writes them as programs."""

    name = "rules"

    def __init__(self) -> None:
        self.dynamics = Dynamics()
        self.rewards: dict[Goal, Rewards] = {}
        self._program: Program | None = None
        self._stale = True
        self._words: set[str] = set()
        self._optimist: Program | None = None
        self._guess_of: dict[Program, Guess] = {}
        self._interest: dict[tuple[State, Action], float] = {}
        self._version = -1
        self._guesses: dict[Goal, tuple[object, list[Guess]]] = {}

    def begin(self, state: State, goal: Goal, actions: Sequence[Action]) -> None:
        self.dynamics.vocabulary.observe_scene(scene_of(state))
        self.dynamics.vocabulary.observe_actions(actions)
        self.rewards.setdefault(goal, Rewards(goal))
        names = [*self.dynamics.vocabulary.kinds, *self.dynamics.vocabulary.actions]
        self._words = words(goal) & set().union(*map(words, names))

    def observe(self, transition: Transition) -> None:
        self.dynamics.observe(transition)
        self.rewards.setdefault(transition.goal, Rewards(transition.goal)).observe(transition)

    def fit(self) -> bool:
        changed = self.dynamics.fit()
        self._stale = self._stale or changed
        return changed

    def transition_program(self) -> Program:
        if self._program is None or self._stale:
            program = Program(emit_transition(self.dynamics), "transition", origin=self.name)
            if self._program is None or code_of(program) != code_of(self._program):
                parent = None if self._program is None else self._program.id
                self._program = replace(program, parent=parent)
            self._stale = False
        return self._program

    def optimistic_program(self) -> Program | None:
        passages = self.dynamics.untested_passages()
        if not passages:
            return None
        program = Program(emit_transition(self.dynamics, passages=passages), "transition", origin=self.name)
        if self._optimist is None or code_of(program) != code_of(self._optimist):
            self._optimist = program
        return self._optimist

    def any_of(self, proposals: Sequence[RewardProposal]) -> Program | None:
        found = [self._guess_of.get(p.program) for p in proposals]
        guesses_ = [g for g in found if g is not None]
        goal = proposals[0].program.goal
        if len(guesses_) < len(proposals) or goal is None:
            return None
        rewards = self.rewards[goal]
        source = emit_reward(rewards, self.dynamics.vocabulary, rewards.lists[0], *guesses_)
        return Program(source, "reward", goal=goal, origin=self.name)

    def reward_programs(self, goal: Goal, start: State) -> Iterator[RewardProposal]:
        rewards = self.rewards.setdefault(goal, Rewards(goal))
        vocabulary = self.dynamics.vocabulary
        rewards.fit(vocabulary)
        best = rewards.lists[0]
        if rewards.succeeded:
            source = emit_reward(rewards, vocabulary, best)
            yield RewardProposal(Program(source, "reward", goal=goal, origin=self.name), learned=True)
            return
        for guess in self._open_guesses(rewards, start):
            source = emit_reward(rewards, vocabulary, best, guess)
            program = Program(source, "reward", goal=goal, origin=self.name)
            self._guess_of[program] = guess
            yield RewardProposal(program, False, guess.meaning(), guess.cost)
        source = emit_reward(rewards, vocabulary, best)
        program = Program(source, "reward", goal=goal, origin=self.name)
        yield RewardProposal(program, False, "nothing more to guess", float("inf"))

    def _open_guesses(self, rewards: Rewards, start: State) -> list[Guess]:
        vocabulary = self.dynamics.vocabulary
        key = (vocabulary.structure(), start)
        known = self._guesses.get(rewards.goal)
        if known is None or known[0] != key:
            known = key, guesses(vocabulary, rewards.goal, start)
            self._guesses[rewards.goal] = known
        return [guess for guess in known[1] if not rewards.refuted(guess.literals)]

    @property
    def top_interest(self) -> float:
        return 6.0 if self._words else 3.0

    def interest(self, state: State, action: Action) -> float:
        if self._version != self.dynamics.version:
            self._version = self.dynamics.version
            self._interest.clear()
        known = self._interest.get((state, action))
        if known is None:
            known = self._interest[state, action] = self._weigh(self.dynamics.doubt(state, action))
        return known

    def news_program(self, goal: Goal, start: State) -> Program | None:
        rewards, vocabulary = self.rewards.setdefault(goal, Rewards(goal)), self.dynamics.vocabulary
        rewards.fit(vocabulary)
        news = [
            Guess((lit,), 0.0) for lit in achievements(vocabulary, start, goal) if not rewards.has_met(lit)
        ]
        if not news:
            return None
        source = emit_reward(rewards, vocabulary, worthless(rewards.lists[0]), *news)
        return Program(source, "reward", goal=goal, origin=self.name)

    def _weigh(self, doubt: Doubt) -> float:
        if doubt.unseen:
            # what the goal speaks of is looked at first
            named = any(self._words & words(str(part)) for lit in doubt.unseen for part in lit[1:])
            return 6.0 if named else 3.0
        if doubt.disputed:
            return 2.0
        return 1.0 if doubt.pairs or doubt.lost else 0.0

    def evidence(self) -> Program:
        """The transition program with its evidence counted anew: the same code, other comments."""
        fresh = Program(emit_transition(self.dynamics), "transition", origin=self.name)
        known = self.transition_program()
        return replace(known, source=fresh.source) if code_of(fresh) == code_of(known) else known


def code_of(program: Program) -> str:
    """The text without comments and the docstring's count: programs alike in it do the same."""
    return re.sub(r"  # .*|\d+ transitions", "", program.source)

"""Rules and a language model together: the rules propose first, and what they cannot explain is written for.

Every program of either is an arm of one bandit, and the best of all is proposed. The language model is asked only
while none of them fits: for transitions where none reproduces the data (φ1), for rewards where none does or none
of the rules' guesses can be reached (φ2). It is told what the rules found, and their program is one that it may be
asked to repair. Where the rules know more of some steps than a program that was written, they take their part of
it as a special case in front (see `llm.patching`), before anything more is asked for.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence, Set
from itertools import chain, islice
from pathlib import Path

from worldcoder.llm.tokens import count_tokens
from worldcoder.programs import Program, Runner
from worldcoder.synthesis.llm.patching import patched
from worldcoder.synthesis.llm.search import Asker, Candidate, Writing
from worldcoder.synthesis.llm.synthesizer import LanguageModelSynthesizer
from worldcoder.synthesis.proposer import Counterexample, RewardProposal
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer
from worldcoder.world.values import Action, Goal, State, Transition

_GUESSES = 200
"""Guesses of the rules that are looked at for one that can be reached."""


class HybridSynthesizer:
    """Proposes what rules induce, and asks a language model for the rest.

    Arguments and errors as of `LanguageModelSynthesizer`. rules, llm: the two, each with all that was seen.
    """

    name = "hybrid"

    def __init__(
        self,
        asker: Asker,
        *,
        runner: Runner,
        rng: random.Random,
        writing: Writing = Writing(),  # noqa: B008 - frozen
        prompts: Path | str | None = None,
    ) -> None:
        self.rules = RulesSynthesizer()
        self.llm = LanguageModelSynthesizer(
            asker, runner=runner, rng=rng, writing=writing, prompts=prompts, shortens=False
        )
        self.llm.transitions.improve = self._patched
        self._by_rules: Candidate | None = None
        self._written: dict[str, Program] = {}  # by patched program: what was patched
        self._hopeful: tuple[tuple[str, str], Program | None] | None = None
        self._most_hint_tokens = writing.prompt_tokens // 4

    # ── what is told ─────────────────────────────────────────────────────────────────────────────────────

    def begin(self, state: State, goal: Goal, actions: Sequence[Action]) -> None:
        self.rules.begin(state, goal, actions)
        self.llm.begin(state, goal, actions)

    def observe(self, transition: Transition) -> None:
        self.rules.observe(transition)
        self.llm.observe(transition)

    def refute(self, program: Program, counterexamples: Sequence[Counterexample]) -> None:
        self.rules.refute(program, counterexamples)
        self.llm.refute(program, counterexamples)

    # ── transitions ──────────────────────────────────────────────────────────────────────────────────────

    def fit(self) -> bool:
        self.rules.fit()
        self.llm.seen.noise = self.rules.noise
        if len(self.llm.seen.check):
            self._by_rules = self.llm.transitions.offer(self.rules.transition_program())
            self._tell_of_rules(self._by_rules)
        return self.llm.fit()

    def transition_program(self) -> Program:
        return self.llm.transition_program()

    def optimistic_program(
        self, boldness: int = 0, without: Sequence[tuple[State, Action]] = ()
    ) -> Program | None:
        """The best program where the rules in it let pass what was never seen to be stopped; None: the same."""
        best, hopeful = self.llm.transitions.best, self.rules.optimistic_program(boldness, without)
        if best is None or hopeful is None:
            return None
        if best is self._by_rules:
            return hopeful
        written = self._written.get(best.program.id)
        if written is None or boldness:
            return None
        key = best.program.id, hopeful.id
        if self._hopeful is None or self._hopeful[0] != key:
            program = self._patch(written, hopeful)
            fits = program is not None and not self.llm.misses(program) - self.llm.misses(best.program)
            self._hopeful = key, program if fits else None
        return self._hopeful[1]

    def cautious_program(self, steps: Sequence[tuple[State, Action]]) -> Program | None:
        best = self.llm.transitions.best
        return self.rules.cautious_program(steps) if best is not None and best is self._by_rules else None

    def _tell_of_rules(self, candidate: Candidate) -> None:
        """What a request for a first program says of the rules, where they do not explain everything."""
        prompter, missed = self.llm.prompter, [m.index for m in candidate.wrong.missed]
        prompter.hints, prompter.first = "", ()
        if not missed:
            return
        total = len(self.llm.seen.check)
        source = candidate.program.source.strip()
        for shown in (source, source[source.find("def transition(") :]):  # else without its small functions
            hints = (
                f"Rules were induced from the steps before you were asked. They are right about {total - len(missed)} "
                f"of {total} steps, and have no words for what is behind the others, which are shown first. This is "
                f"what they say:\n\n```python\n{shown}\n```"
            )
            if count_tokens(hints) <= self._most_hint_tokens:
                prompter.hints = hints
                break
        prompter.first = tuple(dict.fromkeys([*self.rules.dynamics.unexplained(), *missed]))

    def _patched(self, candidate: Candidate) -> Program | None:
        """A program that is not right, with what the rules know better in front of it."""
        if self._by_rules is None or candidate is self._by_rules:
            return None
        program = candidate.program
        written = self._written.get(program.id, program)  # what was patched before is patched anew
        better = self._patch(written, self._by_rules.program)
        if better is not None and written is not better:
            self._written[better.id] = written
        return better

    def _patch(self, written: Program, rules: Program) -> Program | None:
        misses = self.llm.misses
        return patched(self.rules.dynamics, rules, written, misses(rules), misses(written))

    # ── rewards ──────────────────────────────────────────────────────────────────────────────────────────

    def reward_programs(self, goal: Goal, start: State) -> Iterator[RewardProposal]:
        proposals = self.rules.reward_programs(goal, start)
        first = next(proposals)
        candidate = self.llm.offered_reward(goal, first.program)
        if first.learned:
            yield from [first] if candidate.solved else self.llm.reward_programs(goal, start)
            return
        fits = not (candidate.wrong.missed or candidate.bad)
        if fits and first.cost < float("inf"):
            guesses = [first, *islice(proposals, _GUESSES)]
            if candidate.solved or self._can_be_reached(goal, guesses):
                yield from chain(guesses, proposals)
                return
            proposals = chain(guesses[1:], proposals)
        yield from self.llm.reward_programs(goal, start)
        if fits:
            yield first
            yield from proposals

    def _can_be_reached(self, goal: Goal, guesses: Sequence[RewardProposal]) -> bool:
        """Whether there is hope of a way to something that the rules guess: one search for all of them."""
        likely = [guess for guess in guesses if guess.cost < float("inf")]
        any_of = self.rules.any_of(likely)
        return any_of is not None and self.llm.has_way(goal, any_of, self.optimistic_program())

    def news_program(self, goal: Goal, start: State) -> Program | None:
        return self.rules.news_program(goal, start)

    def disputes(self, goal: Goal, start: State) -> tuple[Program, Program] | None:
        return self.rules.disputes(goal, start)

    def any_of(self, proposals: Sequence[RewardProposal]) -> Program | None:
        if any(p.program.origin != self.rules.name for p in proposals):
            return None
        return self.rules.any_of(proposals)

    def evidence(self, program: Program) -> Program:
        return self.rules.evidence(program) if program.origin == self.rules.name else program

    # ── where to act, and what is spent ──────────────────────────────────────────────────────────────────

    @property
    def noise(self) -> Set[int]:
        return self.rules.noise

    @property
    def top_interest(self) -> float:
        return self.rules.top_interest

    def interest(
        self, state: State, action: Action, above: float = 0.0, *, disputed: bool | None = None
    ) -> float:
        return self.rules.interest(state, action, above, disputed=disputed)

    @property
    def calls(self) -> int:
        """Texts that were asked for."""
        return self.llm.calls

    @property
    def exhausted(self) -> bool:
        """Whether something is wrong for which there is no budget left."""
        return self.llm.exhausted

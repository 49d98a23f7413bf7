"""Goals that a saved model never met, read by what it was learned from."""

from __future__ import annotations

from dataclasses import dataclass

from worldcoder.programs import Knowledge, Program
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer
from worldcoder.world.values import Goal, State


@dataclass(frozen=True)
class NewGoal:
    """What a goal probably rewards. meaning: in words, and which words of the goal say nothing."""

    program: Program
    meaning: str


class NewGoals:
    """Reward programs for goals that were not met, from those that were: nothing is guessed, and nothing learned.

    known: with the data, and at least one goal that was reached.
    """

    def __init__(self, known: Knowledge) -> None:
        self._known = known
        self._synthesizer: RulesSynthesizer | None = None

    def __call__(self, goal: Goal, start: State) -> NewGoal | None:
        """The likeliest reading of a goal; None where it is like none that was reached."""
        if not self._known.solved_goals:
            return None
        if self._synthesizer is None:
            self._synthesizer = self._read()
        self._synthesizer.begin(start, goal, self._known.actions)
        found = next(self._synthesizer.taught(goal), None)
        return None if found is None else NewGoal(found.program, found.meaning)

    def _read(self) -> RulesSynthesizer:
        synthesizer = RulesSynthesizer()
        for episode in self._known.episodes:
            synthesizer.begin(episode.start, episode.goal, self._known.actions)
            for transition in episode.transitions:
                synthesizer.observe(transition)
        return synthesizer

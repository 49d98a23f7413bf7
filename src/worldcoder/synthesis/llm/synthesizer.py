"""The proposer that has a language model write the programs (WorldCoder, arXiv 2402.12275)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path

from worldcoder.llm.values import Reply
from worldcoder.programs import Program, Runner
from worldcoder.synthesis.llm.experience import Experience
from worldcoder.synthesis.llm.novelty import TOP, Novelty
from worldcoder.synthesis.llm.prompting import Prompter
from worldcoder.synthesis.llm.reading import read_reply
from worldcoder.synthesis.llm.search import MORE, Asker, Candidate, Search, Writing
from worldcoder.synthesis.llm.tasks import RewardTask, TransitionTask
from worldcoder.synthesis.llm.templates import Templates
from worldcoder.synthesis.proposer import Counterexample, RewardProposal
from worldcoder.world.values import Action, Goal, State, Transition

STILL = "def transition(state, action):\n    return state\n"
"""What is proposed while there is no program: nothing ever changes."""
WORTHLESS = "def reward(state, action, next_state):\n    return 0.0, False\n"
"""The same for rewards: none."""
_ALTERNATIVES = 3
"""Reward programs that are proposed besides the best, where nothing seen so far tells them apart."""
_OTHER_TRANSITIONS = 3
"""Transition programs besides the best that a reward program is combined with, in search of a plan."""
NEVER = float("inf")
SHORT = 12
"""Lines of a program that nobody is asked to make shorter."""


class LanguageModelSynthesizer:
    """Asks a language model for programs, and for better ones as long as they are wrong.

    Transition and reward programs are searched for apart, each by REx under a budget of its own (`Writing`), and
    combined when each of them reproduces the data. Nothing is asked before there are data, and nothing while
    nothing is wrong.

    asker: the model. runner: who runs the programs. rng: everything random. prompts: a folder of templates that
    are used in the place of the package's. shortens: whether a program that has held is asked for once more, shorter;
    it is taken if it loses nothing.

    Any call can raise LLMError, where there is no point in asking on (a wrong key, no connection); reaching a
    limit is none of these: `exhausted` is then true, and the best programs so far are proposed.
    """

    name = "llm"

    def __init__(
        self,
        asker: Asker,
        *,
        runner: Runner,
        rng: random.Random,
        writing: Writing = Writing(),  # noqa: B008 - frozen
        prompts: Path | str | None = None,
        shortens: bool = True,
    ) -> None:
        self.shortens = shortens
        self.seen = Experience()
        self.prompter = Prompter(Templates(prompts), writing.prompt_tokens)
        self.writing = writing
        self.asker = asker
        self._runner = runner
        self._rng = rng
        self._faults: dict[str, list[Counterexample]] = {}
        self._novelty = Novelty()
        self._proposed: str | None = None
        task = TransitionTask(self.seen, runner, self.prompter, self._faults, asker.name)
        self.transitions = Search(task, asker, writing, rng)
        self.rewards: dict[Goal, Search] = {}
        self._tasks: dict[Goal, RewardTask] = {}
        self._judged: dict[Goal, tuple[object, ...]] = {}
        self._right_since: dict[str, int] = {}  # by program: how many data there were when it was first right
        self._shortened: set[str] = set()

    # ── what is told ─────────────────────────────────────────────────────────────────────────────────────

    def begin(self, state: State, goal: Goal, actions: Sequence[Action]) -> None:
        self.seen.begin(state, goal, actions)

    def observe(self, transition: Transition) -> None:
        self.seen.observe(transition)
        self._novelty.observe(transition.state, transition.action, transition.next_state)

    def refute(self, program: Program, counterexamples: Sequence[Counterexample]) -> None:
        """What the data show is seen when they are run; what else is heard is kept."""
        for found in counterexamples:
            if found.bad or found.transition is None:
                faults = self._faults.setdefault(program.id, [])
                if found not in faults:
                    faults.append(found)

    # ── transitions ──────────────────────────────────────────────────────────────────────────────────────

    def fit(self) -> bool:
        if len(self.seen.check):
            self.transitions.mend(len(self.seen.check))
            self._shorten(self.transitions)
        before = self._proposed
        return self.transition_program().id != before

    def transition_program(self) -> Program:
        best = self.transitions.best
        program = Program(STILL, "transition", origin=self.name) if best is None else best.program
        self._proposed = program.id
        return program

    def optimistic_program(
        self, boldness: int = 0, without: Sequence[tuple[State, Action]] = ()
    ) -> Program | None:
        """A language model is optimistic where it is asked to be: in its reward programs."""
        return None

    def cautious_program(self, steps: Sequence[tuple[State, Action]]) -> Program | None:
        return None

    @property
    def fitting_transitions(self) -> list[Program]:
        """Transition programs that reproduce all data, the best first; none where the best one does not."""
        best = self.transitions.best
        if best is None or not best.solved:
            return []
        others = [c.program for c in self.transitions.candidates.values() if c.solved and c is not best]
        return [best.program, *others[-_OTHER_TRANSITIONS:]]

    # ── rewards ──────────────────────────────────────────────────────────────────────────────────────────

    def reward_programs(self, goal: Goal, start: State) -> Iterator[RewardProposal]:
        search = self.fitted_rewards(goal)
        best, learned = search.best, goal in self.seen.succeeded
        if best is None:
            program = Program(WORTHLESS, "reward", goal, origin=self.name)
            yield RewardProposal(program, False, "nothing is known of the reward", NEVER)
            return
        yield RewardProposal(best.program, learned, _meaning(best.program), self._cost(best, learned))
        if not learned and best.solved:
            others = [c for c in search.candidates.values() if c.solved and c is not best]
            for other in others[:_ALTERNATIVES]:
                yield RewardProposal(other.program, False, _meaning(other.program), 1.0)

    def fitted_rewards(self, goal: Goal) -> Search:
        """The search for a reward program, brought up to the data."""
        search = self._search_of(goal)
        fitting = tuple(p.id for p in self.fitting_transitions)
        starts = tuple(self.seen.starts.get(goal, ()))
        now = len(self.seen.check), fitting, starts, len(self._faults)
        if len(self.seen.check) and self._judged.get(goal) != now:
            similar = bool(self._tasks[goal].similar)
            search.mend(len(self.seen.check), first=1 if similar else None)
            self._judged[goal] = now
            if search.best is not None and search.best.used is not None and search.best.solved:
                self.transitions.prefer(self.transitions.offer(search.best.used))
            if goal in self.seen.succeeded:  # else it may be refuted soon
                self._shorten(search)
        return search

    def offered_reward(self, goal: Goal, program: Program) -> Candidate:
        """A reward program from elsewhere, judged by the data; from now on one of those that may be refined."""
        search = self._search_of(goal)
        known = search.offer(program)
        self._tasks[goal].judge([known])
        return known

    def has_way(self, goal: Goal, reward: Program, hopeful: Program | None = None) -> bool:
        """Whether from every start of a goal a transition program, the best or a hopeful one, leads to a reward."""
        best = self.transitions.best
        self._search_of(goal)
        task, starts = self._tasks[goal], self.seen.starts.get(goal, ())
        programs = [p for p in (None if best is None else best.program, hopeful) if p is not None]
        return bool(programs) and all(
            any(task.plan(program, reward, start).found for program in programs) for start in starts
        )

    def misses(self, program: Program) -> set[int]:
        """The steps that a transition program does not reproduce."""
        return {m.index for m in self._runner.check(self.seen.check, program)}

    def _search_of(self, goal: Goal) -> Search:
        if goal not in self.rewards:
            self._tasks[goal] = task = RewardTask(
                goal,
                self.seen,
                self._runner,
                self.prompter,
                self._faults,
                self.asker.name,
                transitions=lambda: self.fitting_transitions,
                others=self._solved_rewards,
                plan_nodes=self.writing.plan_nodes,
            )
            self.rewards[goal] = Search(task, self.asker, self.writing, self._rng)
        return self.rewards[goal]

    def _solved_rewards(self) -> Mapping[Goal, Program]:
        return {g: s.best.program for g, s in self.rewards.items() if s.best is not None and s.best.solved}

    def _cost(self, candidate: Candidate, learned: bool) -> float:
        """What the data refute is not worth going for, unless a reward of this goal was really had."""
        return 0.0 if learned or not candidate.wrong.missed else NEVER

    def news_program(self, goal: Goal, start: State) -> Program | None:
        return None

    def disputes(self, goal: Goal, start: State) -> tuple[Program, Program] | None:
        return None

    def any_of(self, proposals: Sequence[RewardProposal]) -> Program | None:
        return None

    def evidence(self, program: Program) -> Program:
        return program

    # ── where to act ─────────────────────────────────────────────────────────────────────────────────────

    @property
    def noise(self) -> Set[int]:
        return self.seen.noise

    @property
    def top_interest(self) -> float:
        return TOP

    def interest(
        self, state: State, action: Action, above: float = 0.0, *, disputed: bool | None = None
    ) -> float:
        return self._novelty.interest(state, action)

    # ── what is spent, and what for ──────────────────────────────────────────────────────────────────────

    @property
    def calls(self) -> int:
        """Texts that were asked for."""
        return self.transitions.calls + sum(search.calls for search in self.rewards.values())

    @property
    def exhausted(self) -> bool:
        """Whether something is wrong for which there is no budget left."""
        return any(search.exhausted for search in (self.transitions, *self.rewards.values()))

    # ── shorter programs ─────────────────────────────────────────────────────────────────────────────────

    def _shorten(self, search: Search) -> None:
        """Ask, once for each program that has held, for a shorter one that is as good.

        A program has held when it was right all the while in which the data became half as many more: before, it is
        likely to be replaced anyway.
        """
        best, data = search.best, len(self.seen.check)
        if not self.shortens or best is None or not best.solved or best.transition is not None:
            return
        program = best.program
        since = self._right_since.setdefault(program.id, data)
        if data < MORE * since or program.id in self._shortened or program.lines <= SHORT:
            return
        self._shortened.add(program.id)
        reply = search.once(self.prompter.simplify(self.seen, program))
        shorter = None if reply is None else self._shorter(program, reply)
        if shorter is not None:
            self._shortened.add(shorter.id)
            search.prefer(search.offer(shorter))

    def _shorter(self, program: Program, reply: Reply) -> Program | None:
        for text, finish in zip(reply.texts, reply.finishes, strict=True):
            reading = read_reply(text, program.kind, finish=finish, old=program.source)
            if reading.source is None or not reading.outcome.usable:
                continue
            new = Program(reading.source, program.kind, program.goal, self.asker.name, program.id)
            if new.lines < program.lines and self._loses_nothing(new, program):
                return new
        return None

    def _loses_nothing(self, new: Program, old: Program) -> bool:
        """Whether a program reproduces what another one does (φ1), and leads where that leads (φ2)."""
        goal, check, best = old.goal, self.seen.check, self.transitions.best
        both = [(p, {}) if goal is None else (None, {goal: p}) for p in (new, old)]
        of_new, of_old = self._runner.check_all(check, both)
        if not {m.index for m in of_new} <= {m.index for m in of_old}:
            return False
        if goal is not None:
            return best is None or self._leads_as_far(goal, (best.program, new), (best.program, old))
        rewards = {g: search.best.program for g, search in self.rewards.items() if search.best is not None}
        return all(self._leads_as_far(g, (new, reward), (old, reward)) for g, reward in rewards.items())

    def _leads_as_far(self, goal: Goal, new: tuple[Program, Program], old: tuple[Program, Program]) -> bool:
        """Whether two programs, of transitions and rewards, have a way from every start from which two others do."""
        plan = self._tasks[goal].plan
        starts = self.seen.starts.get(goal, ())
        return all(plan(*new, start).found or not plan(*old, start).found for start in starts)


def _meaning(program: Program) -> str:
    """What a reward program is for, in the words of its first comment or docstring; else that it is a guess."""
    for line in program.source.splitlines():
        text = line.strip()
        if text.startswith(("#", '"""')) and len(text.strip('#" ')) > 3:
            return text.strip('#" ')[:120]
    return "what the goal says, as the language model reads it"

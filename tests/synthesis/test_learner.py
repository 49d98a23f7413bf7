"""What becomes the model, and what a proposer hears of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

import pytest
from small_worlds import PUSHING_ROOM, STEPS, pushing, walk

from worldcoder.programs import Fault, Program, Runner
from worldcoder.sandbox import Limits
from worldcoder.synthesis.learner import MOST_FAULTS, Learner
from worldcoder.synthesis.proposer import Counterexample, RewardProposal
from worldcoder.synthesis.rules.alternatives import combinations
from worldcoder.synthesis.rules.effects import KEEP
from worldcoder.synthesis.rules.lists import DecisionList, Rule
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer, code_of
from worldcoder.world import Action, Goal, Obj, State, Transition

HEAD = "def transition(state, action):\n    a = state.one('A')\n"
ADDS_ONE = HEAD + "    a.x += 1\n"
UP_TO = HEAD + "    a.x += 1 if a.x < {} else 2\n"
COUNTS = "n = 0\n" + HEAD + "    global n\n    n += a.x\n    a.x += 1 + (a.x == 0 and n > 0)\n"
"""Right unless it is run on other things before x = 0."""
LOOPS_AT = HEAD + "    while a.x == {}:\n        pass\n    a.x += 1\n"

REWARD = "def reward(state, action, next_state):\n    return 0.0, False\n"
NOISY = "n = 0\ndef reward(state, action, next_state):\n    global n\n    n += 1\n    return 0.0, n > 10\n"
START = State([Obj("A", x=0)])


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(limits=Limits(call_seconds=0.1)) as runner:
        yield runner


def transition(source: str) -> Program:
    return Program(source, "transition")


def reward(source: str) -> Program:
    return Program(source, "reward", goal="g")


class Fake:
    """Proposes what it is told to."""

    name = "fake"
    top_interest = 0.0
    noise: AbstractSet[int] = frozenset()

    def __init__(self, program: str, *rewards: str) -> None:
        self.program = transition(program)
        self.rewards = rewards or (REWARD,)
        self.heard: list[tuple[Program, list[Counterexample]]] = []
        self.asked = 0

    def begin(self, state: State, goal: Goal, actions: Sequence[Action]) -> None: ...

    def observe(self, transition: Transition) -> None: ...

    def refute(self, program: Program, counterexamples: Sequence[Counterexample]) -> None:
        self.heard.append((program, list(counterexamples)))

    def fit(self) -> bool:
        return True

    def transition_program(self) -> Program:
        self.asked += 1
        return self.program

    def optimistic_program(
        self, boldness: int = 0, without: Sequence[tuple[State, Action]] = ()
    ) -> Program | None:
        return None

    def reward_programs(self, goal: Goal, start: State) -> Iterator[RewardProposal]:
        return (RewardProposal(reward(source), learned=True) for source in self.rewards)

    def cautious_program(self, steps: Sequence[tuple[State, Action]]) -> Program | None:
        return None

    def news_program(self, goal: Goal, start: State) -> Program | None:
        return None

    def disputes(self, goal: Goal, start: State) -> tuple[Program, Program] | None:
        return None

    def any_of(self, proposals: Sequence[RewardProposal]) -> Program | None:
        return None

    def evidence(self, program: Program) -> Program:
        return program

    def interest(
        self, state: State, action: Action, above: float = 0.0, *, disputed: bool | None = None
    ) -> float:
        return 0.0


def see(learner: Learner, *places: int) -> None:
    for x in places:
        before, after = (State([Obj("A", x=n)]) for n in (x, x + 1))
        learner.check.add(Transition(before, "g", Action("go"), after, 0.0, False))


def learned(runner: Runner, program: str, *rewards: str) -> tuple[Learner, Fake]:
    proposer = Fake(program, *rewards)
    learner = Learner(proposer, runner)
    see(learner, 0, 1, 2, 3)
    assert learner.fit("g", START)
    return learner, proposer


def offer(learner: Learner, proposer: Fake, program: str) -> bool:
    """Whether a program takes the place of the present one."""
    proposer.program = transition(program)
    changed = learner.fit("g", START)
    assert learner.program is not None and (learner.program.source == program) == changed
    return changed


def test_a_repair_never_loses_ground(runner: Runner) -> None:
    learner, proposer = learned(runner, UP_TO.format(3))
    assert learner.phi1 == 0.75 and learner.surprised
    assert not offer(learner, proposer, UP_TO.format(2))
    assert offer(learner, proposer, ADDS_ONE) and learner.phi1 == 1.0 and not learner.surprised
    see(learner, 5)
    assert not offer(learner, proposer, UP_TO.format(5)) and offer(learner, proposer, UP_TO.format(6))


def test_a_program_that_keeps_something_is_not_taken_where_there_is_another(runner: Runner) -> None:
    learner, proposer = learned(runner, ADDS_ONE)
    assert not offer(learner, proposer, COUNTS)
    (program, (found,)) = proposer.heard[-1]
    assert program.source == COUNTS and found.what == "impure" and found.bad
    assert found.transition == learner.check.transitions[0] and found.predicted != found.observed
    heard = len(proposer.heard)
    assert not offer(learner, proposer, COUNTS) and len(proposer.heard) == heard, "it is told once"


def test_a_program_that_keeps_something_is_better_than_none_until_there_is_another(runner: Runner) -> None:
    other = f"{COUNTS}# not met before, so that its worker is new\n"
    learner, proposer = learned(runner, other)
    assert [f.what for _, (f, *_) in proposer.heard][:1] == ["impure"]
    assert offer(learner, proposer, ADDS_ONE)
    assert not offer(learner, proposer, other)


def test_what_is_wrong_is_told_once(runner: Runner) -> None:
    learner, proposer = learned(runner, UP_TO.format(3))
    ((_, (first,)),) = proposer.heard
    assert (first.what, first.transition) == ("state", learner.check.transitions[3]) and not first.bad
    learner.fit("g", START)
    assert len(proposer.heard) == 1
    see(learner, 3, 4)
    learner.fit("g", START)
    assert [f.transition for f in proposer.heard[-1][1]] == list(learner.check.transitions[4:])


def test_a_program_that_is_known_to_be_worse_is_not_run_again(runner: Runner) -> None:
    learner, proposer = learned(runner, ADDS_ONE)
    assert not offer(learner, proposer, UP_TO.format(1))
    heard = len(proposer.heard)
    see(learner, 7)
    assert not offer(learner, proposer, UP_TO.format(1)) and len(proposer.heard) == heard


def test_reward_programs_that_cannot_be_run_are_passed_over(runner: Runner) -> None:
    broken, loops = "def reward(state, action)\n", "def reward(s, a, n):\n    while True:\n        pass\n"
    learner, proposer = learned(runner, ADDS_ONE, broken, loops, REWARD)
    assert learner.rewards["g"].program.source == REWARD and learner.phi1 == 1.0
    assert [(p.source, {f.what for f in found}) for p, found in proposer.heard] == [
        (broken, {"error"}),
        (loops, {"timeout"}),
    ]
    proposer.rewards = (loops,)
    learner.fit("g", START)
    assert learner.rewards["g"].program.source == REWARD


def test_a_reward_program_that_keeps_something_is_passed_over(runner: Runner) -> None:
    proposer = Fake(ADDS_ONE, NOISY, REWARD)
    learner = Learner(proposer, runner)
    see(learner, *range(8))
    learner.fit("g", START)
    see(learner, *range(8, 12))
    counts_backwards = NOISY.replace("n > 10", "state.one('A').x == 0 and n > 1")
    proposer.rewards = (counts_backwards, REWARD)
    learner.fit("g", START)
    assert learner.rewards["g"].program.source == REWARD
    assert (proposer.heard[-1][0].source, proposer.heard[-1][1][0].what) == (counts_backwards, "impure")


def test_faults_of_searches_are_laid_to_the_program_that_failed(runner: Runner) -> None:
    state, go = State([Obj("A", x=9)]), Action("go")
    bad = reward(REWARD.replace("return", "while state.one('A').x == 9: pass\n    return"))
    for source, guilty in ((LOOPS_AT.format(9), 0), (ADDS_ONE, 1)):
        learner, proposer = learned(runner, source)
        both = transition(source), bad
        fault = Fault("timeout", "it took too long", "g", state, go)
        assert learner.fault(fault, *both), "the step is left out from now on"
        assert not learner.fault(fault, *both), "searching again would find it again"
        assert [(p, f.what, f.state, f.action) for p, (f,) in proposer.heard[:1]] == [
            (both[guilty], "timeout", state, go)
        ]
        assert learner.without(both[guilty]) == ((state, go),) == learner.without(*both)
        assert learner.without(both[1 - guilty]) == ()
        asked = proposer.asked
        learner.fit("g", START)
        assert proposer.asked == asked + 1


def test_programs_that_fail_in_search_after_search_are_not_planned_with(runner: Runner) -> None:
    learner, _ = learned(runner, ADDS_ONE)
    for n in range(MOST_FAULTS):
        assert not learner.hopeless(transition(ADDS_ONE), None)
        learner.fault(Fault("memory", f"no. {n}"), transition(ADDS_ONE), None, in_vain=True)
    assert learner.hopeless(transition(ADDS_ONE), reward(REWARD))
    assert not learner.hopeless(transition(UP_TO.format(1)), None)


def test_an_exception_in_an_imagined_step_is_told_once_and_not_left_out(runner: Runner) -> None:
    learner, proposer = learned(runner, ADDS_ONE)
    for x in (5, 6):
        fault = Fault("error", "KeyError: 'y'", "g", State([Obj("A", x=x)]), Action("go"))
        assert not learner.fault(fault, transition(ADDS_ONE), None)
    ((_, (found,)),) = proposer.heard
    assert found.what == "error" and not found.bad and learner.without(transition(ADDS_ONE)) == ()


# ── the next hypothesis of the rules ─────────────────────────────────────────────────────────────────────


def test_combinations_come_cheapest_first() -> None:
    def ensemble(*costs: float) -> list[DecisionList]:
        return [DecisionList((Rule(n, KEEP),), cost) for n, cost in enumerate(costs)]

    ensembles = {"a": ensemble(1, 3, 3.5), "b": ensemble(0, 1), "c": ensemble(2)}
    found = list(combinations(ensembles))
    assert found[0] == {} and len(found) == 6
    costs = [sum(one.get(k, lists[0]).cost for k, lists in ensembles.items()) for one in found]
    assert costs == sorted(costs) and costs[:3] == [3, 4, 5]


def test_code_that_failed_badly_is_not_proposed_again(runner: Runner) -> None:
    seen = walk(PUSHING_ROOM, pushing, STEPS, 25)
    synthesizer, learner = _rules(seen, runner)
    first = synthesizer.transition_program()
    wrong = Counterexample("state", seen[0].state, seen[0].action, "g")
    synthesizer.refute(first, [wrong])
    assert synthesizer.transition_program() == first, "it knows the transitions anyway"
    codes = {code_of(first)}
    for _ in range(5):
        present = synthesizer.transition_program()
        synthesizer.refute(present, [Counterexample("crash", seen[0].state, seen[0].action, "g")])
        following = synthesizer.transition_program()
        assert code_of(following) not in codes and following.parent == present.id
        assert runner.check(learner.check, following) == [], "it reproduces what was seen as well"
        codes.add(code_of(following))
        renewed = synthesizer.evidence(following)
        assert code_of(renewed) == code_of(following)


def test_where_no_hypothesis_is_left_the_rules_keep_what_they_have(runner: Runner) -> None:
    synthesizer, _ = _rules(walk(PUSHING_ROOM, pushing, STEPS, 3), runner)
    for _ in range(400):
        before = synthesizer.transition_program()
        synthesizer.refute(before, [Counterexample("crash", PUSHING_ROOM, STEPS[0], "g")])
        if synthesizer.transition_program() == before:
            return
    pytest.fail("there are not that many hypotheses")


def test_rewards_and_hopes_that_failed_badly_are_not_proposed_again(runner: Runner) -> None:
    seen = walk(PUSHING_ROOM, pushing, STEPS, 25)
    synthesizer, _ = _rules(seen, runner)
    crash = [Counterexample("crash", PUSHING_ROOM, STEPS[0], "wander")]
    first, second, *_ = synthesizer.reward_programs("wander", PUSHING_ROOM)
    both = synthesizer.any_of([first, second])
    assert both is not None
    for program in (first.program, both):
        synthesizer.refute(program, crash)
    assert next(synthesizer.reward_programs("wander", PUSHING_ROOM)) == second
    assert synthesizer.any_of([first, second]) is None
    news = synthesizer.news_program("wander", PUSHING_ROOM)
    if news is not None:
        synthesizer.refute(news, crash)
        assert synthesizer.news_program("wander", PUSHING_ROOM) is None


def test_a_program_whose_code_stays_the_same_stays_the_same() -> None:
    seen = walk(PUSHING_ROOM, pushing, STEPS, 40)
    synthesizer = RulesSynthesizer()
    synthesizer.begin(PUSHING_ROOM, "wander", STEPS)
    codes: dict[str, Program] = {}
    for t in seen:
        synthesizer.observe(Transition(t.state, "wander", t.action, t.next_state, 0.0, False))
        synthesizer.fit()
        for proposal in (*synthesizer.reward_programs("wander", PUSHING_ROOM),):
            assert codes.setdefault(code_of(proposal.program), proposal.program) == proposal.program
    last = synthesizer.evidence(proposal.program)
    assert "seen in 40 transitions" in last.source and code_of(last) == code_of(proposal.program)


def _rules(seen: Sequence[Transition], runner: Runner) -> tuple[RulesSynthesizer, Learner]:
    synthesizer = RulesSynthesizer()
    learner = Learner(synthesizer, runner)
    synthesizer.begin(seen[0].state, "wander", STEPS)
    for t in seen:
        here = Transition(t.state, "wander", t.action, t.next_state, t.reward, t.done)
        synthesizer.observe(here)
        learner.check.add(here)
    synthesizer.fit()
    return synthesizer, learner

"""Goals of several clauses: taken apart, put in order, and corrected by what happens."""

from __future__ import annotations

import pytest
from room_of_things import (
    ACTIONS,
    MIDDLE,
    TINTS,
    Place,
    episode,
    learn,
    proposals,
    reaching,
    ringing,
    room,
    step,
)

from worldcoder.planning.parts import advance, complete
from worldcoder.programs.inside.loading import load_namespace
from worldcoder.synthesis.proposer import RewardProposal
from worldcoder.synthesis.rules.clauses import take_apart
from worldcoder.synthesis.rules.sentences import Sentence, lexicon_of, read
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer
from worldcoder.world import Action, Transition
from worldcoder.world.live import LiveState

VISITS = (episode("visit the jar", reaching("Jar"), 0), episode("visit the pan", reaching("Pan"), 1))
RINGS = (episode("ring for the jar", ringing("Jar"), 2), episode("ring for the pan", ringing("Pan"), 3))


def walk(way: list[str], at: Place = MIDDLE) -> list[Place]:
    places = [at]
    for name in way:
        places.append(step(places[-1], Action(name), TINTS)[0])
    return places


def ends(proposal: RewardProposal, way: list[str]) -> list[int]:
    """After how many actions of a way a proposal says that the goal is reached."""
    program = proposal.program
    reward = load_namespace(program.source, "reward")["reward"]
    progress, found = 0, []
    places = walk(way)
    for n, (before, after, name) in enumerate(zip(places, places[1:], way, strict=False), 1):
        said, _ = reward(LiveState(room(before)), Action(name), LiveState(room(after)))
        progress = advance(program.order, progress, int(said))
        if complete(program.order, progress):
            found.append(n)
    return found[:1]


def lived(goal: str, way: list[str], *, reached: bool) -> list[Transition]:
    """An episode that went this way, and whether its last step was rewarded."""
    places = walk(way)
    last = len(way)
    return [
        Transition(
            room(before), goal, Action(name), room(after), float(reached and n == last), reached and n == last
        )
        for n, (before, after, name) in enumerate(zip(places, places[1:], way, strict=False), 1)
    ]


JAR_THEN_CUP = ["east", "north", "west", "west"]
CUP_THEN_JAR = ["west", "north", "east", "east"]


def test_a_sequence_is_its_clauses_in_order() -> None:
    best = proposals(learn(*VISITS), "visit the cup, then visit the jar")[0]
    assert best.program.order == ((), (0,))
    assert ends(best, CUP_THEN_JAR) == [4]
    assert ends(best, JAR_THEN_CUP) == []


@pytest.mark.parametrize(
    ("goal", "order"),
    [
        ("visit the cup and visit the jar", ((), ())),
        ("visit the cup, then visit the jar", ((), (0,))),
        ("visit the cup before you visit the jar", ((), (0,))),
        ("visit the cup after you visit the jar", ((1,), ())),
        ("Visit the Cup, visit the Jar", ((), ())),
        ("visit the cup, then ring for the jar, then visit the pan", ((), (0,), (0, 1))),
        (
            "visit the cup and visit the pot, then visit the jar and ring for the pan",
            ((), (), (0, 1), (0, 1)),
        ),
        ("visit the cup and visit the pot after you ring for the jar", ((2,), (2,), ())),
        ("visit a cup, and then ring for a jar", ((), (0,))),
    ],
)
def test_joints_are_read_as_they_are_mostly_meant(goal: str, order: tuple[tuple[int, ...], ...]) -> None:
    assert proposals(learn(*VISITS, *RINGS), goal)[0].program.order == order


@pytest.mark.parametrize(
    "goal",
    [
        "visit the cup",
        "visit the old cup",
        "visit the cup, then sing",
        "then visit the cup",
        "",
        "besuche den Topf, dann das Glas",
        "visit the cup and the jar",
        "the cup visit then the jar visit",
    ],
)
def test_what_is_not_made_of_known_clauses_is_left_whole(goal: str) -> None:
    assert all(not p.program.order for p in proposals(learn(*VISITS), goal))


def test_a_joint_that_means_something_else_is_learned_and_known_in_other_goals() -> None:
    known = learn(*VISITS)
    goal = "visit the cup wug visit the jar"
    first = proposals(known, goal)[0]
    assert first.program.order == ((), ())
    for way, reached in ((CUP_THEN_JAR, False), (JAR_THEN_CUP, True)):
        seen = lived(goal, way, reached=reached)
        known.begin(seen[0].state, goal, ACTIONS)
        for transition in seen:
            known.observe(transition)
        known.fit()
    later = proposals(known, goal)[0]
    assert later.learned and later.program.order == ((1,), ())
    other = proposals(known, "visit the pot wug visit the pan")[0]
    assert not other.learned and other.program.order == ((1,), ())


def test_what_no_order_explains_is_not_composed() -> None:
    known = learn(*VISITS)
    goal = "visit the cup, then visit the jar"
    seen = lived(goal, [*CUP_THEN_JAR, "west", "west", "east", "east"], reached=False)
    known.begin(seen[0].state, goal, ACTIONS)
    for transition in seen:
        known.observe(transition)
    known.fit()
    for proposal in proposals(known, goal):
        assert not ends(proposal, CUP_THEN_JAR) or not proposal.program.order


def test_a_goal_of_clauses_teaches_nothing_of_simple_ones() -> None:
    """Its reward came for the last of its steps only."""
    known = learn(*VISITS, lived("visit the cup, then visit the jar", CUP_THEN_JAR, reached=True))
    best = proposals(known, "visit the pot")[0]
    assert "then" not in best.meaning


def test_the_longer_form_that_is_known_is_not_taken_apart() -> None:
    known = RulesSynthesizer()
    known.begin(room(MIDDLE), "", ACTIONS)
    lexicon = lexicon_of(known.dynamics.vocabulary)

    def sentence(goal: str) -> Sentence:
        return read(goal, lexicon)

    simple = [sentence("put the cup"), sentence("near the jar"), sentence("put the cup near the jar")]
    goal = "put the pot near the pan"
    assert take_apart(goal, sentence(goal), simple) is None
    assert take_apart(goal, sentence(goal), simple[:2]) is not None
    longer = "put the pot near the pan then put the jar near the cup"
    compound = take_apart(longer, sentence(longer), simple)
    assert compound is not None and compound.clauses == (
        "put the pot near the pan",
        "put the jar near the cup",
    )

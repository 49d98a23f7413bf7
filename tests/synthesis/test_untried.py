"""Hope in what was never tried: which programs hope for what, and that hopes come to an end."""

from __future__ import annotations

import pytest
from small_worlds import room

from worldcoder.programs import Program, default_runner
from worldcoder.synthesis.rules.synthesizer import RulesSynthesizer
from worldcoder.synthesis.rules.untried import Untried
from worldcoder.synthesis.rules.vocabulary import Vocabulary
from worldcoder.world import Action, Obj, Ref, State, Transition

TURNS = {"east": "south", "south": "west", "west": "north", "north": "east"}
WAYS = {"east": (1, 0), "south": (0, 1), "west": (-1, 0), "north": (0, -1)}
ACTIONS = [Action(name) for name in ("turn", "go", "take", "put", "use")]
START = room(
    Obj("Walker", x=1, y=1, way="east", hand=None),
    Obj("Rod", name="rod", x=4, y=1),
    Obj("Jar", name="jar", x=1, y=4),
    *(Obj("Gate", x=x, y=3) for x in (1, 2, 3, 4)),
    height=6,
)
"""Two rows to walk in, then a row of gates, and a jar behind it."""


def rule(state: State, action: Action) -> State:
    """A walker turns, goes, takes what is ahead and puts it down; the gates stay where they are."""
    me = state.one("Walker")
    dx, dy = WAYS[me.way]
    ahead = state.at(me.x + dx, me.y + dy)
    held = me.hand and next(o for o in state if o.name == me.hand.target)
    new = {}
    if action.name == "turn":
        new[me] = me.replace(way=TURNS[me.way])
    elif action.name == "go" and not ahead:
        new[me] = me.replace(x=me.x + dx, y=me.y + dy)
    elif action.name == "take" and not held and ahead and ahead[0].kind in ("Rod", "Jar"):
        new = {me: me.replace(hand=Ref(ahead[0].name)), ahead[0]: ahead[0].replace(x=None, y=None)}
    elif action.name == "put" and held and not ahead:
        new = {me: me.replace(hand=None), held: held.replace(x=me.x + dx, y=me.y + dy)}
    return State(new.get(o, o) for o in state)


KNOWN = """
WAYS = {"east": (1, 0), "south": (0, 1), "west": (-1, 0), "north": (0, -1)}
TURNS = {"east": "south", "south": "west", "west": "north", "north": "east"}


def transition(state, action):
    me = state.one("Walker")
    x, y = me.x + WAYS[me.way][0], me.y + WAYS[me.way][1]
    ahead = state.at(x, y)
    if action.name == "turn":
        me.way = TURNS[me.way]
    elif action.name == "go" and not ahead:
        me.x, me.y = x, y
    elif action.name == "take" and ahead and ahead[0].kind == "Rod":
        me.hand = ahead[0]
        ahead[0].x = ahead[0].y = None
    return state
"""
"""The rules as far as they are known: nothing of jars, and not how to put something down."""


def walk(*names: str) -> tuple[list[Transition], State]:
    """What happened, and the state in the end."""
    state, found = START, []
    for name in names:
        after = rule(state, Action(name))
        found.append(Transition(state, "have the jar", Action(name), after, 0.0, False))
        state = after
    return found, state


def hopeful(transitions: list[Transition], boldness: int) -> Program:
    vocabulary = Vocabulary()
    for transition in transitions:
        vocabulary.observe(transition)
    untried = Untried()
    for known in range(len(transitions) + 1):
        untried.read(vocabulary, transitions[:known])
    source = untried.hopeful(KNOWN, vocabulary, boldness)
    assert source is not None
    return Program(source, "transition")


def leads(program: Program, state: State, *names: str) -> State:
    """What a program says of actions in turn."""
    for name in names:
        found = default_runner().simulation(program, None, state, ACTIONS).predict(state, Action(name)).state
        assert found is not None
        state = found
    return state


BASICS = [*["go", "turn"] * 12, "go", "go", "go"]
"""Which way is which; at the end the walker stands before the rod."""
GATE = ["turn", "go", "go"]
"""From there to a gate."""
TAKEN = [*BASICS, "take"]


def test_what_was_never_tried_on_a_thing_is_hoped_to_lead_past_it() -> None:
    seen, state = walk(*BASICS, *GATE)
    walker = state.one("Walker")
    assert (walker.x, walker.y, walker.way) == (3, 2, "south")
    past = leads(hopeful(seen, 1), state, "use").one("Walker")
    assert (past.x, past.y) == (3, 3)


def test_what_is_known_to_do_something_else_is_hoped_in_later() -> None:
    """Who took the rod knows what taking is for, and that it lets somebody past a gate is less likely."""
    seen, state = walk(*TAKEN, "put", *GATE)
    assert leads(hopeful(seen, 1), state, "put") == state
    assert leads(hopeful(seen, 2), state, "put").one("Walker").y == 3


def test_what_was_tried_on_everything_in_vain_is_hoped_in_last() -> None:
    others = [Obj(f"Thing{n}", x=3, y=3) for n in range(14)]
    seen, state = walk(*BASICS, *GATE)
    gate = state.at(3, 3)[0]
    for other in others:
        near = State(other if o is gate else o for o in state)
        seen.append(Transition(near, "have the jar", Action("use"), near, 0.0, False))
    assert leads(hopeful(seen, 2), state, "use") == state
    assert leads(hopeful(seen, 3), state, "use").one("Walker").y == 3
    assert leads(hopeful(seen[:-10], 1), state, "use").one("Walker").y == 3


def test_a_hope_that_failed_is_given_up_for_all_like_it_until_something_else_is_held() -> None:
    seen, state = walk(*TAKEN, "put", *GATE, "use")
    program = hopeful(seen, 2)
    assert leads(program, state, "use") == state
    other = leads(program, state, "turn", "go", "turn", "turn", "turn")
    assert other.one("Walker").x == 2
    assert leads(program, other, "use") == other
    me, rod = state.one("Walker"), state.one("Rod")
    changes = {me: me.replace(hand=Ref("rod")), rod: rod.replace(x=None, y=None)}
    holding = State(changes.get(o, o) for o in state)
    assert leads(program, holding, "use").one("Walker").y == 3


def test_what_was_done_to_one_thing_is_hoped_to_be_done_to_others() -> None:
    seen, state = walk(*TAKEN, "put")
    jar, rod = state.one("Jar"), state.one("Rod")
    near = State(jar.replace(x=4, y=1) if o is jar else o for o in state if o is not rod)
    after = leads(hopeful(seen, 1), near, "take")
    assert after.one("Walker").hand is not None
    assert after.one("Jar").x is None
    before, _ = walk(*BASICS)
    assert leads(hopeful(before, 1), near, "take").one("Walker").hand is None


def test_what_was_taken_is_hoped_to_be_put_down_by_what_was_never_tried_while_it_was_held() -> None:
    seen, state = walk(*TAKEN)
    ahead = leads(hopeful(seen, 1), state, "use")
    assert ahead.one("Walker").hand is None
    assert (ahead.one("Rod").x, ahead.one("Rod").y) == (4, 1)
    seen, state = walk(*TAKEN, "use")
    assert leads(hopeful(seen, 1), state, "use") == state


def test_the_rim_of_the_world_and_what_there_is_a_lot_of_are_hoped_for_least() -> None:
    seen, state = walk(*BASICS, "turn", "turn", "turn")
    assert state.one("Walker").way == "north"
    assert leads(hopeful(seen, 3), state, "use") == state
    inner = State([*state, Obj("Wall", x=3, y=2)])
    assert leads(hopeful(seen, 2), inner, "turn", "turn", "use").one("Walker").y == 1
    assert leads(hopeful(seen, 3), inner, "turn", "turn", "use").one("Walker").y == 2


def test_where_the_way_is_a_guess_the_other_way_is_hoped_for_too() -> None:
    """The walker went to and fro, so that east and west are known to be the other axis, and no more."""
    seen, state = walk("turn", "go", "turn", "turn", "go", "turn")
    between = State([*state, Obj("Gate", x=2, y=1)])
    program = hopeful(seen, 2)
    assert between.one("Walker").way == "east"
    assert leads(program, between, "use").one("Walker").x == 2
    assert leads(program, between, "turn", "turn", "use").one("Walker").x == 2


@pytest.mark.parametrize("boldness", [1, 2, 3])
def test_what_is_known_stays_as_it_is(boldness: int) -> None:
    seen, _ = walk(*TAKEN, "use", "turn", "go", "go", "use", "turn", "go", "use")
    program = hopeful(seen, boldness)
    for transition in seen:
        assert leads(program, transition.state, transition.action.name) == transition.next_state


def test_the_synthesizer_has_no_such_hopes_where_it_is_not_known_what_is_ahead() -> None:
    rules = RulesSynthesizer()
    rules.begin(START, "have the jar", ACTIONS)
    for transition in walk("use", "use")[0]:
        rules.observe(transition)
    rules.fit()
    assert rules.optimistic_program(1) is None


def test_a_cautious_program_expects_nothing_of_what_only_failed() -> None:
    seen, state = walk(*BASICS)
    jar, rod = state.one("Jar"), state.one("Rod")
    near = State(jar.replace(x=4, y=1) if o is jar else o for o in state if o is not rod)
    failed = Transition(near, "have the jar", Action("take"), near, 0.0, False)
    vocabulary, untried = Vocabulary(), Untried()
    for transition in [*seen, failed]:
        vocabulary.observe(transition)
    untried.read(vocabulary, [*seen, failed])
    elsewhere = State(o.replace(x=3, y=2) if o.kind == "Jar" else o for o in leads_to(near, "turn"))
    bold = KNOWN.replace('ahead[0].kind == "Rod"', 'ahead[0].kind in ("Rod", "Jar")')
    source = untried.cautious(bold, vocabulary, [(elsewhere, Action("take"))])
    assert source is not None
    program = Program(source, "transition")
    assert leads(Program(bold, "transition"), elsewhere, "take") != elsewhere
    assert leads(program, elsewhere, "take") == elsewhere
    assert leads(program, state, "take") == leads(Program(bold, "transition"), state, "take") != state
    assert untried.cautious(bold, vocabulary, [(state, Action("take"))]) is None, "that was never tried"


def leads_to(state: State, *names: str) -> State:
    for name in names:
        state = rule(state, Action(name))
    return state


def test_what_puts_down_one_thing_is_hoped_to_put_down_another() -> None:
    seen, state = walk(*TAKEN, "put", "take")
    me, rod, jar = state.one("Walker"), state.one("Rod"), state.one("Jar")
    changes = {me: me.replace(hand=Ref("jar")), jar: jar.replace(x=None, y=None), rod: rod.replace(x=1, y=4)}
    holding = State(changes.get(o, o) for o in state)
    unknown = Program(KNOWN, "transition")
    assert leads(unknown, holding, "put") == holding
    put = leads(hopeful(seen, 1), holding, "put")
    assert put.one("Walker").hand is None and put.one("Jar").x == 4

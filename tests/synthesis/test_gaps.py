"""What a program says of what was never tried and never seen."""

from __future__ import annotations

import random

from worldcoder.envs import make
from worldcoder.synthesis.rules.dynamics import Dynamics
from worldcoder.synthesis.rules.emit import emit_transition
from worldcoder.synthesis.rules.gaps import gaps
from worldcoder.world import Action, Obj, State, Transition

ACTIONS = [*(Action(name) for name in ("north", "south", "west", "east")), Action("ring"), Action("rub")]
WAYS = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}
BELLS, LAMPS = {(1, 1), (3, 3)}, {(1, 3)}


def hall(x: int, y: int, *, rung: bool) -> State:
    """A hall of five by five with two bells and a lamp, and whether the bells were rung."""
    things = [Obj("Bell", x=bx, y=by, rung=rung) for bx, by in sorted(BELLS)]
    return State([Obj("Guest", x=x, y=y), *things, *(Obj("Lamp", x=lx, y=ly) for lx, ly in LAMPS)])


def stay(steps: int, *, avoiding: tuple[str, ...]) -> list[Transition]:
    """A walk in which some actions are never tried at the lamp; ringing turns the bells where one is."""
    rng, (x, y), rung, seen = random.Random(3), (2, 2), False, []
    while len(seen) < steps:
        action = rng.choice(ACTIONS)
        if action.name in avoiding and (x, y) in LAMPS:
            continue
        before = hall(x, y, rung=rung)
        dx, dy = WAYS.get(action.name, (0, 0))
        x, y = min(max(x + dx, 0), 4), min(max(y + dy, 0), 4)
        rung ^= action.name == "ring" and (x, y) in BELLS
        seen.append(Transition(before, "ring", action, hall(x, y, rung=rung), 0.0, False))
    return seen


def learned(seen: list[Transition], actions: list[Action]) -> Dynamics:
    dynamics = Dynamics()
    dynamics.begin(seen[0].state, actions)
    for transition in seen:
        dynamics.observe(transition)
    dynamics.fit()
    return dynamics


def test_what_was_never_tried_is_said_and_no_more_once_it_was() -> None:
    some = learned(stay(400, avoiding=("ring", "rub")), ACTIONS)
    assert gaps(some) == ["Never tried: ring or rub on Lamp"]
    assert "    # Never tried: ring or rub on Lamp.\n" in emit_transition(some)
    assert gaps(learned(stay(400, avoiding=("rub",)), ACTIONS)) == ["Never tried: rub on Lamp"]
    assert gaps(learned(stay(400, avoiding=()), ACTIONS)) == []


def test_an_action_that_was_never_chosen_is_named() -> None:
    dynamics = learned(stay(300, avoiding=()), [*ACTIONS, Action("sing")])
    assert gaps(dynamics) == ["Never tried: sing"]


def walked(name: str, steps: int) -> Dynamics:
    """What is learned from a random walk."""
    world, rng, seen = make(name), random.Random(0), list[Transition]()
    state, goal = world.reset(0)
    while len(seen) < steps:
        action = rng.choice(list(world.actions(state)))
        step = world.step(action)
        seen.append(Transition(state, goal, action, step.state, step.reward, step.done))
        state = step.state
    return learned(seen, list(world.actions(state)))


def test_what_was_never_met_on_the_way_is_said() -> None:
    (line,) = (line for line in gaps(walked("minigrid:UnlockPickup", 30)) if line.startswith("Never seen"))
    assert "Box" in line and line.endswith("in the way of Agent")


def test_lines_are_short_and_say_how_much_is_left_out() -> None:
    lines = gaps(walked("lab:kitchen", 25))
    assert lines and all(len(line) <= 150 for line in lines)
    assert any(line.endswith(" more") for line in lines)


def test_names_of_several_lines_do_not_break_the_program() -> None:
    """Kinds, attributes and values are whatever a world calls them; a comment ends where its line does."""
    names = {"Bell": "Be\nll = 1", "Lamp": "La\rmp", "Guest": "Guest", "rung": "ru\nng"}

    def renamed(state: State) -> State:
        values = ({names.get(a, a): v for a, v in o.attributes.items()} for o in state)
        return State(Obj(names[o.kind], **its) for o, its in zip(state, values, strict=True))

    seen = [
        Transition(renamed(t.state), t.goal, t.action, renamed(t.next_state), t.reward, t.done)
        for t in stay(200, avoiding=("rub",))
    ]
    source = emit_transition(learned(seen, ACTIONS))
    compile(source, "program", "exec")
    assert "# Never tried: rub on La mp.\n" in source and "# Be ll = 1: its next ru ng\n" in source

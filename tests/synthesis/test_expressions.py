"""What a program says is what the rules mean: every literal, as Python, holds exactly where it is true."""

from __future__ import annotations

import random

import pytest
from small_worlds import GATHERING_ROOM, GATHERING_STEPS, PUSHING_ROOM, STEPS, gathering, pushing, walk

from worldcoder.envs import make
from worldcoder.programs.inside.loading import load_namespace
from worldcoder.synthesis.rules.dynamics import Dynamics
from worldcoder.synthesis.rules.emit import Block, assemble
from worldcoder.synthesis.rules.expressions import Writer, variable
from worldcoder.synthesis.rules.language import Context, Literal
from worldcoder.synthesis.rules.literals import literals
from worldcoder.synthesis.rules.scene import scene_of
from worldcoder.world import Transition
from worldcoder.world.live import LiveState

NOT_ALONE = {"moves", "stays", "becomes"}  # these speak of what the program computed before


def recorded(name: str) -> list[Transition]:
    """A random walk in one of the worlds."""
    if name == "pushing":
        return walk(PUSHING_ROOM, pushing, STEPS, 80, seed=1)
    if name == "gathering":
        return walk(GATHERING_ROOM, gathering, GATHERING_STEPS, 120, seed=1)
    world, rng = make(name), random.Random(2)
    found: list[Transition] = []
    state = world.reset(0).state
    for seed in range(120):
        action = rng.choice(list(world.actions(state)))
        step = world.step(action)
        found.append(Transition(state, "wander", action, step.state, step.reward, step.done))
        state = world.reset(seed).state if step.done or step.truncated else step.state
    return found


def holds(dynamics: Dynamics, literal: Literal, kind: str, *, avatar: bool) -> list[object]:
    """The emitted test of a literal for objects of a kind: a function of a live state and an action."""
    writer = Writer(dynamics.vocabulary)
    writer.this = writer.me if avatar else f"each_{variable(kind)}"
    test = f"SEEN.append(bool({writer.literal(literal, kind)}))"
    body = [test] if avatar else [f"for {writer.this} in state.all({kind!r}):", f"    {test}"]
    source = "SEEN = []\n" + assemble(dynamics, [Block(writer, body)], dynamics.vocabulary.together)
    namespace = load_namespace(source, "transition")
    return [namespace["transition"], namespace["SEEN"]]


@pytest.mark.parametrize(
    "name",
    [
        "pushing",
        "gathering",
        "minigrid:DoorKey-6x6",
        "examples/own_world.py:make_env",
        *(f"lab:{n}" for n in ("rows", "patrol", "shop", "kitchen", "railway", "twins", "belts", "teleport")),
        *(
            f"tests/worlds/{n}.py:make_env"
            for n in (
                *("hanoi", "circuit", "magnet", "bombs", "farm", "herd", "belt", "troop", "lagoon"),
                *("train", "vault"),
            )
        ),
    ],
)
def test_literals_and_their_python_agree(name: str) -> None:
    seen = recorded(name)
    dynamics = Dynamics()
    for transition in seen:
        dynamics.observe(transition)
    dynamics.fit()
    vocabulary, rng = dynamics.vocabulary, random.Random(3)
    true: dict[tuple[int, str], list[set[Literal]]] = {}
    forms: dict[tuple[str, str], set[Literal]] = {}
    cases = rng.sample(seen, 25)
    kinds = {kind for pool, _, _ in dynamics.targets for kind in pool}
    for n, case in enumerate(cases):
        scene = scene_of(case.state)
        me = dynamics.avatar_of(scene)
        direction = vocabulary.looks_to(me, case.action)
        for kind in kinds:
            for thing in scene.kinds.get(kind, ()):
                own = vocabulary.own_direction(scene, thing, case.action)
                context = Context(scene, case.action, thing, me, direction, vocabulary, own=own)
                found = {lit for lit in literals(context) if lit[0] not in NOT_ALONE}
                true.setdefault((n, kind), []).append(found)
                for literal in found:
                    forms.setdefault((kind, literal[0]), set()).add(literal)
    assert len({form for _, form in forms}) >= 12
    checked = 0
    for (kind, _), some in sorted(forms.items()):
        for literal in rng.sample(sorted(some, key=repr), min(6, len(some))):
            function, answers = holds(dynamics, literal, kind, avatar=kind == vocabulary.avatar)
            for n, case in enumerate(cases):
                answers.clear()  # type: ignore[attr-defined]
                function(LiveState(case.state), case.action)  # type: ignore[operator]
                expected = [literal in one for one in true.get((n, kind), [])]
                assert answers == expected, (kind, literal, case.action, str(case.state))
                checked += len(expected)
    assert checked > 1000

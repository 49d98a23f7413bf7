"""A model against its world: what is exact is found exact, and what is wrong is found, however rare."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from programs_for_sokoban import GOAL, NO_PENALTY, THROUGH_BOXES, TRANSITION, sokoban_model

from worldcoder.comparison import Comparison, compare
from worldcoder.comparison.words import without_places
from worldcoder.envs import Environment, Start, Step, make
from worldcoder.errors import ProgramError, UsageError, WorldError
from worldcoder.programs import Program, WorldModel
from worldcoder.world import Action, Obj, Ref, State


def sokoban() -> Environment:
    return make("sokoban")


def compared(model: WorldModel, factory: Callable[[], Environment] = sokoban, **options: Any) -> Comparison:
    return compare(model, factory, range(4), **{"tests": 400, **options})


def test_an_exact_model_is_exact_in_every_context() -> None:
    result = compared(sokoban_model())
    assert result.tested == 400
    assert result.exact == 1.0
    assert result.contexts == result.contexts_exact > 50
    assert result.mistakes == result.wrong_contexts == ()
    assert result.without_reward == ()


def test_a_box_pushed_through_a_box_is_found_and_nothing_else() -> None:
    result = compared(sokoban_model(THROUGH_BOXES), shown=1000)
    assert 0.9 < result.exact < 1
    assert result.contexts_exact == result.contexts - len(result.wrong_contexts)
    acting = [c for c in result.wrong_contexts if ": Player" in c.context]
    assert acting
    assert all("ahead Box" in c.context and "then Box" in c.context for c in acting)
    assert all(c.wrong == c.tested for c in acting)
    assert {m.what for m in result.mistakes} == {"state"}
    assert len(result.mistakes) == result.wrong == round((1 - result.exact) * result.tested)
    first = result.mistakes[0]
    assert first.difference.startswith("predicted Box at (") and first.difference.endswith(
        "observed no change"
    )


def test_a_mistake_can_be_looked_at_in_the_world() -> None:
    for mistake in compared(sokoban_model(THROUGH_BOXES)).mistakes:
        env = sokoban()
        state = env.reset(mistake.seed).state
        for action in mistake.path:
            state = env.step(action).state
        assert state == mistake.state
        assert env.step(mistake.action).state == mistake.observed.state != mistake.predicted.state


def test_a_reward_that_is_wrong_in_rare_steps_is_found() -> None:
    result = compared(sokoban_model(reward=NO_PENALTY))
    assert result.wrong > 0
    assert {m.what for m in result.mistakes} == {"reward"}
    assert {m.difference for m in result.mistakes} == {"predicted reward -0.1, observed -1.1"}
    assert all("Target" in m.context for m in result.mistakes)


def test_an_end_that_is_missed_is_found() -> None:
    def never(source: str) -> str:
        return source.replace("10 * done, 10), done", "10 * done, 10), False")

    result = compared(sokoban_model(reward=never(sokoban_model().rewards[GOAL].source)))
    assert {m.what for m in result.mistakes} == {"done"}
    assert {m.difference for m in result.mistakes} == {
        "predicted that it goes on, observed the end of the episode"
    }


def test_rare_contexts_weigh_more_than_in_a_random_walk() -> None:
    """Of a random walk's steps in these levels, one in 240 pushes a box onto a box."""
    result = compared(sokoban_model(THROUGH_BOXES))
    assert result.wrong / result.tested > 0.01


NOTHING = "def reward(state, action, next_state):\n    return 0.0, False\n"
ELSEWHERE = WorldModel(Program(TRANSITION, "transition"), {"sit": Program(NOTHING, "reward", "sit")})


@pytest.mark.parametrize("model", [sokoban_model(reward=None), ELSEWHERE], ids=["no goal", "another goal"])
def test_without_a_reward_program_only_states_are_compared(model: WorldModel) -> None:
    result = compared(model)
    assert result.exact == 1.0
    assert result.without_reward == (GOAL,)


def test_a_program_that_fails_is_wrong_there() -> None:
    broken = TRANSITION.replace("    player =", "    if action.name == 'up':\n        1 / 0\n    player =")
    result = compared(sokoban_model(broken))
    assert {m.what for m in result.mistakes} == {"error"}
    assert {m.action.name for m in result.mistakes} == {"up"}
    assert "ZeroDivisionError" in result.mistakes[0].difference
    assert "error" in result.to_json()["mismatches"][0]["predicted"]
    assert result.first_error is not None and "ZeroDivisionError" in result.first_error
    assert [(r.action.name, r.count) for r in result.repeated] == [("up", result.wrong)]


def test_the_same_mistake_is_told_once() -> None:
    result = compared(sokoban_model(THROUGH_BOXES))
    assert sum(r.count for r in result.repeated) == result.wrong
    assert [r.count for r in result.repeated] == sorted((r.count for r in result.repeated), reverse=True)
    assert len({(r.action, r.difference) for r in result.repeated}) == len(result.repeated) <= 4
    first = result.repeated[0]
    assert first.count > 1 and first.example.action == first.action
    assert re.fullmatch(
        r"predicted Box: [xy] [+-]1; Player: [xy] [+-]1, observed no change", first.difference
    )
    assert result.to_json()["repeated"][0]["count"] == first.count


def test_a_difference_without_places() -> None:
    text = "predicted Box at (3, -1): x 3 → 2, open False → True; Key at (None, None) appears, observed no change"
    assert without_places(text) == ("predicted Box: x -1, open False → True; Key appears, observed no change")
    assert without_places("Key key: x None → 3, fox 1 → 2") == "Key key: x None → 3, fox 1 → 2"


def test_a_program_that_does_not_load_is_refused() -> None:
    with pytest.raises(ProgramError, match="not Python"):
        compared(sokoban_model("def transition(:"))


def test_the_same_question_has_the_same_answer() -> None:
    def once() -> dict[str, Any]:
        result = compared(sokoban_model(THROUGH_BOXES), tests=200, rng=random.Random(7)).to_json()
        assert result.pop("seconds") > 0
        return result

    assert once() == once()


def test_it_is_json() -> None:
    text = json.dumps(compared(sokoban_model(THROUGH_BOXES), tests=100).to_json())
    result = json.loads(text)
    assert {"tested", "exact", "contexts", "contexts_exact", "mismatches"} <= set(result)
    mismatch = result["mismatches"][0]
    assert {"state", "action", "predicted", "observed"} <= set(mismatch)
    assert State.from_json(mismatch["observed"]["state"])


def test_seconds_are_kept() -> None:
    result = compared(sokoban_model(), tests=10**6, seconds=1.0)
    assert result.seconds < 4
    assert 0 < result.tested < 10**6


@pytest.mark.parametrize(("seeds", "tests"), [([], 10), ([0], 0)])
def test_there_is_something_to_test(seeds: list[int], tests: int) -> None:
    with pytest.raises(UsageError, match="at least one"):
        compare(sokoban_model(), sokoban, seeds, tests=tests)


# ── worlds that cannot be copied, or not be trusted ──────────────────────────────────────────────────────


class Uncopied:
    """Sokoban, without copies."""

    def __init__(self) -> None:
        self.inner = sokoban()
        self.resets = 0

    def reset(self, seed: int) -> Start:
        self.resets += 1
        return self.inner.reset(seed)

    def step(self, action: Action) -> Step:
        return self.inner.step(action)

    def actions(self, state: State) -> Sequence[Action]:
        return self.inner.actions(state)

    def __deepcopy__(self, memo: object) -> Uncopied:
        raise TypeError("there is only one of me")


class Entangled(Uncopied):
    """Sokoban whose copies are not independent."""

    def __deepcopy__(self, memo: object) -> Entangled:
        return copy.copy(self)


@pytest.mark.parametrize("world", [Uncopied, Entangled])
def test_a_world_that_cannot_be_copied_is_reset_instead(world: type[Uncopied]) -> None:
    made: list[Uncopied] = []

    def factory() -> Uncopied:
        made.append(world())
        return made[-1]

    right = compare(sokoban_model(), factory, [0, 1], tests=150)
    assert (right.tested, right.exact) == (150, 1.0)
    wrong = compare(sokoban_model(THROUGH_BOXES), factory, [0, 1], tests=150)
    assert all("then Box" in m.context for m in wrong.mistakes)
    assert max(env.resets for env in made) > 150


class Moody(Uncopied):
    """Sokoban whose levels change between resets."""

    def reset(self, seed: int) -> Start:
        return super().reset(seed + self.resets)


def test_a_world_that_does_not_repeat_itself_is_refused() -> None:
    with pytest.raises(WorldError, match="led to another state than before"):
        compare(sokoban_model(), Moody, [0], tests=100)


# ── worlds of other shapes ───────────────────────────────────────────────────────────────────────────────


class Kitchen:
    """Things in containers, no places; a hot thing burns the hand unless a glove is worn."""

    def reset(self, seed: int) -> Start:
        hot = random.Random(seed).random() < 0.3
        self.over = False
        self.state = State(
            [
                Obj("Cook", name="cook", holds=None, glove=False),
                Obj("Pan", name="pan", inside=Ref("oven"), hot=hot),
                Obj("Cup", name="cup", inside=Ref("shelf"), hot=False),
                Obj("Oven", name="oven"),
                Obj("Shelf", name="shelf"),
            ]
        )
        return Start(self.state, "cook")

    def actions(self, state: State) -> Sequence[Action]:
        names = ("pan", "cup")
        return [
            Action("glove"),
            *(Action(verb, (n,)) for verb in ("take", "heat") for n in names),
            *(Action("put", (n, to)) for n in names for to in ("oven", "shelf")),
        ]

    def step(self, action: Action) -> Step:
        o = {thing.name: thing for thing in self.state}
        match action.name, action.args:
            case "glove", ():
                o["cook"] = o["cook"].replace(glove=not o["cook"].glove)
            case "take", (name,):
                if o["cook"].holds is None and (not o[name].hot or o["cook"].glove):
                    o["cook"] = o["cook"].replace(holds=Ref(name))
                    o[name] = o[name].replace(inside=None)
            case "heat", (name,):
                if o[name].inside == Ref("oven"):
                    o[name] = o[name].replace(hot=True)
            case "put", (name, to):
                if o["cook"].holds == Ref(name):
                    o["cook"] = o["cook"].replace(holds=None)
                    o[name] = o[name].replace(inside=Ref(to))
        self.state = State(o.values())
        return Step(self.state, 0.0, False, False)


KITCHEN = """
def transition(state, action):
    cook = state.one("Cook")
    things = [state.named(arg) for arg in action.args]
    if action.name == "glove":
        cook.glove = not cook.glove
    elif action.name == "take" and cook.holds is None and (not things[0].hot or cook.glove):
        cook.holds, things[0].inside = things[0], None
    elif action.name == "heat" and things[0].inside is state.one("Oven"):
        things[0].hot = True
    elif action.name == "put" and cook.holds is things[0]:
        cook.holds, things[0].inside = None, things[1]
    return state
"""


def test_a_world_without_places() -> None:
    right = WorldModel(Program(KITCHEN, "transition"), {})
    result = compare(right, Kitchen, range(3), tests=300)
    assert result.exact == 1.0 and result.contexts > 20

    bare = KITCHEN.replace(" and (not things[0].hot or cook.glove)", "")
    result = compare(WorldModel(Program(bare, "transition"), {}), Kitchen, range(3), tests=300)
    assert result.mistakes
    for mistake in result.mistakes:
        assert mistake.action.name == "take"
        assert "glove=False" in mistake.context and "hot=True" in mistake.context


def test_a_direction_that_an_attribute_gives() -> None:
    """In MiniGrid it is the agent's own attribute that says what is ahead."""
    pytest.importorskip("minigrid")
    idle = WorldModel(Program("def transition(state, action):\n    return state\n", "transition"), {})
    result = compare(idle, lambda: make("minigrid:DoorKey-5x5"), [0, 1], tests=400)
    contexts = [c.context for c in result.wrong_contexts]
    assert any(c.startswith("pickup: Agent(dir=1, carrying=None), ahead Key(color=yellow)") for c in contexts)
    assert any(
        c.startswith("toggle: Agent") and "ahead Door(color=yellow, state=locked)" in c for c in contexts
    )
    assert not any(c.startswith("forward: Agent") and "ahead Wall" in c for c in contexts)

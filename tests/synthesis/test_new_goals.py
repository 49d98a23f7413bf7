"""A saved model plays goals that it never met, read by the data it was saved with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from room_of_things import ACTIONS, MIDDLE, TINTS, Place, episode, reaching, ringing, room, step

from worldcoder.envs import Start, Step
from worldcoder.playing import Reason, play
from worldcoder.programs import Episode, Knowledge, Program, WorldModel, load_knowledge
from worldcoder.synthesis.new_goals import NewGoals
from worldcoder.world import Action, State, Transition

TRANSITION = Program(
    """
MOVES = {"west": (-1, 0), "east": (1, 0), "north": (0, -1), "south": (0, 1)}


def transition(state, action):
    walker = state.all("Walker")[0]
    dx, dy = MOVES.get(action.name, (0, 0))
    walker.x, walker.y = min(max(walker.x + dx, 0), 4), min(max(walker.y + dy, 0), 4)
    return state
""",
    "transition",
)
NOTHING = Program(
    "def reward(state, action, next_state):\n    return 0.0, False\n", "reward", "visit the jar"
)


class Room:
    """Its goal is always the same: kinds to be with, one after the other."""

    glyphs = None

    def __init__(self, goal: str, *kinds: str) -> None:
        self._goal, self._kinds = goal, kinds
        self._at: Place = MIDDLE
        self._left: list[str] = []

    def reset(self, seed: int) -> Start:
        self._at, self._left = MIDDLE, list(self._kinds)
        return Start(room(self._at), self._goal)

    def step(self, action: Action) -> Step:
        self._at, here = step(self._at, action, TINTS)
        if self._left and self._left[0] in {kind for kind, _ in here}:
            self._left.pop(0)
        return Step(room(self._at), float(not self._left), not self._left, False)

    def actions(self, state: State) -> Sequence[Action]:
        return ACTIONS


def known(*episodes: list[Transition]) -> Knowledge:
    model = WorldModel(TRANSITION, {"visit the jar": NOTHING})
    return Knowledge(model, tuple(Episode("room", e[0].goal, e[0].state, tuple(e)) for e in episodes))


VISITS = (episode("visit the jar", reaching("Jar"), 0), episode("visit the pan", reaching("Pan"), 1))


@pytest.mark.parametrize(
    ("goal", "kinds"),
    [
        ("visit the cup", ["Cup"]),
        ("visit the cup, then visit the pan", ["Cup", "Pan"]),
        ("visit the pan after you visit the cup", ["Cup", "Pan"]),
    ],
)
def test_a_new_goal_is_played_and_it_is_said_how_it_was_read(
    goal: str, kinds: list[str], tmp_path: Path
) -> None:
    knowledge = known(*VISITS)
    assert knowledge.model is not None
    knowledge.model.save(tmp_path / "model", episodes=knowledge.episodes)
    loaded = load_knowledge(tmp_path / "model")
    assert loaded.model is not None
    played = play(loaded.model, Room(goal, *kinds), [0, 1], new_goals=NewGoals(loaded))
    assert [e.solved for e in played.episodes] == [True, True]
    for one in played.episodes:
        assert one.read_as is not None and "visit the" in one.read_as
        assert one.surprises == 0
    assert json.loads(json.dumps(played.to_json()))["each"][0]["read_as"] == played.episodes[0].read_as


def test_a_goal_that_the_model_knows_is_not_read_anew() -> None:
    knowledge = known(*VISITS)
    assert knowledge.model is not None
    played = play(knowledge.model, Room("visit the jar", "Jar"), [0], new_goals=NewGoals(knowledge))
    assert played.episodes[0].read_as is None
    assert played.episodes[0].reason is Reason.UNREACHABLE


@pytest.mark.parametrize("goal", ["", "besuche den Topf", "sing", "visit the moon"])
def test_what_is_like_nothing_that_was_reached_is_not_guessed(goal: str) -> None:
    knowledge = known(*VISITS)
    assert knowledge.model is not None
    assert NewGoals(knowledge)(goal, room(MIDDLE)) is None
    played = play(knowledge.model, Room(goal or "?", "Cup"), [0], new_goals=NewGoals(knowledge))
    assert played.episodes[0].reason is Reason.NO_REWARD


def test_without_a_goal_that_was_reached_nothing_is_known_of_others() -> None:
    unrewarded = [t for t in VISITS[0] if not t.done]
    assert NewGoals(known(unrewarded))("visit the cup", room(MIDDLE)) is None
    assert NewGoals(Knowledge(known().model))("visit the cup", room(MIDDLE)) is None


def test_what_ends_in_vain_is_kept_from() -> None:
    rings = known(
        episode("ring for the jar", ringing("Jar"), 2), episode("ring for the pan", ringing("Pan"), 3)
    )
    found = NewGoals(rings)("ring for the cup", room(MIDDLE))
    assert found is not None and "ring for the" in found.meaning

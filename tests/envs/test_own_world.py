"""The example of a world of one's own is what its text says."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldcoder import envs
from worldcoder.envs import Step
from worldcoder.errors import WorldError
from worldcoder.world.values import Action, State

SPEC = f"{Path(__file__).parents[2] / 'examples/own_world.py'}:make_env"


class Night:
    """A thief who is told where to go."""

    def __init__(self, seed: int = 0) -> None:
        self.env = envs.make(SPEC)
        self.state: State = self.env.reset(seed).state
        self.last: Step | None = None

    def do(self, name: str, argument: str) -> Step:
        self.last = self.env.step(Action(name, (argument,)))
        self.state = self.last.state
        return self.last

    def walk(self, x: int, y: int) -> None:
        """Along the column first, so as to pass no door that is in another row."""
        thief = self.state.one("Thief")
        for _ in range(abs(y - thief.y)):
            self.do("go", "south" if y > thief.y else "north")
        for _ in range(abs(x - thief.x)):
            self.do("go", "east" if x > thief.x else "west")

    def take_lamp(self) -> None:
        lamp = self.state.one("Lamp")
        self.walk(lamp.x, lamp.y)
        self.do("take", "lamp")

    def open_door(self) -> None:
        door = self.state.one("Door")
        self.walk(6, door.y)
        self.do("pick", "door")

    def fetch_jewel(self) -> None:
        door, jewel = self.state.one("Door"), self.state.one("Jewel")
        self.walk(8, door.y)
        self.walk(8, jewel.y)
        self.do("take", "jewel")
        self.walk(8, door.y)
        self.walk(2, door.y)


@pytest.mark.parametrize("seed", range(6))
def test_the_jewel_comes_home_by_a_light_that_is_put_out(seed: int) -> None:
    night = Night(seed)
    night.take_lamp()
    night.do("switch", "lamp")
    night.open_door()
    assert night.state.one("Door").open
    night.fetch_jewel()
    night.do("switch", "lamp")
    assert night.last is not None and not night.last.done
    night.walk(2, 1)
    step = night.do("go", "west")
    assert (step.reward, step.done) == (1.0, True)
    with pytest.raises(WorldError, match="the night has not begun, or is over"):
        night.do("go", "west")


def test_no_lock_is_picked_in_the_dark() -> None:
    night = Night()
    night.take_lamp()
    night.open_door()
    assert not night.state.one("Door").open
    night.do("go", "east")
    assert night.state.one("Thief").x == 6


def test_a_burning_lamp_at_the_window_is_seen() -> None:
    night = Night()
    night.take_lamp()
    night.do("switch", "lamp")
    night.walk(2, 1)
    step = night.do("go", "west")
    assert (step.reward, step.done) == (0.0, True)


def test_only_what_lies_here_can_be_taken() -> None:
    night = Night()
    with pytest.raises(WorldError, match=r"take\(lamp\) cannot be done here"):
        night.do("take", "lamp")

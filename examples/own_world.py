"""A world of your own, in three methods: a thief at night.

    worldcoder learn examples/own_world.py:make_env

The thief has come through the window for a jewel behind a locked door. The lock can be picked only by the
light of a lamp, which lies somewhere in the room; and whoever stands at the window with the lamp burning is
seen from the street, and the night is over.

`reset` and `step` return states, which are sets of objects; `actions` says what can be tried in a state, here
with arguments. `worldcoder.testing.check_environment(make_env)` checks a world like this one.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from worldcoder.envs import Start, Step
from worldcoder.errors import WorldError
from worldcoder.world.values import Action, Obj, State

WAYS = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}


class Burglary:
    """A room with a window in the west, a locked door in its east wall, and a closet behind that."""

    glyphs: Mapping[str, str] = {
        "Thief": "@", "Wall": "#", "Window": "W", "Lamp": "l", "Door": "+", "Jewel": "*"
    }  # fmt: skip

    _state: State | None = None

    def reset(self, seed: int) -> Start:
        """Every seed puts the lamp, the door and the jewel elsewhere."""
        rng = random.Random(seed)
        door = (7, rng.randrange(1, 4))
        rim = [(x, y) for x in range(10) for y in range(5) if x in (0, 7, 9) or y in (0, 4)]
        walls = [Obj("Wall", x=x, y=y) for x, y in rim if (x, y) != door]
        self._state = State(
            [
                *walls,
                Obj("Window", x=1, y=1),
                Obj("Thief", name="thief", x=1, y=1),
                Obj("Lamp", name="lamp", x=rng.randrange(2, 7), y=rng.randrange(1, 4), held=False, lit=False),
                Obj("Door", name="door", x=door[0], y=door[1], open=False),
                Obj("Jewel", name="jewel", x=8, y=rng.randrange(1, 4), held=False),
            ]
        )
        return Start(self._state, "bring the jewel to the window")

    def actions(self, state: State) -> Sequence[Action]:
        """Walk, take a thing that lies here, switch the lamp, pick the lock."""
        thief = state.one("Thief")
        here = [o for o in state.at(thief.x, thief.y) if o.name in ("lamp", "jewel")]
        return [
            *(Action("go", (way,)) for way in WAYS),
            *(Action("take", (thing.name,)) for thing in here),
            Action("switch", ("lamp",)),
            Action("pick", ("door",)),
        ]

    def step(self, action: Action) -> Step:
        """Apply the rules; the episode ends with the jewel at the window, or with a light there."""
        if self._state is None:
            raise WorldError("the night has not begun, or is over; call reset(seed)")
        if action not in self.actions(self._state):
            raise WorldError(f"{action} cannot be done here; choose one of actions(state)")
        state = _after(self._state, action)
        thief, lamp, jewel = state.one("Thief"), state.one("Lamp"), state.one("Jewel")
        at_window = bool(state.at(thief.x, thief.y, kind="Window"))
        seen = at_window and lamp.lit
        home = at_window and jewel.held and not seen
        self._state = None if seen or home else state
        return Step(state, 1.0 if home else 0.0, done=seen or home, truncated=False)


def _after(state: State, action: Action) -> State:
    """The state that an action leads to: the same objects, some of them replaced."""
    thief, lamp, door = state.one("Thief"), state.one("Lamp"), state.one("Door")
    new: dict[Obj, Obj] = {}
    match action.name, action.args:
        case "go", (str(way),):
            x, y = thief.x + WAYS[way][0], thief.y + WAYS[way][1]
            shut = (door.x, door.y) == (x, y) and not door.open
            if not shut and not state.at(x, y, kind="Wall"):
                new[thief] = thief.replace(x=x, y=y)
        case "take", (str(name),):
            thing = state.named(name)
            if thing is not None:
                new[thing] = thing.replace(x=None, y=None, held=True)
        case "switch", _:
            if lamp.held:
                new[lamp] = lamp.replace(lit=not lamp.lit)
        case "pick", _:
            if abs(thief.x - door.x) + abs(thief.y - door.y) == 1 and lamp.lit:
                new[door] = door.replace(open=True)
    return State(new.get(o, o) for o in state)


def make_env() -> Burglary:
    """A thief at night: find a light, pick the lock, bring the jewel home unseen."""
    return Burglary()

"""MiniGrid and BabyAI: the worlds of the `minigrid` package, seen whole.

The state is read from the grid, not from the agent's view. The package's reward for success falls with the
number of steps taken, which is no part of the state; here it is 1.0 unless `original_reward` is asked for.

The six Dynamic-Obstacles worlds move their obstacles at random: the same seed and actions give the same
episode, but a state and an action do not decide what comes next, and no program can predict them. Some BabyAI
missions remember what the state does not hold: which part of "do this after you do that" is done, or which
of two like objects was "on your left" at the start.
"""

from __future__ import annotations

import contextlib
import copy
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from worldcoder.envs.contract import Start, Step
from worldcoder.envs.episode import Episode
from worldcoder.envs.factories import one_line, suggestion
from worldcoder.envs.optional import require
from worldcoder.errors import UnknownEnvironment, WorldError
from worldcoder.world.values import Action, Obj, State

_PREFIXES = ("MiniGrid-", "BabyAI-")
_COLOURLESS = {"Wall", "Goal", "Lava"}  # their colour never varies


class MiniGrid:
    """One MiniGrid world as sets of objects; the goal is its mission.

    Objects are of the package's kinds, with `x` and `y`, y growing downwards, and nothing has a name. Agent:
    `dir` (0 right, 1 down, 2 left, 3 up) and `carrying`, a reference or None. Door: `color` and `state`
    ("open", "closed", "locked"). Box: `color` and `contains`, a reference or None. Key, Ball and Floor:
    `color`. What is carried or inside a box has x and y None.

    env: a MiniGridEnv, with or without wrappers, which are left out.
    """

    glyphs: ClassVar = {
        "Agent": "@",
        "Wall": "#",
        "Goal": "G",
        "Lava": "~",
        "Door": "D",
        "Key": "k",
        "Ball": "o",
        "Box": "b",
        "Floor": ",",
    }

    def __init__(self, env: Any, *, max_steps: int | None = None, original_reward: bool = False) -> None:
        self._env = env.unwrapped
        self._env.gen_obs = _no_observation  # the agent's view takes most of a step's time and is not used
        self._max_steps = max_steps
        self._original_reward = original_reward
        # A world may have fewer actions than the package: the first so many of them.
        members = list(self._env.actions)[: int(self._env.action_space.n)]
        self._moves = tuple(int(m) for m in members)
        self._episode = Episode("minigrid", [Action(m.name) for m in members])
        self._forget()

    def reset(self, seed: int) -> Start:
        """Begin an episode; the seed decides the grid and, in many worlds, the mission."""
        if seed < 0:
            raise WorldError(f"minigrid: expected a seed of 0 or more, got {seed}")
        with contextlib.redirect_stdout(io.StringIO()):  # BabyAI reports every level it rejects
            self._env.reset(seed=seed)
        if self._max_steps is not None:
            self._env.max_steps = self._max_steps  # BabyAI computes its own at every reset
        self._forget()
        self._episode.begin()
        # Playground has no mission, and rewards nothing.
        return Start(self._read(), str(self._env.mission) or "explore")

    def step(self, action: Action) -> Step:
        """Act."""
        move = self._moves[self._episode.index(action)]
        _, given, terminated, truncated, _ = self._env.step(move)
        reward = float(given)
        if reward > 0 and not self._original_reward:
            reward = 1.0
        if terminated or truncated:
            self._episode.end()
        return Step(self._read(), reward, bool(terminated), bool(truncated and not terminated))

    def actions(self, state: State) -> Sequence[Action]:
        """Every action, in every state."""
        return self._episode.actions

    # ── reading the state ────────────────────────────────────────────────────────────────────────────────
    # Between two steps hardly anything changes, so the objects of a cell are kept until the cell does.

    def _forget(self) -> None:
        self._seen: list[Any] = []  # what stood in each cell when it was read
        self._doors: dict[int, str] = {}  # by cell, the state in which the door there was read
        self._objects: dict[int, tuple[Obj, ...]] = {}  # by cell; -1 is the hand
        self._held: Any = None
        self._agent: tuple[int, int, int] | None = None
        self._state: State | None = None

    def _read(self) -> State:
        env = self._env
        changed = self._read_cells(env.grid.grid, env.grid.width)
        if env.carrying is not self._held:
            changed = True
            self._held = env.carrying
            self._keep(-1, tuple(_objects(self._held, None, None)))
        agent = (int(env.agent_pos[0]), int(env.agent_pos[1]), int(env.agent_dir))
        if self._state is None or changed or agent != self._agent:
            self._agent = agent
            hand = self._objects.get(-1)
            player = Obj("Agent", x=agent[0], y=agent[1], dir=agent[2], carrying=hand[0] if hand else None)
            self._state = State([player, *(o for objects in self._objects.values() for o in objects)])
        return self._state

    def _read_cells(self, cells: Sequence[Any], width: int) -> bool:
        seen = self._seen
        if not seen:
            seen.extend([None] * len(cells))
        stale = [i for i, cell in enumerate(cells) if cell is not seen[i]]
        stale += [i for i, state in self._doors.items() if cells[i] is seen[i] and _door(seen[i]) != state]
        for i in stale:
            cell = seen[i] = cells[i]
            self._keep(i, tuple(_objects(cell, i % width, i // width)))
            self._doors.pop(i, None)
            if cell is not None and cell.type == "door":
                self._doors[i] = _door(cell)
        return bool(stale)

    def _keep(self, place: int, objects: tuple[Obj, ...]) -> None:
        if objects:
            self._objects[place] = objects
        else:
            self._objects.pop(place, None)

    def __deepcopy__(self, memo: dict[int, Any]) -> MiniGrid:
        """An independent world in the same situation, hidden state of BabyAI's instructions included."""
        env = self._env
        shared = (env.spec, env.action_space, env.observation_space, self._episode.actions, self._state)
        memo.update({id(thing): thing for thing in shared})  # nothing in these changes
        new = object.__new__(MiniGrid)
        memo[id(self)] = new
        kept = {"_objects": dict(self._objects)}  # its values are immutable
        rest = {name: value for name, value in vars(self).items() if name not in kept}
        new.__dict__.update(copy.deepcopy(rest, memo), **kept)
        return new


def _no_observation() -> Mapping[str, Any]:
    return {}


def _door(door: Any) -> str:
    return "open" if door.is_open else "locked" if door.is_locked else "closed"


def _objects(thing: Any, x: int | None, y: int | None) -> Iterator[Obj]:
    """The objects that a thing of the package is: itself, and what is inside it."""
    if thing is None:
        return
    kind = type(thing).__name__
    attributes: dict[str, Any] = {"x": x, "y": y}
    inside = tuple(_objects(thing.contains, None, None))
    if kind not in _COLOURLESS:
        attributes["color"] = str(thing.color)
    if thing.type == "door":
        attributes["state"] = _door(thing)
    if thing.type == "box":
        attributes["contains"] = inside[0] if inside else None
    yield Obj(kind, **attributes)
    yield from inside


# ── from a spec ──────────────────────────────────────────────────────────────────────────────────────────


def make_env(
    world: str | None = None, /, *, max_steps: int | None = None, original_reward: bool = False
) -> MiniGrid:
    """MiniGrid and BabyAI worlds, seen whole; the goal is the mission.

    world: `DoorKey-8x8`, or a full Gymnasium id such as `BabyAI-GoToObj-v0`. max_steps: actions after which
    an episode is truncated, if not the world's own. original_reward: for success, 1 - 0.9 * steps / max_steps
    in place of 1.0; it depends on the steps taken, and so on more than the state.

    Raises UnknownEnvironment for a world that does not exist, WorldError for one that cannot be built.
    """
    if not world:
        raise UnknownEnvironment("minigrid: expected a world after the colon, such as minigrid:DoorKey-8x8")
    if max_steps is not None and max_steps < 1:
        raise WorldError(f"minigrid: max_steps={max_steps}: expected at least 1")
    gymnasium = require("gymnasium", extra="minigrid")
    base = require("minigrid.minigrid_env", extra="minigrid").MiniGridEnv
    full = _full_id(world, gymnasium.registry)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            env = gymnasium.make(full, disable_env_checker=True)
    except Exception as error:
        raise WorldError(f"minigrid:{world}: cannot be built: {one_line(error)}") from error
    if not isinstance(env.unwrapped, base):
        raise WorldError(
            f"minigrid:{world}: {full} is no MiniGrid world; use worldcoder.envs.gymnasium for it"
        )
    return MiniGrid(env, max_steps=max_steps, original_reward=original_reward)


def _full_id(world: str, registry: Mapping[str, Any]) -> str:
    """The Gymnasium id that is meant; the newest version where none is given."""
    if world in registry:
        return world
    by_form: dict[str, str] = {}
    ids = [i for i, spec in registry.items() if str(spec.entry_point).startswith("minigrid.")]
    for full in sorted(ids, key=lambda i: (i.startswith("MiniGrid-"), i)):  # later ones win
        versionless = full.rpartition("-v")[0]
        short = versionless
        for prefix in _PREFIXES:
            short = short.removeprefix(prefix)
        version = full.removeprefix(versionless)
        by_form.update({short: full, versionless: full, short + version: full})
    if world in by_form:
        return by_form[world]
    guess = suggestion(world, by_form)
    raise UnknownEnvironment(
        f"minigrid: there is no world {world!r}{guess}; the names are those of the minigrid package,"
        " such as DoorKey-8x8 or BabyAI-GoToObj-v0"
    )

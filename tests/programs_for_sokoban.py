"""Hand-written programs for the tests: Sokoban exactly, and two programs that are wrong somewhere rare."""

from __future__ import annotations

from worldcoder.programs import Program, WorldModel

GOAL = "win the game"

TRANSITION = """
MOVES = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def transition(state, action):
    player = state.one("Player")
    dx, dy = MOVES[action.name]
    x, y = player.x + dx, player.y + dy
    if state.at(x, y, kind="Wall"):
        return state
    for box in state.at(x, y, kind="Box"):
        if state.at(x + dx, y + dy, kind="Wall") or state.at(x + dx, y + dy, kind="Box"):
            return state
        box.x, box.y = x + dx, y + dy
    player.x, player.y = x, y
    return state
"""

REWARD = """
def on_target(state):
    return [bool(state.at(box.x, box.y, kind="Target")) for box in state.all("Box")]


def reward(state, action, next_state):
    before, after = sum(on_target(state)), sum(on_target(next_state))
    done = all(next_state.at(box.x, box.y, kind="Target") for box in next_state.all("Box"))
    return round(-0.1 + (after > before) - (after < before) + 10 * done, 10), done
"""

THROUGH_BOXES = TRANSITION.replace(' or state.at(x + dx, y + dy, kind="Box")', "")
"""Wrong where a box is pushed onto another."""

NO_PENALTY = REWARD.replace(" - (after < before)", "")
"""Wrong where a box is pushed off a target."""


def sokoban_model(transition: str = TRANSITION, reward: str | None = REWARD) -> WorldModel:
    rewards = {} if reward is None else {GOAL: Program(reward, "reward", GOAL)}
    return WorldModel(Program(transition, "transition"), rewards)

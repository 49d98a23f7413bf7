"""A side view: a Walker walks, and falls wherever nothing bears him.

left and right take him one cell on, if there is no Rock. Then, if there is neither a Rock nor a Ladder below him and
no Ladder where he is, he falls by one. climb takes him one up where there is a Ladder. Coins that he comes to are
gone. All coins end the episode.
"""

import random
from typing import ClassVar

from worldcoder import Action, Obj, Start, State, Step
from worldcoder.errors import WorldError

ACTIONS = [Action(name) for name in ("left", "right", "climb", "wait")]
WIDTH, HEIGHT = 9, 7


def start(rng):
    tall = [rng.randint(1, 4) for _ in range(WIDTH)]
    tall[0] = tall[-1] = HEIGHT
    rocks = [(x, HEIGHT - 1 - i) for x in range(WIDTH) for i in range(tall[x])]
    air = [(x, y) for x in range(1, WIDTH - 1) for y in range(1, HEIGHT) if (x, y) not in rocks]
    foot = rng.randrange(1, WIDTH - 1)
    ladder = [(foot, y) for y in range(2, HEIGHT) if (foot, y) not in rocks]
    open_air = [(x, y) for x, y in air if (x, y) not in ladder and {(x - 1, y), (x + 1, y)} & set(air)]
    walker, *coins = rng.sample(open_air, 4)
    return State(
        [
            *(Obj("Rock", x=x, y=y) for x, y in rocks),
            *(Obj("Ladder", x=x, y=y) for x, y in ladder),
            *(Obj("Coin", x=x, y=y) for x, y in coins),
            Obj("Walker", x=walker[0], y=walker[1]),
        ]
    )


def after(state, action):
    walker = state.one("Walker")
    x, y = walker.x, walker.y
    dx = {"left": -1, "right": 1}.get(action.name, 0)
    if dx and not state.at(x + dx, y, "Rock"):
        x += dx
    climbs = action.name == "climb" and state.at(x, y, "Ladder")
    if climbs:
        y -= 1
    elif not (state.at(x, y + 1, "Rock") or state.at(x, y + 1, "Ladder") or state.at(x, y, "Ladder")):
        y += 1
    coins = [coin for coin in state.all("Coin") if (coin.x, coin.y) != (x, y)]
    rest = [o for o in state if o.kind in ("Rock", "Ladder")]
    return State([*rest, *coins, walker.replace(x=x, y=y)]), float(not coins), not coins


class Cliff:
    glyphs: ClassVar = {"Rock": "#", "Ladder": "H", "Coin": "o", "Walker": "@"}
    now = None

    def reset(self, seed):
        self.now = start(random.Random(seed))
        return Start(self.now, "collect every coin")

    def actions(self, state):
        return ACTIONS

    def step(self, action):
        if self.now is None:
            raise WorldError("reset first")
        self.now, reward, done = after(self.now, action)
        now, self.now = self.now, None if done else self.now
        return Step(now, reward, done, False)


def make_env():
    return Cliff()

"""A road of numbered pieces, with a toll on each.

A Carriage is on the Piece that has its `pos`. east and west take it one piece on, unless the road ends there; stay does
not. Then it pays the `toll` of the piece where it is out of its `purse`, or, if there is an `inn`, its `nights` grow by
one instead. The last piece ends the journey.
"""

import random
from typing import ClassVar

from worldcoder import Action, Obj, Start, State, Step
from worldcoder.errors import WorldError

ACTIONS = [Action(name) for name in ("east", "west", "stay")]
WAY = {"east": 1, "west": -1, "stay": 0}
PIECES = 8


def start(rng):
    inns = rng.sample(range(PIECES), 2)
    pieces = [Obj("Piece", pos=i, toll=rng.randrange(4), inn=i in inns) for i in range(PIECES)]
    return State([*pieces, Obj("Carriage", pos=rng.randrange(3), purse=rng.randrange(20, 40), nights=0)])


def after(state, action):
    pieces, carriage = state.all("Piece"), state.one("Carriage")
    pos = min(PIECES - 1, max(0, carriage.pos + WAY[action.name]))
    (piece,) = (one for one in pieces if one.pos == pos)
    if piece.inn:
        carriage = carriage.replace(pos=pos, nights=carriage.nights + 1)
    else:
        carriage = carriage.replace(pos=pos, purse=carriage.purse - piece.toll)
    return State([*pieces, carriage]), float(pos == PIECES - 1), pos == PIECES - 1


class Toll:
    glyphs: ClassVar = {}
    now = None

    def reset(self, seed):
        self.now = start(random.Random(seed))
        return Start(self.now, "reach the end of the road")

    def actions(self, state):
        return ACTIONS

    def step(self, action):
        if self.now is None:
            raise WorldError("reset first")
        self.now, reward, done = after(self.now, action)
        now, self.now = self.now, None if done else self.now
        return Step(now, reward, done, False)


def make_env():
    return Toll()

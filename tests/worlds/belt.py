"""Things on a belt that goes round.

There is no grid, but slots, of which the belt has eight. An Arm moves along it, grabs the Item in its slot (the slot of
which is None then) and releases it in a slot without one; or, if it has the colour of the Box that is there, into the
box. Then, while the Motor runs, all items move one slot on, and get the Painter's colour if they come to it. A switch
starts and stops the motor at once. Two items in the box end the episode.
"""

import random
from typing import ClassVar

from worldcoder import Action, Obj, Ref, Start, State, Step
from worldcoder.errors import WorldError

ACTIONS = [Action(name) for name in ("left", "right", "grab", "release", "switch", "wait")]
SLOTS = 8
COLOURS = ("red", "green", "blue")


def start(rng):
    slots = rng.sample(range(SLOTS), 3)
    return State(
        [
            *(
                Obj("Item", name=f"i{i}", slot=slot, colour=rng.choice(COLOURS))
                for i, slot in enumerate(slots)
            ),
            Obj("Painter", slot=rng.randrange(SLOTS), colour=rng.choice(COLOURS)),
            Obj("Box", slot=rng.randrange(SLOTS), colour=rng.choice(COLOURS), count=0),
            Obj("Motor", running=rng.random() < 0.7),
            Obj("Arm", slot=rng.randrange(SLOTS), holding=None),
        ]
    )


def after(state, action):
    arm, motor, box, painter = (state.one(kind) for kind in ("Arm", "Motor", "Box", "Painter"))
    items, count = {item.name: item for item in state.all("Item")}, box.count
    here = [item for item in items.values() if item.slot == arm.slot]
    held = state.follow(arm.holding) if arm.holding else None
    if action.name == "switch":
        motor = motor.replace(running=not motor.running)
    elif action.name == "left":
        arm = arm.replace(slot=max(0, arm.slot - 1))
    elif action.name == "right":
        arm = arm.replace(slot=min(SLOTS - 1, arm.slot + 1))
    elif action.name == "grab" and held is None and here:
        items[here[0].name] = here[0].replace(slot=None)
        arm = arm.replace(holding=Ref(here[0].name))
    elif action.name == "release" and held is not None:
        if box.slot == arm.slot and held.colour == box.colour:
            del items[held.name]
            box, arm = box.replace(count=count + 1), arm.replace(holding=None)
        elif box.slot != arm.slot and not here:
            items[held.name], arm = held.replace(slot=arm.slot), arm.replace(holding=None)
    for name, item in items.items() if motor.running else ():
        if item.slot is not None:
            slot = (item.slot + 1) % SLOTS
            colour = painter.colour if slot == painter.slot else item.colour
            items[name] = item.replace(slot=slot, colour=colour)
    return State([*items.values(), painter, box, motor, arm]), float(box.count - count), box.count == 2


class Belt:
    glyphs: ClassVar = {}
    now = None

    def reset(self, seed):
        self.now = start(random.Random(seed))
        return Start(self.now, "fill the box")

    def actions(self, state):
        return ACTIONS

    def step(self, action):
        if self.now is None or action not in ACTIONS:
            raise WorldError("not now: call reset(seed), then act by one of actions(state)")
        self.now, reward, done = after(self.now, action)
        state = self.now
        if done:
            self.now = None
        return Step(state, reward, done, False)


def make_env():
    """Three items, a painter and a box."""
    return Belt()

"""One reward program of several: for a goal of parts, each with a reward program of its own.

Its reward says which parts a step achieves, as the bits of a number (`planning/parts.py`), so that it stays a function
of the step alone; what was achieved before is kept by whoever runs it, with `Program.order` to tell what counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent

from worldcoder.planning.parts import checked
from worldcoder.programs.program import Program
from worldcoder.world.values import Goal

_REWARD = '''
PARTS = ({parts})


def reward(state, action, next_state):
    """Which parts the step achieves: as the bits of a number, the first part 1, the second 2, the third 4."""
    achieved, ended = 0, False
    for bit, part in enumerate(PARTS):
        gained, done = part(state, action, next_state)
        if done and gained > 0:
            achieved += 2**bit
        ended = ended or done
    return float(achieved), ended and not achieved
'''


def joined(goal: Goal, parts: Sequence[Program], order: Sequence[Sequence[int]], *, origin: str) -> Program:
    """The reward program of a goal whose parts have these. order: for each part those that have to be done before.

    Raises ValueError for an order that cannot be kept.
    """
    order = checked(order)
    if len(order) != len(parts):
        raise ValueError(f"expected an order of {len(parts)} parts, got {order!r}")
    lines = [f"# {goal}".replace("\n", " "), "#", f"# A goal of {len(parts)} parts:"]
    for n, (part, before) in enumerate(zip(parts, order, strict=True)):
        after = f", after {' and '.join(f'part_{b}' for b in before)}" if before else ""
        lines.append(f"#   part_{n}: {part.goal}{after}".replace("\n", " "))
    text = "\n".join(lines) + "\n\n\n"
    for n, part in enumerate(parts):
        text += f"def part_{n}():\n{indent(part.source.strip(), '    ')}\n\n    return reward\n\n\n"
    calls = ", ".join(f"part_{n}()" for n in range(len(parts)))
    text += _REWARD.replace("{parts}", calls + ("," if len(parts) == 1 else "")).lstrip("\n")
    return Program(text, "reward", goal, origin, order=order)

"""A scripted writer: plays a language model that knows how to program and makes typical mistakes in Sokoban.

It sees a prompt's text and nothing else, and answers with a text. Of a program that it is shown it reads what is
wrong off the steps that are shown with it: it tries, in its head, each small change of the program on them, and
makes one that sets some of them right. Where no step is shown, it has no idea what to change.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace

from sokoban_letters import Letter, Place, ShownStep, read_letter

Things = dict[str, list[Place]]
UPWARDS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


@dataclass(frozen=True)
class Physics:
    """A transition program, by its mistakes."""

    swapped: bool = False
    flipped: bool = False
    walls: bool = True
    pushes: bool = True
    box_stops_at_wall: bool = True
    box_stops_at_box: bool = True
    crashes: bool = False

    def vector(self, action: str) -> Place:
        dx, dy = UPWARDS[action.split()[-1]]
        if self.flipped:
            dx, dy = -dx, -dy
        return (dy, dx) if self.swapped else (dx, dy)

    def after(self, things: Things, action: str) -> Things | None:
        """What this program makes of a state; None where it crashes."""
        (x, y), (dx, dy) = things["Player"][0], self.vector(action)
        boxes, walls = list(things.get("Box", [])), things.get("Wall", [])
        there, beyond = (x + dx, y + dy), (x + 2 * dx, y + 2 * dy)
        if self.crashes and there not in boxes and there in walls:
            return None
        if self.walls and there in walls:
            return things
        if self.pushes and there in boxes:
            if (self.box_stops_at_wall and beyond in walls) or (self.box_stops_at_box and beyond in boxes):
                return things
            boxes[boxes.index(there)] = beyond
        return {**things, "Box": boxes, "Player": [there]}

    def source(self) -> str:
        steps = {name: self.vector(name) for name in UPWARDS}
        lines = [f"STEPS = {steps}", "", "", "def transition(state, action):", '    """One step."""']
        lines += ['    player = state.one("Player")', "    dx, dy = STEPS[action.name.split()[-1]]"]
        lines += ["    x, y = player.x + dx, player.y + dy"]
        if self.crashes:
            lines += ['    [None][len(state.at(x, y, kind="Wall")) * (not state.at(x, y, kind="Box"))]']
        if self.walls:
            lines += ['    if state.at(x, y, kind="Wall"):', "        return state"]
        if self.pushes:
            lines += ['    for box in state.at(x, y, kind="Box"):']
            for kind, stops in (("Wall", self.box_stops_at_wall), ("Box", self.box_stops_at_box)):
                if stops:
                    lines += [
                        f'        if state.at(x + dx, y + dy, kind="{kind}"):',
                        "            return state",
                    ]
            lines += ["        box.x, box.y = x + dx, y + dy"]
        return "\n".join([*lines, "    player.x, player.y = x, y", "    return state"])

    @classmethod
    def of(cls, source: str) -> Physics:
        """The program as its reader understands it."""
        steps = re.search(r"^STEPS = (.*)$", source, re.MULTILINE)
        if steps is None:  # somebody else's
            return cls()
        up = ast.literal_eval(steps[1])["up"]
        return cls(
            swapped=up[0] != 0,
            flipped=up in ((0, 1), (1, 0)),
            walls='    if state.at(x, y, kind="Wall")' in source,
            pushes="for box" in source,
            box_stops_at_wall='y + dy, kind="Wall"' in source,
            box_stops_at_box='y + dy, kind="Box"' in source,
            crashes="[None]" in source,
        )

    def neighbours(self) -> Iterator[Physics]:
        for f in fields(self):
            yield replace(self, **{f.name: not getattr(self, f.name)})
        yield replace(self, flipped=not self.flipped, swapped=not self.swapped)

    def right_about(self, step: ShownStep) -> bool:
        after = self.after(step.things, step.action)
        return after is not None and _same(after, step.after)


def _same(one: Things, other: Things) -> bool:
    return all(sorted(one.get(k, [])) == sorted(other.get(k, [])) for k in {*one, *other})


DONE = {
    "player": 'any(next_state.at(p.x, p.y, kind="Target") for p in next_state.all("Player"))',
    "any": 'any(next_state.at(b.x, b.y, kind="Target") for b in next_state.all("Box"))',
    "all": 'all(next_state.at(b.x, b.y, kind="Target") for b in next_state.all("Box"))',
}


@dataclass(frozen=True)
class Payment:
    """A reward program, by its constants and by when it is done."""

    step: float = 0.0
    on: float = 0.0
    off: float = 0.0
    bonus: float = 1.0
    done: str = "player"

    def judge(self, before: Things, after: Things) -> tuple[float, bool]:
        was, now = _on_target(before), _on_target(after)
        targets, boxes = after.get("Target", []), after.get("Box", [])
        done = {
            "player": after["Player"][0] in targets,
            "any": any(b in targets for b in boxes),
            "all": all(b in targets for b in boxes),
        }[self.done]
        return round(self.step + self.on * (now > was) - self.off * (now < was) + self.bonus * done, 10), done

    def right_about(self, step: ShownStep) -> bool:
        return self.judge(step.things, step.after) == (step.reward, step.ends)

    def source(self) -> str:
        return f"""
STEP, ON, OFF, BONUS = {self.step!r}, {self.on!r}, {self.off!r}, {self.bonus!r}


def count(state):
    return sum(1 for box in state.all("Box") if state.at(box.x, box.y, kind="Target"))


def reward(state, action, next_state):
    before, after = count(state), count(next_state)
    done = {DONE[self.done]}
    gained = STEP + ON * (after > before) - OFF * (after < before) + BONUS * done
    return round(gained, 10), done
""".strip()

    @classmethod
    def of(cls, source: str) -> Payment:
        constants = re.search(r"BONUS = (.*)$", source, re.MULTILINE)
        if constants is None:  # somebody else's
            return cls()
        numbers = ast.literal_eval(constants[1])
        done = next(name for name, text in DONE.items() if text in source)
        return cls(*map(float, numbers), done)

    def neighbours(self, steps: list[ShownStep]) -> Iterator[Payment]:
        """Small changes; numbers are read off the steps that are shown."""
        for name in DONE:
            yield replace(self, done=name)
        for step in steps:
            if step.reward is None:
                continue
            missing = round(step.reward - self.judge(step.things, step.after)[0], 10)
            for name, sign in (("step", 1), ("on", 1), ("off", -1), ("bonus", 1)):
                yield replace(self, **{name: round(getattr(self, name) + sign * missing, 10)})


def _on_target(things: Things) -> int:
    return sum(box in things.get("Target", []) for box in things.get("Box", []))


# ── manners ──────────────────────────────────────────────────────────────────────────────────────────────


def _plain(code: str, rng: random.Random) -> str:
    return f"The steps suggest a change.\n\n```python\n{code}\n```\n"


def _with_demonstration(code: str, rng: random.Random) -> str:
    return (
        f"```py\n{code}\n\n\nprint('ready')\nassert STEPS\n```\nThis should do."
        if "STEPS" in code
        else _plain(code, rng)
    )


def _thinking(code: str, rng: random.Random) -> str:
    return f"<think>Perhaps ```python\ndef transition(state, action): return None\n``` no.</think>\n{_plain(code, rng)}"


def _bare(code: str, rng: random.Random) -> str:
    return code


def _cut(code: str, rng: random.Random) -> str:
    return f"```python\n{code[: rng.randrange(len(code) // 3, 2 * len(code) // 3)]}"


def _talk(code: str, rng: random.Random) -> str:
    return "I think the program has to look at what is ahead before it moves. Shall I write it?"


def _broken(code: str, rng: random.Random) -> str:
    return f"```python\n{code.replace('):', ')', 1)}\n```"


GOOD_MANNERS = (_plain, _plain, _with_demonstration, _thinking, _bare)
BAD_MANNERS = (_cut, _talk, _broken)


class SokobanWriter:
    """seed: of its mistakes. skill: how often it makes a change that the shown steps call for.

    calls: texts that it wrote.
    """

    def __init__(self, seed: int, *, skill: float = 0.75) -> None:
        self._seed = seed
        self._skill = skill
        self._times: dict[str, int] = {}
        self.calls = 0

    def __call__(self, prompt: str) -> str:
        """The answer to a prompt: the text of its last message."""
        self.calls += 1
        times = self._times[prompt] = self._times.get(prompt, 0) + 1
        rng = random.Random(f"{self._seed} {times} {prompt}")
        letter = read_letter(prompt)
        code = self._code(letter, rng)
        manners: tuple[Callable[[str, random.Random], str], ...]
        manners = GOOD_MANNERS if rng.random() < 0.85 else BAD_MANNERS
        return rng.choice(manners)(code, rng)

    def _code(self, letter: Letter, rng: random.Random) -> str:
        text = letter.text
        if "Write it again, shorter" in text:
            return letter.programs[0].replace('    """One step."""\n', "")
        if text.startswith("Write the transition"):
            return self._first_physics(rng).source()
        if text.startswith("Write the reward"):
            return self._first_payment(letter, rng).source()
        if text.startswith("This transition"):
            return self._mended(Physics.of(letter.programs[0]), letter, rng).source()
        program = letter.programs[-1] if text.startswith("The goal is") else letter.programs[0]
        present = Payment.of(program)
        if text.startswith("The goal is"):  # nothing leads to what is rewarded
            if rng.random() < 0.5:
                return rng.choice(list(Physics.of(letter.programs[0]).neighbours())).source()
            return replace(present, done=rng.choice([d for d in DONE if d != present.done])).source()
        return self._mended_payment(present, letter, rng).source()

    def _first_physics(self, rng: random.Random) -> Physics:
        """Two to four mistakes."""
        wrong = rng.sample([f.name for f in fields(Physics)], rng.randint(2, 4))
        return replace(Physics(), **{name: not getattr(Physics(), name) for name in wrong})

    def _mended(self, present: Physics, letter: Letter, rng: random.Random) -> Physics:
        if not letter.wrong:
            return present
        better = [p for p in present.neighbours() if sum(map(p.right_about, letter.wrong)) > 0]
        if not better or rng.random() > self._skill:
            return rng.choice(list(present.neighbours()))
        return rng.choice(better)

    def _first_payment(self, letter: Letter, rng: random.Random) -> Payment:
        first = Payment(done=rng.choice(list(DONE)), bonus=float(rng.choice([1, 10])))
        seen = [s.reward for s in letter.steps if s.reward is not None]
        off_by_one = rng.choice([0.0, 1.0])
        return replace(first, step=min(seen, default=0.0) + off_by_one)

    def _mended_payment(self, present: Payment, letter: Letter, rng: random.Random) -> Payment:
        if not letter.wrong:
            return present
        around = [p for p in present.neighbours(letter.wrong) if p != present]
        better = [p for p in around if sum(map(p.right_about, letter.wrong)) > 0]
        if not better or rng.random() > self._skill:
            return rng.choice(around)
        scores = [sum(map(p.right_about, letter.steps)) for p in better]
        return rng.choice([p for p, s in zip(better, scores, strict=True) if s == max(scores)])

"""Replies as language models really write them, and what is made of each."""

from __future__ import annotations

import ast

import pytest

from worldcoder.synthesis.llm.reading import Outcome, read_reply
from worldcoder.synthesis.llm.trimming import parse

CODE = """STEPS = {"east": (1, 0), "west": (-1, 0)}


def transition(state, action):
    snail = state.one("Snail")
    dx, dy = STEPS[action.name]
    snail.x, snail.y = snail.x + dx, snail.y + dy
    return state
"""
STUB = "def transition(state, action):\n    return state\n"
PROMPTED = "\n".join(
    f"{'...' if line[:1] in ('', ' ') else '>>>'} {line}".rstrip() for line in CODE.splitlines()
)
REWARD = """def reward(state, action, next_state):
    return 0.0, False
"""
TABBED = CODE.replace("    ", "\t")
MIXED = CODE.replace("    dx", "\tdx")
INDENTED = "\n".join(f"    {line}" if line else "" for line in CODE.splitlines())
DEMO = (
    CODE
    + """

state = make_state()
result = transition(state, Action("east"))
print(result)
assert result.one("Snail").x == 1
for action in ("east", "west"):
    print(transition(state, action))
if __name__ == "__main__":
    main()
"""
)

AS_WRITTEN = {
    "a block": f"```python\n{CODE}```",
    "prose around it": f"Let me think.\n\n```python\n{CODE}```\n\nThis handles both actions.",
    "no language": f"```\n{CODE}```",
    "another language's name": f"```Python3 title=model.py\n{CODE}```",
    "tildes": f"~~~python\n{CODE}~~~",
    "four backticks": f"````python\n{CODE}````",
    "windows line ends": f"```python\n{CODE}```".replace("\n", "\r\n"),
    "an indented block": "1. The program:\n\n    ```python\n" + INDENTED + "\n    ```\n",
    "a quoted block": "> ```python\n" + "\n".join(f"> {line}" for line in CODE.splitlines()) + "\n> ```\n",
    "no block at all": CODE,
    "no block, with prose": f"Here is the program:\n\n{CODE}\nIt moves the snail.",
    "a block that does not end": f"```python\n{CODE}",
    "demonstration at the end": f"```python\n{DEMO}```",
    "tabs": f"```python\n{TABBED}```",
    "tabs and spaces": f"```python\n{MIXED}```",
    "thoughts before": f"<think>\nMaybe\n```python\n{STUB}```\n?\n</think>\n```python\n{CODE}```",
    "thoughts whose begin is missing": f"Maybe it moves.\n</think>\n```python\n{CODE}```",
    "an older version first": f"```python\n{STUB}```\nBetter:\n```python\n{CODE}```",
    "a command after": f"```python\n{CODE}```\nRun it:\n```bash\npython model.py\n```",
    "an example after": f"```python\n{CODE}```\nFor example:\n```python\nprint(1)\n```",
    "a broken block after": f"```python\n{CODE}```\nand\n```python\ndef reward(state\n```",
    "constants apart": f"```python\n{CODE.splitlines()[0]}\n```\nand\n```python\n{CODE.split(chr(10), 3)[3]}```",
    "things that nobody needs": f"```python\nimport sys\nDEBUG = True\n{CODE}\n\ndef unused():\n    return 1\n```",
    "a byte order mark": f"\ufeff```python\n\ufeff{CODE}```",
    "an interpreter's prompt": f"```\n{PROMPTED}\n```",
}  # fmt: skip


@pytest.mark.parametrize("name", AS_WRITTEN)
def test_the_program_is_found_whatever_is_around_it(name: str) -> None:
    reading = read_reply(AS_WRITTEN[name], "transition")
    assert reading.outcome is Outcome.CODE, reading
    assert reading.source is not None
    assert ast.dump(ast.parse(reading.source)) == ast.dump(ast.parse(CODE))


OTHERWISE = {
    "nothing": ("", "stop", Outcome.NO_CODE, "no Python code"),
    "only prose": (
        "The snail should look first, I think.",
        "stop",
        Outcome.NO_CODE,
        "transition(state, action)",
    ),
    "a question": ("What does `east` do?", "stop", Outcome.NO_CODE, ""),
    "a refusal": ("I'm sorry, but I can't help with that.", "stop", Outcome.REFUSED, "declined"),
    "a refusal, as the server says": ("", "refusal", Outcome.REFUSED, ""),
    "a refusal with other quotes": ("I can’t write this.", "stop", Outcome.REFUSED, ""),
    "only thoughts": ("<think>It moves", "length", Outcome.CUT_OFF, "cut off"),
    "only thoughts, ended": ("<think>It moves</think>", "stop", Outcome.NO_CODE, ""),
    "cut in the function": (f"```python\n{CODE[:150]}", "length", Outcome.CUT_OFF, "shorter"),
    "cut in a line": (f"```python\n{CODE[:-20]}", "length", Outcome.CUT_OFF, ""),
    "cut after a whole line": (
        "```python\ndef transition(state, action):\n    snail = state.one('Snail')\n",
        "length",
        Outcome.CUT_OFF,
        "",
    ),
    "cut with no mark": (CODE[:120], "length", Outcome.CUT_OFF, ""),
    "cut in the demonstration": (f"```python\n{CODE}\nstate = make(\n    1,", "length", Outcome.CODE, ""),
    "no Python": (
        "```python\ndef transition(state, action)\n    return state\n```",
        "stop",
        Outcome.NOT_PYTHON,
        "line 1",
    ),
    "another language": (
        "```javascript\nfunction transition(s, a) { return s; }\n```",
        "stop",
        Outcome.NOT_PYTHON,
        "",
    ),
    "another name": (
        f"```python\n{CODE.replace('def transition', 'def step')}```",
        "stop",
        Outcome.RENAMED,
        "step",
    ),
    "a method": (
        "```python\nclass World:\n    def transition(self, state, action):\n        return state\n```",
        "stop",
        Outcome.NO_FUNCTION,
        "defines no function",
    ),
    "the wrong function": (f"```python\n{REWARD}```", "stop", Outcome.NO_FUNCTION, ""),
    "two that could be meant": (
        "```python\ndef one(a, b):\n    return a\n\n\ndef two(a, b):\n    return b\n```",
        "stop",
        Outcome.NO_FUNCTION,
        "",
    ),
    "other parameters": (
        "```python\ndef transition(state):\n    return state\n```",
        "stop",
        Outcome.WRONG_PARAMETERS,
        "transition(state, action)",
    ),
    "asynchronous": (
        "```python\nasync def transition(s, a):\n    return s\n```",
        "stop",
        Outcome.WRONG_PARAMETERS,
        "",
    ),
    "too long": ("x" * 300_000, "stop", Outcome.TOO_LONG, "300,000"),
    "too deep": (
        "```python\ntransition = " + "(" * 3000 + ")" * 3000 + "\n```",
        "stop",
        Outcome.NOT_PYTHON,
        "",
    ),
    "null bytes": ("```python\ndef transition(s, a):\n    return '\0'\n```", "stop", Outcome.NOT_PYTHON, ""),
    "a lambda": ("```python\ntransition = lambda s, a: s\n```", "stop", Outcome.CODE, ""),
    "more parameters, with values": (
        "```python\ndef transition(s, a, k=1):\n    return s\n```",
        "stop",
        Outcome.CODE,
        "",
    ),
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_is_no_program_has_an_outcome_and_a_word_for_its_writer(name: str) -> None:
    text, finish, outcome, note = OTHERWISE[name]
    reading = read_reply(text, "transition", finish=finish)
    assert reading.outcome is outcome, reading
    assert note in reading.note
    assert (reading.source is not None) == outcome.usable
    assert bool(reading.note) == (outcome is not Outcome.CODE)


def test_a_function_of_another_name_gets_the_right_one() -> None:
    reading = read_reply(f"```python\n{CODE.replace('def transition', 'def step')}```", "transition")
    assert reading.source is not None and reading.source.endswith("\ntransition = step\n")


@pytest.mark.parametrize(
    "again",
    [
        CODE,
        CODE.replace("    snail =", "    # the walker\n    snail ="),
        CODE.replace("action):", 'action):\n    """It."""'),
    ],
)
def test_the_old_program_is_known_again_whatever_its_comments(again: str) -> None:
    reading = read_reply(f"```python\n{again}```", "transition", old=CODE)
    assert reading.outcome is Outcome.UNCHANGED and reading.source is None and "as it was" in reading.note


def test_rewards_are_read_beside_transitions() -> None:
    both = f"```python\n{REWARD}```\nand\n```python\n{CODE}```"
    assert read_reply(both, "reward").source == REWARD
    assert read_reply(both, "transition").source == CODE
    assert read_reply(f"```python\n{REWARD}\n\n{CODE}```", "reward").source == REWARD


def test_what_the_function_needs_is_kept_and_nothing_else() -> None:
    source = read_reply(
        """```python
from __future__ import annotations
import math
from collections import deque as Queue
import random

SIZE = 3
TABLE = {}
TABLE["east"] = SIZE
TABLE.update(west=-SIZE)
print(TABLE)
try:
    HALF = SIZE // 2
except ZeroDivisionError:
    HALF = 0
# the ground
def floor(x):
    return math.floor(x / HALF)

class Cell:
    def __init__(self, x):
        self.x = floor(x)

@staticmethod
def never(state):
    return random.random()

def transition(state, action):
    queue = Queue([Cell(1)])
    def inner(cell):
        return cell.x + TABLE[action.name]
    return state if inner(queue.popleft()) else None

transition(None, None)
```""",
        "transition",
    ).source
    assert source is not None
    for kept in (
        "annotations",
        "import math",
        "Queue",
        'TABLE["east"]',
        "update",
        "HALF = 0",
        "class Cell",
        "# the ground",
    ):
        assert kept in source, kept
    for dropped in ("random", "print", "never", "transition(None"):
        assert dropped not in source, dropped
    assert parse(source)[0] is not None


def test_nothing_of_a_reply_is_run() -> None:
    end = "import os; os.abort()"
    text = (
        f"```python\nraise SystemExit\n\n\ndef transition(state, action):\n    return state\n\n\n{end}\n```"
    )
    assert read_reply(text, "transition").outcome is Outcome.CODE

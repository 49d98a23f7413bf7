"""Hostile programs, as a proposer could write them. What they do has to come out as a result of a type.

The world is a way: a walker at x = 0, 1, 2, ... `$name` is filled in with what is known of the canaries.
"""

from __future__ import annotations

from textwrap import dedent, indent

from worldcoder.attacks.case import Cases, Ending, Kind, Mode
from worldcoder.sandbox import Layer

cases = Cases(Kind.PROGRAMS)

ERROR, WRONG, IMPURE, HARMLESS = Ending.ERROR, Ending.WRONG, Ending.IMPURE, Ending.HARMLESS
TIMEOUT, MEMORY, CRASH = Ending.TIMEOUT, Ending.MEMORY, Ending.CRASH
FLOOD, GARBAGE = Ending.FLOOD, Ending.GARBAGE

HEAD = (
    "import collections, ctypes, gc, itertools, os, random, re, socket, sys, time\nbegan = time.monotonic()\n"
)
RIGHT = "walker.x += action.name == 'go'\n"
LOOP = "while time.monotonic() < began + 3: pass"
LOOP_IN_C = "any(map((time.monotonic() + 3).__lt__, iter(time.monotonic, None)))"


def transition(deed: str, *, before: str = "", where: str = "walker.x == 2", right: str = RIGHT) -> str:
    """A transition program that is right, and does something bad where it says."""
    body = f"walker = state.one('Walker')\nif {where}:\n{indent(dedent(deed).strip(), '    ')}\n{right}"
    return f"{HEAD}{dedent(before)}\ndef transition(state, action):\n{indent(body, '    ')}"


def reward(deed: str) -> str:
    """A reward program that is right, and does something bad in one place."""
    body = (
        "walker = next_state.one('Walker')\nwon = walker.x == 5\n"
        f"if walker.x == 3:\n{indent(dedent(deed).strip(), '    ')}\nreturn float(won), won\n"
    )
    return f"{HEAD}\ndef reward(state, action, next_state):\n{indent(body, '    ')}"


def add(
    name: str,
    tries: str,
    source: str,
    expected: Ending | tuple[Ending, ...],
    mode: Mode = Mode.CHECK,
    *,
    held_by: tuple[Layer, ...] = (),
) -> None:
    """One more."""
    cases.add(f"program-{name}", f"a program: {tries}", source, expected=expected, mode=mode, held_by=held_by)


SWALLOW = f"""
    while time.monotonic() < began + 3:
        try:
            {LOOP}
        except BaseException:
            pass
    """
DEEDS = (
    ("loop", "a loop", LOOP, TIMEOUT),
    ("loop-swallows", "a loop that swallows every exception", SWALLOW, TIMEOUT),
    ("loop-in-c", "a loop in C", LOOP_IN_C, TIMEOUT),
    ("memory", "one gigabyte", "kept = [bytes(1 << 24) for _ in range(64)]", MEMORY),
    ("segfault", "a crash", "ctypes.string_at(1)", CRASH),
    ("exit", "an end", "os._exit(0)", CRASH),
    ("exit-exception", "the exception of an end", "raise SystemExit", ERROR),
    ("error", "an exception", "1 / 0", ERROR),
    ("recursion", "calls without end", "f = lambda: f()\nf()", ERROR),
    (
        "flood",
        "output without end",
        "for _ in range(200): os.write(FD, b'WCF1' + bytes(100_000))",
        (FLOOD, GARBAGE),
    ),
    ("noise", "bytes on the line to the parent", "os.write(FD, b'noise')", GARBAGE),
)
FIND_LINE = """
from worldcoder.sandbox.line import Line
FD = next(o._writing for o in gc.get_objects() if type(o) is Line)
"""

for name, tries, deed, expected in DEEDS:
    before = FIND_LINE if "FD" in deed else ""
    add(name, f"{tries}, in one call", transition(deed, before=before), expected)
for name, tries, deed, expected in DEEDS[:7]:
    add(f"{name}-in-reward", f"{tries}, in a reward program", reward(deed), expected, Mode.REWARD)
for name, tries, deed, expected in DEEDS[:7]:
    add(
        f"{name}-in-search", f"{tries}, in a state that was never seen", transition(deed), expected, Mode.PLAN
    )
for name, tries, deed, expected in (DEEDS[0], DEEDS[2], DEEDS[4], DEEDS[5]):
    add(f"{name}-at-import", f"{tries}, before anything is defined", HEAD + deed + "\n", expected)

# ── answers of the wrong form ────────────────────────────────────────────────────────────────────────────

for name, tries, deed, expected_ in (
    ("returns-number", "a number for a state", "return 5", ERROR),
    ("returns-noise", "objects of its own for a state", "return [object()]", ERROR),
    ("function-in-state", "a function in a state", "walker.x = lambda: 1\nreturn state", ERROR),
    (
        "list-in-state",
        "a list that holds itself in a state",
        "walker.x = x = []\nx.append(x)\nreturn state",
        ERROR,
    ),
    (
        "infinity-in-state",
        "a number without end in a state",
        "walker.x = float('inf')\nreturn state",
        (ERROR, GARBAGE),
    ),
    (
        "digits-in-state",
        "a number of too many digits",
        "walker.x = 10 ** 5000\nreturn state",
        (ERROR, GARBAGE),
    ),
    ("half-character", "half a character", "walker.x = chr(0xD800)\nreturn state", (ERROR, GARBAGE, WRONG)),
    ("terminal-codes", "codes that a terminal obeys", "walker.x = chr(27) + '[2J'\nreturn state", WRONG),
    (
        "long-text",
        "two megabytes of text in a state",
        "walker.x = 'x' * (2 << 20)\nreturn state",
        (FLOOD, WRONG, ERROR),
    ),
    (
        "many-objects",
        "a hundred thousand objects in a state",
        "for i in range(100_000): state.add('Walker', x=i)",
        (FLOOD, TIMEOUT, WRONG, ERROR, MEMORY),
    ),
    ("removes-all", "a state without anything", "for o in list(state): state.remove(o)", (ERROR, WRONG)),
    (
        "hostile-text-of-error",
        "an error whose text is a loop",
        f"""
        class Slow(Exception):
            def __str__(self):
                {LOOP}
        raise Slow
        """,
        (TIMEOUT, ERROR),
    ),
    ("long-error", "an error of ten megabytes", "raise ValueError('x' * 10_000_000)", ERROR),
    (
        "equal-to-everything",
        "a value that is equal to every other",
        """
        class Equal(int):
            def __eq__(self, other):
                return True
            def __hash__(self):
                return hash(3)
        walker.x = Equal(77)
        return state
        """,
        (ERROR, WRONG, HARMLESS),  # to the framework in there it is what is right, and so is the answer
    ),
    (
        "patched-equality",
        "states that are equal to every other",
        """
        from worldcoder.world.values import Obj, State
        State.__eq__ = Obj.__eq__ = lambda self, other: True
        walker.x = 77
        """,
        (WRONG, ERROR),
    ),
    (
        "patched-action",
        "another action than it was given",
        "object.__setattr__(action, 'name', 'stay')",
        (WRONG, IMPURE),
    ),
    ("torn-state", "the insides of the state thrown away", "vars(state).clear()", (ERROR, CRASH, GARBAGE)),
):
    add(name, tries, transition(deed), expected_)

for name, tries, value in (
    ("not-a-number", "a number that is none", "float('nan'), False"),
    ("infinity", "a reward without end", "float('inf'), True"),
    ("text", "text for a reward", "'much', True"),
    ("nothing", "nothing for a reward", "None"),
    (
        "hostile-bool",
        "an end that is no yes and no no",
        "0.0, type('B', (), {'__bool__': lambda s: 1 / 0})()",
    ),
):
    add(f"reward-{name}", tries, reward(f"return {value}"), ERROR, Mode.REWARD)

# ── lies ─────────────────────────────────────────────────────────────────────────────────────────────────

for name, tries, before, where in (
    (
        "hidden-state",
        "something kept between calls",
        "calls = []",
        "calls.append(1) or walker.x < len(calls) - 1",
    ),
    (
        "hidden-in-a-module",
        "something kept in a module",
        "",
        "os.__dict__.setdefault('calls', []).append(1) or walker.x < len(os.calls) - 1",
    ),
    (
        "order",
        "another answer when the calls come in another order",
        "seen = []",
        "seen.append(walker.x) or walker.x < max(seen)",
    ),
):
    add(
        name, tries, transition("walker.x = 9\nreturn state", before=before, where=where), IMPURE, Mode.REPLAY
    )
add(
    "random",
    "a number that was drawn",
    transition("walker.x = random.random()\nreturn state"),
    WRONG,
    Mode.REPLAY,
)
add(
    "worker",
    "another answer in every worker",
    transition("walker.x = os.getpid()\nreturn state"),
    (WRONG, IMPURE),
    Mode.REPLAY,
)
add(
    "false-plan",
    "a way that is only there while it is searched for",
    transition(
        "walker.x = 5\nreturn state",
        before="calls = []",
        where="calls.append(1) or len(calls) == 9",
        right="walker.x -= 1",
    ),
    (IMPURE, HARMLESS),
    Mode.PLAN,
)
add(
    "endless-search",
    "a world without end",
    transition("pass", right="walker.x -= 1"),
    HARMLESS,
    Mode.PLAN,
)
add(
    "lies-about-the-search",
    "a plan that no search found",
    transition(
        "pass",
        before="""
        from worldcoder.planning import Plan, Status
        from worldcoder.world.values import Action
        planners = sys.modules["worldcoder.programs.inside.service"].PLANNERS
        for name in list(planners):
            planners[name] = lambda *a, **k: Plan(Status.FOUND, (Action("go"),), (1.0,), 1, 0.0, "lie")
        """,
    ),
    IMPURE,
    Mode.PLAN,
)
for name, tries, answer in (
    ("unasked", "answers to what it was not asked", "[10 ** 6, 0, -1]"),
    ("wrong-type", "an answer that is no number", "[None, {}, 'x']"),
    ("twice", "another answer to the same", "[0, 3, -1]"),
    ("early", "an answer before its time, which cannot be", "[3, 0, -1]"),
):
    add(
        f"answers-{name}",
        tries,
        transition(
            f"""
            frame = sys._getframe()
            while type(frame.f_locals.get("result")) is not list:
                frame = frame.f_back
            frame.f_locals["result"] += {answer}
            """
        ),
        (GARBAGE, WRONG, ERROR, HARMLESS) if name == "twice" else (GARBAGE, WRONG),
    )
for name, tries, answer in (
    ("numbers", "objects that there are not", '{"changes": [[[10 ** 9], [-5]]]}'),
    ("objects", "objects that cannot be", '{"born": [["Walker", {"x": {"y": []}}], 5, None]}'),
    ("states", "states that cannot be", '{"states": [{"a": 1}, None, [[["Walker"]]]]}'),
    ("errors", "an error of no kind", '{"errors": [["sabotage", "x"], [1, 2], 3]}'),
    ("verdicts", "a verdict that is none", '{"verdicts": [["1", 1], [None, None], [1e308, 2]]}'),
):
    add(
        f"malformed-{name}",
        tries,
        transition(
            f"""
            answers = sys.modules["worldcoder.programs.inside.answers"].Answers
            flush = answers.flush
            answers.flush = lambda self: {{**flush(self), **{answer}}}
            """
        ),
        GARBAGE,
    )

# ── keys, expected outputs, the network ──────────────────────────────────────────────────────────────────

LOOK = """
    sys.modules["worldcoder.sandbox.watch"].WATCH.ticks = -(10 ** 15)  # it takes its time
    gc.unfreeze()
    found, seen, left = set(), set(), gc.get_objects()
    while left:
        o = left.pop()
        if isinstance(o, (str, bytes)):
            found.update(re.findall("$pattern", o.decode("latin-1") if isinstance(o, bytes) else o))
        elif id(o) not in seen:
            seen.add(id(o))
            left += gc.get_referents(o)
    """
add(
    "expected-output",
    "what is expected of it",
    transition(f"{dedent(LOOK)}\nstate.add('Note', text=' '.join(found))"),
    (WRONG, ERROR),
    Mode.SECRET,
)
add(
    "environment",
    "the parent's key",
    transition("walker.x = repr([dict(os.environ), os.environ.get('$key_name')])\nreturn state"),
    WRONG,
    held_by=(Layer.EXEC,),
)
add("connect", "a connection", transition("socket.create_connection(('127.0.0.1', $tcp))"), ERROR)
add("datagram", "a datagram", transition("socket.socket(2, 2).sendto(b'x', ('127.0.0.1', $udp))"), ERROR)
add("read-file", "a file", transition("walker.x = open('$public').read()\nreturn state"), ERROR)
add("write-file", "another file", transition("open('$run/made', 'w')"), ERROR)
add("fork", "a second process", transition("if os.fork() == 0: os._exit(0)"), ERROR)
add("signal", "a signal to the parent", transition("os.kill($parent, 10)"), ERROR)
add("shell", "a command", transition("if os.system('exit 0') == 0: walker.x = 'ran'; return state"), HARMLESS)

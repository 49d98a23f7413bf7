"""Hostile replies: what the worker writes on its line to the parent."""

from __future__ import annotations

from worldcoder.attacks.case import Cases, Ending, Kind
from worldcoder.sandbox import Layer

GARBAGE, FLOOD = Ending.GARBAGE, Ending.FLOOD
FRAMES = (Layer.FRAMES,)

cases = Cases(Kind.REPLIES)

OF_NO_FORM = {
    "no-list", "empty-list", "unknown-word", "word-is-no-word", "no-value", "unwanted-question",
    "forged-failure", "forged-kind", "hello-again",
}  # fmt: skip
"""What no reader could make sense of, even one that trusts the worker."""

for name, tries, source, expected in (
    ("flood", "parts without end", "for _ in range(64):\n    say('x' * 200_000)", FLOOD),
    (
        "flood-at-once",
        "fifty megabytes at once",
        "raw(b'WCF1' + (50_000_000).to_bytes(4, 'big'))\nfor _ in range(500):\n    raw(b'x' * 100_000)",
        FLOOD,
    ),
    ("flood-announced", "four gigabytes, announced", "raw(b'WCF1' + b'\\xff' * 4)\nsay(1)", FLOOD),
    ("noise", "bytes that mean nothing", "raw(bytes(range(256)) * 4)", GARBAGE),
    ("text", "text instead of an answer", "raw(b'{\"result\": 1}\\n')", GARBAGE),
    ("terminal-codes", "codes that a terminal obeys", "raw(b'\\x1b]0;title\\x07\\x1b[2J')", GARBAGE),
    ("bad-utf8", "text that is none", "raw(framed(b'[\"\\xff\\xfe\"]'))", GARBAGE),
    ("half-characters", "half a character", "raw(reply('part', b'\"\\\\ud800\"'))", GARBAGE),
    ("nested", "lists in lists in lists", "raw(framed(b'[' * 200_000 + b']' * 200_000))", GARBAGE),
    (
        "nested-a-little",
        "lists in lists, as deep as Python reads",
        "raw(reply('part', b'[' * 500 + b']' * 500))",
        GARBAGE,
    ),
    ("not-a-number", "a number that is none", "raw(reply('part', b'NaN'))", GARBAGE),
    ("infinity", "a number without end", "raw(reply('part', b'-Infinity'))", GARBAGE),
    ("too-large-float", "a number that becomes infinity", "raw(reply('part', b'1e999'))", GARBAGE),
    ("too-many-digits", "a number that takes long to read", "raw(reply('part', b'7' * 500_000))", GARBAGE),
    ("not-json", "a frame of nothing", "raw(framed(b''))", GARBAGE),
    ("no-list", "an answer of another form", "raw(framed(b'{}'))", GARBAGE),
    ("empty-list", "an answer without an id", "raw(framed(b'[]'))", GARBAGE),
    ("unknown-word", "a word that is none", "raw(reply('shout', b'1'))", GARBAGE),
    ("word-is-no-word", "a word that is a list", "raw(reply([[]], b'1'))", GARBAGE),
    (
        "no-value",
        "an answer that lacks its value",
        "raw(framed(json.dumps([request(), 'done']).encode()))",
        GARBAGE,
    ),
    ("wrong-id", "an answer to another question", 'raw(framed(b\'["other", "done", 1]\'))', GARBAGE),
    ("id-is-a-list", "an answer to a question that cannot be", "raw(framed(b'[[], \"done\", 1]'))", GARBAGE),
    ("hello-again", "a greeting in the middle", 'raw(framed(b\'["", "hello", {}]\'))', GARBAGE),
    ("forged-failure", "a failure that is none of its own", "raw(failure('timeout', 'so it was'))", GARBAGE),
    ("forged-kind", "a failure of no kind", "raw(failure([], 'so it was'))", GARBAGE),
    ("unwanted-question", "a question that nobody answers", "raw(reply('ask', b'1'))", GARBAGE),
):
    cases.add(name, tries, source, expected=expected, held_by=() if name in OF_NO_FORM else FRAMES)

cases.add(
    "failure-that-colours",
    "a failure whose text a terminal obeys",
    "raw(failure('crash', chr(27) + ']0;title' + chr(7) + chr(10) * 3 + 'x' * 100_000))",
    expected=Ending.CRASH,
)
BEATS = """
    end = clock() + 1.4
    beats = framed(json.dumps([request(), "beat"]).encode()) * 1000
    while clock() < end:
        WATCH.ticks = 0
        raw(beats)
    """
cases.add(
    "flood-of-beats",
    "signs of life without end",
    BEATS,
    expected=(FLOOD, Ending.TIMEOUT),
    held_by=(Layer.FRAMES, Layer.DEADLINE),
)
cases.add(
    "flood-of-beats-without-limit",
    "signs of life faster than they can be read, where nobody counts the bytes",
    BEATS,
    expected=Ending.TIMEOUT,
    without=FRAMES,
    held_by=(Layer.DEADLINE,),
)
cases.add(
    "pickle",
    "a pickle, which would run in the parent",
    """
    class Evil:
        def __reduce__(self):
            return os.mkdir, (target.run + "/unpickled",)
    raw(pickle.dumps(Evil()))
    """,
    expected=GARBAGE,
    held_by=FRAMES,
)
cases.add(
    "pickle-in-a-frame",
    "a pickle with the head of a frame",
    """
    class Evil:
        def __reduce__(self):
            return os.mkdir, (target.run + "/unpickled",)
    raw(framed(pickle.dumps(Evil())))
    """,
    expected=GARBAGE,
    held_by=FRAMES,
)
cases.add(
    "two-answers",
    "an answer before the answer",
    'raw(reply(\'done\', b\'{"late": false, "error": "", "result": ""}\'))',
    then="pass",
    expected=GARBAGE,
    held_by=FRAMES,
)
cases.add(
    "answer-to-the-next",
    "an answer before the question",
    """
    answer = {"late": False, "error": "", "result": ""}
    raw(reply("done", json.dumps(answer).encode()) + framed(json.dumps(["2", "done", answer]).encode()))
    line.done = lambda value: None
    """,
    then="pass",
    expected=GARBAGE,
    held_by=FRAMES,
)
cases.add(
    "half-a-frame",
    "half an answer, and the end",
    """
    raw(reply("done", b"1")[:-3])
    os._exit(0)
    """,
    expected=(GARBAGE, Ending.CRASH),
)
cases.add(
    "dripping",
    "an answer that comes byte by byte",
    """
    WATCH.ticks = -(10 ** 15)
    end = clock() + 1
    raw(b"WCF1" + (500).to_bytes(4, "big"))
    while clock() < end:
        raw(b" ")
        pause = clock() + 0.01
        while clock() < pause:
            pass
    os._exit(0)
    """,
    expected=Ending.TIMEOUT,
    held_by=(Layer.DEADLINE,),
)
cases.add(
    "flood-of-output",
    "ten megabytes to where programs print",
    """
    for _ in range(100):
        os.write(1, b"x" * 100_000)
        os.write(2, b"x" * 100_000)
    """,
    expected=Ending.HARMLESS,
)

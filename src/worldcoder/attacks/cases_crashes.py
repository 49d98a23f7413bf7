"""Attacks that end or break the interpreter."""

from __future__ import annotations

from worldcoder.attacks.case import Cases, Ending, Kind
from worldcoder.sandbox import Layer

CRASH, HARMLESS = Ending.CRASH, Ending.HARMLESS

cases = Cases(Kind.CRASHES)

cases.add("exit", "leaving without a word", "os._exit(0)", expected=CRASH)
cases.add(
    "exit-with-a-lie",
    "leaving as if it had been too slow",
    "os._exit(81)",
    expected=(CRASH, Ending.TIMEOUT),
)
cases.add("exit-by-exception", "leaving as programs do", "raise SystemExit(0)")
cases.add("interrupt", "the exception of Ctrl-C", "raise KeyboardInterrupt")
cases.add("segfault", "reading where nothing is", "ctypes.string_at(1)", expected=CRASH)
cases.add("abort", "the interpreter's own emergency exit", "os.abort()", expected=CRASH)
cases.add(
    "broken-objects",
    "zeros where the interpreter keeps None",
    "ctypes.memset(id(None), 0, 64)\nx = [None, None, repr(None)]\ndel x",
    expected=(CRASH, Ending.KILLED),
)
cases.add(
    "broken-code",
    "machine code of Python that no compiler wrote",
    """
    def f(): pass
    f.__code__ = f.__code__.replace(co_code=bytes([100, 255, 131, 200] * 20))
    f()
    """,
    expected=(CRASH, HARMLESS, Ending.MEMORY, Ending.LATE, Ending.TIMEOUT),
)
cases.add(
    "recursion",
    "calls without end, where the limit is lifted",
    """
    sys.setrecursionlimit(10 ** 8)
    def deeper(n):
        return n and deeper(n - 1) + 1
    deeper(200_000)
    """,
    expected=(HARMLESS, CRASH, Ending.MEMORY, Ending.LATE, Ending.TIMEOUT),
)
cases.add(
    "recursion-in-c",
    "calls without end that the interpreter does not count",
    """
    chain = iter(())
    for _ in range(200_000):
        chain = itertools.chain(chain)
    next(chain)
    """,
    expected=(CRASH, HARMLESS, Ending.LATE, Ending.TIMEOUT),
)
cases.add(
    "nested-source",
    "a text that is nested too deeply to be compiled",
    """
    for text in ("(" * 5000 + ")" * 5000, "-" * 50000 + "1", "[" * 90 + "]" * 90, "x" + ".x" * 50000):
        try:
            compile(text, "nested", "eval")
        except (SyntaxError, RecursionError, MemoryError):
            pass
    """,
    expected=(HARMLESS, CRASH, Ending.MEMORY, Ending.LATE),
)
cases.add(
    "kill-itself",
    "an end that looks as if it came from outside",
    "os.kill(os.getpid(), signal.SIGKILL)",
    held_by=(Layer.SECCOMP,),
    system="linux",
)
cases.add(
    "crash-with-a-lie",
    "a crash at a place that is none",
    "WATCH.position[0] = -(1 << 62)\nctypes.string_at(1)",
    expected=CRASH,
)
cases.add(
    "close-own-pipes",
    "the line to the parent cut",
    "os.close(line._writing)\nos.close(line._reading)",
    expected=(HARMLESS, CRASH, Ending.GARBAGE),
)
cases.add(
    "exit-handler",
    "a loop that runs when the interpreter ends",
    """
    import atexit
    def slow():
        end = clock() + 2
        while clock() < end:
            pass
    atexit.register(slow)
    """,
)
cases.add(
    "trace-the-service",
    "its own code between all lines of the service's",
    """
    def trace(frame, event, argument):
        raise RuntimeError("traced")
    sys.setprofile(trace)
    sys.settrace(trace)
    sys._getframe().f_back.f_trace = trace
    """,
    expected=(HARMLESS, CRASH, Ending.GARBAGE, Ending.TIMEOUT),
)
cases.add(
    "audit-hook",
    "a hook that forbids everything from now on",
    """
    def refuse(event, arguments):
        raise RuntimeError(event)
    sys.addaudithook(refuse)
    """,
    expected=(HARMLESS, CRASH, Ending.GARBAGE, Ending.TIMEOUT),
)

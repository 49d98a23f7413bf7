"""Attacks on the sandbox's own code inside of a worker. They may succeed there; the next worker must be well."""

from __future__ import annotations

from worldcoder.attacks.case import Cases, Ending, Kind
from worldcoder.sandbox import Layer

cases = Cases(Kind.INSIDE)

ANYTHING = (
    Ending.HARMLESS, Ending.CRASH, Ending.GARBAGE, Ending.TIMEOUT, Ending.LATE, Ending.MEMORY, Ending.FLOOD,
)  # fmt: skip
TRUTH = "result = service.honest() != 42 and 'a lie'"

cases.add(
    "patch-service",
    "a service that lies from now on",
    """
    service.truth = 43
    type(service).honest = lambda self: 43
    """,
    fresh=TRUTH,
)
cases.add(
    "patch-builtins",
    "functions of Python that lie from now on",
    """
    import builtins
    builtins.len = lambda what: 7
    builtins.sorted = lambda *a, **k: [7]
    """,
    fresh="result = len([1]) != 1 and 'a lie'",
    expected=ANYTHING,
)
cases.add(
    "patch-frames",
    "every later answer made by its own code",
    """
    module = sys.modules["worldcoder.sandbox.frames"]
    module.pack.__code__ = (lambda value: b"WCF1" + bytes(4)).__code__
    """,
    fresh=TRUTH,
    expected=ANYTHING,
)
cases.add(
    "patch-line",
    "a line that says another thing than the service",
    """
    type(line).done = lambda self, value: self.write("done", {"late": False, "error": "", "result": ""})
    """,
    then="result = 'this is never told'",
    fresh=TRUTH,
    expected=ANYTHING,
)
cases.add(
    "patch-modules",
    "no modules any more",
    """
    for name in list(sys.modules):
        if name.startswith(("worldcoder", "json", "os")):
            sys.modules[name] = None
    """,
    fresh=TRUTH,
    expected=ANYTHING,
)
cases.add(
    "edit-frames",
    "other values in the frames that called it",
    """
    frame = sys._getframe().f_back
    while frame:
        for name in frame.f_locals:
            frame.f_locals[name] = None
        if hasattr(ctypes.pythonapi, "PyFrame_LocalsToFast"):
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
        frame = frame.f_back
    """,
    fresh=TRUTH,
    expected=ANYTHING,
)
cases.add(
    "edit-constants",
    "another value for a number that everybody uses",
    """
    ctypes.memset(id(42) + object.__basicsize__ + 8, 43, 1)
    """,
    fresh=TRUTH,
    expected=ANYTHING,
)
cases.add(
    "shared-page",
    "a message to later workers by the page that is shared with the parent",
    """
    WATCH.position[0] = 99
    """,
    fresh="result = WATCH.position[0] == 99 and 'a message'",
)
cases.add(
    "own-globals",
    "a message to later workers by a module",
    """
    math.message = "hello"
    """,
    fresh="result = getattr(math, 'message', '')",
)
cases.add(
    "swallow-requests",
    "its own requests read away, the next one too",
    """
    line.receive = lambda: (_ for _ in ()).throw(EOFError)
    """,
    then="pass",
    fresh=TRUTH,
    expected=ANYTHING,
)
cases.add(
    "deaf",
    "a next request that it does not read",
    "line.receive = lambda: any(map((clock() + 0.9).__lt__, iter(clock, None))) and os._exit(0)",
    then=f"'{'x' * 300_000}'",
    fresh=TRUTH,
    expected=Ending.TIMEOUT,
    held_by=(Layer.DEADLINE,),
)

"""Attacks that take all the time. Every loop ends by itself after a while, so that none is dangerous.

Where processor time is counted there must be enough of it on a busy machine as well; where the parent looks at
the clock, a little more than it waits is enough.
"""

from __future__ import annotations

from worldcoder.attacks.case import Cases, Ending, Kind
from worldcoder.sandbox import Layer

FILTER = Layer.SECCOMP
LATE, TIMEOUT = Ending.LATE, Ending.TIMEOUT
EITHER = (LATE, TIMEOUT)
EITHER_LAYER = (Layer.TIMER, Layer.DEADLINE)

cases = Cases(Kind.TIME)

LOOP = """
    while clock() < end:
        pass
    """
SWALLOW = """
    end = clock() + 1.4
    while clock() < end:
        try:
            while clock() < end:
                pass
        except BaseException:
            pass
    """

cases.add("loop", "a loop without end", "    end = clock() + 2" + LOOP, expected=LATE, held_by=(Layer.TIMER,))
cases.add(
    "loop-swallows", "a loop that swallows every exception", SWALLOW, expected=EITHER, held_by=EITHER_LAYER
)
cases.add(
    "loop-swallows-without-deadline",
    "a loop that swallows every exception, where the parent does not look at the clock",
    SWALLOW.replace("1.4", "2.5"),
    expected=EITHER,
    without=(Layer.DEADLINE,),
    held_by=(Layer.TIMER,),
)
cases.add(
    "loop-in-c",
    "a loop that the interpreter does not see",
    "collections.deque(itertools.takewhile((clock() + 0.9).__gt__, iter(clock, None)), maxlen=0)",
    expected=TIMEOUT,
    held_by=(Layer.DEADLINE,),
)
cases.add(
    "search-in-c",
    "a search that the interpreter does not see",
    "any(map((clock() + 0.9).__lt__, iter(clock, None)))",
    expected=TIMEOUT,
    held_by=(Layer.DEADLINE,),
)
cases.add(
    "computing-for-ever",
    "a loop in C, where neither tick nor deadline ends it",
    "any(map((time.process_time() + 1.5).__lt__, iter(time.process_time, None)))",
    expected=TIMEOUT,
    without=(Layer.TIMER, Layer.DEADLINE),
    held_by=(Layer.CPU,),
    cpu_seconds=1,
)
cases.add(
    "waiting",
    "waiting for something that never comes",
    """
    lock = threading.Lock()
    lock.acquire()
    lock.acquire(timeout=0.9)
    """,
    expected=TIMEOUT,
    held_by=(Layer.DEADLINE,),
)
cases.add(
    "regex",
    "a pattern that tries everything",
    "re.match(r'(a|aa)+$', 'a' * 32 + 'b')",
    expected=EITHER,
    held_by=EITHER_LAYER,
)
cases.add(
    "huge-integer",
    "a number with millions of digits",
    "3 ** 3_000_000",
    expected=EITHER,
    held_by=EITHER_LAYER,
)
cases.add(
    "loop-in-generator",
    "a generator that will not be closed",
    """
    end = clock() + 1.4
    def stubborn():
        while clock() < end:
            try:
                yield
            except BaseException:
                pass
    generator = stubborn()
    for _ in generator:
        try:
            generator.throw(ValueError)
        except BaseException:
            pass
    while clock() < end:
        try:
            while clock() < end:
                pass
        except BaseException:
            pass
    """,
    expected=EITHER,
    held_by=EITHER_LAYER,
)
cases.add(
    "loop-in-del",
    "a loop where exceptions are lost",
    """
    end = clock() + 2
    class Slow:
        def __del__(self):
            while clock() < end:
                pass
    Slow()
    """,
    expected=LATE,
    held_by=(Layer.TIMER,),
)
cases.add(
    "loop-in-hash",
    "a loop inside of a dictionary",
    """
    end = clock() + 2
    class Slow:
        def __hash__(self):
            while clock() < end:
                pass
            return 1
    {Slow(): 1}
    """,
    expected=LATE,
    held_by=(Layer.TIMER,),
)
cases.add(
    "loop-in-class-body",
    "a loop before anything is defined",
    """
    end = clock() + 2
    class Slow:
        while clock() < end:
            pass
    """,
    expected=LATE,
    held_by=(Layer.TIMER,),
)
cases.add(
    "loop-in-result",
    "a loop in what it returns, which runs after the call",
    """
    end = clock() + 1.4
    class Slow:
        def __bool__(self):
            while clock() < end:
                pass
            return False
    result = Slow()
    """,
    expected=TIMEOUT,
    held_by=(Layer.DEADLINE,),
)
cases.add(
    "faked-clock",
    "a clock that stands still",
    """
    end = clock() + 2
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        setattr(time, name, lambda: 0.0)
    """
    + LOOP,
    expected=LATE,
    held_by=(Layer.TIMER,),
)
cases.add(
    "tick-reset",
    "the count of the tick, set back",
    """
    end = clock() + 1.4
    WATCH.ticks = -(10 ** 15)
    """
    + LOOP,
    expected=TIMEOUT,
    held_by=(Layer.DEADLINE,),
)
cases.add(
    "tick-replaced",
    "other limits where the tick looks",
    """
    end = clock() + 1.4
    for cell in signal.getsignal(signal.SIGPROF).__closure__:
        if isinstance(cell.cell_contents, int):
            cell.cell_contents = 10 ** 9  # as many ticks may pass
        elif cell.cell_contents is time.process_time:
            cell.cell_contents = float  # always 0.0
    """
    + LOOP,
    expected=TIMEOUT,
    held_by=(Layer.DEADLINE,),
)
cases.add(
    "signs-of-life",
    "signs of life, one after the other",
    """
    end = clock() + 1.4
    while clock() < end:
        WATCH.ticks = 0
        say("alive")
        pause = clock() + 0.05
        while clock() < pause:
            pass
    """,
    expected=TIMEOUT,
    held_by=(Layer.DEADLINE,),
)

for name, tries, source in (
    ("signal-ignored", "the tick's signal ignored", "signal.signal(signal.SIGPROF, signal.SIG_IGN)"),
    (
        "signal-ignored-in-c",
        "the signal ignored, past Python",
        "LIBC.signal(int(signal.SIGPROF), ctypes.c_void_p(1))",
    ),
    ("signal-blocked", "the tick held back", "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})"),
    ("timer-off", "the tick's timer stopped", "signal.setitimer(signal.ITIMER_PROF, 0)"),
):
    cases.add(
        name,
        tries,
        f"""
    end = clock() + 2
    try:
        {source}
    except OSError:
        pass
    """
        + LOOP,
        expected=LATE,
        held_by=(FILTER,),
        system="linux",
    )
cases.add(
    "stop-itself",
    "stopping, so that no tick comes",
    "os.kill(os.getpid(), signal.SIGSTOP)",
    expected=TIMEOUT,
    without=(FILTER,),
)
cases.add(
    "alarm",
    "a signal to itself after a while, for which there is no handler",
    """
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    pause = clock() + 0.05
    while clock() < pause:
        pass
    """,
    held_by=(FILTER,),
    system="linux",
)

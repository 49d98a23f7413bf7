"""Attacks that take all the memory, and such that lift the worker's own limits."""

from __future__ import annotations

from worldcoder.attacks.case import Cases, Ending, Kind
from worldcoder.sandbox import Layer

FILTER, FILES_LOCK, MAC = Layer.SECCOMP, Layer.LANDLOCK, Layer.SEATBELT
MEMORY = Ending.MEMORY

cases = Cases(Kind.MEMORY)
limits = Cases(Kind.LIMITS)

cases.add(
    "memory-bomb",
    "ever more memory (one gigabyte)",
    """
    kept = []
    for _ in range(64):
        kept.append(bytes(1 << 24))
    result = "a gigabyte"
    """,
    expected=MEMORY,
    held_by=(Layer.MEMORY,),
)
cases.add(
    "memory-at-once",
    "much memory at once",
    "result = bytes(1 << 30) and 'a gigabyte'",
    expected=MEMORY,
    held_by=(Layer.MEMORY,),
)
cases.add(
    "memory-mapped",
    "memory past Python",
    "result = mmap.mmap(-1, 1 << 30) and 'a gigabyte'",
    held_by=(Layer.MEMORY,),
)
cases.add(
    "memory-of-a-number",
    "a number that fills the memory",
    "result = 1 << (8 * 400 << 20) and 'a large number'",
    expected=MEMORY,
    held_by=(Layer.MEMORY,),
)
cases.add(
    "memory-error-swallowed",
    "going on after memory was refused, again and again",
    """
    end = clock() + 2
    kept = []
    while clock() < end:
        try:
            kept.append(bytes(1 << 26))
        except MemoryError:
            pass
        if len(kept) > 16:
            result = "a gigabyte"
            break
    """,
    expected=Ending.LATE,
    held_by=(Layer.MEMORY,),
)
cases.add(
    "memory-full",
    "no room for an answer",
    """
    kept = [[]]
    size = 1 << 26
    while size:
        try:
            kept.append(bytes(size))
        except MemoryError:
            size //= 2
        if len(kept) > 100000:
            break
    """,
    expected=(Ending.HARMLESS, MEMORY, Ending.CRASH, Ending.LATE),
)
limits.add(
    "raise-memory",
    "more memory, by a higher limit",
    """
    for limit in (1 << 40, resource.RLIM_INFINITY):
        try:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        except (OSError, ValueError):
            pass
    result = mmap.mmap(-1, 1 << 30) and "a gigabyte"
    """,
    without=(FILTER,),
    held_by=(Layer.MEMORY,),
)
limits.add(
    "raise-descriptors",
    "more open files, by a higher limit",
    """
    for limit in (64, resource.RLIM_INFINITY):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        except (OSError, ValueError):
            pass
    result = open(target.public).read()
    """,
    without=(FILTER, FILES_LOCK),
    held_by=(Layer.FILES, MAC),
)
limits.add(
    "raise-processes",
    "processes, by a higher limit",
    """
    for limit in (64, resource.RLIM_INFINITY):
        try:
            resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
        except (OSError, ValueError):
            pass
    if os.fork() == 0:
        os._exit(0)
    result = "forked"
    """,
    without=(FILTER,),
    held_by=(Layer.PROCESSES, MAC),
)
limits.add(
    "raise-file-size",
    "larger files, by a higher limit",
    """
    for limit in (4096, resource.RLIM_INFINITY):
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        except (OSError, ValueError):
            pass
    os.truncate(target.file, 2000)
    """,
    without=(FILTER, FILES_LOCK),
    held_by=(Layer.FILES, MAC),
)
limits.add(
    "set-limits",
    "any other limit than it was given",
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    result = "a limit was set"
    """,
    held_by=(FILTER,),
    system="linux",
)

"""Attacks through system calls that no program needs."""

from __future__ import annotations

from worldcoder.attacks.case import Cases, Ending, Kind
from worldcoder.sandbox import Layer

FILTER, FILES_LOCK, HANDLES = Layer.SECCOMP, Layer.LANDLOCK, Layer.FILES

cases = Cases(Kind.KERNEL)

DESCRIPTOR = {
    "io-uring", "memory-file", "secret-memory", "performance-counter", "page-faults", "watch-everything",
}  # fmt: skip
"""What they get is a descriptor, and there is a limit on these."""

OTHERS = {
    "mount": (FILES_LOCK,),
    "posix-message-queue": (FILES_LOCK, HANDLES),
    "kernel-program": (HANDLES, Layer.USER),
}
"""What else holds them."""

for name, tries, source, optional in (
    (
        "io-uring",
        "system calls by a queue that filters do not see",
        "result = call('io_uring_setup', 1, ctypes.create_string_buffer(120)) + 1",
        True,
    ),
    ("memory-file", "a file that is only memory", "result = os.memfd_create('canary') + 1", False),
    (
        "secret-memory",
        "memory that even the kernel does not see",
        "result = call('memfd_secret', 0) + 1",
        True,
    ),
    (
        "shared-segment",
        "memory shared with other processes",
        "segment = call('shmget', 0, 4096, 0o600)\ncall('shmctl', segment, 0, None)\nresult = 'a segment'",
        True,
    ),
    (
        "message-queue",
        "messages to other processes",
        "queue = call('msgget', 0, 0o600)\ncall('msgctl', queue, 0, None)\nresult = 'a queue'",
        True,
    ),
    (
        "posix-message-queue",
        "messages to other processes, the newer way",
        """
    name = f"worldcoder-canary-{os.getpid()}".encode()
    result = call("mq_open", name, 0o102, 0o600, None) + 1
    call("mq_unlink", name)
    """,
        True,
    ),
    (
        "user-namespace",
        "being root in a world of its own",
        "call('unshare', 0x10000000)\nresult = 'root there'",
        True,
    ),
    (
        "keyring",
        "a note in the kernel's keyring",
        "result = call('add_key', b'user', b'worldcoder-canary-note', b'hello', 5, -2)",
        True,
    ),
    (
        "keyring-search",
        "a key by its name",
        "result = call('keyctl', 10, -3, b'user', b'worldcoder-canary', 0)",
        True,
    ),
    (
        "kernel-program",
        "a program in the kernel",
        "result = call('bpf', 0, (ctypes.c_uint32 * 32)(2, 4, 4, 1), 128) + 1",
        True,
    ),
    (
        "performance-counter",
        "the processor's counters, which have had holes",
        """
    event = (ctypes.c_uint32 * 32)(1, 128)  # a software event, so large is what describes it
    event[10] = 0x60  # nothing of the kernel, nothing of the hypervisor
    result = call("perf_event_open", event, 0, -1, -1, 0) + 1
    """,
        True,
    ),
    (
        "page-faults",
        "being asked whenever the kernel touches a page",
        "result = call('userfaultfd', 1) + 1",
        True,
    ),
    (
        "personality",
        "memory laid out as in old times",
        "call('personality', 0x0040000)\nresult = 'changed'",
        True,
    ),
    (
        "timer",
        "a timer that nobody stops",
        "call('timer_create', 1, None, ctypes.byref(ctypes.c_int()))\nresult = 'a timer'",
        False,
    ),
    (
        "mount",
        "a file system over another",
        "call('unshare', 0x10020000)\ncall('mount', b'none', b'/tmp', b'tmpfs', 0, None)\nresult = 'mounted'",
        True,
    ),
    (
        "watch-everything",
        "every file that anybody opens",
        "result = call('fanotify_init', 0x200, 0) + 1",
        True,
    ),
    (
        "be-dumpable",
        "being open to other processes again",
        "call('prctl', 4, 1, 0, 0, 0)\nresult = 'dumpable'",
        False,
    ),
    (
        "outlive-the-parent",
        "living on when the parent dies",
        "call('prctl', 1, 0, 0, 0, 0)\nresult = 'it will live on'",
        False,
    ),
):
    held_by = (FILTER, *OTHERS.get(name, (HANDLES,) if name in DESCRIPTOR else ()))
    cases.add(name, tries, source, held_by=held_by, optional=optional, system="linux")

cases.add(
    "executable-memory",
    "memory that can be written and run",
    """
    result = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    """,
    held_by=(FILTER,),
    system="linux",
)
cases.add(
    "make-memory-executable",
    "memory that was written and is run then",
    """
    page = mmap.mmap(-1, 4096)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    if LIBC.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(4096), 5) == 0:
        result = "executable"
    """,
    held_by=(FILTER,),
    system="linux",
)
cases.add(
    "is-dumpable",
    "leaving its memory on disk, or to other processes",
    """
    result = call("prctl", 3, 0, 0, 0, 0) == 1
    """,
    without=(FILTER, Layer.USER),
    held_by=(Layer.DUMP,),
    system="linux",
)
cases.add(
    "may-gain-rights",
    "being able to gain rights by starting a program",
    """
    result = call("prctl", 39, 0, 0, 0, 0) == 0
    """,
    without=(FILTER, FILES_LOCK),
    held_by=(Layer.NO_NEW_PRIVILEGES,),
    system="linux",
)
cases.add(
    "gain-rights",
    "the rights of root, by a program that has them",
    """
    os.execv(target.root_chmod, ["chmod", "644", target.secret])
    """,
    expected=(Ending.HARMLESS, Ending.CRASH),
    without=(FILTER, FILES_LOCK, HANDLES),
    held_by=(Layer.NO_NEW_PRIVILEGES,),
    optional=True,
    system="linux",
)
cases.add(
    "32-bit-calls",
    "system calls by their 32-bit numbers",
    """
    got = int80(20, 0, 0, 0)  # what is getpid there is writev here
    result = got == os.getpid() and "answered"
    """,
    expected=(Ending.HARMLESS, Ending.CRASH),
    held_by=(FILTER,),
    optional=True,
    machine="x86_64",
    system="linux",
)

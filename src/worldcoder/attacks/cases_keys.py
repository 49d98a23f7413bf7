"""Attacks on what the parent holds in memory: its keys and the outputs that are expected."""

from __future__ import annotations

from worldcoder.attacks.case import Cases, Kind
from worldcoder.sandbox import Layer

FILTER, FILES_LOCK, HANDLES, MAC = Layer.SECCOMP, Layer.LANDLOCK, Layer.FILES, Layer.SEATBELT

cases = Cases(Kind.KEYS)

cases.add(
    "environment",
    "the parent's key in the environment, as any library would read it",
    """
    result = os.environ.get(target.key_name) or found(dict(os.environ))
    """,
    held_by=(Layer.EXEC,),
)
cases.add(
    "environment-in-c",
    "the environment as C holds it",
    """
    environ = ctypes.POINTER(ctypes.c_char_p).in_dll(LIBC, "environ")
    result = found([variable for variable in itertools.takewhile(bool, (environ[i] for i in range(999)))])
    """,
    held_by=(Layer.EXEC,),
)
cases.add(
    "environment-on-the-stack",
    "the environment that the kernel laid on top of the stack",
    """
    environ = ctypes.POINTER(ctypes.c_void_p).in_dll(LIBC, "environ")
    first = min(address for address in itertools.takewhile(bool, (environ[i] for i in range(999))))
    last = max(address for address in itertools.takewhile(bool, (environ[i] for i in range(999))))
    result = found(ctypes.string_at(first, last - first) + ctypes.string_at(last))
    """,
    held_by=(Layer.EXEC,),
    system="linux",
)
cases.add(
    "walk-for-keys",
    "any token in any object that the collector can reach",
    """
    WATCH.ticks = -(10 ** 15)  # it takes its time
    tokens = set()
    for thing in walk():
        if type(thing) is str and "canary-" in thing or type(thing) is bytes and b"canary-" in thing:
            tokens.update(found(thing))
    result = sorted(tokens)
    """,
    held_by=(Layer.EXEC,),
)
cases.add(
    "walk-frames",
    "tokens and expected outputs in the frames that called the code",
    """
    frame, seen = sys._getframe(), []
    while frame:
        seen += found([repr(value)[:10000] for value in [*frame.f_locals.values(), *frame.f_globals.values()]])
        frame = frame.f_back
    result = sorted(set(seen))
    """,
)
cases.add(
    "own-environ",
    "its own environment, by the file system",
    """
    result = found(open("/proc/self/environ", "rb").read())
    """,
    held_by=(FILTER, FILES_LOCK, Layer.EXEC, Layer.DUMP, Layer.USER, HANDLES),
    system="linux",
)
cases.add(
    "own-environ-of-template",
    "the environment of the process that it was forked from",
    """
    result = found(open(f"/proc/{target.template}/environ", "rb").read())
    """,
    held_by=(FILTER, FILES_LOCK, Layer.EXEC, Layer.USER, HANDLES),
    system="linux",
)
cases.add(
    "parent-environ",
    "the parent's environment, by the file system",
    """
    result = found(open(f"/proc/{target.parent}/environ", "rb").read())
    """,
    held_by=(FILTER, FILES_LOCK, Layer.USER, HANDLES),
    system="linux",
)
cases.add(
    "parent-environ-without-filter",
    "the parent's environment, where system calls are not filtered",
    """
    result = found(open(f"/proc/{target.parent}/environ", "rb").read())
    """,
    without=(FILTER, Layer.USER, HANDLES),
    held_by=(FILES_LOCK,),
    system="linux",
)
cases.add(
    "parent-environ-as-another-user",
    "the parent's environment, where nothing but the user stands before it",
    """
    result = found(open(f"/proc/{target.parent}/environ", "rb").read())
    """,
    without=(FILTER, FILES_LOCK, HANDLES),
    held_by=(Layer.USER,),
    system="linux",
)
cases.add(
    "parent-maps",
    "where in the parent's memory everything is",
    """
    result = open(f"/proc/{target.parent}/maps").read(300)
    """,
    held_by=(FILTER, FILES_LOCK, Layer.USER, HANDLES),
    system="linux",
)
cases.add(
    "parent-memory-file",
    "the parent's memory as a file",
    """
    memory = open(f"/proc/{target.parent}/mem", "rb", 0)
    memory.seek(target.address)
    result = memory.read(target.length)
    """,
    held_by=(FILTER, FILES_LOCK, Layer.USER, HANDLES),
    optional=True,
    system="linux",
)
READ_MEMORY = """
    buffer = ctypes.create_string_buffer(target.length)
    here = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), target.length)
    there = (ctypes.c_uint64 * 2)({address}, target.length)
    call("process_vm_readv", {process}, here, 1, there, 1, 0)
    result = buffer.value
    """
cases.add(
    "parent-memory",
    "the parent's memory by a system call",
    READ_MEMORY.format(process="target.parent", address="target.address"),
    held_by=(FILTER, FILES_LOCK, Layer.USER),
    optional=True,
    system="linux",
)
cases.add(
    "parent-memory-without-filter",
    "the parent's memory, where system calls are not filtered",
    READ_MEMORY.format(process="target.parent", address="target.address"),
    without=(FILTER, Layer.USER),
    held_by=(FILES_LOCK,),
    optional=True,
    system="linux",
)
cases.add(
    "bystander-memory",
    "the memory of another worker",
    READ_MEMORY.format(process="target.bystander", address="target.bystander_address"),
    without=(FILTER, FILES_LOCK),
    held_by=(Layer.DUMP, Layer.USER),
    optional=True,
    system="linux",
    bystander=True,
)
cases.add(
    "bystander-maps",
    "where in another worker's memory everything is",
    """
    result = open(f"/proc/{target.bystander}/maps").read(300)
    """,
    without=(FILTER, FILES_LOCK, HANDLES),
    held_by=(Layer.DUMP, Layer.USER),
    system="linux",
    bystander=True,
)
cases.add(
    "kernel-keyring",
    "a key that the user keeps in the kernel",
    """
    buffer = ctypes.create_string_buffer(200)
    call("keyctl", 11, target.kernel_key, buffer, 200)
    result = buffer.value
    """,
    held_by=(FILTER,),
    optional=True,
    system="linux",
)
cases.add(
    "shared-memory-of-the-parent",
    "a segment of memory that the parent shares with its own kind",
    """
    result = ctypes.string_at(call("shmat", target.segment, None, 0o10000), 100)
    """,
    held_by=(FILTER,),
    optional=True,
    system="linux",
)
cases.add(
    "descriptor-of-the-parent",
    "a copy of a descriptor that the parent has open",
    """
    process = call("pidfd_open", target.parent, 0)
    result = call("pidfd_getfd", process, 0, 0) + 1
    """,
    held_by=(FILTER, FILES_LOCK, Layer.USER, HANDLES),
    optional=True,
    system="linux",
)

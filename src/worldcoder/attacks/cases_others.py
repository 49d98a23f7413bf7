"""Attacks on other processes: the parent, the template, other workers."""

from __future__ import annotations

from worldcoder.attacks.case import Cases, Ending, Kind
from worldcoder.sandbox import Layer

FILTER, FILES_LOCK, MAC = Layer.SECCOMP, Layer.LANDLOCK, Layer.SEATBELT
SCOPE = 6  # the version of Landlock from which on it keeps signals in
ANY = (FILTER, FILES_LOCK, Layer.USER, MAC)

cases = Cases(Kind.OTHERS)

SIGNAL = "os.kill(target.parent, signal.SIGUSR1)"
WRITE_MEMORY = """
    buffer = ctypes.create_string_buffer(b"changed")
    here = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 7)
    there = (ctypes.c_uint64 * 2)(target.writable, 7)
    call("process_vm_writev", target.parent, here, 1, there, 1, 0)
    """

cases.add("signal-parent", "a signal to the parent", SIGNAL, held_by=ANY, abi=SCOPE)
cases.add(
    "signal-parent-as-the-same-user",
    "a signal to the parent, where neither filter nor user stands before it",
    SIGNAL,
    without=(FILTER, Layer.USER),
    held_by=(FILES_LOCK, MAC),
    abi=SCOPE,
)
cases.add(
    "signal-parent-as-another-user",
    "a signal to the parent, where nothing but the user stands before it",
    SIGNAL,
    without=(FILTER, FILES_LOCK),
    held_by=(Layer.USER, MAC),
)
for name, tries, source in (
    (
        "signal-thread",
        "a signal to a thread of the parent",
        "call('tgkill', target.parent, target.parent, 10)",
    ),
    (
        "signal-with-data",
        "a signal to the parent that carries data",
        """
    data = (ctypes.c_int32 * 32)(10, 0, -1)
    call("rt_sigqueueinfo", target.parent, 10, data)
    """,
    ),
    (
        "signal-by-descriptor",
        "a signal to the parent by a descriptor",
        """
    call("pidfd_send_signal", call("pidfd_open", target.parent, 0), 10, None, 0)
    """,
    ),
):
    by_descriptor = name == "signal-by-descriptor"
    held_by = (*ANY, Layer.FILES) if by_descriptor else ANY
    cases.add(name, tries, source, held_by=held_by, abi=SCOPE, optional=by_descriptor, system="linux")
cases.add(
    "kill-template",
    "the end of the process that makes workers",
    "os.kill(target.template, signal.SIGKILL)",
    held_by=ANY,
    abi=SCOPE,
)
cases.add(
    "kill-template-as-the-same-user",
    "the end of the process that makes workers, where neither filter nor user stands before it",
    "os.kill(target.template, signal.SIGKILL)",
    without=(FILTER, Layer.USER),
    held_by=(FILES_LOCK, MAC),
    abi=SCOPE,
)
cases.add(
    "kill-group",
    "the end of every process of its group",
    "os.kill(0, signal.SIGKILL)",
    expected=(Ending.HARMLESS, Ending.KILLED, Ending.CRASH),
    held_by=ANY,
    abi=SCOPE,
)
cases.add(
    "kill-bystander",
    "the end of another worker",
    "os.kill(target.bystander, signal.SIGKILL)",
    held_by=ANY,
    abi=SCOPE,
    bystander=True,
)
cases.add(
    "trace-parent",
    "the parent under a debugger",
    "result = call('ptrace', 0x4206, target.parent, None, None) == 0",
    held_by=(FILTER, FILES_LOCK, Layer.USER),
    optional=True,
    system="linux",
)
cases.add(
    "trace-parent-as-the-same-user",
    "the parent under a debugger, where neither filter nor user stands before it",
    "result = call('ptrace', 0x4206, target.parent, None, None) == 0",
    without=(FILTER, Layer.USER),
    held_by=(FILES_LOCK,),
    optional=True,
    system="linux",
)
cases.add(
    "be-traced",
    "stopping at each of its own signals, in its parent's hands",
    "result = call('ptrace', 0, 0, None, None) == 0",
    held_by=(FILTER,),
    system="linux",
)
cases.add(
    "write-parent-memory",
    "other bytes in the parent's memory",
    WRITE_MEMORY,
    held_by=(FILTER, FILES_LOCK, Layer.USER),
    optional=True,
    system="linux",
)
cases.add(
    "limits-of-the-parent",
    "the parent's limits",
    """
    limit = (ctypes.c_uint64 * 2)()
    call("prlimit64", target.parent, resource.RLIMIT_CORE, None, limit)
    limit[0] = 0 if limit[0] else min(4096, limit[1])
    call("prlimit64", target.parent, resource.RLIMIT_CORE, limit, None)
    """,
    held_by=(FILTER, Layer.USER),
    optional=True,  # where the limit is 0 and may not be raised there is nothing to change
    system="linux",
)
cases.add(
    "priority-of-the-parent",
    "the parent made slow",
    "os.setpriority(os.PRIO_PROCESS, target.parent, os.getpriority(os.PRIO_PROCESS, target.parent) + 1)",
    held_by=(FILTER, Layer.USER, MAC),
)
cases.add(
    "processors-of-the-parent",
    "the parent on one processor only",
    "os.sched_setaffinity(target.parent, {min(os.sched_getaffinity(target.parent))})",
    held_by=(FILTER, Layer.USER),
    optional=True,  # there may be only one
    system="linux",
)
cases.add(
    "live-on",
    "computing on when the process that forked it was killed",
    "say('begun')\nany(map((clock() + 2).__lt__, iter(clock, None)))",
    expected=Ending.KILLED,
    held_by=(Layer.PARENT_DEATH,),
    orphan=True,
)

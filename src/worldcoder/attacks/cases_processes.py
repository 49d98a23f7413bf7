"""Attacks that start processes and threads."""

from __future__ import annotations

from worldcoder.attacks.case import Cases, Kind
from worldcoder.sandbox import Layer

FILTER, FILES_LOCK, HANDLES, MAC = Layer.SECCOMP, Layer.LANDLOCK, Layer.FILES, Layer.SEATBELT

cases = Cases(Kind.PROCESSES)

FORK = """
    child = os.fork()
    if child == 0:
        os._exit(0)
    result = "forked"
    """
THREADS = """
    for _ in range(5):
        threading.Thread(target=time.sleep, args=(0.05,)).start()
        result = "a thread"
    """
EXECUTE = """
    os.execv("/bin/sh", ["sh", "-c", "exit 7"])
    """
cases.add("fork", "a second process", FORK, held_by=(FILTER, Layer.PROCESSES, MAC))
cases.add(
    "fork-without-filter",
    "a second process, where system calls are not filtered",
    FORK,
    without=(FILTER,),
    held_by=(Layer.PROCESSES, MAC),
)
cases.add(
    "fork-bomb",
    "ever more processes (five)",
    """
    for _ in range(5):
        if os.fork() == 0:
            time.sleep(0.1)
            os._exit(0)
        result = "forked"
    """,
    held_by=(FILTER, Layer.PROCESSES, MAC),
)
cases.add(
    "clone",
    "a second process, by a newer system call",
    """
    arguments = (ctypes.c_uint64 * 8)(0, 0, 0, 0, 17)
    if call("clone3", arguments, 64) == 0:
        os._exit(0)
    result = "forked"
    """,
    held_by=(FILTER, Layer.PROCESSES),
    optional=True,
    system="linux",
)
cases.add(
    "daemon",
    "a process that is nobody's and stays",
    """
    if os.fork() == 0:
        try:
            os.setsid()
            time.sleep(1)
        finally:
            os._exit(0)
    """,
    without=(FILTER,),
    held_by=(Layer.PROCESSES, MAC),
)
cases.add("threads", "ever more threads (five)", THREADS, held_by=(FILTER, Layer.PROCESSES))
cases.add(
    "threads-without-filter",
    "ever more threads, where system calls are not filtered",
    THREADS,
    without=(FILTER,),
    held_by=(Layer.PROCESSES,),
)
cases.add(
    "subprocess",
    "another program",
    """
    subprocess.run(["/bin/sh", "-c", "exit 0"], check=True)
    result = "ran"
    """,
    held_by=(FILTER, FILES_LOCK, Layer.PROCESSES, MAC, HANDLES),
)
cases.add(
    "shell",
    "a command of the shell",
    """
    result = os.system("exit 0") == 0
    """,
    held_by=(FILTER, FILES_LOCK, Layer.PROCESSES, MAC, HANDLES),
)
cases.add(
    "spawn",
    "another program, by the call made for it",
    """
    result = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 0"], {})
    """,
    held_by=(FILTER, FILES_LOCK, Layer.PROCESSES, MAC),
)
cases.add("execute", "becoming another program", EXECUTE, held_by=(FILTER, FILES_LOCK, MAC))
cases.add(
    "execute-without-filter",
    "becoming another program, where system calls are not filtered",
    EXECUTE,
    without=(FILTER,),
    held_by=(FILES_LOCK, MAC),
)
cases.add(
    "execute-memory",
    "becoming a program that never was a file",
    """
    code = bytes.fromhex("b83c000000 bf07000000 0f05")  # exit(7)
    head = b"\\x7fELF\\x02\\x01\\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    head += struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 120 + len(code), 120 + len(code), 4096)
    file = os.memfd_create("canary")
    os.write(file, head + code)
    call("execveat", file, b"", None, None, 0x1000)
    """,
    held_by=(FILTER, HANDLES),
    optional=True,
    machine="x86_64",
    system="linux",
)

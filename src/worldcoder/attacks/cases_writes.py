"""Attacks that change files. The folder and the file that they try are open to every user."""

from __future__ import annotations

from worldcoder.attacks.case import Cases, Kind
from worldcoder.sandbox import Layer

FILTER, FILES_LOCK, HANDLES, MAC = Layer.SECCOMP, Layer.LANDLOCK, Layer.FILES, Layer.SEATBELT
TRUNCATE = 3  # the version of Landlock from which on it knows truncation

cases = Cases(Kind.WRITES)

CREATE = """
    open(target.run + "/made", "w").write("hello")
    """
APPEND = """
    with open(target.file, "a") as file:
        file.write("hello")
    """
cases.add("create-file", "a new file where results lie", CREATE, held_by=(FILTER, FILES_LOCK, MAC, HANDLES))
cases.add(
    "create-file-without-filter",
    "a new file where results lie, where system calls are not filtered",
    CREATE,
    without=(FILTER, HANDLES),
    held_by=(FILES_LOCK, MAC),
)
cases.add(
    "create-file-without-descriptors",
    "a new file, where nothing but the limit on descriptors stands before it",
    """
    open(target.run + "/made", "w")
    """,
    without=(FILTER, FILES_LOCK),
    held_by=(Layer.FILES, MAC),
)
cases.add("append", "more text in a file", APPEND, held_by=(FILTER, FILES_LOCK, MAC, HANDLES))
cases.add(
    "grow-without-locks",
    "a file made longer, where nothing but the limit on the size of files stands before it",
    "os.truncate(target.file, 100_000)",
    without=(FILTER, FILES_LOCK),
    held_by=(Layer.FILES, MAC),
)
cases.add(
    "write-tmp",
    "a file in the folder for temporary ones",
    """
    open(target.tmp, "w")
    """,
    held_by=(FILTER, FILES_LOCK, MAC, HANDLES),
)
cases.add(
    "write-shared-memory",
    "a file in memory that others see",
    """
    open(target.shm, "w")
    """,
    held_by=(FILTER, FILES_LOCK, HANDLES),
    optional=True,
    system="linux",
)
for name, tries, line in (
    ("truncate", "a file emptied", "os.truncate(target.file, 0)"),
    ("unlink", "a file deleted", "os.unlink(target.file)"),
    ("rename", "a file under another name", "os.rename(target.file, target.run + '/moved')"),
    ("hard-link", "a second name for a file", "os.link(target.file, target.run + '/linked')"),
    ("symbolic-link", "a link that leads elsewhere", "os.symlink('/etc/passwd', target.run + '/link')"),
    ("make-folder", "a new folder", "os.mkdir(target.run + '/folder')"),
    ("make-pipe", "a pipe that has a name", "os.mkfifo(target.run + '/pipe')"),
):
    cases.add(
        name,
        tries,
        line,
        held_by=(FILTER, FILES_LOCK, MAC),
        abi=TRUNCATE if name == "truncate" else 1,
        optional=name == "hard-link",  # a machine may forbid links to other users' files
    )
cases.add(
    "unlink-without-filter",
    "a file deleted, where system calls are not filtered",
    "os.unlink(target.file)",
    without=(FILTER,),
    held_by=(FILES_LOCK, MAC),
)
cases.add(
    "change-mode",
    "a file made secret, or open",
    "os.chmod(target.file, 0o600)",
    held_by=(FILTER, Layer.USER, MAC),
)
cases.add(
    "change-mode-as-another-user",
    "a file made secret, where system calls are not filtered",
    "os.chmod(target.file, 0o600)",
    without=(FILTER,),
    held_by=(Layer.USER, MAC),
)
cases.add(
    "change-time",
    "a file made to look new",
    "os.utime(target.file)",
    held_by=(FILTER, MAC),
)
cases.add(
    "change-attributes",
    "a note attached to a file",
    "os.setxattr(target.file, 'user.canary', b'hello')",
    held_by=(FILTER,),
    optional=True,
    system="linux",
)
cases.add(
    "write-proc",
    "what the kernel kills first when memory is short",
    """
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("500")
    result = "written"
    """,
    held_by=(FILTER, FILES_LOCK, Layer.DUMP, Layer.USER, HANDLES),
    system="linux",
)
cases.add(
    "write-proc-of-the-parent",
    "what the kernel kills first: the parent",
    """
    with open(f"/proc/{target.parent}/oom_score_adj", "w") as file:
        file.write("500")
    result = "written"
    """,
    held_by=(FILTER, FILES_LOCK, Layer.USER, HANDLES),
    system="linux",
)

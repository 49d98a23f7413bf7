"""Attacks that read files."""

from __future__ import annotations

from worldcoder.attacks.case import Cases, Kind
from worldcoder.sandbox import Layer

FILTER, FILES_LOCK, HANDLES, MAC = Layer.SECCOMP, Layer.LANDLOCK, Layer.FILES, Layer.SEATBELT

cases = Cases(Kind.READS)

cases.add(
    "read-passwd",
    "the list of the machine's users",
    """
    result = open("/etc/passwd").read(300)
    """,
    held_by=(FILTER, FILES_LOCK, MAC, HANDLES),
)
cases.add(
    "read-secret",
    "a file that only its owner may read",
    """
    result = open(target.secret).read()
    """,
    held_by=(FILTER, FILES_LOCK, MAC, Layer.USER, HANDLES),
)
cases.add(
    "read-public",
    "a file that everybody may read",
    """
    result = open(target.public).read()
    """,
    held_by=(FILTER, FILES_LOCK, MAC, HANDLES),
)
cases.add(
    "read-public-without-filter",
    "a file that everybody may read, where system calls are not filtered",
    """
    result = open(target.public).read()
    """,
    without=(FILTER, HANDLES),
    held_by=(FILES_LOCK, MAC),
)
cases.add(
    "read-secret-as-another-user",
    "a file that only its owner may read, where nothing but the user stands before it",
    """
    result = open(target.secret).read()
    """,
    without=(FILTER, FILES_LOCK, HANDLES),
    held_by=(Layer.USER, MAC),
)
cases.add(
    "read-without-descriptors",
    "a file that everybody may read, where nothing but the limit on descriptors stands before it",
    """
    result = open(target.public).read()
    """,
    without=(FILTER, FILES_LOCK),
    held_by=(Layer.FILES, MAC),
)
cases.add(
    "read-openat2",
    "a file by a newer system call",
    """
    how = (ctypes.c_uint64 * 3)()
    result = os.read(call("openat2", -100, target.public.encode(), how, 24), 100)
    """,
    held_by=(FILTER, FILES_LOCK, HANDLES),
    optional=True,
    system="linux",
)
cases.add(
    "read-by-handle",
    "a file by its handle, past every folder's rights",
    """
    mount, handle = ctypes.c_int(), (ctypes.c_uint32 * 34)(128)
    call("name_to_handle_at", -100, target.public.encode(), handle, ctypes.byref(mount), 0)
    root = os.open("/", os.O_RDONLY)
    result = os.read(call("open_by_handle_at", root, handle, 0), 100)
    """,
    held_by=(FILTER, FILES_LOCK, Layer.USER, HANDLES),
    optional=True,
    system="linux",
)
cases.add(
    "list-folder",
    "the names in a folder",
    """
    result = os.listdir(target.run)
    """,
    held_by=(FILTER, FILES_LOCK, MAC, HANDLES),
)
cases.add(
    "look-at-file",
    "whether a file is there, and how large",
    """
    result = os.stat(target.public).st_size
    """,
    held_by=(FILTER, MAC),
)
cases.add(
    "read-link",
    "where the interpreter lives",
    """
    result = os.readlink("/proc/self/exe")
    """,
    held_by=(FILTER,),
    system="linux",
)
cases.add(
    "change-folder",
    "another working folder, and so whether it is there",
    """
    os.chdir(target.run)
    result = "went to the folder"
    """,
    held_by=(FILTER,),
    system="linux",
)
cases.add(
    "read-own-maps",
    "where in memory everything is",
    """
    result = open("/proc/self/maps").read(300)
    """,
    held_by=(FILTER, FILES_LOCK, HANDLES),
    system="linux",
)
cases.add(
    "reopen-own-pipe",
    "a descriptor of its own, opened again by its name in /proc",
    """
    for number in range(3, 64):
        try:
            os.write(number, b"")
        except OSError:
            continue
        result = os.open(f"/proc/self/fd/{number}", os.O_WRONLY) + 1
    """,
    held_by=(FILTER, HANDLES, Layer.USER),
    system="linux",
)
cases.add(
    "import-foreign-module",
    "a module that lies in a folder of the user's",
    """
    import _frozen_importlib_external as external
    loader = (external.SourceFileLoader, [".py"])
    sys.path_hooks.append(external.FileFinder.path_hook(loader))
    sys.meta_path.insert(0, external.PathFinder)
    sys.path.insert(0, target.modules)
    import canary_module
    result = canary_module.TOKEN
    """,
    held_by=(FILTER, FILES_LOCK, MAC, HANDLES),
)
cases.add(
    "load-library",
    "a library of machine code",
    """
    result = ctypes.CDLL(target.library)
    """,
    held_by=(FILTER, FILES_LOCK, MAC, HANDLES),
    optional=True,
)
cases.add(
    "watch-folder",
    "being told of every change in a folder",
    """
    watcher = call("inotify_init1", 0)
    result = call("inotify_add_watch", watcher, target.run.encode(), 0xFFF)
    """,
    held_by=(FILTER, HANDLES),
    system="linux",
)
cases.add(
    "kernel-log",
    "the kernel's messages",
    """
    result = call("syslog", 10, None, 0)
    """,
    held_by=(FILTER, Layer.USER),
    optional=True,
    system="linux",
)

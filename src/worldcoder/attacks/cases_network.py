"""Attacks that send something away."""

from __future__ import annotations

from worldcoder.attacks.case import Cases, Ending, Kind
from worldcoder.sandbox import Layer

FILTER, FILES_LOCK, HANDLES, MAC = Layer.SECCOMP, Layer.LANDLOCK, Layer.FILES, Layer.SEATBELT
TCP, SCOPE = 4, 6  # the versions of Landlock from which on it knows TCP, and other processes

cases = Cases(Kind.NETWORK)

cases.add(
    "tcp",
    "a connection by TCP",
    """
    socket.create_connection(("127.0.0.1", target.tcp), timeout=0.3)
    """,
    held_by=(FILTER, FILES_LOCK, MAC, HANDLES),
    abi=TCP,
)
cases.add(
    "tcp-without-filter",
    "a connection by TCP, where system calls are not filtered",
    """
    socket.create_connection(("127.0.0.1", target.tcp), timeout=0.3)
    """,
    without=(FILTER, HANDLES),
    held_by=(FILES_LOCK, MAC),
    abi=TCP,
)
cases.add(
    "tcp-listen",
    "a port of its own, where others may connect",
    """
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    result = listener.getsockname()
    """,
    held_by=(FILTER, FILES_LOCK, MAC, HANDLES),
    abi=TCP,
)
cases.add(
    "tcp-by-another-protocol",
    "a connection by TCP, asked for as multipath",
    """
    socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect(("127.0.0.1", target.tcp))
    """,
    held_by=(FILTER, HANDLES),
    optional=True,
    system="linux",
)
cases.add(
    "udp",
    "a datagram by UDP",
    """
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hello", ("127.0.0.1", target.udp))
    """,
    held_by=(FILTER, MAC, HANDLES),
)
cases.add(
    "raw-socket",
    "packets of its own making",
    """
    result = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    """,
    held_by=(FILTER, Layer.USER, MAC, HANDLES),
    optional=True,
)
cases.add(
    "packet-socket",
    "everything that passes on the wire",
    """
    result = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    """,
    held_by=(FILTER, Layer.USER, HANDLES),
    optional=True,
    system="linux",
)
cases.add(
    "netlink",
    "the machine's network configuration",
    """
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    link.bind((0, 0))
    result = link
    """,
    held_by=(FILTER, HANDLES),
    system="linux",
)
cases.add(
    "kernel-crypto-socket",
    "the kernel's ciphers, which have had holes",
    """
    result = socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET, 0)
    """,
    held_by=(FILTER, HANDLES),
    optional=True,
    system="linux",
)
cases.add(
    "virtual-machine-socket",
    "the host of a virtual machine",
    """
    result = socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
    """,
    held_by=(FILTER, HANDLES),
    optional=True,
    system="linux",
)
cases.add(
    "unix-socket",
    "a server on this machine, such as that of containers",
    """
    socket.socket(socket.AF_UNIX).connect(target.unix)
    """,
    held_by=(FILTER, MAC, HANDLES),
)
cases.add(
    "abstract-socket",
    "a server on this machine that has no file, such as the desktop's",
    """
    socket.socket(socket.AF_UNIX).connect(target.abstract)
    """,
    held_by=(FILTER, FILES_LOCK, HANDLES),
    abi=SCOPE,
    system="linux",
)
cases.add(
    "abstract-socket-without-filter",
    "a server that has no file, where system calls are not filtered",
    """
    socket.socket(socket.AF_UNIX).connect(target.abstract)
    """,
    without=(FILTER, HANDLES),
    held_by=(FILES_LOCK,),
    abi=SCOPE,
    system="linux",
)
cases.add(
    "socket-without-descriptors",
    "a datagram where nothing but the limit on descriptors stands before it",
    """
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hello", ("127.0.0.1", target.udp))
    """,
    without=(FILTER,),
    held_by=(Layer.FILES,),
)
cases.add(
    "inherited-descriptors",
    "whatever the parent or the template had open",
    """
    own = 2
    others = []
    for number in range(3, 1024):
        try:
            os.write(number, b"")
        except OSError as error:
            if error.errno == errno.EBADF:
                continue  # there is none
        others.append(number)
    result = others if len(others) > own else ""
    """,
    held_by=(Layer.DESCRIPTORS,),
)
cases.add(
    "standard-streams",
    "the terminal or the log that the parent writes to",
    """
    for number in (1, 2):
        os.write(number, b"hello")
    for stream in (sys.stdout, sys.stderr):
        stream.write("hello")
        stream.flush()
    """,
)
cases.add(
    "32-bit-socket",
    "a socket by the 32-bit system calls, whose numbers are others",
    """
    got = int80(359, 2, 2, 0)
    result = got >= 0 and "a socket"
    """,
    expected=(Ending.HARMLESS, Ending.CRASH),
    held_by=(FILTER, HANDLES),
    optional=True,
    machine="x86_64",
    system="linux",
)
cases.add(
    "x32-socket",
    "a socket by the numbers of a third kind of system call",
    """
    result = call(0x40000000 | 41, 2, 2, 0) + 1
    """,
    expected=(Ending.HARMLESS, Ending.CRASH),
    held_by=(FILTER, HANDLES),
    optional=True,
    machine="x86_64",
    system="linux",
)
cases.add(
    "pipe-to-itself",
    "a way between processes that nobody sees",
    """
    result = os.pipe()
    """,
    held_by=(FILTER, HANDLES),
)

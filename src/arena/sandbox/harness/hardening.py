"""A freshly cloned child walls itself in, in an order that matters, before any foreign code."""

from __future__ import annotations

import fcntl
import os
import resource
import socket
import struct

from arena.sandbox.harness import system

NULL, STDOUT, STDERR, REQUEST, RESULT = 0, 1, 2, 3, 4
FIRST_FREE = 5
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
NAMESPACES = (
    system.NEW_USER
    | system.NEW_PID
    | system.NEW_MOUNTS
    | system.NEW_IPC
    | system.NEW_UTS
    | system.NEW_CGROUP
)


class Walls:
    """Everything a child needs to know, prepared once in the zygote so that a clone is cheap."""

    def __init__(self, config: dict[str, object], code: bytes) -> None:
        identity = f"{os.getuid()} {os.getuid()} 1".encode()
        self.maps = (
            (b"/proc/self/setgroups", b"deny"),
            (b"/proc/self/uid_map", identity),
            (b"/proc/self/gid_map", identity),
        )
        self.network = bool(config["network"])
        self.flags = NAMESPACES | (system.NEW_NET if self.network else 0)
        mounts: list[list[object]] = config["mounts"]  # pyright: ignore[reportAssignmentType]
        self.mounts = [
            (str(path).encode(), int(flags), str(options).encode())  # pyright: ignore[reportArgumentType]
            for path, flags, options in mounts
        ]
        rlimits: dict[str, int] = config["rlimits"]  # pyright: ignore[reportAssignmentType]
        self.rlimits = [
            (getattr(resource, f"RLIMIT_{name}"), (value, value)) for name, value in rlimits.items()
        ]
        self.directory = str(config["directory"])
        self.filter = system.Filter(code)
        self.null = os.open("/dev/null", os.O_RDWR)


def place_descriptors(walls: Walls, received: list[int]) -> None:
    """Null, output, error output, request and result on 0 to 4, and nothing above."""
    os.dup2(walls.null, NULL)
    for target, source in zip((REQUEST, RESULT, STDOUT, STDERR), received):  # noqa: B905 - 3.9
        os.dup2(source, target)
    os.closerange(FIRST_FREE, 1024)


def enclose(walls: Walls) -> None:
    """Own identity, files, processes and limits; the last line loads the filter."""
    for path, line in walls.maps:
        descriptor = os.open(path, os.O_WRONLY)
        os.write(descriptor, line)
        os.close(descriptor)
    system.mount(b"none", b"/", None, system.MS_REC | system.MS_PRIVATE, b"")
    for path, flags, options in walls.mounts:
        system.mount(b"tmpfs", path, b"tmpfs", flags, options)
    careful = system.MS_NOSUID | system.MS_NODEV | system.MS_NOEXEC
    system.mount(b"proc", b"/proc", b"proc", careful, b"hidepid=2")
    if walls.network:
        _raise_loopback()
    os.chdir(walls.directory)
    for kind, value in walls.rlimits:
        resource.setrlimit(kind, value)
    os.setsid()
    system.prctl(system.PR_SET_PDEATHSIG, 9)
    system.prctl(system.PR_SET_DUMPABLE, 0)
    system.drop_capabilities()
    system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
    walls.filter.load()


def _raise_loopback() -> None:
    """A command may talk to itself; there is nothing else in its network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        fcntl.ioctl(probe, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))

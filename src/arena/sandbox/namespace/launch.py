"""Starts a box as an unprivileged user without an environment, and receives its handshakes."""

import asyncio
import os
import shutil
import socket
import stat
import struct
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from arena.sandbox.errors import SandboxUnavailable
from arena.sandbox.namespace.box import Box

DEDICATED_ID = 59109
"""The user and group of untrusted code when Arena itself runs as root."""
SYSTEM_PYTHON = Path("/usr/bin/python3")
CREDENTIALS = struct.Struct("iII")


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A box that is starting."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    """To its reaper."""
    orders: socket.socket
    """To its zygote."""

    def close_channels(self) -> None:
        """Close both; without its supervisor a box exits."""
        self.control.close()
        self.orders.close()


def launch(box: Box) -> Started:
    """Start bubblewrap with a reaper and a zygote in it; each sends a handshake once ready."""
    bubblewrap = find_bubblewrap()
    document = box.configuration()
    pairs = [channel_pair(socket.SOCK_SEQPACKET) for _ in range(2)]
    (control, reaper), (orders, zygote) = pairs
    channels = (reaper.fileno(), zygote.fileno())
    configuration = in_memory("configuration", document)
    try:
        arguments = box.arguments(channels, configuration)
        # Drop root first: RLIMIT_NPROC does not apply to uid 0, and root without capabilities
        # cannot map the nested user namespaces of the children.
        root = os.geteuid() == 0
        # An empty environment: --clearenv does not hide bubblewrap's own from the inside.
        process = subprocess.Popen(
            [bubblewrap, *arguments],
            env={},
            pass_fds=[*channels, configuration],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            user=DEDICATED_ID if root else None,
            group=DEDICATED_ID if root else None,
            extra_groups=[] if root else None,
            cwd="/",
            # While starting it is two processes; only a signal to the group reaches both.
            process_group=0,
        )
    except OSError as error:
        for ours, _ in pairs:
            ours.close()
        raise SandboxUnavailable.at(
            "bubblewrap",
            f"bubblewrap cannot be started as an unprivileged user: {error}",
            "run as an ordinary user, or as a root that may change its user",
        ) from error
    finally:
        for _, theirs in pairs:
            theirs.close()
        os.close(configuration)
    return Started(process=process, control=control, orders=orders)


def in_memory(name: str, content: bytes) -> int:
    """The descriptor of an anonymous file with `content`, positioned at its start."""
    descriptor = os.memfd_create(name)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def channel_pair(kind: socket.SocketKind) -> tuple[socket.socket, socket.socket]:
    """Our end, which never blocks and receives the pid of its first sender, and theirs."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
    ours.setblocking(False)
    # The far end must block, even if this process has a default socket timeout.
    theirs.setblocking(True)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return ours, theirs


async def receive_handshake(channel: socket.socket, seconds: float) -> tuple[bytes, int]:
    """The first message and its sender's pid; (b"", 0) if the peer has exited or is silent.

    Inside a pid namespace a process knows only its inner pid. The kernel translates the sender's
    pid, which cannot be forged.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(seconds):
            while True:
                try:
                    space = socket.CMSG_SPACE(CREDENTIALS.size)
                    message, ancillary, _, _ = channel.recvmsg(256, space)
                    break
                except BlockingIOError:
                    readable = asyncio.Event()
                    loop.add_reader(channel, readable.set)
                    try:
                        await readable.wait()
                    finally:
                        loop.remove_reader(channel)
    except (TimeoutError, OSError):
        return b"", 0
    channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
            pid, _, _ = CREDENTIALS.unpack(data[: CREDENTIALS.size])
            return message, pid
    return message, 0


def find_bubblewrap() -> str:
    """Where bubblewrap is installed."""
    found = shutil.which("bwrap")
    if found is None:
        raise SandboxUnavailable.at(
            "bubblewrap",
            "the program 'bwrap' is not on the PATH",
            "install the package bubblewrap",
        )
    return found


@cache
def find_python() -> Path:
    """The interpreter for the boxes, which the box's user must be able to reach.

    The system's own if its version is the one Arena runs on, else the one Arena runs on, else the
    system's of any version.
    """
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    own = Path(sys.base_prefix, "bin", name)
    system = SYSTEM_PYTHON.resolve()
    candidates = [own.resolve(), system]
    if system.name == name:
        candidates.reverse()
    for candidate in candidates:
        if candidate.exists() and is_reachable(candidate):
            return candidate
    raise SandboxUnavailable.at(
        "python",
        f"neither {own} nor {SYSTEM_PYTHON} can be read by an unprivileged user",
        "install the package python3",
    )


@cache
def find_node() -> Path | None:
    """Node, if it is installed where the box's user can reach it."""
    found = shutil.which("node", path="/usr/local/bin:/usr/bin") or shutil.which("node")
    if found is None:
        return None
    path = Path(found).resolve()
    return path if is_reachable(path) else None


def is_reachable(path: Path) -> bool:
    """Whether an unprivileged user may access `path`."""
    if os.geteuid() != 0:
        return os.access(path, os.R_OK | os.X_OK)
    steps = [*path.parents, path]
    return all(step.stat().st_mode & stat.S_IXOTH for step in steps)

"""Starts a zygote in its outer box, as somebody without rights and without an environment."""

import os
import shutil
import socket
import stat
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from arena.sandbox.errors import ProbeStep, SandboxUnavailable
from arena.sandbox.namespace.box import Box, Kind, quickjs_extension, running_version
from arena.sandbox.namespace.greetings import channel_pair

DEDICATED_ID = 59109
"""The user and group that hostile code belongs to where Arena itself runs as root."""
SYSTEM_PYTHON = Path("/usr/bin/python3")


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A box that is coming up."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    """To its keeper."""
    orders: socket.socket
    """To its zygote."""


def launch(box: Box) -> Started:
    """Start bubblewrap with a zygote in it; both of its processes speak up when they are ready."""
    bubblewrap = program()
    if bubblewrap is None:
        step = missing_bubblewrap()
        raise SandboxUnavailable(f"{step.detail}; {step.remedy}", report=[step])
    document = box.configuration()
    pairs = [channel_pair(socket.SOCK_SEQPACKET) for _ in range(2)]
    (control, keeper), (orders, zygote) = pairs
    channels = (keeper.fileno(), zygote.fileno())
    files = [_in_memory("configuration", document)]
    extension = _extension(box)
    if extension is not None:
        files.append(extension)
    try:
        arguments = box.arguments(channels, files[0], extension)
        root = os.geteuid() == 0
        # An empty environment: bubblewrap's own is readable from inside, whatever --clearenv does.
        process = subprocess.Popen(
            [bubblewrap, *arguments],
            env={},
            pass_fds=[*channels, *files],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            user=DEDICATED_ID if root else None,
            group=DEDICATED_ID if root else None,
            extra_groups=[] if root else None,
            cwd="/",
            # While it starts it is two processes, and only the group reaches both of them.
            process_group=0,
        )
    except OSError as error:
        for ours, _ in pairs:
            ours.close()
        step = ProbeStep(
            name="bubblewrap",
            works=False,
            detail=f"it cannot be started as an unprivileged user: {error}",
            remedy="run as an ordinary user, or as a root that may change its user",
        )
        raise SandboxUnavailable(f"{step.detail}; {step.remedy}", report=[step]) from error
    finally:
        for _, theirs in pairs:
            theirs.close()
        for descriptor in files:
            os.close(descriptor)
    return Started(process=process, control=control, orders=orders)


def program() -> str | None:
    """Where bubblewrap is."""
    return shutil.which("bwrap")


def missing_bubblewrap() -> ProbeStep:
    """The report of a machine without bubblewrap."""
    return ProbeStep(
        name="bubblewrap",
        works=False,
        detail="the program 'bwrap' is not on the PATH",
        remedy="install the package bubblewrap",
    )


def _extension(box: Box) -> int | None:
    """QuickJS by descriptor: the path it is installed under may be closed to the box's user."""
    path = quickjs_extension() if box.kind is Kind.QUICKJS else None
    return os.open(path, os.O_RDONLY) if path is not None else None


def _in_memory(name: str, content: bytes) -> int:
    descriptor = os.memfd_create(name)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


@cache
def find_python() -> Path:
    """The interpreter for the boxes: one that the box's user can reach.

    The system's own where it is of the version Arena runs on (QuickJS is compiled for that one),
    else the one Arena runs on, else the system's of any version.
    """
    own = Path(sys.base_prefix, "bin", f"python{running_version()}")
    candidates: list[Path] = []
    system = SYSTEM_PYTHON.resolve()
    if system.name == f"python{running_version()}":
        candidates.append(system)
    candidates += [own.resolve(), system]
    for candidate in candidates:
        if candidate.exists() and is_reachable(candidate):
            return candidate
    step = ProbeStep(
        name="python",
        works=False,
        detail=f"neither {own} nor {SYSTEM_PYTHON} can be read by an unprivileged user",
        remedy="install the package python3",
    )
    raise SandboxUnavailable(f"{step.detail}; {step.remedy}", report=[step])


def has_quickjs() -> bool:
    """Whether the compiled QuickJS fits the interpreter of the boxes."""
    fits = find_python().name == f"python{running_version()}"
    return fits and quickjs_extension() is not None


@cache
def find_node() -> Path | None:
    """Node, where the box's user can reach it."""
    found = shutil.which("node", path="/usr/local/bin:/usr/bin") or shutil.which("node")
    if found is None:
        return None
    path = Path(found).resolve()
    return path if is_reachable(path) else None


def is_reachable(path: Path) -> bool:
    """Whether somebody without rights may walk to `path` and read it."""
    if os.geteuid() != 0:
        return os.access(path, os.R_OK | os.X_OK)
    steps = [*path.parents, path]
    return all(step.stat().st_mode & stat.S_IXOTH for step in steps)

"""Process 1 of a workspace: runs one command at a time, then kills and reaps its processes.

No signal from inside its namespace can kill it, and its children cannot inspect it. The supervisor
sends requests over a socket:

    exec wall_ms cpu_s command   + stdout, stderr    -> ended status cpu_us timed_out peak_kib
    write path                   + content           -> done | refused reason
    read limit path              + sink              -> done | refused reason
"""

from __future__ import annotations

import array
import contextlib
import os
import resource
import signal
import socket
import stat
import time
from typing import Any

from arena.sandbox.harness.hardening import REQUEST, RESULT
from arena.sandbox.harness.reaper import Clock

SHELL = "/bin/sh"
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/desk",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}
MESSAGE_BYTES = 1 << 17
# A path is opened part by part with these: no link is followed and nothing leaves the folder.
STEP = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_RDONLY
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
WRITE = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_state: dict[str, Any] = {}


class Refused(Exception):
    """Not a regular file of the workspace."""


def prepare(config: dict[str, Any]) -> None:
    """Remember the workspace's folder."""
    _state["root"] = str(config["directory"])


def run() -> None:
    """Serve until the supervisor closes the socket; the namespace ends with this process."""
    os.close(RESULT)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    control = socket.socket(fileno=REQUEST)
    control.send(b"open")
    while True:
        message, ancillary, _, _ = control.recvmsg(MESSAGE_BYTES, socket.CMSG_SPACE(16))
        if not message:
            os._exit(0)
        received = array.array("i")
        for _, _, data in ancillary:
            received.frombytes(data)
        descriptors = list(received)
        verb, _, rest = message.partition(b" ")
        try:
            answer = _ANSWERS[verb](rest, descriptors)
        except (OSError, Refused) as error:
            answer = b"refused " + _reason(error)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        control.send(answer)


def _reason(error: Exception) -> bytes:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text.encode()


def _exec(rest: bytes, descriptors: list[int]) -> bytes:
    wall_ms, cpu_seconds, command = rest.split(b" ", 2)
    clock = Clock(int(wall_ms))
    pid = os.fork()
    if pid == 0:
        _start_shell(command, descriptors, int(cpu_seconds))
    timed_out = 0
    # Waits for SIGCHLD, because the filter does not allow pidfd_open.
    while not (result := os.wait4(pid, os.WNOHANG))[0]:
        if clock.has_run_out(_other_processes()):
            timed_out = 1
            os.kill(pid, signal.SIGKILL)
            result = os.wait4(pid, 0)
            break
        signal.sigtimedwait([signal.SIGCHLD], max(0.0, clock.deadline - time.monotonic()))
    _, status, usage = result
    _kill_all()
    cpu_us = int((usage.ru_utime + usage.ru_stime) * 1_000_000)
    return b"ended %d %d %d %d" % (status, cpu_us, timed_out, usage.ru_maxrss)


def _other_processes() -> list[int]:
    names = os.listdir("/proc")  # noqa: PTH208
    return [int(name) for name in names if name.isdigit() and name != "1"]


def _start_shell(command: bytes, descriptors: list[int], cpu_seconds: int) -> None:
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
        os.dup2(descriptors[0], 1)
        os.dup2(descriptors[1], 2)
        os.closerange(3, 1024)
        os.execve(SHELL, ["sh", "-c", command], ENVIRONMENT)
    finally:
        os._exit(126)


def _kill_all() -> None:
    """Kill every process but this one, and reap them all."""
    while True:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        try:
            while True:
                os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _write(rest: bytes, descriptors: list[int]) -> bytes:
    target = open_to_write(os.fsdecode(rest))
    try:
        while piece := os.read(descriptors[0], 1 << 20):
            _write_all(target, piece)
    finally:
        os.close(target)
    return b"done"


def _read(rest: bytes, descriptors: list[int]) -> bytes:
    limit, path = rest.split(b" ", 1)
    source = open_to_read(os.fsdecode(path), int(limit))
    try:
        left = int(limit) + 1
        while left > 0 and (piece := os.read(source, min(1 << 20, left))):
            left -= len(piece)
            _write_all(descriptors[0], piece)
    finally:
        os.close(source)
    return b"done"


def open_parent(path: str, create: bool) -> tuple[int, str]:
    """A descriptor of the folder that holds `path`, and the last part of the name."""
    *folders, name = path.split("/")
    here = os.open(_state["root"], STEP)
    for folder in folders:
        try:
            if create and folder not in os.listdir(here):  # noqa: PTH208
                os.mkdir(folder, 0o755, dir_fd=here)
            following = os.open(folder, STEP, dir_fd=here)
        finally:
            os.close(here)
        here = following
    return here, name


def open_to_read(path: str, limit: int) -> int:
    """A descriptor of the regular file at `path`."""
    parent, name = open_parent(path, create=False)
    try:
        descriptor = os.open(name, READ, dir_fd=parent)
    finally:
        os.close(parent)
    return _checked(descriptor, limit)


def open_to_write(path: str) -> int:
    """A descriptor of a new or emptied regular file at `path`."""
    parent, name = open_parent(path, create=True)
    try:
        descriptor = os.open(name, WRITE, 0o644, dir_fd=parent)
    finally:
        os.close(parent)
    descriptor = _checked(descriptor, None)
    os.ftruncate(descriptor, 0)
    return descriptor


def _checked(descriptor: int, limit: int | None) -> int:
    found = os.fstat(descriptor)
    problem = None
    if not stat.S_ISREG(found.st_mode):
        problem = "not a regular file"
    elif found.st_nlink != 1:
        problem = "a file with a second name"
    elif limit is not None and found.st_size > limit:
        problem = f"too large: {found.st_size} bytes, the limit is {limit}"
    if problem is not None:
        os.close(descriptor)
        raise Refused(problem)
    return descriptor


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


_ANSWERS = {b"exec": _exec, b"write": _write, b"read": _read}

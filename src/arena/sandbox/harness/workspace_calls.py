"""The first process of a workspace: runs one command at a time and buries whatever it leaves.

It is process 1 of its namespace, which no signal from inside can end, and closed to inspection by
its children. The supervisor speaks to it over a socket:

    exec wall_ms cpu_s command   + stdout, stderr    -> ended status cpu_us late peak_kib
    write path                   + content           -> done | refused reason
    read path limit              + sink              -> done | refused reason
"""

from __future__ import annotations

import array
import contextlib
import os
import resource
import signal
import socket
import time
from typing import Any

from arena.sandbox.harness.clocks import Clock
from arena.sandbox.harness.files import Refused, open_to_read, open_to_write
from arena.sandbox.harness.hardening import REQUEST, RESULT

SHELL = "/bin/sh"
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/desk",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}
MESSAGE_BYTES = 1 << 17
_state: dict[str, Any] = {}


def prepare(config: dict[str, Any]) -> None:
    """Remember where the files are."""
    _state["root"] = str(config["directory"])


def run() -> None:
    """Serve until the supervisor goes away; then the whole namespace ends with this process."""
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
        _become(command, descriptors, int(cpu_seconds))
    status, usage = _wait(pid, clock)
    late = 0
    if usage is None:
        late = 1
        os.kill(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
    _bury_all()
    cpu_us = int((usage.ru_utime + usage.ru_stime) * 1_000_000)
    return b"ended %d %d %d %d" % (status, cpu_us, late, usage.ru_maxrss)


def _wait(pid: int, clock: Clock) -> tuple[int, Any]:
    """Status and usage of the child; None for the latter when its time ran out first.

    By signal: the filter that the children inherit has no pidfd_open.
    """
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            return status, usage
        if clock.has_run_out(_everybody()):
            return 0, None
        signal.sigtimedwait([signal.SIGCHLD], max(0.0, clock.deadline - time.monotonic()))


def _everybody() -> list[int]:
    """The processes of the command that can be seen."""
    names = os.listdir("/proc")  # noqa: PTH208
    return [int(name) for name in names if name.isdigit() and name != "1"]


def _become(command: bytes, descriptors: list[int], cpu_seconds: int) -> None:
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


def _bury_all() -> None:
    """End everything but this process, and wait until it is gone."""
    while True:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        try:
            while True:
                os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _write(rest: bytes, descriptors: list[int]) -> bytes:
    target = open_to_write(os.fsdecode(rest), _state["root"])
    try:
        while piece := os.read(descriptors[0], 1 << 20):
            _write_all(target, piece)
    finally:
        os.close(target)
    return b"done"


def _read(rest: bytes, descriptors: list[int]) -> bytes:
    limit, path = rest.split(b" ", 1)
    source = open_to_read(os.fsdecode(path), _state["root"], int(limit))
    try:
        left = int(limit) + 1
        while left > 0 and (piece := os.read(source, min(1 << 20, left))):
            left -= len(piece)
            _write_all(descriptors[0], piece)
    finally:
        os.close(source)
    return b"done"


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


_ANSWERS = {b"exec": _exec, b"write": _write, b"read": _read}

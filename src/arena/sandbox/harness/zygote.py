"""A warm interpreter that clones itself, once per submission, and buries its children.

It lives in the outer box, has one thread, never reads what a submission is or says, and obeys
the supervisor at the other end of its socket:

    spawn id wall_ms + descriptors (request, result, stdout, stderr)    wall_ms 0: the clock waits
    arm id wall_ms                                                      start the clock now
    kill id
    -> ended id status cpu_us peak_kib late
"""

from __future__ import annotations

import array
import gc
import importlib
import os
import platform
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import Any

from arena.sandbox.harness.hardening import RESULT, Walls
from arena.sandbox.harness.system import StepFailed

Work = Callable[[], None]
FD_BYTES = socket.CMSG_SPACE(8 * 4)
EXIT_UNHARDENED = 70
FOREVER = float("inf")
# What `signal` is made of: its own functions make enums, page after page in every child.
_plain: Any = importlib.import_module("_signal")


class Child:
    """One running clone."""

    __slots__ = ("deadline", "late", "name")

    def __init__(self, name: bytes, deadline: float) -> None:
        self.name = name
        self.deadline = deadline
        self.late = 0


class Zygote:
    """The loop. After every clone each page it touches is copied, so it touches little."""

    def __init__(self, control: socket.socket, walls: Walls, work: Work) -> None:
        self.control = control
        self.walls = walls
        self.work = work
        self.children: dict[int, Child] = {}
        # The kernel writes a byte here whenever a child has ended.
        self.wakeup, ended = socket.socketpair()
        self.wakeup.setblocking(False)
        ended.setblocking(False)
        self._kept = ended
        signal.set_wakeup_fd(ended.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _no_action)
        self.poller = select.poll()
        self.poller.register(control, select.POLLIN)
        self.poller.register(self.wakeup, select.POLLIN)

    def serve(self) -> None:
        """Until the supervisor closes its end."""
        orders = self.control.fileno()
        while True:
            for descriptor, _ in self.poller.poll(self._patience()):
                if descriptor != orders:
                    self._bury()
                elif not self._obey():
                    return
            self._expire()

    def _patience(self) -> int | None:
        if not self.children:
            return None
        nearest = min([child.deadline for child in self.children.values()])
        if nearest == FOREVER:
            return None
        return max(0, int((nearest - time.monotonic()) * 1000) + 1)

    def _obey(self) -> bool:
        message, ancillary, _, _ = self.control.recvmsg(256, FD_BYTES)
        if not message:
            return False
        verb, name, *rest = message.split()
        if verb == b"spawn":
            received = array.array("i")
            for _, _, data in ancillary:
                received.frombytes(data)
            self._spawn(name, _deadline(rest[0]), received)
            return True
        for pid, child in self.children.items():
            if child.name == name:
                if verb == b"arm":
                    child.deadline = _deadline(rest[0])
                else:
                    # Not yet waited for, so the number cannot belong to anybody else.
                    os.kill(pid, signal.SIGKILL)
        return True

    def _spawn(self, name: bytes, deadline: float, received: array.array[int]) -> None:
        try:
            pid = self.walls.clone(received)
        except StepFailed as failure:
            _give_up(failure)
        except OSError as error:
            os.write(received[1], f'{{"setup":"{error.strerror}"}}\n'.encode())
            self.control.send(b"ended %s %d 0 0 0" % (name, EXIT_UNHARDENED << 8))
        else:
            if pid == 0:
                self._work()
            self.children[pid] = Child(name, deadline)
        for descriptor in received:
            os.close(descriptor)

    def _work(self) -> None:
        try:
            _plain.set_wakeup_fd(-1)
            _plain.signal(_plain.SIGCHLD, _plain.SIG_DFL)
            self.work()
        except BaseException as error:
            os.write(2, f"the harness failed: {error!r}\n".encode(errors="replace"))
        finally:
            os._exit(1)

    def _bury(self) -> None:
        self.wakeup.recv(4096)
        while self.children:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            child = self.children.pop(pid)
            cpu_us = int((usage[0] + usage[1]) * 1_000_000)
            report = (child.name, status, cpu_us, usage[2], child.late)
            self.control.send(b"ended %s %d %d %d %d" % report)

    def _expire(self) -> None:
        if not self.children:
            return
        now = time.monotonic()
        for pid, child in self.children.items():
            if child.deadline <= now:
                child.late = 1
                child.deadline = FOREVER
                os.kill(pid, signal.SIGKILL)


def _no_action(number: int, frame: object) -> None:
    """Only so that the signal is not ignored; the byte in the wake-up socket is what counts."""


def _deadline(wall_ms: bytes) -> float:
    """When the clock runs out; 0 leaves it stopped."""
    return time.monotonic() + int(wall_ms) / 1000 if wall_ms != b"0" else FOREVER


def _give_up(failure: StepFailed) -> None:
    """In the child: its walls are not complete, so nothing foreign may run in it."""
    try:
        os.write(RESULT, f'{{"setup":"{failure}"}}\n'.encode())
    finally:
        os._exit(EXIT_UNHARDENED)


def start(control: socket.socket, config: dict[str, object], code: bytes, work: Work) -> None:
    """Prepare everything that can be prepared, say so, and serve."""
    walls = Walls(config, code)
    zygote = Zygote(control, walls, work)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ.clear()
    gc.collect()
    gc.freeze()
    gc.disable()
    control.send(b"warm " + platform.python_version().encode())
    zygote.serve()

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
import os
import platform
import select
import signal
import socket
import time
from collections.abc import Callable

from arena.sandbox.harness.hardening import RESULT, Walls
from arena.sandbox.harness.system import StepFailed

Work = Callable[[], None]
FD_BYTES = socket.CMSG_SPACE(8 * 4)
EXIT_UNHARDENED = 70


class Child:
    """One running clone."""

    __slots__ = ("deadline", "late", "name", "pid", "pidfd")

    def __init__(self, name: bytes, pid: int, wall_ms: int) -> None:
        self.name = name
        self.pid = pid
        self.pidfd = os.pidfd_open(pid)
        self.late = 0
        self.deadline = 0.0
        self.arm(wall_ms)

    def arm(self, wall_ms: int) -> None:
        """Start the clock; 0 leaves it stopped."""
        self.deadline = time.monotonic() + wall_ms / 1000 if wall_ms else float("inf")


class Zygote:
    """The loop."""

    def __init__(self, control: socket.socket, walls: Walls, work: Work) -> None:
        self.control = control
        self.walls = walls
        self.work = work
        self.children: dict[int, Child] = {}
        self.by_name: dict[bytes, Child] = {}
        self.poller = select.poll()
        self.poller.register(control, select.POLLIN)

    def serve(self) -> None:
        """Until the supervisor closes its end."""
        while True:
            for descriptor, _ in self.poller.poll(self._patience()):
                child = self.children.get(descriptor)
                if child is not None:
                    self._bury(child)
                elif not self._obey():
                    return
            self._expire()

    def _patience(self) -> int | None:
        if not self.children:
            return None
        nearest = min(child.deadline for child in self.children.values())
        if nearest == float("inf"):
            return None
        return max(0, int((nearest - time.monotonic()) * 1000) + 1)

    def _obey(self) -> bool:
        message, ancillary, _, _ = self.control.recvmsg(256, FD_BYTES)
        if not message:
            return False
        received = array.array("i")
        for _, _, data in ancillary:
            received.frombytes(data)
        verb, name, *rest = message.split()
        if verb == b"spawn":
            self._spawn(name, int(rest[0]), list(received))
        elif name in self.by_name:
            child = self.by_name[name]
            if verb == b"arm":
                child.arm(int(rest[0]))
            else:
                signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)
        return True

    def _spawn(self, name: bytes, wall_ms: int, received: list[int]) -> None:
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
            child = Child(name, pid, wall_ms)
            self.children[child.pidfd] = child
            self.by_name[name] = child
            self.poller.register(child.pidfd, select.POLLIN)
        for descriptor in received:
            os.close(descriptor)

    def _work(self) -> None:
        try:
            self.work()
        except BaseException as error:
            os.write(2, f"the harness failed: {error!r}\n".encode(errors="replace"))
        finally:
            os._exit(1)

    def _bury(self, child: Child) -> None:
        _, status, usage = os.wait4(child.pid, 0)
        self.poller.unregister(child.pidfd)
        del self.children[child.pidfd], self.by_name[child.name]
        os.close(child.pidfd)
        cpu_us = int((usage.ru_utime + usage.ru_stime) * 1_000_000)
        report = (child.name, status, cpu_us, usage.ru_maxrss, child.late)
        self.control.send(b"ended %s %d %d %d %d" % report)

    def _expire(self) -> None:
        now = time.monotonic()
        for child in self.children.values():
            if child.deadline <= now:
                child.late = 1
                child.deadline = float("inf")
                signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)


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

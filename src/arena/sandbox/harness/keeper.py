"""Looks after the zygote's children: their clocks, their ends, and their burial.

The first process of the outer box, and the parent of all that the zygote clones. It has a memory
of its own, so that its work costs no child a page. The supervisor tells it

    arm name wall_ms     start the clock now
    kill name
    -> ended name status cpu_us peak_kib late
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import socket
import time

from arena.sandbox.harness.clocks import FOREVER, Clock
from arena.sandbox.harness.system import RECORD

NOT_CLONED = 71 << 8
"""The status of a child that never was."""


class Child:
    """One running clone."""

    __slots__ = ("clock", "late", "name")

    def __init__(self, name: int, wall_ms: int) -> None:
        self.name = name
        self.clock = Clock(wall_ms)
        self.late = 0


class Keeper:
    """The loop. An order to a child, and even its end, may come before it is reported."""

    def __init__(self, control: socket.socket, reports: int, zygote: int) -> None:
        self.control = control
        self.reports = reports
        self.zygote = zygote
        self.children: dict[int, Child] = {}
        self._last_name = -1
        self._early_orders: dict[int, list[bytes]] = {}
        self._early_ends: dict[int, tuple[int, int, int]] = {}
        # The kernel writes a byte here whenever a child has ended.
        self.wakeup, ended = socket.socketpair()
        self.wakeup.setblocking(False)
        ended.setblocking(False)
        self._kept = ended
        signal.set_wakeup_fd(ended.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _no_action)
        self.poller = select.poll()
        for channel in (control, self.wakeup, reports):
            self.poller.register(channel, select.POLLIN)

    def serve(self) -> None:
        """Until the supervisor closes its end, or the zygote has gone."""
        control, wakeup = self.control.fileno(), self.wakeup.fileno()
        # Somebody may have ended before there was anything to wake up.
        if not self._bury():
            return
        while True:
            for descriptor, _ in self.poller.poll(self._patience()):
                if descriptor == wakeup:
                    goes_on = self._bury()
                elif descriptor == control:
                    goes_on = self._obey()
                else:
                    goes_on = self._register()
                if not goes_on:
                    return
            self._expire()

    def _patience(self) -> int | None:
        nearest = min([child.clock.deadline for child in self.children.values()], default=FOREVER)
        if nearest == FOREVER:
            return None
        return max(0, int((nearest - time.monotonic()) * 1000) + 1)

    def _register(self) -> bool:
        """Take note of the children that the zygote has cloned."""
        data = os.read(self.reports, 64 * RECORD.size)
        for pid, name, wall_ms in RECORD.iter_unpack(data):
            self._last_name = name
            child = Child(name, wall_ms)
            orders = self._early_orders.pop(name, ())
            if pid < 0:
                os.write(2, f"clone: {errno.errorcode.get(-pid)}\n".encode())
                self._report(child, (NOT_CLONED, 0, 0))
            elif pid in self._early_ends:
                self._report(child, self._early_ends.pop(pid))
            else:
                self.children[pid] = child
                for order in orders:
                    self._carry_out(pid, child, order)
        return bool(data)

    def _obey(self) -> bool:
        message = self.control.recv(256)
        if not message:
            return False
        name = int(message.split()[1])
        for pid, child in self.children.items():
            if child.name == name:
                self._carry_out(pid, child, message)
                return True
        # They are cloned in the order of their names: a smaller one has ended.
        if name > self._last_name:
            self._early_orders.setdefault(name, []).append(message)
        return True

    def _carry_out(self, pid: int, child: Child, order: bytes) -> None:
        if order.startswith(b"arm"):
            child.clock = Clock(int(order.split()[2]))
        else:
            # Not yet waited for, so the number cannot belong to anybody else.
            os.kill(pid, signal.SIGKILL)

    def _bury(self) -> bool:
        with contextlib.suppress(BlockingIOError):
            self.wakeup.recv(4096)
        while True:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return True
            if pid == self.zygote:
                return False
            end = (status, int((usage[0] + usage[1]) * 1_000_000), usage[2])
            child = self.children.pop(pid, None)
            if child is None:
                self._early_ends[pid] = end
            else:
                self._report(child, end)

    def _report(self, child: Child, end: tuple[int, int, int]) -> None:
        self.control.send(b"ended %d %d %d %d %d" % (child.name, *end, child.late))

    def _expire(self) -> None:
        if not self.children:
            return
        for pid, child in self.children.items():
            if child.clock.has_run_out([pid]):
                child.late = 1
                child.clock.stop()
                os.kill(pid, signal.SIGKILL)


def _no_action(number: int, frame: object) -> None:
    """Only so that the signal is not ignored; the byte in the wake-up socket is what counts."""

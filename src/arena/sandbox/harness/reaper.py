"""The parent of the zygote's children: enforces their wall-clock limits, kills and reaps them.

It is process 1 of the outer box. It has its own memory, so that its work costs no child a copied
page. The supervisor sends commands over a socket:

    arm name wall_ms     start the child's clock now
    kill name
    -> ended name status cpu_us peak_kib timed_out
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Iterable

from arena.sandbox.harness.system import RECORD

FOREVER = float("inf")
PATIENCE = 3
"""Waiting for a core does not count, up to this many times the wall-clock limit."""
NOT_CLONED = 71 << 8
"""The wait status reported for a child that could not be cloned."""


class Clock:
    """A wall-clock limit that does not run while its processes wait for a core."""

    __slots__ = ("_began", "_wall", "deadline")

    def __init__(self, wall_ms: int) -> None:
        """Start it; 0 milliseconds is no limit."""
        self._began = time.monotonic()
        self._wall = wall_ms / 1000 or FOREVER
        self.deadline = self._began + self._wall

    def has_run_out(self, pids: Iterable[int]) -> bool:
        """Whether the limit is reached, without the time that the slowest of `pids` waited."""
        if time.monotonic() < self.deadline:
            return False
        waited = max(map(_waited_for_a_core, pids), default=0.0)
        self.deadline = self._began + self._wall + min(waited, PATIENCE * self._wall)
        return time.monotonic() >= self.deadline


def _waited_for_a_core(pid: int) -> float:
    """The longest time that a thread of the process was runnable but not running."""
    seconds = 0.0
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with open(f"/proc/{pid}/task/{thread}/schedstat", "rb") as file:  # noqa: PTH123
                seconds = max(seconds, int(file.read().split()[1]) / 1e9)
    return seconds


class Child:
    """One running child."""

    __slots__ = ("clock", "name", "timed_out")

    def __init__(self, name: int, wall_ms: int) -> None:
        self.name = name
        self.clock = Clock(wall_ms)
        self.timed_out = 0


class Reaper:
    """The loop. A command for a child, or its exit, may arrive before the report of its clone."""

    def __init__(self, control: socket.socket, reports: int, zygote: int) -> None:
        self.control = control
        self.reports = reports
        self.zygote = zygote
        self.children: dict[int, Child] = {}
        self._last_name = -1
        self._early_commands: dict[int, list[bytes]] = {}
        self._early_exits: dict[int, tuple[int, int, int]] = {}
        # Python writes a byte here on every SIGCHLD.
        self.wakeup, self._wakeup_writer = socket.socketpair()
        self.wakeup.setblocking(False)
        self._wakeup_writer.setblocking(False)
        signal.set_wakeup_fd(self._wakeup_writer.fileno(), warn_on_full_buffer=False)
        # An ignored signal would not write a byte.
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self.poller = select.poll()
        for channel in (control, self.wakeup, reports):
            self.poller.register(channel, select.POLLIN)

    def serve(self) -> None:
        """Run until the supervisor closes its end or the zygote has exited."""
        control, wakeup = self.control.fileno(), self.wakeup.fileno()
        # A child may have exited before there was a handler for the signal.
        if not self._reap():
            return
        while True:
            for descriptor, _ in self.poller.poll(self._poll_ms()):
                if descriptor == wakeup:
                    goes_on = self._reap()
                elif descriptor == control:
                    goes_on = self._receive_command()
                else:
                    goes_on = self._register()
                if not goes_on:
                    return
            self._kill_overdue()

    def _poll_ms(self) -> int | None:
        nearest = min([child.clock.deadline for child in self.children.values()], default=FOREVER)
        if nearest == FOREVER:
            return None
        return max(0, int((nearest - time.monotonic()) * 1000) + 1)

    def _register(self) -> bool:
        """Record the children that the zygote has cloned."""
        data = os.read(self.reports, 64 * RECORD.size)
        for pid, name, wall_ms in RECORD.iter_unpack(data):
            self._last_name = name
            child = Child(name, wall_ms)
            commands = self._early_commands.pop(name, ())
            if pid < 0:
                self._report(child, (NOT_CLONED, 0, 0))
            elif pid in self._early_exits:
                self._report(child, self._early_exits.pop(pid))
            else:
                self.children[pid] = child
                for command in commands:
                    self._execute(pid, child, command)
        return bool(data)

    def _receive_command(self) -> bool:
        message = self.control.recv(256)
        if not message:
            return False
        name = int(message.split()[1])
        for pid, child in self.children.items():
            if child.name == name:
                self._execute(pid, child, message)
                return True
        # Children are cloned in the order of their names: one with a smaller name has exited.
        if name > self._last_name:
            self._early_commands.setdefault(name, []).append(message)
        return True

    def _execute(self, pid: int, child: Child, command: bytes) -> None:
        if command.startswith(b"arm"):
            child.clock = Clock(int(command.split()[2]))
        else:
            # Not yet waited for, so the pid cannot belong to another process.
            os.kill(pid, signal.SIGKILL)

    def _reap(self) -> bool:
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
                self._early_exits[pid] = end
            else:
                self._report(child, end)

    def _report(self, child: Child, end: tuple[int, int, int]) -> None:
        self.control.send(b"ended %d %d %d %d %d" % (child.name, *end, child.timed_out))

    def _kill_overdue(self) -> None:
        for pid, child in self.children.items():
            if child.clock.has_run_out([pid]):
                child.timed_out = 1
                child.clock.deadline = FOREVER
                os.kill(pid, signal.SIGKILL)

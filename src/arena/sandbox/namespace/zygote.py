"""The supervisor's end of a zygote and its keeper: spawn, arm, kill, and how each child ended."""

import array
import asyncio
import contextlib
import itertools
import os
import signal
import socket
import struct
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena.sandbox.errors import ProbeStep, SandboxFailed, SandboxUnavailable
from arena.sandbox.namespace.box import Box
from arena.sandbox.namespace.cgroups import Group, make_group
from arena.sandbox.namespace.greetings import receive_greeting
from arena.sandbox.namespace.launch import Started, launch

WARM_UP_SECONDS = 120.0
"""A machine may be very busy; one that refuses says so at once."""
NO_SIGN = "the zygote gave no sign of life"
GENTLE_SECONDS = 2.0
ORDER = struct.Struct("=QQ")
CHILDREN_AT_ONCE = 8
"""How many children of one zygote may reach their limits at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a child ended, as the kernel told its parent."""

    exit_code: int | None
    """None where a signal ended it."""
    signal: int | None
    cpu_seconds: float
    peak_bytes: int
    late: bool
    """The wall clock ran out and the child was killed."""


class Ticket:
    """One spawned child."""

    __slots__ = ("ended", "name")

    def __init__(self, name: int, ended: asyncio.Future[Ended]) -> None:
        self.name = name
        self.ended = ended


class Zygote:
    """A warm interpreter in its box, from the outside."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.spawned = 0
        self.version = ""
        self._names = itertools.count()
        self._tickets: dict[int, Ticket] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._orders: socket.socket | None = None
        self._group: Group | None = None
        self._first: int | None = None
        """A handle on the first process in the box, with which all others end."""
        self.inner_pid = 0
        """Of the zygote itself, as this machine sees it."""
        self.keeper_pid = 0

    @property
    def alive(self) -> bool:
        """Whether it still takes orders."""
        return self._control is not None

    @property
    def busy(self) -> int:
        """How many children it has."""
        return len(self._tickets)

    @property
    def pid(self) -> int:
        """The process id of the box, as this machine sees it."""
        assert self._process is not None
        return self._process.pid

    async def start(self, launcher: Callable[[Box], Started] = launch) -> None:
        """Bring the box up; SandboxUnavailable says what the machine refused."""
        started = launcher(self.box)
        self._process = started.process
        try:
            greeting, pid = await receive_greeting(started.orders, WARM_UP_SECONDS)
            _, self.keeper_pid = await receive_greeting(started.control, WARM_UP_SECONDS)
        except asyncio.CancelledError:
            started.control.close()
            started.orders.close()
            await self.close()
            raise
        word, _, rest = greeting.decode(errors="replace").partition(" ")
        if word != "warm" or not self.keeper_pid:
            started.control.close()
            started.orders.close()
            raise self._refused(started.process, rest)
        self.version = rest
        self.inner_pid = pid
        with contextlib.suppress(ProcessLookupError):
            self._first = os.pidfd_open(self.keeper_pid)
        self._control, self._orders = started.control, started.orders
        self._enclose()
        asyncio.get_running_loop().add_reader(started.control, self._receive)

    def _enclose(self) -> None:
        """A bound on all children together, where the machine grants one; each has its own too."""
        if self.box.kind.is_function:
            limits = self.box.limits
            memory = CHILDREN_AT_ONCE * limits.memory_bytes
            self._group = make_group(memory, CHILDREN_AT_ONCE * limits.processes)
            if self._group is not None:
                self._group.add(self.keeper_pid)
                self._group.add(self.inner_pid)

    def _refused(self, process: subprocess.Popen[bytes], told: str) -> SandboxUnavailable:
        _end(process)
        assert process.stderr is not None
        detail = told or process.stderr.read(4000).decode(errors="replace").strip()
        process.stderr.close()
        process.wait()
        self._process = None
        step = ProbeStep(
            name=f"box for {self.box.kind.value}",
            works=False,
            detail=detail or NO_SIGN,
            remedy="see `arena sandbox check`; user namespaces may be switched off",
        )
        return SandboxUnavailable(f"the box cannot be started: {step.detail}", report=[step])

    def spawn(self, descriptors: Sequence[int], wall_seconds: float | None) -> Ticket:
        """Clone a child with (request, result, stdout, stderr); the caller closes its copies."""
        name = next(self._names)
        ticket = Ticket(name, asyncio.get_running_loop().create_future())
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        self._send(self._orders, ORDER.pack(name, _milliseconds(wall_seconds)), rights)
        self._tickets[name] = ticket
        self.spawned += 1
        return ticket

    def arm(self, ticket: Ticket, wall_seconds: float) -> None:
        """Start the clock of a child that was spawned without one."""
        self._send(self._control, f"arm {ticket.name} {_milliseconds(wall_seconds)}".encode())

    def kill(self, ticket: Ticket) -> None:
        """End a child and everything in its namespaces."""
        with contextlib.suppress(SandboxFailed):
            self._send(self._control, f"kill {ticket.name}".encode())

    def _send(
        self,
        channel: socket.socket | None,
        message: bytes,
        ancillary: "Sequence[tuple[int, int, array.array[int]]]" = (),
    ) -> None:
        if channel is None:
            raise SandboxFailed("the zygote has ended")
        try:
            channel.sendmsg([message], ancillary)
        except OSError as error:
            self._lose()
            raise SandboxFailed(f"the zygote does not listen: {error}") from error

    def _receive(self) -> None:
        while self._control is not None:
            try:
                message = self._control.recv(256)
            except BlockingIOError:
                return
            except OSError:
                message = b""
            if not message:
                self._lose()
                return
            self._settle(message.decode("ascii").split())

    def _settle(self, words: Sequence[str]) -> None:
        _, name, *figures = words
        ticket = self._tickets.pop(int(name), None)
        if ticket is None or ticket.ended.done():
            return
        status, cpu_us, peak_kib, late = map(int, figures)
        signalled = os.WIFSIGNALED(status)
        ticket.ended.set_result(
            Ended(
                exit_code=None if signalled else os.WEXITSTATUS(status),
                signal=os.WTERMSIG(status) if signalled else None,
                cpu_seconds=cpu_us / 1_000_000,
                peak_bytes=peak_kib * 1024,
                late=bool(late),
            )
        )

    def _lose(self) -> None:
        """The other end is gone: everything in flight has failed, through no fault of its own."""
        if self._control is not None:
            with contextlib.suppress(RuntimeError):
                asyncio.get_running_loop().remove_reader(self._control)
            self._control.close()
            self._control = None
        if self._orders is not None:
            self._orders.close()
            self._orders = None
        for ticket in self._tickets.values():
            if not ticket.ended.done():
                ticket.ended.set_exception(SandboxFailed("the zygote died"))
                # Nobody may be waiting any more; that is not worth a warning.
                ticket.ended.exception()
        self._tickets.clear()

    async def close(self) -> None:
        """End the box and everything in it, and wait until it is gone."""
        self._lose()
        process, self._process = self._process, None
        if process is None:
            return
        # Without its supervisor it ends by itself, and bubblewrap buries it.
        if not await _waited_for(process) and self._first is not None:
            # From the inside out: an orphan would stay unburied where nobody adopts it.
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
        if not await _waited_for(process):
            _end(process)
            await asyncio.to_thread(process.wait)
        if self._first is not None:
            os.close(self._first)
            self._first = None
        if process.stderr is not None:
            process.stderr.close()
        if self._group is not None:
            await asyncio.to_thread(self._group.remove)
            self._group = None


async def _waited_for(process: subprocess.Popen[bytes]) -> bool:
    try:
        await asyncio.to_thread(process.wait, GENTLE_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _milliseconds(seconds: float | None) -> int:
    return 0 if seconds is None else max(1, round(seconds * 1000))

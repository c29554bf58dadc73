"""The supervisor's side of zygotes: start, spawn, arm, kill, and replace dead ones."""

import array
import asyncio
import contextlib
import errno
import itertools
import os
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena.errors import InfrastructureError
from arena.sandbox.errors import SandboxDestroyed, SandboxFailed, SandboxUnavailable
from arena.sandbox.namespace.box import Box
from arena.sandbox.namespace.cgroups import Group, make_group
from arena.sandbox.namespace.launch import Started, launch, receive_handshake

START_SECONDS = 120.0
"""Long, because the machine may be very busy; one that refuses fails at once."""
EXIT_SECONDS = 2.0
"""How long a box may take to exit by itself before it is killed."""
ORDER = struct.Struct("=QQ")
FAILED = b"failed "
"""The prefix of a handshake that says why the sender cannot start."""
CHILDREN_AT_ONCE = 8
"""How many children of one zygote may reach their limits at the same time."""
MAX_SPAWNS = 20_000
"""A zygote is replaced after this many children, so that nothing accumulates in it."""
TEMPORARY = (os.strerror(errno.EAGAIN), os.strerror(errno.ENOMEM))
"""The machine is out of processes or memory right now, not unable to isolate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a child ended, as the kernel reported it to its parent."""

    exit_code: int | None
    """None if a signal ended it."""
    signal: int | None
    cpu_seconds: float
    peak_bytes: int
    timed_out: bool
    """It was killed at its wall-clock limit."""


class Zygote:
    """A warm interpreter in its box, as the supervisor sees it."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.spawned = 0
        self.version = ""
        self.zygote_pid = 0
        """Of the zygote itself, as this machine sees it."""
        self.reaper_pid = 0
        """Of process 1 in the box; when it exits, all others do."""
        self._names = itertools.count()
        self._exits: dict[int, asyncio.Future[Exit]] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._orders: socket.socket | None = None
        self._group: Group | None = None
        self._reaper: int | None = None
        """A pidfd: a plain pid could belong to another process by the time it is used."""

    @property
    def alive(self) -> bool:
        """Whether it still accepts orders."""
        return self._control is not None

    @property
    def busy(self) -> int:
        """How many children it has."""
        return len(self._exits)

    @property
    def pid(self) -> int:
        """The process id of bubblewrap, as this machine sees it."""
        assert self._process is not None
        return self._process.pid

    async def start(self, launcher: Callable[[Box], Started] = launch) -> None:
        """Start the box; raises `SandboxUnavailable` with what the machine refused."""
        began = time.monotonic()
        started = launcher(self.box)
        self._process = started.process
        try:
            ready, self.zygote_pid = await receive_handshake(started.orders, START_SECONDS)
            watching, self.reaper_pid = await receive_handshake(started.control, START_SECONDS)
        except asyncio.CancelledError:
            started.close_channels()
            await self.close()
            raise
        word, _, rest = ready.decode(errors="replace").partition(" ")
        if word != "warm" or watching != b"watching" or not self.reaper_pid:
            started.close_channels()
            was_silent = time.monotonic() - began >= START_SECONDS
            reason = next((one for one in (ready, watching) if one.startswith(FAILED)), b"")
            raise self._not_started(started.process, reason, was_silent)
        self.version = rest
        with contextlib.suppress(ProcessLookupError):
            self._reaper = os.pidfd_open(self.reaper_pid)
        self._control, self._orders = started.control, started.orders
        self._limit_all_children()
        asyncio.get_running_loop().add_reader(started.control, self._receive)

    def _limit_all_children(self) -> None:
        """Limit all children together, if cgroups are writable; each has its own limits too."""
        if self.box.kind.is_function:
            limits = self.box.limits
            memory = CHILDREN_AT_ONCE * limits.memory_bytes
            self._group = make_group(memory, CHILDREN_AT_ONCE * limits.processes)
            if self._group is not None:
                self._group.add(self.reaper_pid)
                self._group.add(self.zygote_pid)

    def _not_started(
        self, process: subprocess.Popen[bytes], reason: bytes, was_silent: bool
    ) -> InfrastructureError:
        """Why the box did not start: SandboxFailed if another attempt may succeed."""
        _kill_group(process)
        assert process.stderr is not None
        stderr = process.stderr.read(4000)
        process.stderr.close()
        code = process.wait()
        self._process = None
        detail = (reason.removeprefix(FAILED) or stderr).decode(errors="replace").strip()
        if not detail:
            if was_silent:
                return SandboxFailed(f"the sandbox did not start within {START_SECONDS:.0f} s")
            return SandboxFailed(f"the sandbox exited before its handshake (exit code {code})")
        if any(message in detail for message in TEMPORARY):
            return SandboxFailed(f"the sandbox could not be started: {detail}")
        return SandboxUnavailable.at(
            f"box for {self.box.kind.value}",
            f"the sandbox cannot be started: {detail}",
            "see `arena sandbox check`; user namespaces may be switched off",
        )

    def spawn(
        self, descriptors: Sequence[int], wall_seconds: float | None
    ) -> tuple[int, asyncio.Future[Exit]]:
        """Clone a child with (request, result, stdout, stderr); the caller closes its copies."""
        name = next(self._names)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        self._send(self._orders, ORDER.pack(name, _milliseconds(wall_seconds)), rights)
        exited = self._exits[name] = asyncio.get_running_loop().create_future()
        self.spawned += 1
        return name, exited

    def arm(self, name: int, wall_seconds: float) -> None:
        """Start the clock of a child that was spawned without one."""
        self._send(self._control, f"arm {name} {_milliseconds(wall_seconds)}".encode())

    def kill(self, name: int) -> None:
        """Kill a child and everything in its namespaces."""
        with contextlib.suppress(SandboxFailed):
            self._send(self._control, f"kill {name}".encode())

    def _send(
        self,
        channel: socket.socket | None,
        message: bytes,
        ancillary: "Sequence[tuple[int, int, array.array[int]]]" = (),
    ) -> None:
        if channel is None:
            raise SandboxFailed("the zygote has exited")
        try:
            channel.sendmsg([message], ancillary)
        except OSError as error:
            self._disconnect()
            raise SandboxFailed(f"the zygote does not accept orders: {error}") from error

    def _receive(self) -> None:
        while self._control is not None:
            try:
                message = self._control.recv(256)
            except BlockingIOError:
                return
            except OSError:
                message = b""
            if not message:
                self._disconnect()
                return
            self._settle(message.decode("ascii").split())

    def _settle(self, words: Sequence[str]) -> None:
        _, name, *figures = words
        exited = self._exits.pop(int(name), None)
        if exited is None or exited.done():
            return
        status, cpu_us, peak_kib, timed_out = map(int, figures)
        signalled = os.WIFSIGNALED(status)
        exited.set_result(
            Exit(
                exit_code=None if signalled else os.WEXITSTATUS(status),
                signal=os.WTERMSIG(status) if signalled else None,
                cpu_seconds=cpu_us / 1_000_000,
                peak_bytes=peak_kib * 1024,
                timed_out=bool(timed_out),
            )
        )

    def _disconnect(self) -> None:
        """The zygote has exited: fail every running child as an infrastructure error."""
        if self._control is not None:
            with contextlib.suppress(RuntimeError):
                asyncio.get_running_loop().remove_reader(self._control)
            self._control.close()
            self._control = None
        if self._orders is not None:
            self._orders.close()
            self._orders = None
        for exited in self._exits.values():
            if not exited.done():
                exited.set_exception(SandboxFailed("the zygote died"))
                # Marks it as retrieved: asyncio would log an error if nobody is waiting any more.
                exited.exception()
        self._exits.clear()

    async def close(self) -> None:
        """End the box and everything in it, and wait until it is gone."""
        self._disconnect()
        process, self._process = self._process, None
        if process is None:
            return
        # Without its supervisor it exits on its own, and bubblewrap reaps it.
        if not await _has_exited(process) and self._reaper is not None:
            # Process 1 of the box first: killing bubblewrap would orphan it, and in a container
            # without an init nobody reaps orphans.
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._reaper, signal.SIGKILL)
        if not await _has_exited(process):
            _kill_group(process)
            await asyncio.to_thread(process.wait)
        if self._reaper is not None:
            os.close(self._reaper)
            self._reaper = None
        if process.stderr is not None:
            process.stderr.close()
        if self._group is not None:
            await asyncio.to_thread(self._group.remove)
            self._group = None


class Fleet:
    """The zygotes of one kind, at most one per core; returns the least busy one."""

    def __init__(self, box: Box, size: int) -> None:
        self.box = box
        self.launch: Callable[[Box], Started] = launch
        self.size = size
        self._zygotes: list[Zygote] = []
        self._retired: list[Zygote] = []
        self._starting = asyncio.Lock()
        self._closed = False

    @property
    def zygotes(self) -> tuple[Zygote, ...]:
        """The running zygotes."""
        return tuple(self._zygotes)

    async def zygote(self) -> Zygote:
        """A zygote that is alive."""
        usable = [zygote for zygote in self._zygotes if zygote.alive]
        if len(usable) < self.size or any(z.spawned >= MAX_SPAWNS for z in usable):
            idle = [zygote for zygote in usable if zygote.busy == 0]
            # Another one is started only when all are busy.
            if not idle or any(z.spawned >= MAX_SPAWNS for z in idle):
                await self._replenish()
                usable = [zygote for zygote in self._zygotes if zygote.alive]
        return min(usable, key=lambda zygote: zygote.busy)

    async def _replenish(self) -> None:
        async with self._starting:
            for zygote in list(self._zygotes):
                if not zygote.alive or zygote.spawned >= MAX_SPAWNS:
                    self._zygotes.remove(zygote)
                    self._retired.append(zygote)
            if len(self._zygotes) < self.size:
                fresh = Zygote(self.box)
                await fresh.start(self.launch)
                if self._closed:
                    await fresh.close()
                    raise SandboxDestroyed("this provider has been closed; make a new one")
                self._zygotes.append(fresh)
            for zygote in [old for old in self._retired if old.busy == 0]:
                self._retired.remove(zygote)
                await zygote.close()

    async def close(self) -> None:
        """End all of them."""
        self._closed = True
        everyone = [*self._zygotes, *self._retired]
        self._zygotes.clear()
        self._retired.clear()
        await asyncio.gather(*(zygote.close() for zygote in everyone))


async def _has_exited(process: subprocess.Popen[bytes]) -> bool:
    try:
        await asyncio.to_thread(process.wait, EXIT_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _milliseconds(seconds: float | None) -> int:
    return 0 if seconds is None else max(1, round(seconds * 1000))

"""A sandbox with files and commands: a child of a zygote that stays and serves its owner."""

import array
import asyncio
import contextlib
import errno
import os
import signal
import socket
import time
import uuid
from collections.abc import Sequence
from typing import Self

from arena.errors import NotFound
from arena.sandbox.arguments import checked_command, checked_seconds, content_bytes
from arena.sandbox.errors import (
    LimitReached,
    SandboxDestroyed,
    SandboxFailed,
    UnsafeFile,
    WorkspaceFull,
)
from arena.sandbox.harness.clocks import PATIENCE
from arena.sandbox.limits import Limit, Limits
from arena.sandbox.memory import complains_of_memory
from arena.sandbox.namespace.cgroups import Group, make_group
from arena.sandbox.namespace.greetings import channel_pair, receive_greeting
from arena.sandbox.namespace.runs import GRACE_SECONDS, Run, spawn
from arena.sandbox.namespace.streams import Drain
from arena.sandbox.namespace.zygote import Zygote
from arena.sandbox.paths import checked
from arena.sandbox.ports import ExecResult

FILE_SECONDS = 60.0
FULL = 7 / 8
"""A program that fails with so much of its memory in use has failed for want of more."""


class Workspace:
    """One sandbox of the namespace provider."""

    def __init__(self, run: Run, control: socket.socket, limits: Limits, timeout: float) -> None:
        self._run = run
        self._control = control
        self._limits = limits
        self._timeout = timeout
        self._turn = asyncio.Lock()
        self._destroyed = False
        self._asking = False
        self._group: Group | None = None
        self._id = uuid.uuid4().hex

    @classmethod
    async def open(cls, zygote: Zygote, limits: Limits, timeout: float) -> Self:
        """Clone the workspace's first process and wait until its walls stand."""
        ours, theirs = channel_pair(socket.SOCK_SEQPACKET)
        try:
            run = spawn(zygote, limits, theirs.fileno(), None)
        except SandboxFailed:
            ours.close()
            raise
        finally:
            theirs.close()
        workspace = cls(run, ours, limits, timeout)
        try:
            await workspace._wait_until_ready()
        except SandboxFailed:
            await workspace.destroy()
            raise
        return workspace

    async def _wait_until_ready(self) -> None:
        word, pid = await receive_greeting(self._control, FILE_SECONDS)
        if word != b"open":
            told = bytes(self._run.pipes.result.data)
            raise SandboxFailed(f"the sandbox could not be isolated: {told!r}")
        memory = self._limits.memory_bytes + self._limits.workspace_bytes
        self._group = make_group(memory, self._limits.workspace_processes)
        if self._group is not None:
            self._group.add(pid)

    @property
    def id(self) -> str:
        """Names the sandbox for its provider."""
        return self._id

    async def write_file(self, path: str, content: str | bytes) -> None:
        """Put a regular file at `path`; follows no link."""
        data = content_bytes(content)
        if len(data) > self._limits.workspace_file_bytes:
            raise LimitReached(f"{path!r} is {len(data)} bytes long", limit="file_size")
        descriptor = os.memfd_create("content")
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            os.lseek(descriptor, 0, os.SEEK_SET)
            async with self._turn:
                answer = await self._ask(f"write {checked(path)}", [descriptor], FILE_SECONDS)
        finally:
            os.close(descriptor)
        _check_file(answer, path)

    async def read_file(self, path: str) -> str:
        """The text of the regular file at `path`; follows no link."""
        return (await self.read_bytes(path)).decode("utf-8", errors="backslashreplace")

    async def read_bytes(self, path: str) -> bytes:
        """The bytes of the regular file at `path`; follows no link."""
        limit = self._limits.result_bytes
        drain = Drain(limit)
        try:
            drain.watch(asyncio.get_running_loop())
            async with self._turn:
                question = f"read {limit} {checked(path)}"
                answer = await self._ask(question, [drain.writer], FILE_SECONDS)
        finally:
            drain.finish()
        _check_file(answer, path)
        return bytes(drain.data)

    async def exec(self, command: str, timeout: float | None = None) -> ExecResult:
        """Run `command` with a shell; everything it started has ended when this returns."""
        command = checked_command(command)
        wall = checked_seconds(timeout, self._timeout)
        stdout, stderr = Drain(self._limits.output_bytes), Drain(self._limits.output_bytes)
        loop = asyncio.get_running_loop()
        try:
            async with self._turn:
                for drain in (stdout, stderr):
                    drain.watch(loop)
                started = time.monotonic()
                kills = self._memory_kills()
                order = f"exec {max(1, round(wall * 1000))} {self._limits.cpu_seconds} {command}"
                writers = [stdout.writer, stderr.writer]
                patience = (1 + PATIENCE) * wall + GRACE_SECONDS
                answer = await self._ask(order, writers, patience, (stdout, stderr))
                duration_ms = (time.monotonic() - started) * 1000
        finally:
            stdout.finish()
            stderr.finish()
        was_killed = self._memory_kills() > kills
        return self._result(answer, stdout, stderr, duration_ms, was_killed)

    def _memory_kills(self) -> int:
        return 0 if self._group is None else self._group.memory_kills()

    def _result(
        self, answer: str, stdout: Drain, stderr: Drain, duration_ms: float, was_killed: bool
    ) -> ExecResult:
        word, *figures = answer.split()
        if word != "ended":
            raise SandboxFailed(f"the command could not be started: {answer}")
        status, cpu_us, late, peak_kib = map(int, figures)
        signalled = os.WIFSIGNALED(status)
        number = os.WTERMSIG(status) if signalled else 0
        limit = None
        if stdout.over or stderr.over:
            limit = Limit.OUTPUT
        elif late:
            limit = Limit.WALL_TIME
        elif status and was_killed:
            limit = Limit.MEMORY
        elif number in (signal.SIGXCPU, signal.SIGKILL) or os.WEXITSTATUS(status) in (137, 152):
            spent = cpu_us / 1_000_000 >= self._limits.cpu_seconds / 2
            limit = Limit.CPU_TIME if spent else None
        elif status:
            # A limit per process shows only as memory that is refused, and nobody counts those.
            is_full = peak_kib * 1024 >= FULL * self._limits.memory_bytes
            limit = Limit.MEMORY if is_full or complains_of_memory(stderr.text()) else None
        return ExecResult(
            stdout=stdout.text(),
            stderr=stderr.text(),
            exit_code=128 + number if signalled else os.WEXITSTATUS(status),
            limit=limit,
            duration_ms=duration_ms,
        )

    async def _ask(
        self,
        question: str,
        descriptors: Sequence[int],
        seconds: float,
        handed_over: Sequence[Drain] = (),
    ) -> str:
        """Send one order to the first process and wait for its answer."""
        if self._destroyed:
            raise SandboxDestroyed
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        loop = asyncio.get_running_loop()
        self._asking = True
        try:
            self._control.sendmsg([question.encode()], ancillary)
            for drain in handed_over:
                drain.hand_over()
            async with asyncio.timeout(seconds):
                answer = await loop.sock_recv(self._control, 4096)
        except TimeoutError:
            await self.destroy()
            raise SandboxFailed("the sandbox does not answer and was destroyed") from None
        except asyncio.CancelledError:
            # The answer to this order would be taken for the answer to the next one.
            await self.destroy()
            raise
        except OSError as error:
            if self._destroyed:
                raise SandboxDestroyed from error
            raise SandboxFailed(f"the sandbox has ended: {error}") from error
        finally:
            self._asking = False
            if self._destroyed:
                self._control.close()
        if not answer:
            if self._destroyed:
                raise SandboxDestroyed
            raise SandboxFailed("the sandbox has ended")
        return answer.decode(errors="replace")

    async def destroy(self) -> None:
        """End everything in it; a second call does nothing."""
        if self._destroyed:
            return
        self._destroyed = True
        self._run.zygote.kill(self._run.ticket)
        with contextlib.suppress(SandboxFailed, TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await asyncio.shield(self._run.ticket.ended)
        self._run.pipes.finish()
        # An order in flight waits at the socket: it sees the end there, and closes it.
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        if not self._asking:
            self._control.close()
        if self._group is not None:
            await asyncio.to_thread(self._group.remove)


def _check_file(answer: str, path: str) -> None:
    if answer == "done":
        return
    reason = answer.removeprefix("refused ")
    if reason == os.strerror(errno.ENOENT):
        raise NotFound(f"there is no file {path!r} in the sandbox")
    if reason == os.strerror(errno.ENOSPC):
        raise WorkspaceFull(path)
    if "too large" in reason:
        raise LimitReached(f"{path!r} is {reason}", limit="file_size")
    raise UnsafeFile(f"{path!r} cannot be used: {reason}")

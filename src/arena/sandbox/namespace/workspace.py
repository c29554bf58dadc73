"""A sandbox with files and commands: a long-lived child of a zygote."""

import array
import asyncio
import contextlib
import errno
import math
import os
import signal
import socket
import time
import uuid
from collections.abc import Sequence
from typing import Self

from arena.errors import NotFound
from arena.sandbox.arguments import checked_command, checked_content, checked_path, checked_seconds
from arena.sandbox.errors import (
    LimitReached,
    SandboxDestroyed,
    SandboxFailed,
    UnsafeFile,
    WorkspaceFull,
)
from arena.sandbox.harness.reaper import PATIENCE
from arena.sandbox.limits import Limit, Limits, ran_out_of_memory
from arena.sandbox.namespace.cgroups import Group, make_group
from arena.sandbox.namespace.children import GRACE_SECONDS, Child, Drain
from arena.sandbox.namespace.launch import channel_pair, in_memory, receive_handshake
from arena.sandbox.namespace.zygote import Zygote
from arena.sandbox.ports import ExecResult

FILE_SECONDS = 60.0
NEARLY_ALL = 7 / 8
"""A program that fails with this share of its memory in use ran out of memory."""


class Workspace:
    """One sandbox of the namespace provider."""

    def __init__(
        self, child: Child, control: socket.socket, limits: Limits, timeout: float
    ) -> None:
        self._child = child
        self._control = control
        self._limits = limits
        self._timeout = timeout
        self._lock = asyncio.Lock()
        self._destroyed = False
        self._is_waiting = False
        self._group: Group | None = None
        self._id = uuid.uuid4().hex

    @classmethod
    async def open(cls, zygote: Zygote, limits: Limits, timeout: float) -> Self:
        """Clone the workspace's process 1 and wait until it is isolated."""
        ours, theirs = channel_pair(socket.SOCK_SEQPACKET)
        try:
            child = Child.spawn(zygote, limits, theirs.fileno(), None)
        except SandboxFailed:
            ours.close()
            raise
        finally:
            theirs.close()
        workspace = cls(child, ours, limits, timeout)
        try:
            await workspace._wait_until_ready()
        except SandboxFailed:
            await workspace.destroy()
            raise
        return workspace

    async def _wait_until_ready(self) -> None:
        handshake, pid = await receive_handshake(self._control, FILE_SECONDS)
        if handshake != b"open":
            reason = bytes(self._child.pipes.result.data)
            raise SandboxFailed(f"the sandbox could not be isolated: {reason!r}")
        memory = self._limits.memory_bytes + self._limits.workspace_bytes
        self._group = make_group(memory, self._limits.workspace_processes)
        if self._group is not None:
            self._group.add(pid)

    @property
    def id(self) -> str:
        """Names the sandbox for its provider."""
        return self._id

    async def write_file(self, path: str, content: str | bytes) -> None:
        """Write a regular file at `path`; follows no link."""
        data = checked_content(path, content, self._limits)
        descriptor = in_memory("content", data)
        try:
            async with self._lock:
                request = f"write {checked_path(path)}"
                reply = await self._request(request, [descriptor], FILE_SECONDS)
        finally:
            os.close(descriptor)
        _check_file(reply, path)

    async def read_file(self, path: str) -> str:
        """The text of the regular file at `path`; follows no link."""
        drain = Drain(self._limits.result_bytes)
        try:
            drain.watch(asyncio.get_running_loop())
            async with self._lock:
                request = f"read {self._limits.result_bytes} {checked_path(path)}"
                reply = await self._request(request, [drain.writer], FILE_SECONDS)
        finally:
            drain.finish()
        _check_file(reply, path)
        return drain.text()

    async def exec(self, command: str, timeout: float | None = None) -> ExecResult:
        """Run `command` with a shell; everything it started has ended when this returns."""
        command = checked_command(command)
        wall = checked_seconds(timeout, self._timeout)
        stdout, stderr = Drain(self._limits.output_bytes), Drain(self._limits.output_bytes)
        loop = asyncio.get_running_loop()
        try:
            async with self._lock:
                for drain in (stdout, stderr):
                    drain.watch(loop)
                started = time.monotonic()
                kills = self._memory_kills()
                # A command that may take longer than usual may also compute longer.
                cpu = self._limits.cpu_seconds
                cpu = cpu if wall <= self._timeout else max(cpu, math.ceil(wall))
                request = f"exec {max(1, round(wall * 1000))} {cpu} {command}"
                seconds = (1 + PATIENCE) * wall + GRACE_SECONDS
                writers = [stdout.writer, stderr.writer]
                reply = await self._request(request, writers, seconds, (stdout, stderr))
                duration_ms = (time.monotonic() - started) * 1000
        finally:
            stdout.finish()
            stderr.finish()
        was_killed = self._memory_kills() > kills
        return self._result(reply, stdout, stderr, duration_ms, was_killed)

    def _memory_kills(self) -> int:
        return 0 if self._group is None else self._group.memory_kills()

    def _result(
        self, reply: str, stdout: Drain, stderr: Drain, duration_ms: float, was_killed: bool
    ) -> ExecResult:
        word, *figures = reply.split()
        if word != "ended":
            raise SandboxFailed(f"the command could not be started: {reply}")
        status, cpu_us, timed_out, peak_kib = map(int, figures)
        signalled = os.WIFSIGNALED(status)
        number = os.WTERMSIG(status) if signalled else 0
        limit = None
        if stdout.over or stderr.over:
            limit = Limit.OUTPUT
        elif timed_out:
            limit = Limit.WALL_TIME
        elif status and was_killed:
            limit = Limit.MEMORY
        elif number in (signal.SIGXCPU, signal.SIGKILL) or os.WEXITSTATUS(status) in (137, 152):
            spent = cpu_us / 1_000_000 >= self._limits.cpu_seconds / 2
            limit = Limit.CPU_TIME if spent else None
        elif status:
            # A per-process limit only makes allocations fail, and the kernel does not count that.
            is_full = peak_kib * 1024 >= NEARLY_ALL * self._limits.memory_bytes
            limit = Limit.MEMORY if is_full or ran_out_of_memory(stderr.text()) else None
        return ExecResult(
            stdout=stdout.text(),
            stderr=stderr.text(),
            exit_code=128 + number if signalled else os.WEXITSTATUS(status),
            limit=limit,
            duration_ms=duration_ms,
        )

    async def _request(
        self,
        request: str,
        descriptors: Sequence[int],
        seconds: float,
        handed_over: Sequence[Drain] = (),
    ) -> str:
        """Send one request to process 1 of the workspace and wait for its reply."""
        if self._destroyed:
            raise SandboxDestroyed
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        self._is_waiting = True
        try:
            self._control.sendmsg([request.encode()], ancillary)
            for drain in handed_over:
                drain.close_writer()
            async with asyncio.timeout(seconds):
                reply = await asyncio.get_running_loop().sock_recv(self._control, 4096)
        except TimeoutError:
            await self.destroy()
            raise SandboxFailed("the sandbox did not respond and was destroyed") from None
        except asyncio.CancelledError:
            # Otherwise the reply to this request would be read as the reply to the next one.
            await self.destroy()
            raise
        except OSError as error:
            if self._destroyed:
                raise SandboxDestroyed from error
            raise SandboxFailed(f"the sandbox has exited: {error}") from error
        finally:
            self._is_waiting = False
            if self._destroyed:
                self._control.close()
        if not reply:
            raise SandboxDestroyed if self._destroyed else SandboxFailed("the sandbox has exited")
        return reply.decode(errors="replace")

    async def destroy(self) -> None:
        """End everything in it; a second call does nothing."""
        if self._destroyed:
            return
        self._destroyed = True
        self._child.kill()
        with contextlib.suppress(SandboxFailed, TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await asyncio.shield(self._child.exited)
        self._child.pipes.finish()
        # A request in flight is waiting at the socket: it sees the shutdown and closes it.
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        if not self._is_waiting:
            self._control.close()
        if self._group is not None:
            await asyncio.to_thread(self._group.remove)


def _check_file(reply: str, path: str) -> None:
    if reply == "done":
        return
    reason = reply.removeprefix("refused ")
    if reason == os.strerror(errno.ENOENT):
        raise NotFound(f"there is no file {path!r} in the sandbox")
    if reason == os.strerror(errno.ENOSPC):
        raise WorkspaceFull(path)
    if "too large" in reason:
        raise LimitReached(f"{path!r} is {reason}", limit="file_size")
    raise UnsafeFile(f"{path!r} cannot be used: {reason}")

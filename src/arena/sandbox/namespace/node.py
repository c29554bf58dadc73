"""A pool of warm Node processes, each for one JavaScript submission."""

import asyncio
import contextlib
import socket
import time
from collections import deque
from dataclasses import dataclass

from arena.sandbox.errors import SandboxFailed
from arena.sandbox.limits import Limits
from arena.sandbox.namespace.cgroups import Group, make_group
from arena.sandbox.namespace.children import Child
from arena.sandbox.namespace.launch import channel_pair, receive_handshake
from arena.sandbox.namespace.zygote import Fleet

START_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmChild:
    """A ready child, and the channel that will carry its request."""

    child: Child
    channel: socket.socket
    group: Group | None

    @property
    def alive(self) -> bool:
        """Whether it still waits."""
        return not self.child.exited.done()

    async def clean_up(self) -> None:
        """Release what belongs to the child, once it has exited."""
        # If the zygote died, its children died with it.
        with contextlib.suppress(SandboxFailed):
            await asyncio.shield(self.child.exited)
        self.channel.close()
        if self.group is not None:
            await asyncio.to_thread(self.group.remove)


class Pool:
    """Keeps `depth` children waiting, each used once; when one has exited, the next is spawned."""

    def __init__(self, fleet: Fleet, limits: Limits, depth: int) -> None:
        self._fleet = fleet
        self._limits = limits
        self._depth = depth
        self._waiting: deque[WarmChild] = deque()
        self._refill: asyncio.Task[None] | None = None
        self._clean_ups: set[asyncio.Task[None]] = set()
        self._closed = False

    async def take(self, request: bytes) -> Child:
        """A warm child with `request` on its way to it, its clock running."""
        warm = self._next() or await self._spawn()
        self._clean_up_later(warm)
        child = warm.child
        child.zygote.arm(child.name, self._limits.wall_seconds)
        child.started = time.monotonic()
        # If the child has exited, its exit status explains why.
        with contextlib.suppress(OSError):
            await asyncio.get_running_loop().sock_sendall(warm.channel, request)
            warm.channel.shutdown(socket.SHUT_WR)
        return child

    async def fill(self) -> None:
        """Spawn until `depth` children wait."""
        while len(self._waiting) < self._depth:
            self._waiting.append(await self._spawn())

    def _next(self) -> WarmChild | None:
        while self._waiting:
            warm = self._waiting.popleft()
            if warm.alive:
                return warm
            warm.child.pipes.finish()
            self._clean_up_later(warm)
        return None

    async def _spawn(self) -> WarmChild:
        zygote = await self._fleet.zygote()
        ours, theirs = channel_pair(socket.SOCK_STREAM)
        try:
            child = Child.spawn(zygote, self._limits, theirs.fileno(), None)
        except SandboxFailed:
            ours.close()
            raise
        finally:
            theirs.close()
        try:
            _, pid = await receive_handshake(ours, START_SECONDS)
        except asyncio.CancelledError:
            child.kill()
            child.pipes.finish()
            ours.close()
            raise
        limits = self._limits
        memory = limits.memory_bytes + limits.scratch_bytes
        group = make_group(memory, limits.workspace_processes) if pid else None
        if group is not None:
            group.add(pid)
        return WarmChild(child=child, channel=ours, group=group)

    def _clean_up_later(self, warm: WarmChild) -> None:
        task = asyncio.create_task(warm.clean_up())
        self._clean_ups.add(task)
        task.add_done_callback(self._after_clean_up)

    def _after_clean_up(self, task: asyncio.Task[None]) -> None:
        self._clean_ups.discard(task)
        # Not before: the start of another process would compete with the submission for a core.
        if not self._closed and (self._refill is None or self._refill.done()):
            self._refill = asyncio.create_task(self._refill_quietly())

    async def _refill_quietly(self) -> None:
        # The next caller of `take` gets the same failure, and reports it.
        with contextlib.suppress(SandboxFailed):
            await self.fill()

    async def close(self) -> None:
        """Kill the waiting children."""
        self._closed = True
        if self._refill is not None:
            self._refill.cancel()
            await asyncio.gather(self._refill, return_exceptions=True)
        while self._waiting:
            warm = self._waiting.popleft()
            warm.child.kill()
            with contextlib.suppress(SandboxFailed):
                await warm.child.wait(START_SECONDS)
            self._clean_up_later(warm)
        await asyncio.gather(*self._clean_ups)

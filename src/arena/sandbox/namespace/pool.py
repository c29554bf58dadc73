"""Children that wait for work: spawned ahead of time, each used once."""

import asyncio
import contextlib
import socket
import time
from collections import deque
from dataclasses import dataclass

from arena.sandbox.errors import SandboxFailed
from arena.sandbox.limits import Limits
from arena.sandbox.namespace.cgroups import Group, make_group
from arena.sandbox.namespace.fleet import Fleet
from arena.sandbox.namespace.greetings import channel_pair, receive_greeting
from arena.sandbox.namespace.runs import Run, ended, spawn

GREETING_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A child that is ready, and the channel it waits at."""

    run: Run
    channel: socket.socket
    group: Group | None

    @property
    def alive(self) -> bool:
        """Whether it still waits."""
        return not self.run.ticket.ended.done()


class Pool:
    """Keeps `depth` children waiting; taking one orders the next."""

    def __init__(self, fleet: Fleet, limits: Limits, depth: int) -> None:
        self._fleet = fleet
        self._limits = limits
        self._depth = depth
        self._waiting: deque[Waiting] = deque()
        self._refill: asyncio.Task[None] | None = None
        self._removals: set[asyncio.Task[None]] = set()

    async def take(self, request: bytes) -> Run:
        """A warm child with `request` on its way to it, its clock running."""
        waiting = self._next() or await self._spawn()
        self._order_refill()
        self._follow(waiting)
        run = waiting.run
        run.zygote.arm(run.ticket, self._limits.wall_seconds)
        run.started = time.monotonic()
        # A child that is gone has its end reported; that it did not listen is part of it.
        with contextlib.suppress(OSError):
            await asyncio.get_running_loop().sock_sendall(waiting.channel, request)
            waiting.channel.shutdown(socket.SHUT_WR)
        return run

    async def fill(self) -> None:
        """Spawn until `depth` children wait."""
        while len(self._waiting) < self._depth:
            self._waiting.append(await self._spawn())

    @property
    def waiting(self) -> int:
        """How many are ready."""
        return sum(child.alive for child in self._waiting)

    def _next(self) -> Waiting | None:
        while self._waiting:
            waiting = self._waiting.popleft()
            if waiting.alive:
                return waiting
            waiting.run.pipes.finish()
            self._follow(waiting)
        return None

    async def _spawn(self) -> Waiting:
        zygote = await self._fleet.zygote()
        ours, theirs = channel_pair(socket.SOCK_STREAM)
        try:
            run = spawn(zygote, self._limits, theirs.fileno(), None)
        except SandboxFailed:
            ours.close()
            raise
        finally:
            theirs.close()
        try:
            _, pid = await receive_greeting(ours, GREETING_SECONDS)
        except asyncio.CancelledError:
            zygote.kill(run.ticket)
            run.pipes.finish()
            ours.close()
            raise
        group = self._group() if pid else None
        if group is not None:
            group.add(pid)
        return Waiting(run=run, channel=ours, group=group)

    def _group(self) -> Group | None:
        memory = self._limits.memory_bytes + self._limits.scratch_bytes
        return make_group(memory, self._limits.workspace_processes)

    def _follow(self, waiting: Waiting) -> None:
        """Give back what belongs to a child once it has ended."""
        task = asyncio.create_task(_give_back(waiting))
        self._removals.add(task)
        task.add_done_callback(self._removals.discard)

    def _order_refill(self) -> None:
        if self._refill is None or self._refill.done():
            self._refill = asyncio.create_task(self._fill_quietly())

    async def _fill_quietly(self) -> None:
        # Whoever takes the next child meets the same trouble, and reports it.
        with contextlib.suppress(SandboxFailed):
            await self.fill()

    async def close(self) -> None:
        """End the children that wait."""
        if self._refill is not None:
            self._refill.cancel()
            await asyncio.gather(self._refill, return_exceptions=True)
        while self._waiting:
            waiting = self._waiting.popleft()
            waiting.run.zygote.kill(waiting.run.ticket)
            with contextlib.suppress(SandboxFailed):
                await ended(waiting.run, GREETING_SECONDS)
            self._follow(waiting)
        await asyncio.gather(*self._removals)


async def _give_back(waiting: Waiting) -> None:
    # A zygote that died has ended its children as well.
    with contextlib.suppress(SandboxFailed):
        await asyncio.shield(waiting.run.ticket.ended)
    waiting.channel.close()
    if waiting.group is not None:
        await asyncio.to_thread(waiting.group.remove)

"""Children that wait for work: spawned ahead of time, each used once."""

import asyncio
import contextlib
import os
import time
from collections import deque
from dataclasses import dataclass

from arena.sandbox.errors import SandboxFailed
from arena.sandbox.limits import Limits
from arena.sandbox.namespace.fleet import Fleet
from arena.sandbox.namespace.runs import Run, spawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A child that is ready, and the pipe it waits at."""

    run: Run
    request: int

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

    async def take(self, request: bytes) -> Run:
        """A warm child with `request` on its way to it, its clock running."""
        waiting = self._next() or await self._spawn()
        self._order_refill()
        waiting.run.zygote.arm(waiting.run.ticket, self._limits.wall_seconds)
        waiting.run.started = time.monotonic()
        await _write_and_close(waiting.request, request)
        return waiting.run

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
            _discard(waiting)
        return None

    async def _spawn(self) -> Waiting:
        zygote = await self._fleet.zygote()
        reader, writer = os.pipe2(os.O_CLOEXEC)
        try:
            run = spawn(zygote, self._limits, reader, None)
        except SandboxFailed:
            os.close(writer)
            raise
        finally:
            os.close(reader)
        return Waiting(run=run, request=writer)

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
            _discard(waiting)


def _discard(waiting: Waiting) -> None:
    os.close(waiting.request)
    waiting.run.pipes.finish()


async def _write_and_close(descriptor: int, data: bytes) -> None:
    """Write all of `data` without blocking the loop; a reader that is gone is not our loss."""
    loop = asyncio.get_running_loop()
    os.set_blocking(descriptor, False)
    view = memoryview(data)
    try:
        while view:
            try:
                view = view[os.write(descriptor, view) :]
            except BlockingIOError:
                ready = loop.create_future()
                loop.add_writer(descriptor, _settle, ready)
                try:
                    await ready
                finally:
                    loop.remove_writer(descriptor)
    except BrokenPipeError:
        return
    finally:
        os.close(descriptor)


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)

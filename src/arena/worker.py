"""A worker: a process that takes work from the queue until it is stopped.

It registers itself, takes jobs of its queues, notices dead workers so that their jobs are delivered
again, and adds jobs that were lost. `arena worker` is one; a queued server has one inside.
"""

import asyncio
import logging
import os
import random
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from uuid import UUID, uuid4

from arena import __version__
from arena.agents.placement import host_label
from arena.assembly import Arena
from arena.errors import ArenaError
from arena.queue.chores import CHORES_QUEUE
from arena.queue.job import Handler
from arena.queue.overview import WorkerProcess
from arena.queue.records.workers import beat, leave, register, remove_silent
from arena.runs.records.queueing import has_waiting, reconcile_runs
from arena.runs.records.shards import KIND as SHARD
from arena.runs.shard import queue_of
from arena.runs.shard_worker import ShardWorker

log = logging.getLogger(__name__)

BEAT_SECONDS = 2.0
SWEEP_SECONDS = 1.0
"""How often dead workers are looked for."""
RECONCILE_SECONDS = 15.0
JUDGE_SECONDS = 5.0
"""How often a worker that judges looks for windows that have closed."""
DRAIN_SECONDS = 0.5
RESTART_SECONDS = 5.0
"""After the failure of a server's own worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """What a worker does."""

    name: str | None = None
    """None: made of the machine's name and the process."""
    shards: int = 4
    questions: int = 20
    labels: tuple[str, ...] = ()
    has_sandbox: bool | None = None
    """None: if this machine can isolate code."""
    judges: tuple[str, ...] = ()
    is_draining: bool = False
    """Whether it ends as soon as nothing waits."""


class Worker:
    """One worker in this process."""

    def __init__(self, arena: Arena, options: WorkerOptions, report: Callable[[str], None]) -> None:
        self._arena = arena
        self._options = options
        self._report = report
        self._id: UUID = uuid4()
        self.name = options.name or f"{host_label()[:40]}-{os.getpid()}-{self._id.hex[:4]}"
        self._stop = asyncio.Event()
        self._shards: ShardWorker | None = None

    def stop(self) -> None:
        """Take nothing more; ends when what is under way has ended."""
        if self._shards is not None:
            self._shards.stop()
        self._stop.set()

    async def run(self, on_ready: Callable[[str], None]) -> None:
        """Work until stopped."""
        arena, options = self._arena, self._options
        has_sandbox = await self._check_sandbox()
        queues = self._queues(has_sandbox)
        await arena.queue.prepare(arena.database)
        self._shards = ShardWorker(
            arena.engine,
            arena.queue,
            arena.settings,
            name=self.name,
            queues=queues,
            questions=options.questions,
            report=self._report,
        )
        self._row = self._described(queues, has_sandbox)
        await register(arena.database, self._row)
        handlers: Mapping[str, Handler] = {SHARD: self._shards.execute, **arena.jobs.handlers}
        reconcile_seconds = JUDGE_SECONDS if options.judges else RECONCILE_SECONDS
        side = [
            asyncio.create_task(self._every(BEAT_SECONDS, self._beat), name="heartbeat"),
            asyncio.create_task(self._every(SWEEP_SECONDS, self._sweep), name="sweep"),
            asyncio.create_task(self._every(reconcile_seconds, self._reconcile), name="reconcile"),
        ]
        if options.is_draining:
            side.append(asyncio.create_task(self._drain(queues), name="drain"))
        on_ready(f"worker {self.name} is ready ({', '.join(queues)})")
        try:
            await arena.queue.deliver(
                handlers, queues, name=self.name, at_once=options.shards, stop=self._stop
            )
        finally:
            for task in side:
                task.cancel()
            await asyncio.gather(*side, return_exceptions=True)
            await self._shards.close()
            with suppress(ArenaError):
                await leave(arena.database, self._id, done_results=self._shards.done_results)

    async def _check_sandbox(self) -> bool:
        """Whether this machine can isolate code, as far as the options ask for it."""
        wanted = self._options.has_sandbox
        if wanted is False:
            return False
        try:
            sandbox = await self._arena.sandbox.create()
            await sandbox.destroy()
        except ArenaError as error:
            if wanted:
                raise
            self._report(f"no tests that need a sandbox: {error}")
            return False
        return True

    def _queues(self, has_sandbox: bool) -> list[str]:
        labels = (None, *dict.fromkeys((host_label(), *self._options.labels)))
        queues = [queue_of(label, needs_sandbox=False) for label in labels]
        if has_sandbox:
            queues += [queue_of(label, needs_sandbox=True) for label in labels]
        serve, team = self._arena.jobs.judging.serve, self._arena.settings.team
        at_once = self._options.shards
        judges = [serve(team, name, at_once=at_once) for name in self._options.judges]
        return [*queues, CHORES_QUEUE, *judges]

    def _described(self, queues: Sequence[str], has_sandbox: bool) -> WorkerProcess:
        options = self._options
        return WorkerProcess(
            id=self._id,
            name=self.name,
            host=socket.gethostname(),
            pid=os.getpid(),
            version=__version__,
            queues=tuple(queues),
            labels=(host_label(), *options.labels),
            judges=options.judges,
            shards=options.shards,
            questions=options.questions,
            has_sandbox=has_sandbox,
        )

    async def _beat(self) -> None:
        assert self._shards is not None
        shards = self._shards
        is_listed = await beat(
            self._arena.database,
            self._id,
            busy=shards.busy,
            done_shards=shards.done_shards,
            done_results=shards.done_results,
            is_stopping=self._stop.is_set(),
        )
        if not is_listed:
            await register(self._arena.database, self._row)

    async def _every(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await work()
            except ArenaError as error:
                log.info("%s", error.message)
            except Exception:
                # The edge of the loop: one failure must not end it for good.
                log.exception("the queue could not be looked after")
            # Not all workers at the same moment.
            await asyncio.sleep(seconds * random.uniform(0.8, 1.2))

    async def _sweep(self) -> None:
        if count := await self._arena.queue.retry_dead(self._arena.database):
            log.info("%d jobs of dead workers are delivered again", count)

    async def _reconcile(self) -> None:
        if count := await reconcile_runs(self._arena.database, self._arena.queue):
            log.warning("%d jobs of running runs were missing and were added", count)
        for reconcile in self._arena.jobs.reconcilers:
            await reconcile()
        await remove_silent(self._arena.database)

    async def _drain(self, queues: Sequence[str]) -> None:
        while True:
            await asyncio.sleep(DRAIN_SECONDS)
            with suppress(ArenaError):
                if not await has_waiting(self._arena.database, queues):
                    self.stop()
                    return


@asynccontextmanager
async def working(arena: Arena, options: WorkerOptions) -> AsyncGenerator[None]:
    """Work beside something else, until the block ends."""
    inner = _InnerWorker(arena, options)
    task = asyncio.create_task(inner.run(), name="worker")
    try:
        yield
    finally:
        inner.stop()
        await asyncio.gather(task, return_exceptions=True)


class _InnerWorker:
    """The worker of a server; one that fails is followed by another."""

    def __init__(self, arena: Arena, options: WorkerOptions) -> None:
        self._arena = arena
        self._options = options
        self._worker: Worker | None = None
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        self._stopped.set()
        if self._worker is not None:
            self._worker.stop()

    async def run(self) -> None:
        while not self._stopped.is_set():
            self._worker = Worker(self._arena, self._options, log.info)
            try:
                await self._worker.run(log.info)
            except Exception:
                # The edge of the worker: the server goes on, and so must its runs.
                log.exception("the worker of this server has failed, another one follows")
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopped.wait(), RESTART_SECONDS)

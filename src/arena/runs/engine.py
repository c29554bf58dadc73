"""The loop: take a run, ask the agent each of its tests, judge, record."""

import asyncio
import contextlib
import logging
from dataclasses import dataclass, field
from typing import cast

from arena.agents import Agent, Limiter, Limits, connect
from arena.errors import InfrastructureError
from arena.evaluation import Resources
from arena.runs import records
from arena.runs.attempt import NotExecuted, Retries, Way, execute_item
from arena.runs.changes import Changes
from arena.runs.records import LostLease
from arena.runs.run import Item, Result, Run, RunError
from arena.runs.verdicts import Recorder
from arena.runs.writer import ResultWriter, pause
from arena.store.database import Database

log = logging.getLogger(__name__)

RENEW_SECONDS = 2.0
"""How often an executor says that it is alive, and learns that a run was cancelled elsewhere."""

MAX_MISSES = 5
"""After so many items in a row that could not be executed the run stops."""


class GiveUp(Exception):
    """The infrastructure is down; more tries would not help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Executes runs in this process."""

    database: Database
    changes: Changes
    token: str
    """What this executor writes into the leases of its runs."""
    retries: Retries
    resources: Resources
    """What answers are judged with."""
    reviewers_needed: int = 1
    """How many people have to answer each item of a checklist."""
    recorder: Recorder | None = None
    """Where the records of verdicts go."""
    limiters: dict[tuple[str, Limits], Limiter] = field(
        default_factory=dict[tuple[str, Limits], Limiter]
    )
    """One for each agent: runs of one agent share what it allows, as its file says it now."""

    async def execute(self, run: Run, agent: Agent) -> Run:
        """Do all that is left of a run whose lease this executor holds; return how it ended."""
        work = _Work(self, run, agent)
        trouble: str | None = None
        try:
            try:
                await work.do_all()
                trouble = work.last_miss
            except (GiveUp, InfrastructureError) as reason:
                trouble = str(reason)
            except LostLease:
                raise
            except Exception as mistake:
                # The edge of a run: a mistake of ours ends it, or its watchers would wait for ever.
                log.exception("run %s stopped", run.id)
                trouble = f"an error of Arena itself: {str(_first(mistake)).splitlines()[0]}"
            return await records.finish(self.database, run.id, self.token, trouble)
        except LostLease:
            # Cancelled, or taken over: what the database says is what happened.
            return await records.get_run(self.database, run.id, None)
        except asyncio.CancelledError:
            with contextlib.suppress(LostLease, InfrastructureError):
                await records.release(self.database, run.id, self.token)
            raise
        finally:
            self.changes.ring(run.id)


class _Work:
    """The execution of one run, from the first item to the last."""

    def __init__(self, engine: Engine, run: Run, agent: Agent) -> None:
        self._engine = engine
        self._run = run
        self._agent = agent
        self._concurrency = run.concurrency or agent.limits.max_concurrency
        self._items: asyncio.Queue[Item | None] = asyncio.Queue(maxsize=self._concurrency)
        self._writer = ResultWriter(self._write)
        self._misses = 0
        self.last_miss: str | None = None
        """Why an item could not be executed, where that has happened."""

    async def do_all(self) -> None:
        """Execute every pending item and write every result."""
        try:
            connector = connect(self._agent)
        except InfrastructureError as wrong:
            raise GiveUp(wrong.message) from wrong
        limits = self._agent.limits
        key = self._agent.reference, limits
        limiter = self._engine.limiters.setdefault(key, Limiter(limits))
        way = Way(
            connector=connector,
            limiter=limiter,
            resources=self._engine.resources,
            recorder=self._engine.recorder,
        )
        try:
            async with asyncio.TaskGroup() as group:
                done = asyncio.Event()
                group.create_task(self._writer.keep_flushing(done))
                group.create_task(self._stay_alive(done))
                async with asyncio.TaskGroup() as workers:
                    workers.create_task(self._produce())
                    for _ in range(self._concurrency):
                        workers.create_task(self._consume(way))
                done.set()
        except* (GiveUp, LostLease, InfrastructureError) as group:
            raise _first(group) from None
        finally:
            # Also when cancelled: what an agent has already answered is not thrown away.
            try:
                await self._writer.flush()
            finally:
                await connector.close()

    async def _produce(self) -> None:
        async for page in records.pending_items(self._engine.database, self._run.id):
            for item in page:
                await self._items.put(item)
        for _ in range(self._concurrency):
            await self._items.put(None)

    async def _consume(self, way: Way) -> None:
        while (item := await self._items.get()) is not None:
            try:
                result = await execute_item(way, self._run.id, item, self._engine.retries)
            except NotExecuted as missed:
                await self._miss(missed)
            else:
                self._misses = 0
                await self._writer.add(result)

    async def _miss(self, missed: NotExecuted) -> None:
        """Write down what could not be executed; stop where it is no exception."""
        error = RunError(
            test_id=missed.item.test.id,
            trial=missed.item.trial,
            attempts=missed.attempts,
            reason=missed.cause.message,
        )
        await records.add_error(self._engine.database, self._run.id, self._engine.token, error)
        self._misses += 1
        self.last_miss = missed.cause.message
        if not missed.cause.retryable or self._misses >= MAX_MISSES:
            raise GiveUp(missed.cause.message) from missed

    async def _write(self, results: list[Result]) -> None:
        engine = self._engine
        await records.add_results(
            engine.database, self._run.id, engine.token, results, engine.reviewers_needed
        )
        engine.changes.ring(self._run.id)

    async def _stay_alive(self, done: asyncio.Event) -> None:
        while not done.is_set():
            await pause(RENEW_SECONDS, done)
            await records.renew(self._engine.database, self._run.id, self._engine.token)


def _first(error: BaseException) -> Exception:
    """The error itself, or the first one of a group, however deep it is wrapped."""
    while isinstance(error, BaseExceptionGroup):
        error = cast(BaseExceptionGroup[BaseException], error).exceptions[0]
    assert isinstance(error, Exception)
    return error

"""The queue on PostgreSQL: adding jobs, and taking them. Procrastinate is imported only here."""

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import psycopg
from procrastinate import App, PsycopgConnector, RetryDecision
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException, UniqueViolation
from procrastinate.jobs import Job as EngineJob
from procrastinate.jobs import Status
from procrastinate.manager import JobManager, NotificationCallback
from procrastinate.retry import BaseRetryStrategy
from procrastinate.schema import SchemaManager
from procrastinate.worker import Worker as EngineWorker
from psycopg_pool import PoolTimeout
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.backoff import backoff_seconds
from arena.queue.job import Handler, Job, Postponed
from arena.store.database import CONNECTION, Database, shielded

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 1.0
DEAD_SECONDS = 5.0
"""A worker without a heartbeat for this time has died: others get its jobs."""
POLL_SECONDS = 1.0
"""How often a worker looks for jobs if it is not notified."""
LISTEN_POLL_SECONDS = 2.0
"""The same if it is: for jobs that were postponed, and in case a notification was lost."""
POOL_SECONDS = 3.0
"""How long to wait for a connection."""
AWAY_SECONDS = 0.5
"""The delay before the next attempt while the database does not respond."""
STOP_SECONDS = 5.0
"""How long a worker that stops waits for the database, to record the end of a job."""
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 5.0, 300.0
SCHEMA_LOCK = 5110
"""The advisory lock under which the engine's tables are created."""
AWAY = (ConnectorException, psycopg.Error, PoolTimeout)
OUTAGES = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout)


class JobQueue:
    """The queue of one database."""

    def __init__(self, url: str, *, listens: bool = True) -> None:
        """`url` is SQLAlchemy's address of the database."""
        self._listens = listens
        self._is_prepared = False
        # Two connections: one for heartbeats, so that they never wait for a fetch.
        self._connector = PsycopgConnector(
            conninfo=url.replace("postgresql+psycopg://", "postgresql://", 1),
            min_size=1,
            max_size=3,
            timeout=POOL_SECONDS,
            kwargs=CONNECTION,
        )
        self._app = App(connector=self._connector)
        self._patient = self._app.job_manager = PatientJobs(self._connector)

    async def prepare(self, database: Database) -> None:
        """Create the engine's tables if they are missing."""
        async with database.writing() as connection:
            await self._prepare(connection)

    async def _prepare(self, connection: AsyncConnection) -> None:
        # From the catalog's table: `to_regclass` may answer from a cache that is older than the
        # lock, and then two processes would create the tables.
        exists = text("SELECT count(*) FROM pg_class WHERE relname = 'procrastinate_jobs'")
        if not (await connection.execute(exists)).scalar():
            lock = text("SELECT pg_advisory_xact_lock(:lock)")
            await connection.execute(lock, {"lock": SCHEMA_LOCK})
            if not (await connection.execute(exists)).scalar():
                # Doubled: SQLAlchemy's driver takes a single one for a parameter.
                schema = SchemaManager.get_schema().replace("%", "%%")
                await connection.exec_driver_sql(schema)
        self._is_prepared = True

    async def add(self, connection: AsyncConnection, jobs: Iterable[Job]) -> None:
        """Add jobs in the caller's transaction; one whose key is waiting already is left out."""
        if not self._is_prepared:
            await self._prepare(connection)
        raw: Any = (await connection.get_raw_connection()).driver_connection
        for job in jobs:
            deferred = EngineJob(
                id=None,
                lock=None,
                queueing_lock=job.key,
                task_name=job.kind,
                queue=job.queue,
                priority=job.priority,
                task_kwargs=dict(job.arguments),
            )
            # In a savepoint: a duplicate would abort the whole transaction.
            with contextlib.suppress(AlreadyEnqueued):
                async with connection.begin_nested():
                    await self._app.job_manager.defer_job_async(deferred, connection=raw)

    async def deliver(
        self,
        handlers: Mapping[str, Handler],
        queues: Sequence[str],
        *,
        name: str,
        at_once: int,
        stop: asyncio.Event,
    ) -> None:
        """Take jobs of these queues until `stop`, then wait for the handlers that still run."""
        for kind, handler in handlers.items():
            self._app.task(name=kind, queue=queues[0], retry=_Retry())(_task(handler))
        self._patient.stop = stop
        while not stop.is_set():
            try:
                async with self._app.open_async():
                    await self._work(queues, name, at_once, stop)
            except AWAY as error:
                log.warning("the queue does not respond: %s", error.__cause__ or error)
                await asyncio.sleep(AWAY_SECONDS)

    async def _work(
        self, queues: Sequence[str], name: str, at_once: int, stop: asyncio.Event
    ) -> None:
        worker = EngineWorker(
            self._app,
            queues=list(queues),
            name=name,
            concurrency=at_once,
            fetch_job_polling_interval=LISTEN_POLL_SECONDS if self._listens else POLL_SECONDS,
            listen_notify=self._listens,
            delete_jobs="successful",
            install_signal_handlers=False,
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=10 * DEAD_SECONDS,
        )
        stopping = asyncio.create_task(_stop_when(worker, stop))
        try:
            await worker.run()
        finally:
            stopping.cancel()
            await asyncio.gather(stopping, return_exceptions=True)

    @shielded
    async def retry_dead(self, database: Database) -> int:
        """Deliver the jobs of dead workers again; returns how many there were."""
        async with database.writing() as connection:
            await connection.execute(_REMOVE_DEAD, {"seconds": DEAD_SECONDS})
            found = await connection.execute(_RETRY_DEAD, {"seconds": DEAD_SECONDS})
            retried = found.all()
            for row in retried:
                # An update notifies nobody, and waiting for the next poll would take a second.
                notice = json.dumps({"type": "job_inserted", "job_id": row.id})
                values = {"channel": f"procrastinate_queue_v1#{row.queue_name}", "notice": notice}
                await connection.execute(text("SELECT pg_notify(:channel, :notice)"), values)
            return len(retried)

    async def keys(self, connection: AsyncConnection) -> frozenset[str]:
        """The keys of all jobs that wait or are worked on."""
        query = "SELECT queueing_lock FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
        return frozenset((await connection.execute(text(query))).scalars())


# Parts of statements: which jobs are those of dead workers, and which have a newer one with their
# key. Only one of several may wait, and another worker may be at the newer one already.
_IS_DEAD = """
    job.status = 'doing' AND NOT EXISTS (
        SELECT 1 FROM procrastinate_workers worker WHERE worker.id = job.worker_id
        AND worker.last_heartbeat >= clock_timestamp() - make_interval(secs => :seconds)
    )
"""
_HAS_NEWER = """
    EXISTS (
        SELECT 1 FROM procrastinate_jobs other
        WHERE other.queueing_lock = job.queueing_lock AND other.id <> job.id
        AND (other.status = 'todo' OR (other.status = 'doing' AND other.id > job.id))
    )
"""
_REMOVE_DEAD = text(
    f"""
    DELETE FROM procrastinate_jobs WHERE id IN (
        SELECT job.id FROM procrastinate_jobs job WHERE {_IS_DEAD} AND {_HAS_NEWER}
        FOR UPDATE SKIP LOCKED
    )
    """
)
_RETRY_DEAD = text(
    f"""
    UPDATE procrastinate_jobs SET status = 'todo', attempts = attempts + 1, scheduled_at = NULL
    WHERE id IN (
        SELECT job.id FROM procrastinate_jobs job WHERE {_IS_DEAD} AND NOT {_HAS_NEWER}
        FOR UPDATE SKIP LOCKED
    )
    RETURNING id, queue_name
    """
)


def _task(handler: Handler) -> Any:
    async def task(**arguments: Any) -> None:
        try:
            await handler(arguments)
        except Postponed:
            raise
        except Exception:
            # The edge of a job: it comes again, and the engine's own log is too long to be read.
            log.exception("a job failed and comes again: %s", arguments)
            raise

    return task


async def _stop_when(worker: EngineWorker, stop: asyncio.Event) -> None:
    await stop.wait()
    worker.stop()


class _Retry(BaseRetryStrategy):
    """Every job comes again until it was done: the tables decide when there is nothing to do."""

    def get_retry_decision(self, *, exception: BaseException, job: EngineJob) -> RetryDecision:
        if isinstance(exception, Postponed):
            seconds = exception.seconds
        else:
            failures = job.attempts + 1
            seconds = backoff_seconds(
                FIRST_RETRY_SECONDS, failures, most_seconds=MAX_RETRY_SECONDS, jitter=True
            )
        return RetryDecision(retry_at=clock.now() + timedelta(seconds=seconds))


class PatientJobs(JobManager):
    """The engine's access to its tables, waiting while the database does not respond.

    Without this, a worker would end with the first heartbeat that fails, and a job whose end could
    not be written would count as running for ever.
    """

    def __init__(self, connector: PsycopgConnector) -> None:
        super().__init__(connector)
        self._held: set[int] = set()
        """The jobs that this worker got and has not ended."""
        self._has_lost = False
        """Whether a job may be marked as this worker's although it never arrived."""
        self.stop: asyncio.Event | None = None
        """Set when the worker stops: it then does not wait for long."""

    async def update_heartbeat(self, worker_id: int) -> None:
        """Say that the worker lives; also if its row is gone, as after a long pause."""
        with contextlib.suppress(*AWAY):
            query = (
                "INSERT INTO procrastinate_workers (id) OVERRIDING SYSTEM VALUE "
                "VALUES (%(worker_id)s) ON CONFLICT (id) DO UPDATE SET last_heartbeat = NOW()"
            )
            await self.connector.execute_query_async(query, worker_id=worker_id)

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> EngineJob | None:
        """The next job; None if there is none, or the database does not respond."""
        try:
            if self._has_lost:
                await self._give_back_lost(worker_id)
            job = await super().fetch_job(queues, worker_id)
        except AWAY as error:
            # The answer may have been lost, and not the request.
            self._has_lost = True
            log.debug("no jobs can be fetched: %s", error)
            await self.update_heartbeat(worker_id)
            await asyncio.sleep(AWAY_SECONDS)
            return None
        if job is not None and job.id is not None:
            self._held.add(job.id)
        return job

    async def finish_job(self, job: EngineJob, *args: Any, **named: Any) -> None:
        """Record the end of a job."""
        await self._patiently(job, super().finish_job, *args, **named)

    async def retry_job(
        self, job: EngineJob, retry_at: datetime | None = None, *args: Any, **named: Any
    ) -> None:
        """Let a job be delivered again, by the clock of the database."""
        seconds = 0.0 if retry_at is None else (retry_at - clock.now()).total_seconds()
        await self._patiently(job, self._retry_in, seconds)

    async def _retry_in(self, job: EngineJob, seconds: float) -> None:
        query = (
            "SELECT procrastinate_retry_job_v2(%(job_id)s, "
            "clock_timestamp() + make_interval(secs => %(seconds)s), NULL, NULL, NULL)"
        )
        await self.connector.execute_query_async(query, job_id=job.id, seconds=seconds)

    async def unregister_worker(self, worker_id: int) -> None:
        """Remove the worker; if that fails, it counts as dead soon."""
        with contextlib.suppress(*AWAY):
            await super().unregister_worker(worker_id)

    async def listen_for_jobs(
        self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None
    ) -> None:
        """Listen for new jobs, also after the connection was cut."""
        while True:
            with contextlib.suppress(*AWAY):
                await super().listen_for_jobs(on_notification=on_notification, queues=queues)
            await asyncio.sleep(AWAY_SECONDS)

    async def list_jobs_to_abort_async(self, queue: str | None = None) -> Iterable[int]:
        """None: work is stopped through Arena's tables."""
        return ()

    async def _give_back_lost(self, worker_id: int) -> None:
        lost = "worker_id = %(worker_id)s AND status = 'doing' AND id <> ALL(%(held)s)"
        remove = f"DELETE FROM procrastinate_jobs job WHERE {lost} AND {_HAS_NEWER}"
        give_back = f"UPDATE procrastinate_jobs SET status = 'todo' WHERE {lost}"
        for query in (remove, give_back):
            await self.connector.execute_query_async(
                query, worker_id=worker_id, held=list(self._held)
            )
        self._has_lost = False

    async def _patiently(self, job: EngineJob, write: Any, *args: Any, **named: Any) -> None:
        stopping_since: float | None = None
        while True:
            try:
                await write(job, *args, **named)
                break
            except AWAY as error:
                if isinstance(error, UniqueViolation):
                    # A job with its key waits already, and is enough.
                    write, args, named = super().finish_job, (Status.SUCCEEDED, True), {}
                    continue
                if not isinstance(error.__cause__ or error, OUTAGES):
                    log.debug("the end of a job was not recorded: %s", error)
                    break  # the job is gone: somebody emptied the queue
            if self.stop is not None and self.stop.is_set():
                stopping_since = stopping_since or time.monotonic()
                if time.monotonic() - stopping_since > STOP_SECONDS:
                    log.warning("the end of a job was not recorded: the database does not respond")
                    break  # it comes again as the job of a worker that died
            await asyncio.sleep(AWAY_SECONDS)
        if job.id is not None:
            self._held.discard(job.id)

"""The workers that are there: their entry, heartbeats and exit. Times are the database's."""

from dataclasses import asdict
from uuid import UUID

from sqlalchemy import delete, func, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.queue.overview import WorkerProcess
from arena.queue.records.totals import count
from arena.store.database import Database, dialect_insert, shielded
from arena.store.tables.queue import Workers

KEPT_SECONDS = 86_400
"""A silent worker is listed for a day, so that its death can be seen."""


@shielded
async def register(database: Database, worker: WorkerProcess) -> None:
    """List a worker. Do it before it takes its first job, or nobody would notice its death."""
    values = asdict(worker) | {name: list(getattr(worker, name)) for name in LISTS}
    values |= {"started_at": func.clock_timestamp(), "seen_at": func.clock_timestamp()}
    async with database.writing() as connection:
        new = dialect_insert(connection, Workers).values(**values)
        known = new.on_conflict_do_update(
            index_elements=[Workers.id], set_={"seen_at": func.clock_timestamp()}
        )
        await connection.execute(known)


LISTS = ("queues", "labels", "judges")


@shielded
async def beat(
    database: Database,
    worker_id: UUID,
    *,
    busy: int,
    done_shards: int,
    done_results: int,
    is_stopping: bool = False,
) -> bool:
    """Record a heartbeat; False if the worker is no longer listed and has to register again."""
    async with database.writing() as connection:
        done = await connection.execute(
            update(Workers)
            .where(Workers.id == worker_id)
            .values(
                busy=busy,
                done_shards=done_shards,
                done_results=done_results,
                is_stopping=is_stopping,
                seen_at=func.clock_timestamp(),
            )
        )
        return done.rowcount > 0


@shielded
async def leave(database: Database, worker_id: UUID, *, done_results: int | None = None) -> None:
    """Remove a worker that has stopped; `done_results` includes those since its last heartbeat."""
    own = Workers.id == worker_id
    async with database.writing() as connection:
        if done_results is not None:
            await connection.execute(update(Workers).where(own).values(done_results=done_results))
        await _remove(connection, own)


@shielded
async def remove_silent(database: Database, seconds: float = KEPT_SECONDS) -> int:
    """Remove the workers that have been silent for so long; returns how many."""
    since = func.clock_timestamp() - func.make_interval(0, 0, 0, 0, 0, 0, seconds)
    async with database.writing() as connection:
        return await _remove(connection, Workers.seen_at < since)


async def _remove(connection: AsyncConnection, which: object) -> int:
    gone = delete(Workers).where(which).returning(Workers.done_results)  # pyright: ignore[reportArgumentType]
    results = (await connection.execute(gone)).scalars().all()
    if sum(results):
        # What it has written stays counted, so that the total never falls.
        await count(connection, "results", by=sum(results))
    return len(results)

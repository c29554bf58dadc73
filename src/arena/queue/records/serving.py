"""Which queues a worker takes jobs from now."""

from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.queue.claiming import database_now
from arena.store.tables.queue import Workers

SILENT_SECONDS = 5
"""A worker that was not seen for this time does not count."""


async def served_queues(
    connection: AsyncConnection, *, except_by: str | None = None
) -> frozenset[str]:
    """The queues of all workers that live and take new jobs, but for those with one name."""
    is_alive = Workers.seen_at > database_now() - timedelta(seconds=SILENT_SECONDS)
    query = select(Workers.queues).where(is_alive, Workers.is_stopping.is_(False))
    if except_by is not None:
        query = query.where(Workers.name != except_by)
    lists = (await connection.execute(query)).scalars()
    return frozenset(name for names in lists for name in names)

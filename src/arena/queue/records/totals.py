"""Counters of the queue since it was made."""

from typing import Literal

from sqlalchemy.ext.asyncio import AsyncConnection

from arena.store.database import dialect_insert
from arena.store.tables.queue import QueueTotals

TotalName = Literal["takeovers", "retries", "hand_backs", "reconciled", "results"]


async def count(connection: AsyncConnection, name: TotalName, by: int = 1) -> None:
    """Add to a counter, in the caller's transaction. Do it last: others wait for its row."""
    new = dialect_insert(connection, QueueTotals).values(name=name, count=by)
    await connection.execute(
        new.on_conflict_do_update(
            index_elements=[QueueTotals.name],
            set_={"count": QueueTotals.count + new.excluded.count},
        )
    )

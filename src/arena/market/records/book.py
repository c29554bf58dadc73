"""A team's book: locked by whoever changes anything, so that calls happen one after another.

On SQLite a writing transaction is alone anyway; on PostgreSQL the row's lock keeps the order. So
of two judges exactly one gives the verdict, and events are seen in the order of their numbers.
"""

from datetime import datetime
from uuid import uuid4

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.market.errors import KeyConflict
from arena.market.receipt import Receipt
from arena.market.records.rows import to_receipt
from arena.market.task import TaskState
from arena.store.database import Database, insert_or_ignore, shielded
from arena.store.tables import MarketBooks, MarketCalls


@shielded
async def market_id(database: Database, team_id: str) -> str:
    """The id of the team's market; it is made when it is first asked for."""
    async with database.reading() as connection:
        found = await _read(connection, team_id)
    if found is not None:
        return found
    async with database.writing() as connection:
        return await lock_book(connection, team_id)


async def lock_book(connection: AsyncConnection, team_id: str) -> str:
    """Keep everybody else from changing the team's market; gives the market's id."""
    found = await _read(connection, team_id, lock=True)
    if found is None:
        row = {"team_id": team_id, "market_id": uuid4().hex, "created_at": clock.now()}
        await connection.execute(insert_or_ignore(connection, MarketBooks), row)
        found = await _read(connection, team_id, lock=True)
    assert found is not None
    return found


async def find_call(
    connection: AsyncConnection, team_id: str, key: str, digest: str
) -> Receipt | None:
    """The receipt of the call that was done with this key; None where the key is new."""
    query = select(MarketCalls.__table__).where(
        MarketCalls.team_id == team_id, MarketCalls.idempotency_key == key
    )
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        return None
    if row.digest != digest:
        raise KeyConflict(f"the key {key!r} was used for another call: take a new one")
    return to_receipt(row)


async def add_call(
    connection: AsyncConnection,
    team_id: str,
    *,
    key: str,
    digest: str,
    action: str,
    at: datetime,
    task_id: int | None = None,
    state: TaskState | None = None,
) -> Receipt:
    """Write down that a call was done, and give its receipt."""
    row = {
        "team_id": team_id,
        "idempotency_key": key,
        "digest": digest,
        "action": action,
        "task_id": task_id,
        "state": state,
        "at": at,
    }
    added = await connection.execute(insert(MarketCalls).returning(MarketCalls.id), row)
    return Receipt(ref=added.scalar_one(), task_id=task_id, state=state, at=at)


async def _read(connection: AsyncConnection, team_id: str, *, lock: bool = False) -> str | None:
    query = select(MarketBooks.market_id).where(MarketBooks.team_id == team_id)
    if lock:
        query = query.with_for_update()
    return (await connection.execute(query)).scalar_one_or_none()

"""Events: written with the move they tell of, read in order."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.market.events import Event, Happening
from arena.market.records.rows import to_event
from arena.store.tables import MarketEvents


async def add_events(
    connection: AsyncConnection,
    team_id: str,
    task_id: int | None,
    who: str,
    at: datetime,
    happenings: Iterable[Happening],
) -> None:
    """Write down what happened."""
    for told in happenings:
        # One by one: their numbers are their order.
        row = {
            "team_id": team_id,
            "task_id": task_id,
            "kind": told.kind,
            "who": who,
            "at": at,
            "why": told.why,
            "data": dict(told.data),
        }
        await connection.execute(insert(MarketEvents), row)


async def list_events(
    connection: AsyncConnection, team_id: str, *, since: int, limit: int, task_id: int | None
) -> list[Event]:
    """Events after `since`, in order."""
    query = select(MarketEvents.__table__).where(
        MarketEvents.team_id == team_id, MarketEvents.id > since
    )
    if task_id is not None:
        query = query.where(MarketEvents.task_id == task_id)
    query = query.order_by(MarketEvents.id).limit(limit)
    return [to_event(row) for row in await connection.execute(query)]


async def last_event_id(connection: AsyncConnection, team_id: str) -> int:
    """The newest event's id; 0 where nothing has happened yet."""
    query = (
        select(MarketEvents.id)
        .where(MarketEvents.team_id == team_id)
        .order_by(MarketEvents.id.desc())
        .limit(1)
    )
    return (await connection.execute(query)).scalar_one_or_none() or 0

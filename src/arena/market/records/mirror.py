"""Writes tasks that live on another ledger into the market's tables, where everybody reads them.

The other ledger has decided; here nothing is checked. The book must be locked.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.errors import Conflict
from arena.market.call import EventKind
from arena.market.records.book import numbered_insert
from arena.market.records.reading import read_parties
from arena.market.records.rows import from_task
from arena.market.task import Task
from arena.store.database import insert_or_ignore
from arena.store.tables.market import (
    MarketAgents,
    MarketApplications,
    MarketEvents,
    MarketParties,
    MarketTasks,
)

KEPT = ("claimed_until", "description")
"""What a row has that the other ledger does not know."""


async def add_task(connection: AsyncConnection, task: Task) -> int:
    """Insert a task; returns the team's next number, which it gets."""
    added = await connection.execute(numbered_insert(MarketTasks, task.team_id, from_task(task)))
    return added.scalar_one()


async def store_task(connection: AsyncConnection, task: Task) -> None:
    """Bring a task's row up to date. A move that ends the judging ends its claim."""
    values = {name: value for name, value in from_task(task).items() if name not in KEPT}
    if task.score is not None or task.state.is_final:
        values |= {"claimed_until": None, "claim_token": None}
    await connection.execute(
        update(MarketTasks)
        .where(MarketTasks.team_id == task.team_id, MarketTasks.id == task.id)
        .values(values)
    )


async def store_description(
    connection: AsyncConnection, team_id: str, task_id: int, description: str
) -> None:
    """Set the description of a task, once its content has arrived."""
    await connection.execute(
        update(MarketTasks)
        .where(MarketTasks.team_id == team_id, MarketTasks.id == task_id)
        .values(description=description)
    )


async def add_application(
    connection: AsyncConnection, task: Task, agent: str, version: str, at: datetime
) -> None:
    """Record an application."""
    row = {
        "team_id": task.team_id,
        "task_id": task.id,
        "agent": agent,
        "version": version,
        "applied_at": at,
    }
    await connection.execute(insert_or_ignore(connection, MarketApplications), row)


async def keep_applications(connection: AsyncConnection, task: Task, agents: Iterable[str]) -> None:
    """Remove the applications for a task of all but these agents."""
    await connection.execute(
        delete(MarketApplications).where(
            MarketApplications.team_id == task.team_id,
            MarketApplications.task_id == task.id,
            MarketApplications.agent.not_in(list(agents)),
        )
    )


async def read_events(
    connection: AsyncConnection, team_id: str, ids: Sequence[int]
) -> list[tuple[EventKind, datetime]]:
    """What these events are, and when they happened, in order."""
    query = (
        select(MarketEvents.kind, MarketEvents.at)
        .where(MarketEvents.team_id == team_id, MarketEvents.id.in_(ids))
        .order_by(MarketEvents.id)
    )
    return [(EventKind(kind), at) for kind, at in await connection.execute(query)]


async def remove_events(connection: AsyncConnection, team_id: str, ids: Sequence[int]) -> None:
    """Remove events that did not happen."""
    is_gone = (MarketEvents.team_id == team_id) & MarketEvents.id.in_(ids)
    await connection.execute(delete(MarketEvents).where(is_gone))


async def ensure_agents(
    connection: AsyncConnection, team_id: str, addresses: Mapping[str, str], at: datetime
) -> None:
    """Add the agents (name to address) that are not registered here: they act on the chain only."""
    rows = [
        {
            "team_id": team_id,
            "id": name,
            "version": "1.0.0",
            "public_key": address,
            "registered_at": at,
            "attempts": 0,
            "judged": 0,
            "score_sum": 0,
            "wins": 0,
            "no_shows": 0,
        }
        for name, address in addresses.items()
    ]
    if rows:
        await connection.execute(insert_or_ignore(connection, MarketAgents), rows)


async def add_unnamed(connection: AsyncConnection, team_id: str, addresses: Iterable[str]) -> None:
    """Let addresses go by themselves, unless they have a name."""
    rows = [{"team_id": team_id, "name": one, "address": one} for one in sorted(addresses)]
    if rows:
        await connection.execute(insert_or_ignore(connection, MarketParties), rows)


async def name_wallet(connection: AsyncConnection, team_id: str, name: str, address: str) -> None:
    """Give an address a name; `Conflict` if either is taken."""
    known = await read_parties(connection, team_id)
    owner = {value: key for key, value in known.items()}.get(address.lower())
    if owner == name:
        return
    if name in known:
        raise Conflict(f"{name!r} is {known[name]} already: a name belongs to one address")
    if owner is not None:
        raise Conflict(f"{address} is called {owner!r} already: use that name")
    row = {"team_id": team_id, "name": name, "address": address.lower()}
    await connection.execute(insert(MarketParties), row)

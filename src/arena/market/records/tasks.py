"""Tasks and applications: read, inserted, changed."""

from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.market.errors import UnknownTask
from arena.market.naming import MAX_ID
from arena.market.records.rows import from_task, to_task
from arena.market.task import Task
from arena.store.tables import MarketApplications, MarketTasks


async def read_task(connection: AsyncConnection, team_id: str, task_id: int) -> Task:
    """The team's task; another team's is not known here."""
    row = None
    if 0 < task_id <= MAX_ID:
        query = select(MarketTasks.__table__).where(
            MarketTasks.id == task_id, MarketTasks.team_id == team_id
        )
        row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise UnknownTask(f"there is no task {task_id}")
    return to_task(row)


async def add_task(connection: AsyncConnection, values: dict[str, Any]) -> int:
    """Write a new task down; gives its number."""
    added = await connection.execute(insert(MarketTasks).returning(MarketTasks.id), values)
    return added.scalar_one()


async def change_task(connection: AsyncConnection, before: Task, after: Task) -> None:
    """Write what a move changed."""
    old, new = from_task(before), from_task(after)
    changed = {name: value for name, value in new.items() if value != old[name]}
    if changed:
        await connection.execute(
            update(MarketTasks).where(MarketTasks.id == before.id).values(**changed)
        )


async def add_application(
    connection: AsyncConnection, task: Task, agent: str, version: str, at: datetime
) -> None:
    """Write down that an agent applied."""
    await connection.execute(
        insert(MarketApplications),
        {
            "task_id": task.id,
            "agent": agent,
            "team_id": task.team_id,
            "version": version,
            "applied_at": at,
        },
    )


async def application_version(
    connection: AsyncConnection, task_id: int, agent: str | None
) -> str | None:
    """The version an agent applied with; None where it has not applied."""
    query = select(MarketApplications.version).where(
        MarketApplications.task_id == task_id, MarketApplications.agent == agent
    )
    return (await connection.execute(query)).scalar_one_or_none()

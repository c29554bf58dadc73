"""Reading: pages of tasks, a task's story, balances and histories of accounts."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import exists, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.market.money import Entry, EntryKind, Line, Posting
from arena.market.records.rows import to_task
from arena.market.task import Task
from arena.market.views import TaskFilter
from arena.store.tables import (
    MarketAccounts,
    MarketApplications,
    MarketEntries,
    MarketPostings,
    MarketTasks,
)


async def list_tasks(
    connection: AsyncConnection, team_id: str, wanted: TaskFilter, limit: int, before: int | None
) -> list[Task]:
    """Tasks, newest first."""
    query = select(MarketTasks.__table__).where(
        MarketTasks.team_id == team_id, *_conditions(wanted)
    )
    if before is not None:
        query = query.where(MarketTasks.id < before)
    query = query.order_by(MarketTasks.id.desc()).limit(limit)
    return [to_task(row) for row in await connection.execute(query)]


async def due_tasks(
    connection: AsyncConnection, team_id: str, at: datetime, limit: int
) -> list[Task]:
    """Live tasks whose exit is open, the longest overdue first."""
    query = (
        select(MarketTasks.__table__)
        .where(MarketTasks.team_id == team_id, MarketTasks.exit_at <= at)
        .order_by(MarketTasks.exit_at, MarketTasks.id)
        .limit(limit)
    )
    return [to_task(row) for row in await connection.execute(query)]


async def entries_of(connection: AsyncConnection, team_id: str, task_id: int) -> list[Entry]:
    """The journal of a task."""
    query = (
        select(MarketEntries.__table__, MarketPostings.account, MarketPostings.amount)
        .join(MarketPostings, MarketPostings.entry_id == MarketEntries.id)
        .where(MarketEntries.team_id == team_id, MarketEntries.task_id == task_id)
        .order_by(MarketEntries.id, MarketPostings.line)
    )
    found: dict[int, tuple[Any, list[Posting]]] = {}
    for row in await connection.execute(query):
        postings = found.setdefault(row.id, (row, []))[1]
        postings.append(Posting(account=row.account, amount=row.amount))
    return [
        Entry(
            id=row.id,
            task_id=row.task_id,
            kind=EntryKind(row.kind),
            at=row.at,
            postings=tuple(postings),
        )
        for row, postings in found.values()
    ]


async def all_balances(connection: AsyncConnection, team_id: str) -> dict[str, int]:
    """Every account that holds something."""
    query = select(MarketAccounts.name, MarketAccounts.balance).where(
        MarketAccounts.team_id == team_id, MarketAccounts.balance != 0
    )
    return dict(sorted((name, balance) for name, balance in await connection.execute(query)))


async def history_of(
    connection: AsyncConnection, team_id: str, account: str, limit: int, before: int | None
) -> Sequence[Line]:
    """The postings of an account, newest first."""
    query = (
        select(
            MarketEntries.__table__,
            MarketPostings.amount,
            MarketPostings.balance,
        )
        .join(MarketEntries, MarketEntries.id == MarketPostings.entry_id)
        .where(MarketPostings.team_id == team_id, MarketPostings.account == account)
    )
    if before is not None:
        query = query.where(MarketPostings.entry_id < before)
    query = query.order_by(MarketPostings.entry_id.desc(), MarketPostings.line.desc()).limit(limit)
    return [
        Line(
            entry_id=row.id,
            task_id=row.task_id,
            kind=EntryKind(row.kind),
            at=row.at,
            amount=row.amount,
            balance=row.balance,
        )
        for row in await connection.execute(query)
    ]


def _conditions(wanted: TaskFilter) -> list[Any]:
    conditions: list[Any] = []
    if wanted.states is not None:
        conditions.append(MarketTasks.state.in_(sorted(wanted.states)))
    if wanted.poster is not None:
        conditions.append(MarketTasks.poster == wanted.poster)
    if wanted.agent is not None:
        conditions.append(MarketTasks.agent == wanted.agent)
    if wanted.judge is not None:
        roles = (MarketTasks.judge, MarketTasks.fallback_judge, MarketTasks.arbiter)
        conditions.append(or_(*(role == wanted.judge for role in roles)))
    if wanted.min_reward is not None:
        conditions.append(MarketTasks.reward >= wanted.min_reward)
    if wanted.applicant is not None:
        conditions.append(
            exists().where(
                MarketApplications.task_id == MarketTasks.id,
                MarketApplications.agent == wanted.applicant,
            )
        )
    return conditions

"""Checks every invariant from the raw rows: the ledger in SQL, tasks page by page."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.market.audit import Trail, faults_of
from arena.market.call import EventKind
from arena.market.money import Audit, EntryKind, Violation
from arena.market.records.rows import to_task
from arena.market.task import Task
from arena.store.database import Database, shielded
from arena.store.tables.market import (
    MarketAccounts,
    MarketEntries,
    MarketEvents,
    MarketPostings,
    MarketTasks,
)

PAGE = 500
MAX_VIOLATIONS = 1000
"""More are not listed: the first ones are enough to see that something is broken."""

# With a cast: PostgreSQL cannot infer the type of a parameter that is only compared with NULL.
MINE = "(CAST(:team AS VARCHAR) IS NULL OR {table}.team_id = :team)"
SUMS = f"""
    SELECT p.team_id, p.account, SUM(p.amount) AS total FROM market_postings p
    WHERE {MINE.format(table="p")} GROUP BY p.team_id, p.account"""
RUNNING = f"""
    SELECT p.team_id, p.account, p.entry_id, p.balance, SUM(p.amount)
        OVER (PARTITION BY p.team_id, p.account ORDER BY p.entry_id) AS total
    FROM market_postings p WHERE {MINE.format(table="p")}"""

LEDGER_FAULTS = (
    ("I1", "an entry does not sum to zero", f"""
        SELECT p.team_id, p.entry_id, SUM(p.amount) AS total FROM market_postings p
        WHERE {MINE.format(table="p")} GROUP BY p.team_id, p.entry_id
        HAVING SUM(p.amount) <> 0"""),
    ("I1", "an entry has no postings", f"""
        SELECT e.team_id, e.id FROM market_entries e
        LEFT JOIN market_postings p ON p.team_id = e.team_id AND p.entry_id = e.id
        WHERE {MINE.format(table="e")} AND p.entry_id IS NULL"""),
    ("I1", "a posting is in no entry of its team", f"""
        SELECT p.team_id, p.entry_id FROM market_postings p
        LEFT JOIN market_entries e ON e.team_id = p.team_id AND e.id = p.entry_id
        WHERE {MINE.format(table="p")} AND e.id IS NULL"""),
    ("I1", "a balance is not the sum of its postings", f"""
        SELECT a.team_id, a.name, a.balance, s.total FROM market_accounts a
        LEFT JOIN ({SUMS}) s ON s.team_id = a.team_id AND s.account = a.name
        WHERE {MINE.format(table="a")} AND a.balance <> COALESCE(s.total, 0)"""),
    ("I1", "an account with postings has no balance", f"""
        SELECT s.team_id, s.account, s.total FROM ({SUMS}) s
        LEFT JOIN market_accounts a ON a.team_id = s.team_id AND a.name = s.account
        WHERE a.name IS NULL"""),
    ("I3", "what the accounts hold is not what came from outside", f"""
        SELECT a.team_id, SUM(a.balance) AS total FROM market_accounts a
        WHERE {MINE.format(table="a")} GROUP BY a.team_id HAVING SUM(a.balance) <> 0"""),
    ("I7", "an account was below zero", f"""
        SELECT * FROM ({RUNNING}) r WHERE r.total < 0 AND r.account <> 'outside'"""),
    ("I7", "a balance in the history is not the sum up to it", f"""
        SELECT * FROM ({RUNNING}) r WHERE r.total <> r.balance"""),
)  # fmt: skip
"""Queries that return no rows if the ledger is consistent."""

E, P, T = (table.__table__.c for table in (MarketEntries, MarketPostings, MarketTasks))


@shielded
async def audit(database: Database, team_id: str | None) -> Audit:
    """Check the invariants on every row of one team, or of all teams."""
    async with database.reading() as connection:
        violations = [
            Violation(invariant=name, what=_described(fault, row))
            for name, fault, query in LEDGER_FAULTS
            for row in await connection.execute(text(query), {"team": team_id})
        ]
        for team in await _teams(connection) if team_id is None else [team_id]:
            last = 0
            # In pages: a market may have more tasks than fit into memory.
            while tasks := await _page(connection, team, last):
                last = tasks[-1].id
                for trail in await _trails(connection, team, tasks):
                    violations += faults_of(trail)
        return Audit(
            tasks=await _count(connection, MarketTasks, team_id),
            entries=await _count(connection, MarketEntries, team_id),
            postings=await _count(connection, MarketPostings, team_id),
            accounts=await _count(connection, MarketAccounts, team_id),
            violations=tuple(violations[:MAX_VIOLATIONS]),
        )


async def _teams(connection: AsyncConnection) -> list[str]:
    query = select(T.team_id).distinct().order_by(T.team_id)
    return list((await connection.execute(query)).scalars())


async def _page(connection: AsyncConnection, team_id: str, after: int) -> list[Task]:
    query = select(MarketTasks.__table__).where(T.team_id == team_id, T.id > after)
    rows = await connection.execute(query.order_by(T.id).limit(PAGE))
    return [to_task(row) for row in rows]


async def _trails(connection: AsyncConnection, team_id: str, tasks: Sequence[Task]) -> list[Trail]:
    ids = [task.id for task in tasks]
    flows: dict[int, dict[str, int]] = defaultdict(dict)
    query = (
        select(E.task_id, P.account, func.sum(P.amount))
        .join_from(MarketEntries, MarketPostings, (P.team_id == E.team_id) & (P.entry_id == E.id))
        .where(E.team_id == team_id, E.task_id.in_(ids))
        .group_by(E.task_id, P.account)
    )
    for task_id, account, total in await connection.execute(query):
        assert task_id is not None
        flows[task_id][account] = int(total)
    entries: dict[int, dict[EntryKind, int]] = defaultdict(dict)
    counted = select(E.task_id, E.kind, func.count()).where(
        E.team_id == team_id, E.task_id.in_(ids)
    )
    for task_id, kind, count in await connection.execute(counted.group_by(E.task_id, E.kind)):
        assert task_id is not None
        entries[task_id][EntryKind(kind)] = count
    kinds: dict[int, list[EventKind]] = defaultdict(list)
    events = (
        select(MarketEvents.task_id, MarketEvents.kind)
        .where(MarketEvents.team_id == team_id, MarketEvents.task_id.in_(ids))
        .order_by(MarketEvents.id)
    )
    for row in await connection.execute(events):
        assert row.task_id is not None
        kinds[row.task_id].append(EventKind(row.kind))
    return [
        Trail(task=task, flows=flows[task.id], entries=entries[task.id], kinds=kinds[task.id])
        for task in tasks
    ]


async def _count(connection: AsyncConnection, table: Any, team_id: str | None) -> int:
    query = select(func.count()).select_from(table)
    if team_id is not None:
        query = query.where(table.team_id == team_id)
    return (await connection.execute(query)).scalar_one()


def _described(fault: str, row: Any) -> str:
    details = ", ".join(f"{name} {value}" for name, value in row._mapping.items())
    return f"{fault}: {details}"

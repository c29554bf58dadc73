"""Reads the embedded ledger's accounts and entries. Nothing here writes."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, and_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.market.money import Balance, EntryKind, LedgerEntry, LedgerLine, Posting
from arena.store.tables.market import MarketAccounts, MarketEntries, MarketPostings


async def account_balances(connection: AsyncConnection, team_id: str) -> list[Balance]:
    """Every account that is not empty, by name."""
    query = select(MarketAccounts.name, MarketAccounts.balance).where(
        MarketAccounts.team_id == team_id, MarketAccounts.balance != 0
    )
    rows = await connection.execute(query)
    found = [Balance(account=row.name, amount=row.balance) for row in rows]
    # Sorted here, not in SQL: the database collation differs between machines.
    return sorted(found, key=lambda balance: balance.account)


async def account_history(
    connection: AsyncConnection, team_id: str, account: str, limit: int, before: int | None
) -> Sequence[LedgerLine]:
    """An account's postings, newest first; `before` is the last entry of the previous page."""
    query = (
        select(
            MarketEntries.id.label("entry_id"),
            MarketEntries.task_id,
            MarketEntries.kind,
            MarketEntries.at,
            MarketPostings.amount,
            MarketPostings.balance,
        )
        .join(MarketEntries, _entry_of_posting())
        .where(MarketPostings.team_id == team_id, MarketPostings.account == account)
    )
    if before is not None:
        query = query.where(MarketPostings.entry_id < before)
    newest = (MarketPostings.entry_id.desc(), MarketPostings.line.desc())
    rows = await connection.execute(query.order_by(*newest).limit(limit))
    return [_line(row) for row in rows]


async def task_entries(
    connection: AsyncConnection, team_id: str, task_id: int
) -> list[LedgerEntry]:
    """The entries of a task, in order."""
    query = (
        select(MarketEntries.__table__, MarketPostings.account, MarketPostings.amount)
        .join(MarketPostings, _entry_of_posting())
        .where(MarketEntries.team_id == team_id, MarketEntries.task_id == task_id)
        .order_by(MarketEntries.id, MarketPostings.line)
    )
    found: dict[int, tuple[Row[Any], list[Posting]]] = {}
    for row in await connection.execute(query):
        postings = found.setdefault(row.id, (row, []))[1]
        postings.append(Posting(account=row.account, amount=row.amount))
    return [
        LedgerEntry(id=row.id, kind=EntryKind(row.kind), at=row.at, postings=postings)
        for row, postings in found.values()
    ]


def _entry_of_posting() -> Any:
    return and_(
        MarketEntries.team_id == MarketPostings.team_id,
        MarketEntries.id == MarketPostings.entry_id,
    )


def _line(row: Any) -> LedgerLine:
    values = dict(row._mapping)
    values["kind"] = EntryKind(row.kind)
    return LedgerLine(**values)

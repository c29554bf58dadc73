"""The journal: entries are inserted, never changed, and balances move with them."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.amounts import CURRENCY, decimal_text
from arena.errors import InvalidInput
from arena.market.errors import InsufficientFunds
from arena.market.money import OUTSIDE, NewEntry
from arena.store.database import dialect_insert
from arena.store.tables import MarketAccounts, MarketEntries, MarketPostings

MAX_BALANCE = 2**53 - 1
"""The largest whole number that every reader of JSON keeps exactly."""


async def post_entry(
    connection: AsyncConnection,
    team_id: str,
    entry: NewEntry,
    at: datetime,
    task_id: int | None = None,
) -> int:
    """Write an entry and move the balances; nothing of it where one would fall below zero."""
    changes: Counter[str] = Counter()
    for posting in entry.postings:
        changes[posting.account] += posting.amount
    held = await balances_of(connection, team_id, changes)
    after = {name: held.get(name, 0) + change for name, change in changes.items()}
    for name, balance in after.items():
        if balance < 0 and name != OUTSIDE:
            has, needs = decimal_text(held.get(name, 0)), decimal_text(-changes[name])
            raise InsufficientFunds(f"{name} holds {has} {CURRENCY}, {needs} are needed")
        if abs(balance) > MAX_BALANCE:
            told = f"{name} would hold {decimal_text(balance)} {CURRENCY}"
            raise InvalidInput(f"{told}, more than can be kept exactly")
    row = {"team_id": team_id, "task_id": task_id, "kind": entry.kind, "at": at}
    added = await connection.execute(
        insert(MarketEntries).values(**row).returning(MarketEntries.id)
    )
    entry_id = added.scalar_one()
    postings = [
        {
            "entry_id": entry_id,
            "line": line,
            "team_id": team_id,
            "account": posting.account,
            "amount": posting.amount,
            "balance": after[posting.account],
        }
        for line, posting in enumerate(entry.postings)
    ]
    await connection.execute(insert(MarketPostings), postings)
    await connection.execute(
        _upsert(connection),
        [{"team_id": team_id, "name": name, "balance": value} for name, value in after.items()],
    )
    return entry_id


async def balances_of(
    connection: AsyncConnection, team_id: str, names: Iterable[str]
) -> dict[str, int]:
    """What these accounts hold; those that never held anything are left out."""
    query = select(MarketAccounts.name, MarketAccounts.balance).where(
        MarketAccounts.team_id == team_id, MarketAccounts.name.in_(list(names))
    )
    return {name: balance for name, balance in await connection.execute(query)}


def _upsert(connection: AsyncConnection) -> Any:
    new = dialect_insert(connection, MarketAccounts)
    return new.on_conflict_do_update(
        index_elements=["team_id", "name"], set_={"balance": new.excluded.balance}
    )

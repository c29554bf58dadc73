"""A team's book: its lock, the completed calls, the events and the ledger.

Every change locks the book first, so that calls are serialised. On SQLite there is only one writing
transaction anyway; on PostgreSQL the row lock does it. So of two judges exactly one gives the
verdict, events become visible in the order of their ids, and the next number of a team is free.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import uuid4

from sqlalchemy import func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.dml import ReturningInsert

from arena import clock
from arena.amounts import CURRENCY, Amount
from arena.errors import InvalidInput
from arena.market.call import CallKey, NewEvent, Receipt
from arena.market.errors import InsufficientFunds, KeyConflict
from arena.market.money import OUTSIDE, NewEntry
from arena.market.records.rows import to_receipt
from arena.market.task import Task
from arena.store.database import dialect_insert, insert_or_ignore
from arena.store.tables.market import (
    MarketAccounts,
    MarketBooks,
    MarketCalls,
    MarketEntries,
    MarketEvents,
    MarketPostings,
    MarketTasks,
)

Numbered = type[MarketCalls] | type[MarketEntries] | type[MarketEvents] | type[MarketTasks]
"""A table whose ids each team counts from 1."""

MAX_BALANCE = 2**53 - 1
"""The largest integer that every JSON parser reads exactly."""


async def read_book(connection: AsyncConnection, team_id: str, *, lock: bool = False) -> str | None:
    """The id of the team's market; None if it has none yet."""
    query = select(MarketBooks.market_id).where(MarketBooks.team_id == team_id)
    if lock:
        query = query.with_for_update()
    return (await connection.execute(query)).scalar_one_or_none()


async def lock_book(connection: AsyncConnection, team_id: str) -> str:
    """Lock the team's market against other writers; returns the market's id."""
    found = await read_book(connection, team_id, lock=True)
    if found is None:
        row = {"team_id": team_id, "market_id": uuid4().hex, "created_at": clock.now()}
        await connection.execute(insert_or_ignore(connection, MarketBooks), row)
        # Read again: another process may have inserted it first, with another id.
        found = await read_book(connection, team_id, lock=True)
    assert found is not None
    return found


def numbered_insert(
    table: Numbered, team_id: str, row: Mapping[str, object]
) -> ReturningInsert[int]:
    """An insert with the team's next number as id, which it returns; the book must be locked."""
    columns = table.__table__.c
    last = select(func.max(columns.id)).where(columns.team_id == team_id).scalar_subquery()
    numbered = {**row, "team_id": team_id, "id": func.coalesce(last, 0) + 1}
    return insert(table).values(numbered).returning(columns.id)


async def find_call(
    connection: AsyncConnection, team_id: str, key: CallKey, digest: str
) -> Receipt | None:
    """The receipt of the earlier call with this key; None if the key is new."""
    column = MarketCalls.internal_key if key.is_internal else MarketCalls.idempotency_key
    query = select(MarketCalls.__table__).where(MarketCalls.team_id == team_id, column == key.text)
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        return None
    if row.digest != digest:
        raise KeyConflict(f"the key {key.text!r} was used for another call: use a new one")
    return to_receipt(row)


async def add_call(
    connection: AsyncConnection,
    team_id: str,
    *,
    key: CallKey,
    digest: str,
    action: str,
    at: datetime,
    task: Task | None = None,
) -> Receipt:
    """Record a completed call; returns its receipt."""
    task_id, state = (task.id, task.state) if task else (None, None)
    row = {
        # An internal call has a random key here: the column must have one.
        "idempotency_key": uuid4().hex if key.is_internal else key.text,
        "internal_key": key.text if key.is_internal else None,
        "digest": digest,
        "action": action,
        "task_id": task_id,
        "state": state,
        "at": at,
    }
    added = await connection.execute(numbered_insert(MarketCalls, team_id, row))
    return Receipt(ref=added.scalar_one(), task_id=task_id, state=state, at=at)


async def add_events(
    connection: AsyncConnection,
    team_id: str,
    task_id: int | None,
    who: str,
    at: datetime,
    events: Iterable[NewEvent],
    *,
    transaction_hash: str | None = None,
) -> list[int]:
    """Record events; returns their ids."""
    ids: list[int] = []
    for event in events:
        row = {
            "task_id": task_id,
            "kind": event.kind,
            "who": who,
            "at": at,
            "why": event.why,
            "data": {name: _plain(value) for name, value in event.data.items()},
            "transaction_hash": transaction_hash,
        }
        added = await connection.execute(numbered_insert(MarketEvents, team_id, row))
        ids.append(added.scalar_one())
    return ids


def _plain(value: object) -> object:
    # As text, with its decimals: a number alone does not say what it is worth.
    return str(value) if isinstance(value, Amount) else value


async def post_entry(
    connection: AsyncConnection,
    team_id: str,
    entry: NewEntry,
    at: datetime,
    task_id: int | None = None,
) -> None:
    """Write an entry and update the balances; an error if one would become negative."""
    # Summed per account first: an entry may post to one account twice.
    changes: Counter[str] = Counter()
    for posting in entry.postings:
        changes[posting.account] += posting.amount
    held = await balances_of(connection, team_id, changes)
    after = {name: held.get(name, 0) + change for name, change in changes.items()}
    for name, balance in after.items():
        if balance < 0 and name != OUTSIDE:
            has, needs = Amount(held.get(name, 0)), Amount(-changes[name])
            raise InsufficientFunds(f"{name} holds {has} {CURRENCY}, {needs} are needed")
        if abs(balance) > MAX_BALANCE:
            raise InvalidInput(
                f"{name} would hold {Amount(balance)} {CURRENCY}, more than can be kept exactly"
            )
    row = {"task_id": task_id, "kind": entry.kind, "at": at}
    added = await connection.execute(numbered_insert(MarketEntries, team_id, row))
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
    new = dialect_insert(connection, MarketAccounts)
    await connection.execute(
        new.on_conflict_do_update(
            index_elements=["team_id", "name"], set_={"balance": new.excluded.balance}
        ),
        [{"team_id": team_id, "name": name, "balance": value} for name, value in after.items()],
    )


async def balances_of(
    connection: AsyncConnection, team_id: str, names: Iterable[str]
) -> dict[str, Amount]:
    """The balances of these accounts; accounts without postings are left out."""
    query = select(MarketAccounts.name, MarketAccounts.balance).where(
        MarketAccounts.team_id == team_id, MarketAccounts.name.in_(list(names))
    )
    return {name: balance for name, balance in await connection.execute(query)}

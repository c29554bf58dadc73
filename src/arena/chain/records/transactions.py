"""Reads and writes intents. A change names the revision that it has seen, so none is lost."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql import Select

from arena import clock
from arena.chain.intent import Attempt, Chain, Intent, IntentState, NewTransaction
from arena.errors import NotFound
from arena.market.call import CallKey
from arena.store.database import Database, shielded, value_from
from arena.store.tables.chain import HOLDS_KEY, UNFINISHED, ChainAttempts, ChainTransactions

ATTEMPT_COLUMNS = tuple(one.name for one in fields(Attempt))
INTENT_COLUMNS = tuple(one.name for one in fields(Intent) if one.name not in ("id", "attempts"))


class Transactions:
    """The intents of every team and chain."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, intent_id: int) -> Intent:
        """One intent; `NotFound` if there is none."""
        async with self._database.reading() as connection:
            query = _query().where(ChainTransactions.id == intent_id)
            for intent in await _read(connection, query):
                return intent
        raise NotFound(f"there is no transaction {intent_id}")

    async def find(self, chain: Chain, team_id: str, key: CallKey) -> Intent | None:
        """The intent that holds this key; one that failed or was abandoned holds none."""
        async with self._database.reading() as connection:
            return await _find(connection, chain, team_id, key)

    async def unfinished(
        self, chain: Chain | None = None, senders: Collection[str] | None = None
    ) -> list[Intent]:
        """The intents that something may still happen to, by sender and nonce."""
        async with self._database.reading() as connection:
            return await _unfinished(connection, chain, senders)

    async def before(
        self, chain: Chain, new: NewTransaction, sender: str
    ) -> tuple[Intent | None, list[Intent]]:
        """The intent that holds the key of a new one, and the sender's unfinished ones."""
        async with self._database.reading() as connection:
            found = await _find(connection, chain, new.team_id, new.key)
            return found, await _unfinished(connection, chain, [sender])

    @shielded
    async def add(self, new: Intent) -> Intent | None:
        """Write an intent, with an id of its own; None if its key or nonce has just been taken."""
        row = {name: getattr(new, name) for name in INTENT_COLUMNS} | {"value": str(new.value)}
        try:
            async with self._database.writing() as connection:
                added = await connection.execute(
                    insert(ChainTransactions).values(row).returning(ChainTransactions.id)
                )
                intent = replace(new, id=added.scalar_one())
                await _add_attempt(connection, intent.id, intent.last)
        except IntegrityError:
            return None
        return intent

    @shielded
    async def change(
        self, intent: Intent, attempt: Attempt | None = None, /, **columns: Any
    ) -> Intent | None:
        """Change an intent, with one more attempt.

        None if another process has changed it, or if it would hold a nonce that another one has.
        """
        columns |= {"revision": intent.revision + 1, "updated_at": clock.now()}
        is_seen = (
            ChainTransactions.id == intent.id,
            ChainTransactions.revision == intent.revision,
        )
        try:
            async with self._database.writing() as connection:
                changed = await connection.execute(
                    update(ChainTransactions).where(*is_seen).values(**columns)
                )
                if changed.rowcount == 0:
                    return None
                if attempt is not None:
                    await _add_attempt(connection, intent.id, attempt)
                    columns["attempts"] = (*intent.attempts, attempt)
        except IntegrityError:
            return None
        return replace(intent, **columns)

    async def final_in(self, chain: Chain, blocks: Sequence[str]) -> list[Intent]:
        """The intents that are final in one of these blocks, by sender and nonce."""
        query = _query().where(
            ChainTransactions.chain_id == chain.chain_id,
            ChainTransactions.genesis == chain.genesis,
            ChainTransactions.block_hash.in_(blocks),
            ChainTransactions.state == IntentState.FINAL,
        )
        async with self._database.reading() as connection:
            return await _read(connection, _ordered(query))


def _query() -> Select[Any]:
    return select(ChainTransactions.__table__)


def _ordered(query: Select[Any]) -> Select[Any]:
    return query.order_by(ChainTransactions.sender, ChainTransactions.nonce)


async def _find(
    connection: AsyncConnection, chain: Chain, team_id: str, key: CallKey
) -> Intent | None:
    query = _query().where(
        ChainTransactions.team_id == team_id,
        ChainTransactions.idempotency_key == key.text,
        ChainTransactions.is_internal == key.is_internal,
        ChainTransactions.chain_id == chain.chain_id,
        ChainTransactions.genesis == chain.genesis,
        HOLDS_KEY,
    )
    for intent in await _read(connection, query):
        return intent
    return None


async def _unfinished(
    connection: AsyncConnection, chain: Chain | None, senders: Collection[str] | None
) -> list[Intent]:
    query = _query().where(UNFINISHED)
    if chain is not None:
        query = query.where(
            ChainTransactions.chain_id == chain.chain_id,
            ChainTransactions.genesis == chain.genesis,
        )
    if senders is not None:
        query = query.where(ChainTransactions.sender.in_(list(senders)))
    return await _read(
        connection, query.order_by(ChainTransactions.sender, ChainTransactions.nonce)
    )


async def _read(connection: AsyncConnection, query: Select[Any]) -> list[Intent]:
    rows = (await connection.execute(query)).all()
    if not rows:
        return []
    attempts: dict[int, list[Attempt]] = {row.id: [] for row in rows}
    table = ChainAttempts.__table__
    found = await connection.execute(
        select(table)
        .where(ChainAttempts.transaction_id.in_(list(attempts)))
        .order_by(ChainAttempts.number)
    )
    for one in found:
        attempts[one.transaction_id].append(value_from(Attempt, one))
    return list(_intents(rows, attempts))


def _intents(rows: Iterable[Any], attempts: Mapping[int, list[Attempt]]) -> Iterable[Intent]:
    for row in rows:
        yield value_from(
            Intent,
            row,
            state=IntentState(row.state),
            value=int(row.value),
            attempts=tuple(attempts[row.id]),
        )


async def _add_attempt(connection: AsyncConnection, intent_id: int, attempt: Attempt) -> None:
    columns = {name: getattr(attempt, name) for name in ATTEMPT_COLUMNS}
    await connection.execute(insert(ChainAttempts), {**columns, "transaction_id": intent_id})

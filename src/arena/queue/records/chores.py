"""Chores in the database."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import and_, delete, func, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.queue.claiming import claim_end, database_now, is_free
from arena.store.database import Database, shielded, value_from
from arena.store.tables.queue import Chores

WAITING, TAKEN, DONE, FAILED = "waiting", "taken", "done", "failed"
UNDER_WAY = (WAITING, TAKEN)
KEPT = timedelta(days=1)
"""How long the outcome of a chore is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chore:
    """Work on request, and its outcome."""

    id: UUID
    kind: str
    team_id: str
    arguments: Mapping[str, Any]
    state: str
    result: dict[str, Any] | None
    error: str | None
    error_code: str | None

    @property
    def has_ended(self) -> bool:
        """Whether its outcome is known."""
        return self.state not in UNDER_WAY


@shielded
async def find_chore(database: Database, chore_id: UUID) -> Chore | None:
    """A chore; None if it is gone."""
    query = select(Chores.__table__).where(Chores.id == chore_id)
    async with database.reading() as connection:
        row = (await connection.execute(query)).one_or_none()
    return value_from(Chore, row) if row else None


async def add_chore(
    connection: AsyncConnection, kind: str, team_id: str, arguments: Mapping[str, Any]
) -> UUID:
    """Add a chore, or find the same one that has not ended; returns its id."""
    # Until the transaction ends: of two callers the second must find the first one's row.
    lock = func.pg_advisory_xact_lock(func.hashtext(f"chore {kind} {team_id}"))
    await connection.execute(select(lock))
    is_same = and_(
        Chores.kind == kind,
        Chores.team_id == team_id,
        Chores.arguments == literal(dict(arguments), Chores.__table__.c.arguments.type),
        Chores.state.in_(UNDER_WAY),
    )
    known = (await connection.execute(select(Chores.id).where(is_same).limit(1))).scalar()
    if known is not None:
        return known
    chore_id = uuid4()
    new = {
        "id": chore_id,
        "kind": kind,
        "team_id": team_id,
        "arguments": dict(arguments),
        "state": WAITING,
        "created_at": database_now(),
    }
    await connection.execute(Chores.__table__.insert().values(**new))
    return chore_id


@shielded
async def claim_chore(database: Database, chore_id: UUID, token: str, worker: str) -> bool:
    """Take a chore that has not ended, or renew its claim; False if another worker has it."""
    is_ours = is_free(Chores.claim_token, Chores.claimed_until, token)
    claimed = {
        "state": TAKEN,
        "claim_token": token,
        "claimed_until": claim_end(),
        "worker": worker,
    }
    async with database.writing() as connection:
        taken = await connection.execute(
            update(Chores)
            .where(Chores.id == chore_id, Chores.state.in_(UNDER_WAY), is_ours)
            .values(**claimed)
        )
    return taken.rowcount == 1


@shielded
async def end_chore(database: Database, chore_id: UUID, token: str, **outcome: Any) -> None:
    """Record the outcome, once: nothing happens if another worker has taken the chore over."""
    ended = {**outcome, "claim_token": None, "claimed_until": None, "ended_at": database_now()}
    async with database.writing() as connection:
        await connection.execute(
            update(Chores).where(Chores.id == chore_id, Chores.claim_token == token).values(**ended)
        )


async def idle_chores(connection: AsyncConnection) -> list[UUID]:
    """The chores that have not ended and that no worker works on."""
    is_idle = or_(Chores.claimed_until.is_(None), Chores.claimed_until <= database_now())
    query = select(Chores.id).where(Chores.state.in_(UNDER_WAY), is_idle)
    return list((await connection.execute(query.order_by(Chores.created_at))).scalars())


async def remove_old_chores(connection: AsyncConnection) -> None:
    """Remove the chores that ended long ago."""
    await connection.execute(delete(Chores).where(Chores.ended_at < database_now() - KEPT))

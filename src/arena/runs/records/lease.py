"""The lease of a run: who executes it holds it, renews it, and writes only under it."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Row, and_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.errors import Conflict
from arena.runs.records.rows import run_row, to_run
from arena.runs.run import Run, RunStatus, check_move
from arena.store.database import Database, shielded
from arena.store.tables.runs import Runs

LEASE = timedelta(seconds=15)
"""How long an executor may be silent before another one may take the run over."""


class LostLease(Exception):
    """Somebody else has the run now, or it was cancelled: stop writing."""


@shielded
async def lease_of(database: Database, run_id: UUID) -> str | None:
    """The token of whoever executes the run, or did when it was last heard of."""
    async with database.reading() as connection:
        query = select(Runs.lease_token).where(Runs.id == run_id)
        return (await connection.execute(query)).scalar_one_or_none()


@shielded
async def claim(database: Database, run_id: UUID, token: str) -> Run:
    """Take a pending run for execution."""
    async with database.writing() as connection:
        row = await run_row(connection, run_id, lock=True)
        if row.status != RunStatus.PENDING:
            raise Conflict(f"run {run_id} is {row.status}, it cannot be executed")
        return await _take(connection, row, token)


@shielded
async def take_over(database: Database, run_id: UUID, token: str, gone: str | None) -> Run:
    """Take an interrupted or failed run; `gone` is the token of an executor known to be dead."""
    async with database.writing() as connection:
        row = await run_row(connection, run_id, lock=True)
        if row.status != RunStatus.RUNNING:
            check_move(run_id, RunStatus(row.status), RunStatus.RUNNING, "resumed")
        elif row.lease_token not in (None, gone) and row.lease_expires_at > clock.now():
            raise Conflict(f"run {run_id} is being executed, it cannot be resumed")
        return await _take(connection, row, token)


async def _take(connection: AsyncConnection, row: Row[Any], token: str) -> Run:
    now = clock.now()
    await connection.execute(
        update(Runs)
        .where(Runs.id == row.id)
        .values(
            status=RunStatus.RUNNING,
            started_at=row.started_at or now,
            completed_at=None,
            error_message=None,
            errored_tests=0,
            lease_token=token,
            lease_expires_at=now + LEASE,
        )
    )
    return to_run(await run_row(connection, row.id))


@shielded
async def renew(database: Database, run_id: UUID, token: str) -> None:
    """Say that the executor is alive; raises `LostLease` where the run is no longer its own."""
    async with database.writing() as connection:
        renewed = await connection.execute(
            update(Runs).where(_is_mine(run_id, token)).values(lease_expires_at=clock.now() + LEASE)
        )
        if renewed.rowcount != 1:
            raise LostLease(str(run_id))


@shielded
async def release(database: Database, run_id: UUID, token: str) -> None:
    """Give the run back unfinished, so that it can be resumed at once."""
    async with database.writing() as connection:
        await connection.execute(
            update(Runs)
            .where(_is_mine(run_id, token))
            .values(lease_token=None, lease_expires_at=None)
        )


def _is_mine(run_id: UUID, token: str) -> Any:
    return and_(Runs.id == run_id, Runs.lease_token == token, Runs.status == RunStatus.RUNNING)


async def held_row(connection: AsyncConnection, run_id: UUID, token: str) -> Row[Any]:
    """The run's row, locked for writing; `LostLease` where the token is not in force."""
    row = await run_row(connection, run_id, lock=True)
    if row.lease_token != token or row.status != RunStatus.RUNNING:
        raise LostLease(str(run_id))
    return row

"""The lease of a run: its executor holds it, renews it, and may write only while it holds it."""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
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
EMBEDDED, QUEUED = "embedded", "queued"
"""Who executes a run: one process under its lease, or workers under the tokens of its shards."""
NOTHING: Mapping[str, object] = MappingProxyType({})
"""No columns: of a run without a budget."""


class LostLease(Exception):
    """Another executor has the run now, or it was cancelled: stop writing."""


@shielded
async def lease_of(database: Database, run_id: UUID) -> str | None:
    """The token of the run's executor, or of its last one if the lease was not released."""
    async with database.reading() as connection:
        query = select(Runs.lease_token).where(Runs.id == run_id)
        return (await connection.execute(query)).scalar_one_or_none()


@shielded
async def claim(database: Database, run_id: UUID, token: str) -> Run:
    """Take a pending run to execute it."""
    async with database.writing() as connection:
        row = await run_row(connection, run_id, lock=True)
        if row.status != RunStatus.PENDING:
            raise Conflict(f"run {run_id} is {row.status}, it cannot be executed")
        return await _take(connection, row, token)


@shielded
async def take_over(
    database: Database,
    run_id: UUID,
    token: str,
    dead: str | None,
    budget: dict[str, Any] | None = None,
) -> Run:
    """Take a run that was interrupted or stopped; `dead` is the token of a dead executor.

    With a budget, it replaces the one that the run has.
    """
    async with database.writing() as connection:
        row = await run_row(connection, run_id, lock=True)
        if row.status != RunStatus.RUNNING:
            check_move(run_id, RunStatus(row.status), RunStatus.RUNNING, "resumed")
        elif row.dispatch == QUEUED:
            raise Conflict(f"run {run_id} is executed by workers, it cannot be resumed here")
        # A released or dead executor's lease need not expire first: resuming would wait 15 s.
        elif row.lease_token not in (None, dead) and row.lease_expires_at > clock.now():
            raise Conflict(f"run {run_id} is being executed, it cannot be resumed")
        return await _take(connection, row, token, {} if budget is None else {"budget": budget})


async def _take(
    connection: AsyncConnection, row: Row[Any], token: str, more: Mapping[str, object] = NOTHING
) -> Run:
    now = clock.now()
    await connection.execute(
        update(Runs)
        .where(Runs.id == row.id)
        .values(
            status=RunStatus.RUNNING,
            started_at=row.started_at or now,
            completed_at=None,
            error_message=None,
            errored_tests=0,  # those tests are tried again now
            lease_token=token,
            lease_expires_at=now + LEASE,
            dispatch=EMBEDDED,
            **more,
        )
    )
    return to_run(await run_row(connection, row.id))


@shielded
async def renew(
    database: Database, run_id: UUID, token: str, spent: Mapping[str, object] = NOTHING
) -> None:
    """Extend the lease; raises `LostLease` if the executor no longer holds it.

    `spent` has the column of what a run with a budget has spent until now.
    """
    async with database.writing() as connection:
        values = {"lease_expires_at": clock.now() + LEASE, **spent}
        renewed = await connection.execute(
            update(Runs).where(_is_mine(run_id, token)).values(**values)
        )
        if renewed.rowcount != 1:
            raise LostLease(str(run_id))


@shielded
async def release(
    database: Database, run_id: UUID, token: str, spent: Mapping[str, object] = NOTHING
) -> None:
    """Release the unfinished run, so that it can be resumed at once."""
    async with database.writing() as connection:
        await connection.execute(
            update(Runs)
            .where(_is_mine(run_id, token))
            .values(lease_token=None, lease_expires_at=None, **spent)
        )


def _is_mine(run_id: UUID, token: str) -> Any:
    return and_(Runs.id == run_id, Runs.lease_token == token, Runs.status == RunStatus.RUNNING)


async def held_row(connection: AsyncConnection, run_id: UUID, token: str) -> Row[Any]:
    """The run's row, locked for writing; raises `LostLease` if the token is not the current one."""
    row = await run_row(connection, run_id, lock=True)
    if row.lease_token != token or row.status != RunStatus.RUNNING:
        raise LostLease(str(run_id))
    return row

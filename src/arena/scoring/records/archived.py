"""Which runs are archived: a small file, because every list of runs reads it."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import exists, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.store.tables.boards import Archive
from arena.store.tables.runs import Runs


def is_archived_run() -> Any:
    """The condition for rows of runs."""
    return exists().where(Archive.run_id == Runs.id)


async def archived_runs(connection: AsyncConnection, run_ids: Sequence[UUID]) -> set[UUID]:
    """Which of these runs are archived."""
    if not run_ids:
        return set()
    query = select(Archive.run_id).where(Archive.run_id.in_(run_ids))
    return {run_id for run_id in (await connection.execute(query)).scalars() if run_id}

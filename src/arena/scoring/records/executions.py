"""Executions that a user's own system reports, each counted once however often it is sent."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.errors import Conflict
from arena.scoring.history import Execution, Subject
from arena.scoring.records.evidence import add_executions
from arena.scoring.records.ranks import lock_team
from arena.store.tables import Executions


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What became of a batch."""

    accepted: int
    duplicates: int
    """Executions that were known already, by their idempotency key."""


async def report_executions(
    connection: AsyncConnection, team_id: str, batch: Sequence[tuple[Subject, Execution]]
) -> Report:
    """Write down what is new of a batch, all of it or nothing."""
    await lock_team(connection, team_id)
    known = await _known(connection, team_id, batch)
    new: dict[Subject, list[Execution]] = {}
    for subject, execution in batch:
        key = execution.idempotency_key
        told = (subject.agent_id, subject.version, execution.status.value)
        if key is not None and known.setdefault(key, told) is not told:
            if known[key] != told:
                raise Conflict(f"idempotency_key {key!r} was used for another execution")
            continue
        new.setdefault(subject, []).append(execution)
    for subject, executions in new.items():
        await add_executions(connection, subject, executions)
    accepted = sum(map(len, new.values()))
    return Report(accepted=accepted, duplicates=len(batch) - accepted)


async def _known(
    connection: AsyncConnection, team_id: str, batch: Sequence[tuple[Subject, Execution]]
) -> dict[str, tuple[str, str, str]]:
    keys = [one.idempotency_key for _, one in batch if one.idempotency_key is not None]
    query = select(
        Executions.idempotency_key,
        Executions.agent_id,
        Executions.agent_version,
        Executions.status,
    ).where(Executions.team_id == team_id, Executions.idempotency_key.in_(keys))
    rows = await connection.execute(query)
    return {str(key): (agent, version, status) for key, agent, version, status in rows}

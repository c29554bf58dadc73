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
    seen = set(known)
    new: dict[Subject, list[Execution]] = {}
    for subject, execution in batch:
        key = execution.idempotency_key
        if key is not None:
            content = _content(subject, execution)
            if known.setdefault(key, content) != content:
                raise Conflict(f"idempotency_key {key!r} was used for another execution")
            if key in seen:
                continue
            seen.add(key)
        new.setdefault(subject, []).append(execution)
    for subject, executions in new.items():
        await add_executions(connection, subject, executions)
    accepted = sum(map(len, new.values()))
    return Report(accepted=accepted, duplicates=len(batch) - accepted)


async def _known(
    connection: AsyncConnection, team_id: str, batch: Sequence[tuple[Subject, Execution]]
) -> dict[str, tuple[object, ...]]:
    """What the keys of a batch stand for already."""
    keys = [one.idempotency_key for _, one in batch if one.idempotency_key is not None]
    query = select(Executions.__table__).where(
        Executions.team_id == team_id, Executions.idempotency_key.in_(keys)
    )
    return {
        row.idempotency_key: (
            row.agent_id,
            row.agent_version,
            row.status,
            row.input_tokens,
            row.output_tokens,
            row.model,
            _microseconds(row.duration_seconds),
        )
        for row in await connection.execute(query)
    }


def _content(subject: Subject, execution: Execution) -> tuple[object, ...]:
    # Without time and price: where they were not told, they differ each time it is sent.
    return (
        subject.agent_id,
        subject.version,
        execution.status.value,
        execution.usage.input_tokens,
        execution.usage.output_tokens,
        execution.usage.model,
        _microseconds(execution.duration_seconds),
    )


def _microseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1_000_000)

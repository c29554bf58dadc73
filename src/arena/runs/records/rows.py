"""Conversions between database rows and values."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.catalog.test import Test
from arena.errors import NotFound
from arena.evaluation.verdict import Finding
from arena.models.budget import Budget, Spent
from arena.models.message import stored_message
from arena.models.step import stored_step
from arena.runs.item import Executed
from arena.runs.run import Result, Run, RunStatus
from arena.scoring.board import Provenance
from arena.scoring.components import cost_contribution
from arena.scoring.history import ExecutionStatus
from arena.store.database import Database, shielded, value_from
from arena.store.tables.boards import Archive
from arena.store.tables.runs import FrozenTests, Runs, RunTests

FINDING_FIELDS = tuple(Finding.__dataclass_fields__)


@shielded
async def get_run(database: Database, run_id: UUID, team_id: str | None) -> Run:
    """The run, if it belongs to this team; None means any team."""
    async with database.reading() as connection:
        return to_run(await run_row(connection, run_id, team_id))


async def run_row(
    connection: AsyncConnection, run_id: UUID, team_id: str | None = None, *, lock: bool = False
) -> Row[Any]:
    """The run's row, if it belongs to this team (None: any); locked if it will be changed."""
    query: Select[Any] = select(Runs.__table__).where(Runs.id == run_id)
    if team_id is not None:
        query = query.where(Runs.team_id == team_id)
    if lock:
        query = query.with_for_update()
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise NotFound(await _missing(connection, run_id, team_id))
    return row


async def _missing(connection: AsyncConnection, run_id: UUID, team_id: str | None) -> str:
    """That there is no run, or what became of it."""
    query = select(Archive.by, Archive.at, Archive.reason).where(
        Archive.run_id == run_id, Archive.is_deleted.is_(True)
    )
    if team_id is not None:
        query = query.where(Archive.team_id == team_id)
    mark = (await connection.execute(query.limit(1))).first()
    if mark is None:
        return f"there is no run {run_id}"
    return f"run {run_id} was deleted by {mark.by} on {mark.at:%Y-%m-%d}: {mark.reason}"


async def frozen_test(connection: AsyncConnection, run_id: UUID, test_id: str) -> Test:
    """A test of a run, as it was when the run was created."""
    query = (
        select(FrozenTests.body)
        .join(RunTests, RunTests.digest == FrozenTests.digest)
        .where(RunTests.run_id == run_id, RunTests.test_id == test_id)
    )
    return Test.from_json((await connection.execute(query)).scalar_one())


def to_run(row: Row[Any]) -> Run:
    """The run in a row."""
    # Released by an executor that was stopped, or expired because it died. The shards of a queued
    # run are always with a worker, or wait for one.
    has_lease = row.lease_token is not None and row.lease_expires_at > clock.now()
    has_executor = has_lease or row.dispatch == "queued"
    return value_from(
        Run,
        row,
        status=RunStatus(row.status),
        provenance=Provenance(row.provenance),
        is_interrupted=row.status == RunStatus.RUNNING and not has_executor,
        duration_seconds=_wall_time(row),
        budget=Budget(**row.budget) if row.budget else None,
        spent=Spent(**row.spent) if row.spent else None,
    )


def _wall_time(row: Row[Any]) -> float:
    """The seconds from the start of a run to its end, or until now; 0 if it has not started."""
    if row.started_at is None:
        return 0.0
    # A clock that was set back must not give a negative time.
    seconds = ((row.completed_at or clock.now()) - row.started_at).total_seconds()
    return round(max(seconds, 0.0), 3)


def to_result(row: Row[Any]) -> Result:
    """The result in a row."""
    findings = [Finding(**finding) for finding in row.findings]
    steps = [stored_step(step) for step in row.steps] if row.steps else None
    messages = [stored_message(one) for one in row.messages] if row.messages else None
    status = ExecutionStatus(row.status)
    return value_from(Result, row, status=status, findings=findings, steps=steps, messages=messages)


def findings_json(findings: Sequence[Finding]) -> list[dict[str, object]]:
    """Findings as stored in the database."""
    return [{name: getattr(finding, name) for name in FINDING_FIELDS} for finding in findings]


def cost_columns(executed: Executed) -> dict[str, int | None]:
    """What a result adds to cost efficiency; null if it failed or its tokens are unknown."""
    test, result = executed.test, executed.result
    cost = None
    if result.passed and result.input_tokens is not None and result.output_tokens is not None:
        tokens = result.input_tokens + result.output_tokens
        cost = cost_contribution(test.points, test.token_budget, tokens)
    return {
        "earned_micropoints": cost.earned_micropoints if cost else None,
        "possible_micropoints": cost.possible_micropoints if cost else None,
    }

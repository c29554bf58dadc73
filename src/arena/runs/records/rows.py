"""Rows of the database and the values of this room, each made from the other."""

from typing import Any, cast
from uuid import UUID, uuid4

from sqlalchemy import Row, Select, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.agents import Usage
from arena.errors import NotFound
from arena.runs.run import Outcome, RecordedResult, Result, Run, RunStatus
from arena.scoring.components import CostContribution
from arena.scoring.history import ExecutionStatus
from arena.store.tables import Runs

OUTCOMES: dict[Outcome, bool | None] = {"passed": True, "failed": False, "awaiting": None}
"""What the column `passed` holds for each."""

RUN_COLUMNS = Run.__dataclass_fields__.keys()


async def run_row(
    connection: AsyncConnection, run_id: UUID, team_id: str | None = None, *, lock: bool = False
) -> Row[Any]:
    """The run's row, if it is this team's (None: any team's); locked where it will be changed."""
    query: Select[Any] = select(Runs.__table__).where(Runs.id == run_id)
    if team_id is not None:
        query = query.where(Runs.team_id == team_id)
    if lock:
        query = query.with_for_update()
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise NotFound(f"there is no run {run_id}")
    return row


def to_run(row: Row[Any]) -> Run:
    """The run a row stands for."""
    values: dict[str, Any] = {name: getattr(row, name) for name in RUN_COLUMNS}
    values["status"] = RunStatus(row.status)
    return Run(**values)


def to_result(row: Row[Any]) -> RecordedResult:
    """The result a row stands for."""
    usage = Usage(
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        model=row.model,
        cost_usd=row.cost_usd,
    )
    result = Result(
        test_id=row.test_id,
        trial=row.trial,
        category=row.category,
        status=ExecutionStatus(row.status),
        passed=row.passed,
        score=row.score,
        points_earned=row.points_earned,
        points_possible=row.points_possible,
        actual_output=cast(dict[str, object] | None, row.actual_output),
        failure_reason=row.failure_reason,
        findings=cast(list[dict[str, object]], row.findings),
        duration_seconds=row.duration_seconds,
        attempts=row.attempts,
        usage=usage,
        cost=_cost(row),
        created_at=row.created_at,
        verdict_cid=row.verdict_cid,
    )
    return RecordedResult(id=row.id, sequence=row.sequence, result=result)


def from_result(run_id: UUID, sequence: int, result: Result) -> dict[str, object]:
    """The row a result becomes."""
    return {
        "id": uuid4(),
        "run_id": run_id,
        "sequence": sequence,
        "test_id": result.test_id,
        "trial": result.trial,
        "category": result.category,
        "status": result.status,
        "passed": result.passed,
        "score": result.score,
        "points_earned": result.points_earned,
        "points_possible": result.points_possible,
        "actual_output": result.actual_output,
        "failure_reason": result.failure_reason,
        "findings": result.findings,
        "duration_seconds": result.duration_seconds,
        "attempts": result.attempts,
        "input_tokens": result.usage.input_tokens,
        "output_tokens": result.usage.output_tokens,
        "model": result.usage.model,
        "cost_usd": result.usage.cost_usd,
        "earned_micropoints": result.cost.earned_micropoints if result.cost else None,
        "possible_micropoints": result.cost.possible_micropoints if result.cost else None,
        "created_at": result.created_at,
        "verdict_cid": result.verdict_cid,
    }


def _cost(row: Row[Any]) -> CostContribution | None:
    if row.possible_micropoints is None:
        return None
    return CostContribution(
        earned_micropoints=row.earned_micropoints, possible_micropoints=row.possible_micropoints
    )

"""The verdict of people on a result: written down, counted, and the run completed by the last."""

from typing import Any
from uuid import UUID

from sqlalchemy import Row, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.catalog import Test
from arena.evaluation import Verdict
from arena.reviews.records import close_review
from arena.reviews.review import Review
from arena.runs.judged import Judged, judged
from arena.runs.records.rows import run_row, to_result
from arena.runs.records.runs import change, complete
from arena.runs.run import RunStatus
from arena.store.database import Database, shielded
from arena.store.tables import FrozenTests, Results, RunTests


@shielded
async def settle_result(
    database: Database, review: Review, verdict: Verdict, verdict_cid: str | None
) -> UUID | None:
    """Give a result its verdict, exactly once; the run it is of, None where nothing was to do."""
    run_id = UUID(review.subject.id)
    test_id, _, trial = review.subject.part.rpartition(":")
    async with database.writing() as connection:
        # The run's row first, as its executor does: of two last verdicts one waits for the other,
        # and the one that comes second sees that it is the last.
        row = await run_row(connection, run_id, lock=True)
        if not await close_review(connection, review):
            return None
        result, test = await _result_and_test(connection, run_id, test_id, int(trial))
        outcome = judged(test, to_result(result).result.usage, verdict)
        await connection.execute(
            update(Results)
            .where(Results.id == result.id)
            .values(verdict_cid=verdict_cid, **_columns(outcome))
        )
        await change(
            connection,
            run_id,
            passed_tests=row.passed_tests + outcome.passed,
            failed_tests=row.failed_tests + (not outcome.passed),
            awaiting_tests=row.awaiting_tests - 1,
            points_earned=row.points_earned + outcome.points_earned,
        )
        row = await run_row(connection, run_id)
        if row.status == RunStatus.AWAITING_REVIEW and not row.awaiting_tests:
            await complete(connection, row)
    return run_id


async def _result_and_test(
    connection: AsyncConnection, run_id: UUID, test_id: str, trial: int
) -> tuple[Row[Any], Test]:
    query = select(Results.__table__).where(
        Results.run_id == run_id, Results.test_id == test_id, Results.trial == trial
    )
    result = (await connection.execute(query)).one()
    frozen = (
        select(FrozenTests.body)
        .join(RunTests, RunTests.digest == FrozenTests.digest)
        .where(RunTests.run_id == run_id, RunTests.test_id == test_id)
    )
    return result, Test.from_json((await connection.execute(frozen)).scalar_one())


def _columns(outcome: Judged) -> dict[str, object]:
    cost = outcome.cost
    return {
        "passed": outcome.passed,
        "score": outcome.score,
        "points_earned": outcome.points_earned,
        "failure_reason": outcome.failure_reason,
        "findings": outcome.findings,
        "earned_micropoints": cost.earned_micropoints if cost else None,
        "possible_micropoints": cost.possible_micropoints if cost else None,
    }

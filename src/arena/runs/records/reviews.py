"""Results that people judge: the requests for their reviews, and their verdicts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from sqlalchemy import Row, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.evaluation.submission import seen_by
from arena.evaluation.verdict import Verdict
from arena.reviews.case import NewReview
from arena.reviews.records import close_review, open_reviews
from arena.reviews.review import Review, ReviewSubject, SubjectKind
from arena.runs.item import Executed
from arena.runs.records.rows import (
    cost_columns,
    findings_json,
    frozen_test,
    run_row,
    to_result,
    to_run,
)
from arena.runs.records.runs import change, complete
from arena.runs.run import Run, RunStatus
from arena.runs.verdicts import judged_fields, submission_of
from arena.store.database import Database, shielded
from arena.store.tables.runs import Results


async def open_result_reviews(
    connection: AsyncConnection, row: Row[Any], awaiting: Sequence[Executed], reviewers_needed: int
) -> None:
    """Ask for the reviews of results of the run in `row`."""
    await open_reviews(connection, [_new_review(row, one, reviewers_needed) for one in awaiting])


@shielded
async def settle_result(
    database: Database, review: Review, verdict: Verdict, verdict_cid: str | None
) -> Run | None:
    """Give a result its verdict, exactly once; the updated run, None if it already had one."""
    run_id = UUID(review.subject.id)
    test_id, _, trial = review.subject.part.rpartition(":")
    query = select(Results.__table__).where(
        Results.run_id == run_id, Results.test_id == test_id, Results.trial == int(trial)
    )
    async with database.writing() as connection:
        # Lock the run's row first, as its executor does: of two concurrent last verdicts one waits
        # for the other, and then sees that it is the last.
        row = await run_row(connection, run_id, lock=True)
        if not await close_review(connection, review):
            return None
        test = await frozen_test(connection, run_id, test_id)
        judged: dict[str, Any] = judged_fields(test, verdict)
        unjudged = to_result((await connection.execute(query)).one())
        result = replace(unjudged, **judged)
        columns = judged | {"findings": findings_json(result.findings)}
        await connection.execute(
            update(Results)
            .where(Results.id == result.id)
            .values(
                verdict_cid=verdict_cid,
                **columns,
                **cost_columns(Executed(test=test, result=result)),
            )
        )
        await change(
            connection,
            run_id,
            passed_tests=row.passed_tests + verdict.passed,
            failed_tests=row.failed_tests + (not verdict.passed),
            awaiting_tests=row.awaiting_tests - 1,
            points_earned=row.points_earned + result.points_earned,
        )
        row = await run_row(connection, run_id)
        if row.status == RunStatus.AWAITING_REVIEW and not row.awaiting_tests:
            await complete(connection, row)
        return to_run(await run_row(connection, run_id))


def _new_review(row: Row[Any], executed: Executed, reviewers_needed: int) -> NewReview:
    """The review of a result that people have to judge."""
    test, result = executed.test, executed.result
    output = result.actual_output or {}
    return NewReview(
        team_id=row.team_id,
        subject=ReviewSubject(
            kind=SubjectKind.RUN, id=str(row.id), part=f"{result.test_id}:{result.trial}"
        ),
        title=f"{test.name} ({row.agent_id} {row.agent_version})",
        prompt=test.prompt,
        standard=test.document,
        submission=seen_by(test.standard, submission_of(result)),
        is_truncated=bool(output.get("truncated")),
        reviewers_needed=reviewers_needed,
        created_at=result.created_at,
    )

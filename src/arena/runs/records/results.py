"""Results of a run: written under its lease and counted in the same transaction."""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Row, and_, delete, insert, select, update

from arena import clock
from arena.catalog import Test
from arena.evaluation import Submission
from arena.reviews.case import NewReview
from arena.reviews.records import open_reviews
from arena.reviews.review import ReviewSubject, SubjectKind
from arena.runs.records.lease import held_row
from arena.runs.records.rows import OUTCOMES, from_result, to_result
from arena.runs.run import Item, Outcome, RecordedResult, Result, ResultPage, RunError
from arena.scoring import Execution, Source, Subject
from arena.scoring.records import add_executions
from arena.store.database import Database, shielded
from arena.store.tables import FrozenTests, Results, RunErrors, Runs, RunTests

PAGE = 500
"""Tests of a run that are in memory at once."""
PAGE_CHARACTERS = 16_000_000
"""A page of results ends with the one that reaches this size, however many were asked for."""
FETCHED = 32
"""Rows that the driver holds beside it."""


async def pending_items(database: Database, run_id: UUID) -> AsyncIterator[list[Item]]:
    """What is still to do, in order, a page at a time."""
    position: int | None = -1
    while position is not None:
        items, position = await _pending_page(database, run_id, position)
        if items:
            yield items


@shielded
async def _pending_page(
    database: Database, run_id: UUID, after: int
) -> tuple[list[Item], int | None]:
    """The items of the next page, and where it ended; None where there is no next page."""
    query = (
        select(RunTests.position, RunTests.test_id, RunTests.trials, FrozenTests.body)
        .join(FrozenTests, RunTests.digest == FrozenTests.digest)
        .where(RunTests.run_id == run_id, RunTests.position > after)
        .order_by(RunTests.position)
        .limit(PAGE)
    )
    async with database.reading() as connection:
        page = (await connection.execute(query)).all()
        ids = [row.test_id for row in page]
        done_query = select(Results.test_id, Results.trial).where(
            Results.run_id == run_id, Results.test_id.in_(ids)
        )
        done = {(r.test_id, r.trial) for r in await connection.execute(done_query)}
    items = [
        Item(test=Test.from_json(body), trial=trial)
        for _, test_id, trials, body in page
        for trial in range(1, trials + 1)
        if (test_id, trial) not in done
    ]
    return items, page[-1].position if page else None


@shielded
async def add_results(
    database: Database,
    run_id: UUID,
    token: str,
    results: Sequence[Result],
    reviewers_needed: int = 1,
) -> None:
    """Record results and count them, in one transaction and only under the lease.

    Those that people have to judge get their reviews in the same one.
    """
    async with database.writing() as connection:
        row = await held_row(connection, run_id, token)
        first = row.completed_tests + 1
        await connection.execute(
            insert(Results), [from_result(run_id, first + n, r) for n, r in enumerate(results)]
        )
        await connection.execute(
            update(Runs).where(Runs.id == run_id).values(**_counters(row, results))
        )
        subject = Subject(team_id=row.team_id, agent_id=row.agent_id, version=row.agent_version)
        waiting = [_review(row, result, reviewers_needed) for result in results if result.waits_for]
        await open_reviews(connection, waiting)
        await add_executions(connection, subject, [_execution(result) for result in results])


@shielded
async def add_error(database: Database, run_id: UUID, token: str, error: RunError) -> None:
    """Record that an item could not be executed."""
    async with database.writing() as connection:
        await held_row(connection, run_id, token)
        same = and_(
            RunErrors.run_id == run_id,
            RunErrors.test_id == error.test_id,
            RunErrors.trial == error.trial,
        )
        await connection.execute(delete(RunErrors).where(same))
        await connection.execute(
            insert(RunErrors),
            {
                "run_id": run_id,
                "test_id": error.test_id,
                "trial": error.trial,
                "attempts": error.attempts,
                "reason": error.reason,
                "created_at": clock.now(),
            },
        )


@shielded
async def list_results(
    database: Database,
    run_id: UUID,
    *,
    after: int = 0,
    limit: int = 1000,
    outcome: Outcome | None = None,
) -> ResultPage:
    """Results of a run in the order of recording, from the one behind `after` on.

    As many as `limit`, or as are not too much for the memory: an answer may take a megabyte.
    """
    query = select(Results.__table__).where(Results.run_id == run_id, Results.sequence > after)
    if outcome is not None:
        query = query.where(Results.passed.is_(OUTCOMES[outcome]))
    query = query.order_by(Results.sequence).limit(limit + 1)
    page: list[RecordedResult] = []
    size = 0
    few = query.execution_options(yield_per=FETCHED)
    async with database.reading() as connection, connection.stream(few) as rows:
        async for row in rows:
            if len(page) == limit or size >= PAGE_CHARACTERS:
                return ResultPage(results=page, has_more=True)
            page.append(to_result(row))
            size += page[-1].result.size
    return ResultPage(results=page, has_more=False)


@shielded
async def list_errors(database: Database, run_id: UUID, limit: int = 100) -> list[RunError]:
    """The items of a run that could not be executed."""
    query = select(RunErrors.__table__).where(RunErrors.run_id == run_id)
    query = query.order_by(RunErrors.test_id, RunErrors.trial).limit(limit)
    async with database.reading() as connection:
        return [
            RunError(test_id=r.test_id, trial=r.trial, attempts=r.attempts, reason=r.reason)
            for r in await connection.execute(query)
        ]


def _counters(row: Row[Any], results: Sequence[Result]) -> dict[str, object]:
    """The run's counters with these results added."""
    passed = sum(result.passed is True for result in results)
    awaiting = sum(result.passed is None for result in results)
    return {
        "completed_tests": row.completed_tests + len(results),
        "passed_tests": row.passed_tests + passed,
        "failed_tests": row.failed_tests + len(results) - passed - awaiting,
        "awaiting_tests": row.awaiting_tests + awaiting,
        "points_earned": row.points_earned + sum(r.points_earned for r in results),
        "duration_seconds": row.duration_seconds + sum(r.duration_seconds for r in results),
        "input_tokens": _sum(row.input_tokens, (r.usage.input_tokens for r in results)),
        "output_tokens": _sum(row.output_tokens, (r.usage.output_tokens for r in results)),
        "cost_usd": _sum(row.cost_usd, (r.usage.cost_usd for r in results)),
        "costed_tests": row.costed_tests + sum(r.usage.cost_usd is not None for r in results),
    }


def _sum(before: float | None, added: Iterable[float | None]) -> float | None:
    """The sum of what is known; None while nothing is."""
    known = [value for value in (before, *added) if value is not None]
    return sum(known) if known else None


def _execution(result: Result) -> Execution:
    return Execution(
        status=result.status,
        source=Source.BENCHMARK,
        created_at=result.created_at,
        usage=result.usage,
        duration_seconds=result.duration_seconds,
    )


def _review(row: Row[Any], result: Result, reviewers_needed: int) -> NewReview:
    """The review of a result that people have to judge."""
    test, shown = result.waits_for, result.actual_output or {}
    assert test is not None
    return NewReview(
        team_id=row.team_id,
        subject=ReviewSubject(
            kind=SubjectKind.RUN, id=str(row.id), part=f"{result.test_id}:{result.trial}"
        ),
        title=f"{test.name} ({row.agent_id} {row.agent_version})",
        prompt=test.prompt,
        standard=test.document,
        submission=Submission(output=str(shown.get("output", ""))),
        is_truncated=bool(shown.get("truncated")),
        reviewers_needed=reviewers_needed,
        created_at=result.created_at,
    )

"""Writes results of a run under its lease, and the verdicts of people on them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any
from uuid import UUID

from sqlalchemy import Row, and_, delete, insert, select, update

from arena import clock
from arena.catalog.test import Test
from arena.evaluation.verdict import Finding, Submission, Verdict
from arena.reviews.case import NewReview
from arena.reviews.records import close_review, open_reviews
from arena.reviews.review import Review, ReviewSubject, SubjectKind
from arena.runs.item import Executed, Item
from arena.runs.records.lease import held_row
from arena.runs.records.rows import frozen_test, run_row, to_result, to_run
from arena.runs.records.runs import change, complete
from arena.runs.run import Result, Run, RunError, RunStatus
from arena.runs.verdicts import judged_fields
from arena.scoring.components import cost_contribution
from arena.scoring.history import ExecutionStatus, Subject
from arena.scoring.records.evidence import add_run_executions
from arena.store.database import Database, shielded
from arena.store.tables.runs import FrozenTests, Results, RunErrors, Runs, RunTests

PAGE = 500
"""Tests of a run in memory at once."""
RESULT_COLUMNS = tuple(name for name in Result.__dataclass_fields__ if name in Results.__table__.c)
FINDING_FIELDS = tuple(Finding.__dataclass_fields__)


@shielded
async def pending_page(
    database: Database, run_id: UUID, after: int, known: Mapping[str, Test]
) -> tuple[list[Item], int | None]:
    """Items without a result, in order, and the position of the last; None after the last page.

    A page starts after the position `after`; `known` has tests by their digest.
    """
    query = (
        select(RunTests.position, RunTests.test_id, RunTests.trials, RunTests.digest)
        .where(RunTests.run_id == run_id, RunTests.position > after)
        .order_by(RunTests.position)
        .limit(PAGE)
    )
    async with database.reading() as connection:
        page = (await connection.execute(query)).all()
        if not page:
            return [], None
        last = page[-1].position
        done_query = (
            select(Results.test_id, Results.trial)
            .join(
                RunTests,
                and_(RunTests.run_id == Results.run_id, RunTests.test_id == Results.test_id),
            )
            .where(Results.run_id == run_id, RunTests.position.between(after + 1, last))
        )
        done = {(r.test_id, r.trial) for r in await connection.execute(done_query)}
        tests = known
        # Tests of a run created in this process need not be read.
        if missing := {row.digest for row in page if row.digest not in known}:
            bodies = select(FrozenTests.__table__).where(FrozenTests.digest.in_(missing))
            read = {r.digest: Test.from_json(r.body) for r in await connection.execute(bodies)}
            tests = {**known, **read}
    items = [
        Item(test=tests[digest], trial=trial)
        for _, test_id, trials, digest in page
        for trial in range(1, trials + 1)
        if (test_id, trial) not in done
    ]
    return items, last


@shielded
async def add_results(
    database: Database,
    run_id: UUID,
    token: str,
    batch: Sequence[Executed],
    reviewers_needed: int = 1,
) -> None:
    """Record results and count them, in one transaction and only under the lease.

    Results that people have to judge get their reviews in the same transaction.
    """
    results = [executed.result for executed in batch]
    async with database.writing() as connection:
        row = await held_row(connection, run_id, token)
        numbered = enumerate(batch, start=row.completed_tests + 1)
        await connection.execute(
            insert(Results), [_result_row(run_id, number, one) for number, one in numbered]
        )
        await connection.execute(
            update(Runs).where(Runs.id == run_id).values(**_counters(row, results))
        )
        reviews = [
            _review(row, one, reviewers_needed) for one in batch if one.result.passed is None
        ]
        await open_reviews(connection, reviews)
        subject = Subject(team_id=row.team_id, agent_id=row.agent_id, version=row.agent_version)
        completed = sum(result.status is ExecutionStatus.COMPLETED for result in results)
        sequences = row.completed_tests + 1, row.completed_tests + len(batch)
        await add_run_executions(connection, subject, run_id, sequences, completed)


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
            {"run_id": run_id, "created_at": clock.now(), **asdict(error)},
        )


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
        "input_tokens": _sum(row.input_tokens, (r.input_tokens for r in results)),
        "output_tokens": _sum(row.output_tokens, (r.output_tokens for r in results)),
        "cost_usd": _sum(row.cost_usd, (r.cost_usd for r in results)),
        "costed_tests": row.costed_tests + sum(r.cost_usd is not None for r in results),
    }


def _sum(before: float | None, added: Iterable[float | None]) -> float | None:
    """The sum of the known values; None if there are none."""
    known = [value for value in (before, *added) if value is not None]
    return sum(known) if known else None


def _result_row(run_id: UUID, sequence: int, executed: Executed) -> dict[str, object]:
    """The row of a result: its own fields, and what it adds to cost efficiency."""
    result = executed.result
    row: dict[str, object] = {name: getattr(result, name) for name in RESULT_COLUMNS}
    row["findings"] = findings_json(result.findings)
    return row | {"run_id": run_id, "sequence": sequence} | cost_columns(executed)


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


def _review(row: Row[Any], executed: Executed, reviewers_needed: int) -> NewReview:
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
        submission=Submission(output=str(output.get("output", ""))),
        is_truncated=bool(output.get("truncated")),
        reviewers_needed=reviewers_needed,
        created_at=result.created_at,
    )

"""Reads the tests of a run: which of them failed, and which are quarantined."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, and_, case, exists, func, or_, select

from arena.runs.run import QuarantinedTest
from arena.store.database import Database, shielded, value_from
from arena.store.tables.runs import FrozenTests, Results, RunErrors, RunTests


@shielded
async def failed_test_ids(database: Database, run_id: UUID) -> Sequence[str]:
    """The tests of a run with a trial that failed or could not be executed, in order."""
    failed = exists().where(
        Results.run_id == run_id,
        Results.test_id == RunTests.test_id,
        Results.passed.is_(False),
    )
    errored = exists().where(RunErrors.run_id == run_id, RunErrors.test_id == RunTests.test_id)
    query = select(RunTests.test_id).where(RunTests.run_id == run_id, or_(failed, errored))
    async with database.reading() as connection:
        return (await connection.execute(query.order_by(RunTests.position))).scalars().all()


@shielded
async def quarantined_tests(database: Database, run_id: UUID) -> Sequence[QuarantinedTest]:
    """The tests of a run with a quarantine, in order, with the counts of their results."""
    until = FrozenTests.body["quarantined_until"].as_string()
    reason = FrozenTests.body["quarantine_reason"].as_string()
    same = and_(Results.run_id == RunTests.run_id, Results.test_id == RunTests.test_id)
    query = (
        select(
            RunTests.test_id,
            until.label("until"),
            reason.label("reason"),
            RunTests.trials,
            _count(Results.passed.is_(True)).label("passed"),
            _count(Results.passed.is_(False)).label("failed"),
            # A test without any result has one row, without an id.
            _count(and_(Results.id.is_not(None), Results.passed.is_(None))).label("awaiting"),
        )
        .join(FrozenTests, FrozenTests.digest == RunTests.digest)
        .join(Results, same, isouter=True)
        .where(RunTests.run_id == run_id, until.is_not(None))
        .group_by(RunTests.position, RunTests.test_id, until, reason, RunTests.trials)
        .order_by(RunTests.position)
    )
    async with database.reading() as connection:
        return [value_from(QuarantinedTest, row) for row in await connection.execute(query)]


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))

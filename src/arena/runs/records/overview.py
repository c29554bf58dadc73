"""A run's results at a glance: rows without what the agent said, filtered and counted."""

from typing import Any
from uuid import UUID

from sqlalchemy import Integer, Select, and_, cast, func, select

from arena.catalog import Test
from arena.errors import NotFound
from arena.runs.records.rows import OUTCOMES, to_result
from arena.runs.run import (
    CategoryCount,
    PlacedResult,
    ResultFilter,
    ResultRow,
)
from arena.scoring import ExecutionStatus
from arena.store.database import Database, shielded
from arena.store.tables import FrozenTests, Results, Runs, RunTests

REASON_CHARACTERS = 300
"""Of a reason in a list; the result itself has all of it."""

COLUMNS = (
    "id",
    "sequence",
    "test_id",
    "trial",
    "category",
    "passed",
    "points_earned",
    "points_possible",
    "duration_seconds",
    "input_tokens",
    "output_tokens",
    "cost_usd",
)


@shielded
async def list_rows(
    database: Database, run_id: UUID, wanted: ResultFilter, *, after: int = 0, limit: int = 1000
) -> tuple[list[ResultRow], int]:
    """A page of rows in the order of recording, and how many fit in all."""
    query: Any = (
        select(
            *(getattr(Results, name) for name in COLUMNS),
            Results.status,
            func.substr(Results.failure_reason, 1, REASON_CHARACTERS).label("failure_reason"),
            FrozenTests.body["name"].as_string().label("name"),
        )
        .join(
            RunTests,
            and_(RunTests.run_id == Results.run_id, RunTests.test_id == Results.test_id),
        )
        .join(FrozenTests, FrozenTests.digest == RunTests.digest)
    )
    query = _filtered(query, run_id, wanted).where(Results.sequence > after)
    counting = _filtered(select(func.count()).select_from(Results), run_id, wanted)
    async with database.reading() as connection:
        total = (await connection.execute(counting)).scalar_one()
        page = await connection.execute(query.order_by(Results.sequence).limit(limit))
        return [_row(row) for row in page], total


@shielded
async def count_categories(database: Database, run_id: UUID) -> list[CategoryCount]:
    """How many results each category has, and how many of them passed."""
    query = (
        select(
            Results.category,
            func.count().label("results"),
            func.count(Results.passed).label("judged"),
            func.coalesce(func.sum(cast(Results.passed, Integer)), 0).label("passed"),
        )
        .where(Results.run_id == run_id)
        .group_by(Results.category)
        .order_by(Results.category)
    )
    async with database.reading() as connection:
        return [
            CategoryCount(
                category=row.category,
                results=row.results,
                passed=row.passed,
                awaiting=row.results - row.judged,
            )
            for row in await connection.execute(query)
        ]


@shielded
async def placed_result(
    database: Database, run_id: UUID, result_id: UUID, wanted: ResultFilter
) -> PlacedResult:
    """One result with its test as it was asked, and its neighbours among those that are wanted."""
    query = select(Results.__table__).where(Results.run_id == run_id, Results.id == result_id)
    async with database.reading() as connection:
        row = (await connection.execute(query)).one_or_none()
        if row is None:
            raise NotFound(f"run {run_id} has no result {result_id}")
        recorded = to_result(row)
        frozen = (
            select(FrozenTests.body)
            .join(RunTests, RunTests.digest == FrozenTests.digest)
            .where(RunTests.run_id == run_id, RunTests.test_id == recorded.result.test_id)
        )
        body = (await connection.execute(frozen)).scalar_one()
        place = Results.sequence
        others = _filtered(select(Results.id), run_id, wanted).limit(1)
        before = others.where(place < recorded.sequence).order_by(place.desc())
        after = others.where(place > recorded.sequence).order_by(place)
        return PlacedResult(
            recorded=recorded,
            test=Test.from_json(body),
            previous_id=(await connection.execute(before)).scalar_one_or_none(),
            next_id=(await connection.execute(after)).scalar_one_or_none(),
        )


@shielded
async def known_teams(database: Database) -> list[str]:
    """Every team that has a run."""
    async with database.reading() as connection:
        query = select(Runs.team_id).distinct().order_by(Runs.team_id)
        return list((await connection.execute(query)).scalars())


def _filtered(query: Select[Any], run_id: UUID, wanted: ResultFilter) -> Select[Any]:
    query = query.where(Results.run_id == run_id)
    if wanted.outcome is not None:
        query = query.where(Results.passed.is_(OUTCOMES[wanted.outcome]))
    if wanted.category is not None:
        query = query.where(Results.category == wanted.category)
    if wanted.test_id is not None:
        query = query.where(Results.test_id == wanted.test_id)
    if wanted.is_flaky:
        mixed = (
            select(Results.test_id)
            .where(Results.run_id == run_id)
            .group_by(Results.test_id)
            .having(func.count(Results.passed.distinct()) > 1)
        )
        query = query.where(Results.test_id.in_(mixed))
    return query


def _row(row: Any) -> ResultRow:
    return ResultRow(
        **{name: getattr(row, name) for name in COLUMNS},
        status=ExecutionStatus(row.status),
        failure_reason=row.failure_reason,
        name=row.name,
    )

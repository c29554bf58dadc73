"""Reads runs and results."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Integer,
    Row,
    Select,
    and_,
    case,
    cast,
    func,
    or_,
    select,
    tuple_,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.errors import Conflict, InvalidInput, NotFound
from arena.runs.item import PlacedResult
from arena.runs.records.rows import frozen_test, get_run, run_row, to_result, to_run
from arena.runs.records.run_tests import quarantined_tests
from arena.runs.run import (
    Agreement,
    CategoryCount,
    Outcome,
    QuarantinedTest,
    Result,
    ResultDifference,
    ResultEvent,
    ResultFilter,
    ResultOrder,
    ResultPage,
    ResultRow,
    Run,
    RunError,
    RunStatus,
)
from arena.scoring.board import Provenance
from arena.scoring.history import ExecutionStatus
from arena.scoring.records.archived import archived_runs, is_archived_run
from arena.store.database import Database, shielded, value_from
from arena.store.tables.runs import FrozenTests, Results, RunErrors, Runs, RunTests

PAGE_CHARACTERS = 16_000_000
"""A page of results ends when it reaches this size, however many were requested."""
FETCHED_ROWS = 32
"""Rows that the driver buffers in addition: an answer may take a megabyte."""
REASON_CHARACTERS = 300
"""Length of a reason in a list; the result itself has all of it."""
MAX_ERRORS = 100
"""Errors of a run that are listed."""
MAX_DIFFERENCES = 100

OUTCOMES: dict[Outcome, bool | None] = {"passed": True, "failed": False, "awaiting": None}
"""The value of the column `passed` for each."""


class RunReader:
    """Reads runs and their results; changes nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @shielded
    async def get(self, run_id: UUID, team_id: str | None) -> Run:
        """The run, if it belongs to this team; None means any team."""
        run = await get_run(self._database, run_id, team_id)
        async with self._database.reading() as connection:
            hidden = await archived_runs(connection, [run_id])
        return replace(run, is_archived=run_id in hidden)

    @shielded
    async def list(
        self,
        team_id: str,
        *,
        agent_id: str | None = None,
        status: RunStatus | None = None,
        suite: str | None = None,
        with_archived: bool = True,
        ids: tuple[UUID, UUID] | None = None,
        limit: int = 20,
        before: tuple[datetime, UUID] | None = None,
    ) -> Sequence[Run]:
        """A team's runs, newest first; `before` is the last one of the previous page.

        `ids` are the lowest and the highest id.
        """
        query = select(Runs.__table__).where(Runs.team_id == team_id)
        if agent_id:
            query = query.where(Runs.agent_id == agent_id)
        if status:
            query = query.where(Runs.status == status)
        if suite:
            query = query.where(Runs.suite == suite)
        if not with_archived:
            query = query.where(~is_archived_run())
        if ids:
            query = query.where(Runs.id.between(*ids))
        if before:
            moment, run_id = before
            query = query.where(
                or_(Runs.created_at < moment, and_(Runs.created_at == moment, Runs.id < run_id))
            )
        query = query.order_by(Runs.created_at.desc(), Runs.id.desc()).limit(limit)
        async with self._database.reading() as connection:
            runs = [to_run(row) for row in await connection.execute(query)]
            hidden = await archived_runs(connection, [run.id for run in runs])
        return [replace(run, is_archived=run.id in hidden) for run in runs]

    @shielded
    async def teams(self) -> Sequence[str]:
        """Every team that has a run."""
        query = select(Runs.team_id).distinct().order_by(Runs.team_id)
        async with self._database.reading() as connection:
            return (await connection.execute(query)).scalars().all()

    @shielded
    async def results(
        self,
        run_id: UUID,
        *,
        after: int = 0,
        limit: int = 1000,
        outcome: Outcome | None = None,
    ) -> ResultPage:
        """Results of a run after the sequence number `after`, in the order of recording.

        At most `limit`, and fewer if they would take too much memory.
        """
        query = select(Results.__table__).where(Results.run_id == run_id, Results.sequence > after)
        if outcome is not None:
            query = query.where(Results.passed.is_(OUTCOMES[outcome]))
        # One more, to know whether another page follows.
        query = query.order_by(Results.sequence).limit(limit + 1)
        streamed = query.execution_options(yield_per=FETCHED_ROWS)
        page: list[Result] = []
        size = 0
        async with self._database.reading() as connection, connection.stream(streamed) as rows:
            async for part in rows.partitions():  # row by row, each would be a task switch
                for row in part:
                    if len(page) == limit or size >= PAGE_CHARACTERS:
                        return ResultPage(results=page, has_more=True)
                    page.append(to_result(row))
                    size += page[-1].size
        return ResultPage(results=page, has_more=False)

    @shielded
    async def rows(
        self,
        run_id: UUID,
        selection: ResultFilter,
        *,
        order: ResultOrder = "recorded",
        after: int = 0,
        limit: int = 1000,
    ) -> tuple[Sequence[ResultRow], int]:
        """A page of results without the agent's output, and the number that match the filter.

        It starts behind the result with the sequence number `after`.
        """
        columns = Results.__table__.c
        own = [columns[name] for name in ResultRow.__dataclass_fields__ if name in columns]
        # Shortened in SQL instead: a reason can be as long as an answer.
        own.remove(columns.failure_reason)
        truncated = func.coalesce(Results.actual_output["truncated"].as_boolean(), False)
        query: Any = select(
            *own,
            func.substr(Results.failure_reason, 1, REASON_CHARACTERS).label("failure_reason"),
            FrozenTests.body["name"].as_string().label("name"),
            truncated.label("truncated"),
        )
        ordered = _Order(run_id, order)
        query = ordered.joined(query).join(FrozenTests, FrozenTests.digest == RunTests.digest)
        query = _filtered(query, run_id, selection).order_by(*ordered.place).limit(limit)
        counting = _filtered(select(func.count()).select_from(Results), run_id, selection)
        async with self._database.reading() as connection:
            total = (await connection.execute(counting)).scalar_one()
            if after:
                start = await ordered.start(connection, after)
                query = query.where(tuple_(*ordered.place) > tuple_(*start))
            page = await connection.execute(query)
            return [
                value_from(ResultRow, row, status=ExecutionStatus(row.status)) for row in page
            ], total

    @shielded
    async def events(self, run_id: UUID, *, after: int, limit: int) -> Sequence[ResultEvent]:
        """Results for the event stream, after the sequence number `after`."""
        columns = [Results.__table__.c[name] for name in ResultEvent.__dataclass_fields__]
        query = select(*columns).where(Results.run_id == run_id, Results.sequence > after)
        async with self._database.reading() as connection:
            page = await connection.execute(query.order_by(Results.sequence).limit(limit))
            return [
                value_from(ResultEvent, row, status=ExecutionStatus(row.status)) for row in page
            ]

    @shielded
    async def find_result(
        self, name: str, ids: tuple[UUID, UUID], team_id: str | None
    ) -> tuple[UUID, UUID]:
        """The run and the id of the result that `name` means, the only one between two ids.

        No team means any team.
        """
        query = select(Results.run_id, Results.id).join(Runs, Runs.id == Results.run_id)
        query = query.where(Results.id.between(*ids)).limit(2)
        if team_id is not None:
            query = query.where(Runs.team_id == team_id)
        async with self._database.reading() as connection:
            found = (await connection.execute(query)).all()
        if not found:
            raise NotFound(f"there is no result whose id begins with {name!r}")
        if len(found) > 1:
            raise InvalidInput(f"{name!r} is the beginning of several results' ids: give more")
        return found[0].run_id, found[0].id

    @shielded
    async def result(
        self,
        run_id: UUID,
        result_id: UUID,
        among: ResultFilter | None = None,
        order: ResultOrder = "recorded",
    ) -> PlacedResult:
        """One result with its frozen test, and its neighbours among the filtered results."""
        query = select(Results.__table__).where(Results.run_id == run_id, Results.id == result_id)
        ordered = _Order(run_id, order)
        others: Any = ordered.joined(select(Results.id))
        others = _filtered(others, run_id, among or ResultFilter()).limit(1)
        async with self._database.reading() as connection:
            row = (await connection.execute(query)).one_or_none()
            if row is None:
                raise NotFound(f"run {run_id} has no result {result_id}")
            here = await ordered.find(connection, Results.id == result_id)
            place, own = tuple_(*ordered.place), tuple_(*here)
            backwards = [step.desc() for step in ordered.place]
            before = others.where(place < own).order_by(*backwards)
            after = others.where(place > own).order_by(*ordered.place)
            return PlacedResult(
                result=to_result(row),
                test=await frozen_test(connection, run_id, row.test_id),
                previous_id=(await connection.execute(before)).scalar_one_or_none(),
                next_id=(await connection.execute(after)).scalar_one_or_none(),
            )

    @shielded
    async def categories(self, run_id: UUID) -> Sequence[CategoryCount]:
        """The results of a run per category."""
        query = (
            select(
                Results.category,
                func.count().label("results"),
                func.coalesce(func.sum(cast(Results.passed, Integer)), 0).label("passed"),
                # COUNT(column) leaves out NULL.
                (func.count() - func.count(Results.passed)).label("awaiting"),
            )
            .where(Results.run_id == run_id)
            .group_by(Results.category)
            .order_by(Results.category)
        )
        async with self._database.reading() as connection:
            return [value_from(CategoryCount, row) for row in await connection.execute(query)]

    async def quarantined(self, run_id: UUID) -> Sequence[QuarantinedTest]:
        """The tests of a run with a quarantine, which may be over."""
        return await quarantined_tests(self._database, run_id)

    @shielded
    async def errors(self, run_id: UUID) -> Sequence[RunError]:
        """The first tests of a run that could not be executed."""
        same = and_(RunTests.run_id == RunErrors.run_id, RunTests.test_id == RunErrors.test_id)
        query = (
            select(RunErrors.__table__, FrozenTests.body["category"].as_string().label("category"))
            .join(RunTests, same)
            .join(FrozenTests, FrozenTests.digest == RunTests.digest)
            .where(RunErrors.run_id == run_id)
            .order_by(RunErrors.test_id, RunErrors.trial)
            .limit(MAX_ERRORS)
        )
        async with self._database.reading() as connection:
            return [value_from(RunError, row) for row in await connection.execute(query)]

    @shielded
    async def agreement(self, run_id: UUID, team_id: str | None) -> Agreement:
        """How far the results of a run agree with those of the run that it repeats."""
        async with self._database.reading() as connection:
            row = await run_row(connection, run_id, team_id)
            if row.provenance != Provenance.RE_EXECUTED:
                raise Conflict(f"run {run_id} does not repeat another run")
            return await _agreement(connection, row)


async def _agreement(connection: AsyncConnection, row: Row[Any]) -> Agreement:
    ours, source = Results.__table__.alias("ours"), Results.__table__.alias("source")
    same = and_(source.c.test_id == ours.c.test_id, source.c.trial == ours.c.trial)
    # NULL, a result that people have not judged yet, agrees with nothing.
    is_equal = func.coalesce(cast(source.c.passed == ours.c.passed, Integer), 0)
    joined = (ours.c.run_id == row.id, source.c.run_id == row.source_run_id)
    counting = select(func.count(), func.coalesce(func.sum(is_equal), 0))
    counting = counting.select_from(ours.join(source, same)).where(*joined)
    count, agreed = (await connection.execute(counting)).one()
    query = (
        select(ours.c.test_id, ours.c.trial, source.c.passed.label("source_passed"), ours.c.passed)
        .select_from(ours.join(source, same))
        .where(*joined, is_equal == 0)
        .order_by(ours.c.test_id, ours.c.trial)
        .limit(MAX_DIFFERENCES)
    )
    return Agreement(
        run_id=row.id,
        source_run_id=row.source_run_id,
        results=count,
        agreed=agreed,
        differences=[value_from(ResultDifference, one) for one in await connection.execute(query)],
    )


class _Order:
    """The order of a run's results: the columns that say where a result stands."""

    def __init__(self, run_id: UUID, order: ResultOrder) -> None:
        rank = case((Results.passed.is_(None), 1), (Results.passed.is_(True), 2), else_=0)
        self._run_id = run_id
        self._worst = (
            select(Results.test_id, func.min(rank).label("rank"))
            .where(Results.run_id == run_id)
            .group_by(Results.test_id)
            .subquery()
        )
        self._is_by_test = order == "test"
        self.place: tuple[Any, ...] = (
            (self._worst.c.rank, RunTests.position, Results.trial)
            if self._is_by_test
            else (Results.sequence,)
        )

    def joined(self, query: Any) -> Any:
        """A query of results, joined with what its order needs."""
        same = and_(RunTests.run_id == Results.run_id, RunTests.test_id == Results.test_id)
        query = query.join(RunTests, same)
        if not self._is_by_test:
            return query
        return query.join(self._worst, self._worst.c.test_id == Results.test_id)

    async def start(self, connection: AsyncConnection, sequence: int) -> Sequence[int]:
        """Where the result with this sequence number stands."""
        if not self._is_by_test:
            return (sequence,)
        return await self.find(connection, Results.sequence == sequence)

    async def find(
        self, connection: AsyncConnection, condition: ColumnElement[bool]
    ) -> Sequence[int]:
        """Where the result that meets the condition stands."""
        query = self.joined(select(*self.place).select_from(Results))
        found = await connection.execute(query.where(Results.run_id == self._run_id, condition))
        place = found.one_or_none()
        if place is None:
            raise NotFound(f"run {self._run_id} has no such result")
        return tuple(place)


def _filtered(query: Select[Any], run_id: UUID, selection: ResultFilter) -> Select[Any]:
    query = query.where(Results.run_id == run_id)
    if selection.outcome is not None:
        query = query.where(Results.passed.is_(OUTCOMES[selection.outcome]))
    if selection.category is not None:
        query = query.where(Results.category == selection.category)
    if selection.test_id is not None:
        query = query.where(Results.test_id == selection.test_id)
    if selection.is_flaky:
        mixed = (
            select(Results.test_id)
            .where(Results.run_id == run_id)
            .group_by(Results.test_id)
            # NULL, a result not judged yet, is not counted.
            .having(func.count(Results.passed.distinct()) > 1)
        )
        query = query.where(Results.test_id.in_(mixed))
    return query

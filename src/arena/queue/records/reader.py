"""Reads the state of the queue from Arena's own tables."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    String,
    and_,
    case,
    cast,
    exists,
    extract,
    func,
    literal,
    select,
    true,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.queue.job import judge_queue_name
from arena.queue.overview import (
    NEWEST_RESULTS,
    SILENT_SECONDS,
    WINDOW_SECONDS,
    ChoreState,
    JudgeQueue,
    QueuedRun,
    QueueOverview,
    QueueTotals,
    ShardGroup,
    Worker,
    queue_states,
    results_per_second,
    state_of,
)
from arena.queue.stuck import Pause, RunFacts, stuck
from arena.store.database import Database, shielded, value_from
from arena.store.tables import queue as tables
from arena.store.tables.market import MarketTasks
from arena.store.tables.queue import Chores, LimitPlaces, RunShards, Workers
from arena.store.tables.reviews import ReviewAnswers, Reviews
from arena.store.tables.runs import Results, Runs

LAG_STEP_SECONDS = 5
"""While something waits, watchers are notified this often: how long it waits is news."""

EXECUTING = and_(Runs.dispatch == "queued", Runs.status == "running")
UNTAKEN = and_(RunShards.state == "queued", RunShards.worker.is_(None))


class QueueReader:
    """Reads the queue of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @shielded
    async def overview(self, team_id: str | None = None) -> QueueOverview:
        """The queue as it is now; with a team, without the runs of others."""
        async with self._database.reading() as connection:
            now: datetime = (await connection.execute(select(func.clock_timestamp()))).scalar_one()
            workers = await _workers(connection, now)
            runs, facts = await _runs(connection, now)
            shards = await _shards(connection, now)
            pauses = await _pauses(connection, now)
            judging = await _judging(connection, now)
            chores = [*await _chores(connection, now), *await _settling(connection, now)]
            totals = await _totals(connection, workers)
        mine = [run for run in runs if team_id in (None, run.team_id)]
        return QueueOverview(
            dispatch="queued",
            workers=workers,
            queues=queue_states(shards, judging, chores, workers),
            runs=mine,
            stuck=stuck(mine, facts, shards, workers, pauses),
            chores=chores,
            totals=totals,
            results_per_second=round(sum(run.results_per_second for run in mine), 2),
        )

    @shielded
    async def version(self) -> object:
        """A value that differs after every change of the queue."""
        async with self._database.reading() as connection:
            now: datetime = (await connection.execute(select(func.clock_timestamp()))).scalar_one()
            workers = (await connection.execute(_workers_version(now))).one()
            shards = (await connection.execute(_shards_version(now))).one()
            runs = (await connection.execute(_runs_version())).one()
            paused = select(func.count()).where(LimitPlaces.paused_until > now)
            pauses = (await connection.execute(paused)).one()
            chores = (await connection.execute(_chores_version())).one()
            judging, settling = await _judging(connection, now), await _settling(connection, now)
        queues = sorted((one.queue, one.depth, one.in_work) for one in judging)
        reviews = [(one.waiting, one.in_work) for one in settling]
        return (*workers, *shards, *runs, *pauses, *chores, *queues, *reviews)


def _seconds(now: datetime, then: Any) -> Any:
    """How long ago a time is, in seconds; 0 if it is unknown or in the future."""
    return func.greatest(extract("epoch", literal(now) - then), 0)


async def _workers(connection: AsyncConnection, now: datetime) -> list[Worker]:
    silent = _seconds(now, Workers.seen_at).label("silent_seconds")
    query = select(Workers.__table__, silent).order_by(Workers.name, Workers.started_at)
    return [
        value_from(
            Worker,
            row,
            state=state_of(
                silent_seconds=float(row.silent_seconds),
                is_stopping=row.is_stopping,
                busy=row.busy,
            ),
        )
        for row in await connection.execute(query)
    ]


async def _runs(
    connection: AsyncConnection, now: datetime
) -> tuple[list[QueuedRun], Mapping[UUID, RunFacts]]:
    rows = (await connection.execute(_runs_query(now))).all()
    runs = [_run(row, now) for row in rows]
    facts = {row.run_id: _facts(row) for row in rows}
    return runs, facts


def _run(row: Any, now: datetime) -> QueuedRun:
    began = row.started_at or row.created_at
    rate = results_per_second(
        row.recent,
        oldest_seconds=float(row.oldest_seconds or 0),
        running_seconds=(now - began).total_seconds(),
    )
    return value_from(QueuedRun, row, results_per_second=rate, is_ending=row.ending is not None)


def _facts(row: Any) -> RunFacts:
    ending: Mapping[str, Any] = row.ending or {}
    return RunFacts(placement=row.placement, ending=ending.get("reason"))


def _counted(condition: ColumnElement[bool], label: str) -> Any:
    return func.count().filter(condition).label(label)


def _runs_query(now: datetime) -> Select[*tuple[Any, ...]]:
    counts = (
        select(
            func.count().label("total_shards"),
            _counted(RunShards.state == "done", "done_shards"),
            _counted(UNTAKEN, "depth"),
            _counted(and_(RunShards.state == "queued", RunShards.worker.is_not(None)), "in_work"),
            _counted(RunShards.state == "waiting", "waiting"),
        )
        .where(RunShards.run_id == Runs.id)
        .lateral("counts")
    )
    # By sequence, which has an index: the age of every result of a long run takes too long.
    newest = (
        select(_seconds(now, Results.created_at).label("age"))
        .where(Results.run_id == Runs.id)
        .order_by(Results.sequence.desc())
        .limit(NEWEST_RESULTS)
        .correlate(Runs.__table__)
        .subquery("newest")
    )
    recent = (
        select(func.count().label("recent"), func.max(newest.c.age).label("oldest_seconds"))
        .where(newest.c.age <= WINDOW_SECONDS)
        .lateral("recent")
    )
    return (
        select(
            Runs.id.label("run_id"),
            Runs.team_id,
            Runs.agent_id,
            Runs.agent_version,
            Runs.total_tests,
            Runs.completed_tests,
            Runs.placement,
            Runs.ending,
            Runs.created_at,
            Runs.started_at,
            counts,
            recent,
        )
        .select_from(Runs.__table__.join(counts, true()).join(recent, true()))
        .where(EXECUTING)
        .order_by(Runs.started_at, Runs.id)
    )


async def _shards(connection: AsyncConnection, now: datetime) -> list[ShardGroup]:
    alike = (
        RunShards.run_id,
        RunShards.queue,
        RunShards.needs_sandbox,
        RunShards.worker,
        RunShards.problem,
    )
    since = case(
        (RunShards.worker.is_(None), RunShards.queued_at),
        else_=func.coalesce(RunShards.taken_at, RunShards.queued_at),
    )
    query = (
        select(
            *alike,
            func.count().label("shards"),
            func.max(RunShards.failures).label("failures"),
            _seconds(now, func.min(since)).label("waiting_seconds"),
        )
        .join(Runs.__table__, Runs.id == RunShards.run_id)
        .where(RunShards.state == "queued", EXECUTING)
        .group_by(*alike)
    )
    return [
        value_from(ShardGroup, row, waiting_seconds=round(float(row.waiting_seconds), 1))
        for row in await connection.execute(query)
    ]


async def _pauses(connection: AsyncConnection, now: datetime) -> list[Pause]:
    query = select(LimitPlaces.place, LimitPlaces.paused_until.label("until"))
    rows = await connection.execute(query.where(LimitPlaces.paused_until > now))
    return [value_from(Pause, row) for row in rows]


async def _chores(connection: AsyncConnection, now: datetime) -> list[ChoreState]:
    waiting = Chores.state == "waiting"
    oldest = func.min(case((waiting, Chores.created_at)))
    query = (
        select(
            Chores.kind,
            _counted(waiting, "waiting"),
            _counted(Chores.state == "taken", "in_work"),
            _counted(Chores.state == "failed", "failed"),
            _seconds(now, oldest).label("lag_seconds"),
        )
        .where(Chores.state != "done")
        .group_by(Chores.kind)
        .order_by(Chores.kind)
    )
    return [
        value_from(ChoreState, row, lag_seconds=round(float(row.lag_seconds), 1))
        for row in await connection.execute(query)
    ]


async def _judging(connection: AsyncConnection, now: datetime) -> list[JudgeQueue]:
    """The tasks that a judge should judge now; not those that people judge by a review."""
    own = MarketTasks.submitted_at + _interval(MarketTasks.judge_window_seconds)
    fallback = own + _interval(MarketTasks.fallback_window_seconds)
    judge = case((own > now, MarketTasks.judge), (fallback > now, MarketTasks.fallback_judge))
    is_claimed = MarketTasks.claimed_until > now
    has_review = exists().where(
        Reviews.team_id == MarketTasks.team_id,
        Reviews.subject_kind == "task",
        Reviews.subject_id == cast(MarketTasks.id, String),
    )
    query = (
        select(
            MarketTasks.team_id,
            judge.label("judge"),
            _counted(is_claimed.is_not(True), "depth"),
            _counted(is_claimed, "in_work"),
            _seconds(
                now, func.min(case((is_claimed.is_not(True), MarketTasks.submitted_at)))
            ).label("lag_seconds"),
        )
        .where(MarketTasks.state == "submitted", judge.is_not(None), ~has_review)
        .group_by(MarketTasks.team_id, judge)
    )
    return [
        JudgeQueue(
            queue=judge_queue_name(row.team_id, row.judge),
            depth=row.depth,
            in_work=row.in_work,
            lag_seconds=round(float(row.lag_seconds), 1),
        )
        for row in await connection.execute(query)
    ]


async def _settling(connection: AsyncConnection, now: datetime) -> list[ChoreState]:
    """The reviews that people have answered, and that have no verdict yet."""
    is_claimed = Reviews.claimed_until > now
    answered = (
        select(func.max(ReviewAnswers.created_at))
        .where(ReviewAnswers.review_id == Reviews.id, ReviewAnswers.is_standing)
        .correlate(Reviews.__table__)
        .scalar_subquery()
    )
    query = select(
        _counted(is_claimed.is_not(True), "waiting"),
        _counted(is_claimed, "in_work"),
        _seconds(now, func.min(case((is_claimed.is_not(True), answered)))).label("lag_seconds"),
    ).where(Reviews.status == "answered")
    row = (await connection.execute(query)).one()
    if not row.waiting and not row.in_work:
        return []
    lag = round(float(row.lag_seconds), 1)
    return [
        ChoreState(
            kind="settle_review",
            waiting=row.waiting,
            in_work=row.in_work,
            failed=0,
            lag_seconds=lag,
        )
    ]


def _interval(seconds: Any) -> Any:
    return func.make_interval(0, 0, 0, 0, 0, 0, seconds)


async def _totals(connection: AsyncConnection, workers: Sequence[Worker]) -> QueueTotals:
    rows = await connection.execute(select(tables.QueueTotals.name, tables.QueueTotals.count))
    known = {name: count for name, count in rows if name in QueueTotals.__slots__}
    totals = QueueTotals(**known)
    # Those of workers that are gone were added when they left.
    present = sum(worker.done_results for worker in workers)
    return replace(totals, results=totals.results + present)


def _workers_version(now: datetime) -> Select[*tuple[Any, ...]]:
    is_silent = _seconds(now, Workers.seen_at) >= SILENT_SECONDS
    return select(
        func.count(),
        _counted(is_silent, "silent"),
        _counted(Workers.is_stopping.is_(True), "stopping"),
        func.sum(Workers.busy),
        func.sum(Workers.done_shards),
        func.sum(Workers.done_results),
        func.max(Workers.started_at),
    )


def _shards_version(now: datetime) -> Select[*tuple[Any, ...]]:
    lag = _seconds(now, func.min(case((UNTAKEN, RunShards.queued_at))))
    return select(
        func.count(),
        func.count(RunShards.worker),
        func.sum(RunShards.attempts),
        func.sum(RunShards.failures),
        func.max(RunShards.queued_at),
        func.max(RunShards.taken_at),
        func.floor(lag / LAG_STEP_SECONDS),
    ).where(RunShards.state == "queued")


def _runs_version() -> Select[*tuple[Any, ...]]:
    return select(
        func.count(),
        func.count(Runs.ending),
        func.sum(Runs.completed_tests),
        func.max(Runs.started_at),
    ).where(EXECUTING)


def _chores_version() -> Select[*tuple[Any, ...]]:
    return select(
        func.count(), _counted(Chores.state == "taken", "taken"), func.max(Chores.created_at)
    ).where(Chores.state != "done")

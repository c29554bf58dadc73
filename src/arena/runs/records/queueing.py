"""Puts runs into the queue: cuts them into shards, and keeps their lanes filled."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sqlalchemy import Row, Select, and_, exists, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.catalog.test import Test
from arena.errors import Conflict
from arena.evaluation.needs import NEVER_NEED_SANDBOX, needs_sandbox
from arena.queue.records.totals import count
from arena.runs.records.lease import QUEUED
from arena.runs.records.rows import run_row, to_run
from arena.runs.records.runs import NO_LEASE, change
from arena.runs.records.shards import (
    DONE,
    IN_QUEUE,
    NOW,
    WAITING,
    end_if_done,
    job_of,
    queue_shard,
)
from arena.runs.run import Run, RunStatus, check_move
from arena.runs.shard import Cutter, Shard, lanes, queue_of, shard_size
from arena.store.database import (
    Database,
    insert_or_ignore,
    shielded,
)
from arena.store.tables.queue import FrozenAgents, RunShards, Workers
from arena.store.tables.runs import FrozenTests, Runs, RunTests

if TYPE_CHECKING:
    from arena.queue.queue import JobQueue

PAGE = 1000
SILENT_SECONDS = 10
"""A worker without a heartbeat for so long no longer holds its shards."""
JOBLESS_SECONDS = 60
"""A shard that a live worker has had for so long gets a job if it has none. Most likely the queue
was emptied, and the worker is still at it; if not, nobody else would ever take the shard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewQueuedRun:
    """What a run needs to be queued."""

    run_id: UUID
    concurrency: int
    agent_digest: str
    agent_body: Mapping[str, Any]
    placement: str | None
    columns: Mapping[str, object]
    """Other columns of the run that change with its start."""


@shielded
async def queue_run(database: Database, jobs: "JobQueue", new: NewQueuedRun) -> Run:
    """Start a pending run, or resume one that has stopped, with its first jobs."""
    async with database.writing() as connection:
        row = await run_row(connection, new.run_id, lock=True)
        if row.status == RunStatus.RUNNING:
            await _refuse_executed(connection, row)
        elif row.status != RunStatus.PENDING:
            check_move(row.id, RunStatus(row.status), RunStatus.RUNNING, "resumed")
        await connection.execute(
            insert_or_ignore(connection, FrozenAgents),
            {"digest": new.agent_digest, "body": new.agent_body},
        )
        before = row.spent["seconds"] if row.spent else 0.0
        await change(
            connection,
            row.id,
            status=RunStatus.RUNNING,
            started_at=row.started_at or NOW,
            completed_at=None,
            error_message=None,
            errored_tests=0,  # those tests are tried again now
            dispatch=QUEUED,
            placement=new.placement,
            frozen_agent=new.agent_digest,
            ending=None,
            executing_since=NOW - func.make_interval(0, 0, 0, 0, 0, 0, before),
            **NO_LEASE,
            **new.columns,
        )
        await _ready_shards(connection, row, new)
        await _fill_lanes(connection, jobs, row.id, new.concurrency)
        # A run that was killed before it was ended may have no item left.
        await end_if_done(connection, row.id)
        return to_run(await run_row(connection, row.id))


async def _refuse_executed(connection: AsyncConnection, row: Row[Any]) -> None:
    """Refuse a run that somebody executes; a process that died may have left it."""
    is_leased = (
        row.lease_token is not None
        and row.lease_expires_at > (await connection.execute(select(NOW))).scalar_one()
    )
    if row.dispatch == QUEUED or is_leased:
        raise Conflict(f"run {row.id} is being executed, it cannot be resumed")


async def _ready_shards(connection: AsyncConnection, row: Row[Any], new: NewQueuedRun) -> None:
    """Cut the run, or let the shards with items left wait again."""
    count = select(func.count()).where(RunShards.run_id == row.id)
    if not (await connection.execute(count)).scalar_one():
        await _cut(connection, row, new)
        return
    is_left = or_(RunShards.state != DONE, RunShards.has_errors)
    values = {"state": WAITING, "token": None, "worker": None, "failures": 0, "problem": None}
    await connection.execute(
        update(RunShards)
        .where(RunShards.run_id == row.id, is_left)
        .values(**values, has_errors=False)
    )


async def _cut(connection: AsyncConnection, row: Row[Any], new: NewQueuedRun) -> None:
    cutter = Cutter(shard_size(row.total_tests, new.concurrency))
    number, after = 0, -1
    while page := (await connection.execute(_tests_after(row.id, after))).all():
        needing = await _needing_sandbox(connection, row.id, page)
        shards = [
            shard
            for test in page
            for shard in cutter.add(
                test.position, test.trials, needs_sandbox=test.position in needing
            )
        ]
        number += await _insert(connection, new, number, shards)
        after = page[-1].position
    await _insert(connection, new, number, cutter.rest())


def _tests_after(run_id: UUID, after: int) -> Select[*tuple[Any, ...]]:
    return (
        select(
            RunTests.position,
            RunTests.trials,
            FrozenTests.body["validation"].as_string().label("validation"),
            func.jsonb_exists(FrozenTests.body, "workspace").label("has_workspace"),
        )
        .join(FrozenTests, FrozenTests.digest == RunTests.digest)
        .where(RunTests.run_id == run_id, RunTests.position > after)
        .order_by(RunTests.position)
        .limit(PAGE)
    )


async def _needing_sandbox(
    connection: AsyncConnection, run_id: UUID, page: Sequence[Row[Any]]
) -> set[int]:
    """The positions of the tests whose verdict needs a sandbox; recorded with them."""
    unsure = [
        test.position
        for test in page
        if test.has_workspace or test.validation not in NEVER_NEED_SANDBOX
    ]
    if not unsure:
        return set()
    bodies = (
        select(RunTests.position, FrozenTests.body)
        .join(FrozenTests, FrozenTests.digest == RunTests.digest)
        .where(RunTests.run_id == run_id, RunTests.position.in_(unsure))
    )
    needing = {
        one.position
        for one in await connection.execute(bodies)
        if (test := Test.from_json(one.body)).workspace or needs_sandbox(test.standard)
    }
    own = and_(RunTests.run_id == run_id, RunTests.position.in_(needing))
    await connection.execute(update(RunTests).where(own).values(needs_sandbox=True))
    return needing


async def _insert(
    connection: AsyncConnection, new: NewQueuedRun, number: int, shards: Sequence[Shard]
) -> int:
    rows = [
        {
            **asdict(shard),
            "run_id": new.run_id,
            "number": number + place,
            "queue": queue_of(new.placement, needs_sandbox=shard.needs_sandbox),
            "state": WAITING,
        }
        for place, shard in enumerate(shards)
    ]
    if rows:
        await connection.execute(insert(RunShards), rows)
    return len(rows)


async def _fill_lanes(
    connection: AsyncConnection, jobs: "JobQueue", run_id: UUID, concurrency: int
) -> int:
    """Queue waiting shards until every lane has one; returns how many were queued."""
    query = select(RunShards.questions).where(
        RunShards.run_id == run_id, RunShards.state == IN_QUEUE
    )
    free = lanes(concurrency)
    for questions in (await connection.execute(query)).scalars():
        free.remove(questions) if questions in free else free.pop()
        if not free:
            return 0
    waiting = (
        select(RunShards.number)
        .where(RunShards.run_id == run_id, RunShards.state == WAITING)
        .order_by(RunShards.number)
        .limit(len(free))
    )
    numbers = (await connection.execute(waiting)).scalars().all()
    for number, questions in zip(numbers, free, strict=False):
        await queue_shard(connection, jobs, run_id, number, questions)
    return len(numbers)


def _ago(seconds: float) -> Any:
    return NOW - func.make_interval(0, 0, 0, 0, 0, 0, seconds)


@shielded
async def reconcile_runs(database: Database, jobs: "JobQueue") -> int:
    """Let every running queued run have its jobs: those that were lost are added again."""
    is_live = exists().where(
        Workers.name == RunShards.worker,
        Workers.seen_at > _ago(SILENT_SECONDS),
    )
    query = (
        select(RunShards.run_id, RunShards.number, RunShards.queue, RunShards.turn)
        .join(Runs, Runs.id == RunShards.run_id)
        .where(
            Runs.status == RunStatus.RUNNING,
            RunShards.state == IN_QUEUE,
            or_(RunShards.worker.is_(None), ~is_live, RunShards.taken_at < _ago(JOBLESS_SECONDS)),
        )
    )
    async with database.reading() as connection:
        # On one snapshot: a shard is queued together with its job.
        keys = await jobs.keys(connection)
        found = [job_of(*row) for row in await connection.execute(query)]
    missing = [job for job in found if job.key not in keys]
    if missing:
        async with database.writing() as connection:
            await jobs.add(connection, missing)
            await count(connection, "reconciled", len(missing))
    return len(missing)


@shielded
async def has_waiting(database: Database, queues: Sequence[str]) -> bool:
    """Whether shards of running runs are left in these queues, executed or not."""
    query = (
        select(RunShards.run_id)
        .join(Runs, Runs.id == RunShards.run_id)
        .where(
            Runs.status == RunStatus.RUNNING,
            RunShards.state != DONE,
            RunShards.queue.in_(queues),
        )
        .limit(1)
    )
    async with database.reading() as connection:
        return (await connection.execute(query)).first() is not None

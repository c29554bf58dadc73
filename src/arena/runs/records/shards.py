"""The shards of queued runs: cut, taken by workers, written under their tokens, ended.

Locks are taken in one order, the run's row before its shards, so that writers cannot deadlock.
Times are those of the database: the clocks of workers may differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from sqlalchemy import Row, and_, exists, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.models.budget import Spent
from arena.queue.job import Job
from arena.queue.records.serving import served_queues
from arena.queue.records.totals import count
from arena.runs.item import Executed
from arena.runs.records.results import insert_error, insert_results
from arena.runs.records.rows import run_row, to_run
from arena.runs.records.runs import change, end_execution
from arena.runs.run import Run, RunError, RunStatus
from arena.runs.shard import Shard
from arena.store.database import (
    Database,
    shielded,
    value_from,
)
from arena.store.tables.queue import FrozenAgents, RunShards
from arena.store.tables.runs import Results, RunErrors, Runs
from arena.text import storable

if TYPE_CHECKING:
    from arena.queue.queue import JobQueue

KIND = "shard"
"""Of the jobs of shards."""
NOW = func.clock_timestamp()
WAITING, IN_QUEUE, DONE = "waiting", "queued", "done"
MAX_FAILURES = 5
"""A run fails after so many workers in a row could not begin one of its shards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenShard:
    """A shard that a worker has taken."""

    run: Run
    executing_since: datetime
    """Differs each time the run is resumed: its agent and its budget may then be others."""
    number: int
    shard: Shard
    token: str
    attempt: int
    """Counts how often it was taken."""
    questions: int
    agent_body: Mapping[str, Any]
    was_dropped: bool
    """Whether another worker had it, and did not give it back."""
    is_ending: bool
    """Whether its run asks nothing more."""

    @property
    def key(self) -> str:
        """Names the shard in lines for people."""
        return f"{str(self.run.id)[:8]} shard {self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """What the workers of a run have to know while they execute it."""

    is_running: bool
    is_ending: bool
    """Whether nothing more may be asked."""
    tokens: Mapping[int, str | None]
    """The tokens of the shards that were asked for."""
    spent: Spent | None
    others_wait: bool
    """Whether other shards wait in the worker's queues."""


async def queue_shard(
    connection: AsyncConnection, jobs: "JobQueue", run_id: UUID, number: int, questions: int
) -> None:
    """Put a shard into its queue, behind those of its own team."""
    changed = await connection.execute(
        update(RunShards)
        .where(RunShards.run_id == run_id, RunShards.number == number)
        .values(
            state=IN_QUEUE,
            questions=questions,
            turn=await _next_turn(connection, run_id),
            token=None,
            worker=None,
            failures=0,
            problem=None,
            queued_at=NOW,
        )
        .returning(RunShards.queue, RunShards.turn)
    )
    row = changed.one()
    await jobs.add(connection, [job_of(run_id, number, row.queue, row.turn)])


async def _next_turn(connection: AsyncConnection, run_id: UUID) -> int:
    """Start-time fair queueing between teams: one of each team in turn, however many it has.

    A new shard comes after those of its team, but not before what is executed now: a team that had
    nothing for a while does not get the time back.
    """
    team = select(Runs.team_id).where(Runs.id == run_id).scalar_subquery()
    query = (
        select(func.max(RunShards.turn))
        .join(Runs, Runs.id == RunShards.run_id)
        .where(
            RunShards.state == IN_QUEUE,
            Runs.status == RunStatus.RUNNING,
            or_(Runs.team_id == team, RunShards.worker.is_not(None)),
        )
    )
    return ((await connection.execute(query)).scalar() or 0) + 1


def job_of(run_id: UUID, number: int, queue: str, turn: int) -> Job:
    """The job that delivers a shard."""
    arguments = {"run_id": str(run_id), "number": number}
    key = f"{KIND}:{run_id}:{number}"
    return Job(kind=KIND, queue=queue, key=key, arguments=arguments, priority=-turn)


@shielded
async def take_shard(
    database: Database, run_id: UUID, number: int, worker: str
) -> TakenShard | None:
    """Take a shard to execute it; None if there is nothing to do.

    Whoever took it before is fenced off from here on.
    """
    token = uuid4().hex
    async with database.writing() as connection:
        query = (
            select(RunShards.__table__)
            .where(RunShards.run_id == run_id, RunShards.number == number)
            .with_for_update()
        )
        found = (await connection.execute(query)).one_or_none()
        if found is None or found.state != IN_QUEUE:
            return None
        row = await run_row(connection, run_id)
        if row.status != RunStatus.RUNNING:
            return None
        agent = select(FrozenAgents.body).where(FrozenAgents.digest == row.frozen_agent)
        body = (await connection.execute(agent)).scalar_one()
        await connection.execute(
            update(RunShards)
            .where(RunShards.run_id == run_id, RunShards.number == number)
            .values(token=token, worker=worker, taken_at=NOW, attempts=RunShards.attempts + 1)
        )
        if found.worker is not None:
            await count(connection, "takeovers")
        return TakenShard(
            run=to_run(row),
            executing_since=row.executing_since,
            number=number,
            shard=value_from(Shard, found),
            token=token,
            attempt=found.attempts + 1,
            questions=found.questions,
            agent_body=body,
            was_dropped=found.worker is not None,
            is_ending=row.ending is not None,
        )


@shielded
async def run_state(
    database: Database, run_id: UUID, numbers: Sequence[int], queues: Sequence[str]
) -> RunState:
    """The state of a run, and who holds these shards."""
    # Those of a cancelled run stay as they are, and wait for nobody.
    other = Runs.__table__.alias()
    others = exists().where(
        RunShards.state == IN_QUEUE,
        RunShards.worker.is_(None),
        RunShards.queue.in_(queues),
        other.c.id == RunShards.run_id,
        other.c.status == RunStatus.RUNNING,
    )
    query = select(Runs.status, Runs.ending, Runs.spent, others.label("others")).where(
        Runs.id == run_id
    )
    held = select(RunShards.number, RunShards.token).where(
        RunShards.run_id == run_id, RunShards.number.in_(numbers)
    )
    async with database.reading() as connection:
        row = (await connection.execute(query)).one_or_none()
        tokens = {one.number: one.token for one in await connection.execute(held)}
    if row is None:  # deleted
        return RunState(is_running=False, is_ending=True, tokens={}, spent=None, others_wait=False)
    return RunState(
        is_running=row.status == RunStatus.RUNNING,
        is_ending=row.ending is not None,
        tokens=tokens,
        spent=Spent(**row.spent) if row.spent else None,
        others_wait=row.others,
    )


async def _held_shards(
    connection: AsyncConnection, run_id: UUID, tokens: Mapping[int, str]
) -> tuple[Row[Any], set[int]]:
    """The run's row, and which of the shards are still held by these tokens; all locked."""
    row = await run_row(connection, run_id, lock=True)
    if row.status != RunStatus.RUNNING:
        return row, set()
    query = (
        select(RunShards.number, RunShards.token)
        .where(RunShards.run_id == run_id, RunShards.number.in_(tokens))
        .with_for_update()
    )
    found = (await connection.execute(query)).all()
    return row, {one.number for one in found if one.token == tokens[one.number]}


@shielded
async def write_shard_results(
    database: Database,
    run_id: UUID,
    batch: Sequence[tuple[int, Executed]],
    tokens: Mapping[int, str],
    *,
    reviewers_needed: int,
    spent: Spent | None,
    may_be_written: bool,
) -> tuple[set[int], Spent | None]:
    """Record results of some shards, each only under its token, in one transaction.

    `spent` is what was spent since the last time. With `may_be_written`, a transaction with these
    results may have succeeded, although its answer was lost. Returns the shards that are still
    held, and what the run has spent in all.
    """
    async with database.writing() as connection:
        row, held = await _held_shards(connection, run_id, tokens)
        results = [executed for number, executed in batch if number in held]
        if may_be_written:
            results = await _unwritten(connection, run_id, results)
        total = None
        columns: dict[str, object] = {}
        if spent is not None:
            total = await _total_spent(connection, row, spent)
            columns["spent"] = total.as_json()
        if results:
            await insert_results(connection, row, results, reviewers_needed, columns)
        elif columns:
            # Refused results were paid for, too.
            await change(connection, run_id, **columns)
    return held, total


async def _unwritten(
    connection: AsyncConnection, run_id: UUID, results: Sequence[Executed]
) -> list[Executed]:
    ids = [executed.result.id for executed in results]
    query = select(Results.id).where(Results.run_id == run_id, Results.id.in_(ids))
    known = set((await connection.execute(query)).scalars())
    return [executed for executed in results if executed.result.id not in known]


async def _total_spent(connection: AsyncConnection, row: Row[Any], spent: Spent) -> Spent:
    before = Spent(**row.spent) if row.spent else Spent()
    elapsed = func.extract("epoch", NOW - row.executing_since)
    seconds = (await connection.execute(select(elapsed))).scalar_one()
    return Spent(
        cost_usd=before.cost_usd + spent.cost_usd,
        tokens=before.tokens + spent.tokens,
        seconds=float(seconds),
    )


@shielded
async def write_shard_error(
    database: Database, run_id: UUID, number: int, token: str, error: RunError
) -> bool:
    """Record that an item could not be executed; False if the shard is no longer held."""
    async with database.writing() as connection:
        _, held = await _held_shards(connection, run_id, {number: token})
        if held:
            await insert_error(connection, run_id, error)
        return bool(held)


@shielded
async def end_run_early(
    database: Database, run_id: UUID, reason: str, *, is_exceeded: bool = False
) -> None:
    """Let a run ask nothing more: it ends when its workers have written what they have."""
    ending = {"reason": storable(reason), "is_exceeded": is_exceeded}
    own = and_(Runs.id == run_id, Runs.status == RunStatus.RUNNING, Runs.ending.is_(None))
    async with database.writing() as connection:
        await connection.execute(update(Runs).where(own).values(ending=ending))


@shielded
async def end_shard(
    database: Database,
    jobs: "JobQueue",
    taken: TakenShard,
    *,
    is_done: bool,
    has_errors: bool = False,
) -> Run | None:
    """Give a shard back: done, or with items left; the run's next shard is queued with it.

    Returns the run if that ended it.
    """
    run_id = taken.run.id
    async with database.writing() as connection:
        row, held = await _held_shards(connection, run_id, {taken.number: taken.token})
        if not held:
            return None
        if not is_done and row.ending is None:
            await queue_shard(connection, jobs, run_id, taken.number, taken.questions)
            await count(connection, "hand_backs")
            return None
        state = DONE if is_done else WAITING
        values: dict[str, object] = {"state": state, "has_errors": has_errors}
        values |= {"token": None, "worker": None, "failures": 0, "problem": None}
        await _change_shard(connection, taken, **values)
        if row.ending is None:
            following = (
                select(RunShards.number)
                .where(RunShards.run_id == run_id, RunShards.state == WAITING)
                .order_by(RunShards.number)
                .limit(1)
            )
            number = (await connection.execute(following)).scalar_one_or_none()
            if number is not None:
                await queue_shard(connection, jobs, run_id, number, taken.questions)
                return None
        return await end_if_done(connection, run_id)


@shielded
async def refuse_shard(database: Database, taken: TakenShard, worker: str, problem: str) -> int:
    """Note why a worker cannot execute a shard; returns how many could not, in a row.

    After several, the run ends. One worker counts once, as long as there are others to try: it is
    at nothing else, and would take the shard again before those that are busy.
    """
    problem = storable(f"worker {worker}: {problem}")
    async with database.writing() as connection:
        row, held = await _held_shards(connection, taken.run.id, {taken.number: taken.token})
        if not held:
            return 0
        own = and_(RunShards.run_id == taken.run.id, RunShards.number == taken.number)
        shard = (await connection.execute(select(RunShards.__table__).where(own))).one()
        is_same = shard.problem is not None and shard.problem.startswith(f"worker {worker}: ")
        others = await served_queues(connection, except_by=worker) if is_same else frozenset[str]()
        failures: int = shard.failures + (shard.queue not in others)
        values = {"problem": problem, "failures": failures, "queued_at": NOW}
        await _change_shard(connection, taken, token=None, worker=None, **values)
        if failures >= MAX_FAILURES and row.ending is None:
            await change(connection, row.id, ending={"reason": problem, "is_exceeded": False})
            await end_if_done(connection, row.id)
        await count(connection, "retries")
        return failures


async def _change_shard(connection: AsyncConnection, taken: TakenShard, **values: object) -> None:
    own = and_(RunShards.run_id == taken.run.id, RunShards.number == taken.number)
    await connection.execute(update(RunShards).where(own).values(**values))


async def end_if_done(connection: AsyncConnection, run_id: UUID) -> Run | None:
    """End a run of which no shard is in the queue, and none may follow; its row is locked."""
    row = await run_row(connection, run_id)
    if row.ending is not None:
        # Nobody has to take these first.
        is_free = and_(RunShards.state == IN_QUEUE, RunShards.worker.is_(None))
        own = and_(RunShards.run_id == run_id, is_free)
        await connection.execute(update(RunShards).where(own).values(state=WAITING))
    states = select(RunShards.state).where(RunShards.run_id == run_id).distinct()
    left = set((await connection.execute(states)).scalars()) - {DONE}
    if IN_QUEUE in left or (WAITING in left and row.ending is None):
        return None
    ending: Mapping[str, Any] = row.ending or {}
    reason = ending.get("reason")
    if reason is None and row.completed_tests < row.total_tests:
        last = select(RunErrors.reason).where(RunErrors.run_id == run_id)
        newest = last.order_by(RunErrors.created_at.desc()).limit(1)
        reason = (await connection.execute(newest)).scalar_one_or_none()
    is_exceeded = bool(ending.get("is_exceeded"))
    return await end_execution(connection, row, reason, is_exceeded=is_exceeded)

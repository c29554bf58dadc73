"""Records new evidence and updates sums and scores, all in the caller's transaction."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import and_, delete, insert, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.errors import Conflict
from arena.scoring import history
from arena.scoring.history import Execution, ExecutionsReported, ExecutionStatus, Source, Subject
from arena.scoring.records.outcomes import outcomes_of_run, store_groups
from arena.scoring.records.ranks import lock_team, move_ranks
from arena.scoring.records.sums import Sums, is_about, stored_weights
from arena.store.tables.runs import Results, Runs
from arena.store.tables.scores import Executions, Feedback, Scores

USAGE_COLUMNS = ("input_tokens", "output_tokens", "model", "cost_usd")


async def add_executions(
    connection: AsyncConnection, subject: Subject, executions: Sequence[Execution]
) -> None:
    """Record executions and count them."""
    if not executions:
        return
    rows = [
        {
            "id": one.id or uuid4(),
            **subject.columns,
            "source": one.source,
            "status": one.status,
            "idempotency_key": one.idempotency_key,
            "input_tokens": one.usage.input_tokens,
            "output_tokens": one.usage.output_tokens,
            "model": one.usage.model,
            "cost_usd": one.usage.cost_usd,
            "duration_seconds": one.duration_seconds,
            "created_at": one.created_at,
        }
        for one in executions
    ]
    await connection.execute(insert(Executions), rows)
    successes = sum(one.status is ExecutionStatus.COMPLETED for one in executions)
    await change_sums(
        connection, subject, lambda sums: sums.with_executions(len(executions), successes)
    )


async def remove_execution(
    connection: AsyncConnection, subject: Subject, execution: Execution
) -> None:
    """Undo `add_executions` of one execution that has an id."""
    gone = delete(Executions).where(
        Executions.team_id == subject.team_id, Executions.id == execution.id
    )
    if (await connection.execute(gone)).rowcount:
        success = int(execution.status is ExecutionStatus.COMPLETED)
        await change_sums(connection, subject, lambda sums: sums.with_executions(-1, -success))


async def add_run_executions(
    connection: AsyncConnection,
    subject: Subject,
    run_id: UUID,
    sequences: tuple[int, int],
    completed: int,
) -> None:
    """Record a run's results with these sequence numbers (first, last) as executions.

    The database copies them: a row made in Python would cost as much as the result itself.
    """
    first, last = sequences
    shared = ("id", "status", *USAGE_COLUMNS, "duration_seconds", "created_at")
    columns = Results.__table__.c
    query = select(
        *(columns[name] for name in shared),
        *(literal(value).label(name) for name, value in subject.columns.items()),
        literal(Source.BENCHMARK.value).label("source"),
    ).where(Results.run_id == run_id, Results.sequence.between(first, last))
    names = [*shared, *subject.columns, "source"]
    await connection.execute(insert(Executions).from_select(names, query))
    count = last - first + 1
    await change_sums(connection, subject, lambda sums: sums.with_executions(count, completed))


async def report_executions(
    connection: AsyncConnection, team_id: str, batch: Sequence[tuple[Subject, Execution]]
) -> ExecutionsReported:
    """Record the new executions of a batch, all or nothing; a key counts once."""
    await lock_team(connection, team_id)
    keys = [one.idempotency_key for _, one in batch if one.idempotency_key is not None]
    query = select(Executions.__table__).where(
        Executions.team_id == team_id, Executions.idempotency_key.in_(keys)
    )
    # Without time and price: if the caller left them out, they differ on each repetition.
    known = {
        row.idempotency_key: (
            row.agent_id,
            row.agent_version,
            row.status,
            row.input_tokens,
            row.output_tokens,
            row.model,
            _microseconds(row.duration_seconds),
        )
        for row in await connection.execute(query)
    }
    seen = set(known)
    new: dict[Subject, list[Execution]] = {}
    for subject, one in batch:
        key, usage = one.idempotency_key, one.usage
        if key is not None:
            content = (
                subject.agent_id,
                subject.version,
                one.status.value,
                usage.input_tokens,
                usage.output_tokens,
                usage.model,
                _microseconds(one.duration_seconds),
            )
            if known.setdefault(key, content) != content:
                raise Conflict(f"idempotency_key {key!r} was used for another execution")
            if key in seen:
                continue
            seen.add(key)
        new.setdefault(subject, []).append(one)
    for subject, executions in new.items():
        await add_executions(connection, subject, executions)
    accepted = sum(map(len, new.values()))
    return ExecutionsReported(accepted=accepted, duplicates=len(batch) - accepted)


async def add_feedback(
    connection: AsyncConnection, subject: Subject, feedback: history.Feedback
) -> None:
    """Record a rating; it replaces the user's earlier one for the same thing."""
    await lock_team(connection, subject.team_id)
    query = select(Feedback.id, Feedback.rating).where(
        *is_about(Feedback, subject),
        Feedback.user_id == feedback.user_id,
        # `IS NULL` if there is no execution: two such ratings are about the same thing.
        Feedback.execution_id == feedback.execution_id
        if feedback.execution_id
        else Feedback.execution_id.is_(None),
        Feedback.is_standing.is_(True),
    )
    earlier = (await connection.execute(query)).one_or_none()
    if earlier:
        replaced = update(Feedback).where(Feedback.id == earlier.id)
        await connection.execute(replaced.values(is_standing=False))
    row = {"team_id": subject.team_id, **asdict(feedback)}
    await connection.execute(insert(Feedback), row)

    def counted(sums: Sums) -> Sums:
        without = sums.with_rating(earlier.rating, -1) if earlier else sums
        return without.with_rating(feedback.rating)

    await change_sums(connection, subject, counted)


async def list_feedback(
    connection: AsyncConnection,
    team_id: str,
    *,
    agent_id: str | None = None,
    version: str | None = None,
    with_history: bool = False,
    limit: int = 20,
    before: tuple[datetime, UUID] | None = None,
) -> list[history.Feedback]:
    """A team's ratings, newest first; `with_history` includes replaced ones."""
    columns = [column for column in Feedback.__table__.c if column.name != "team_id"]
    query = select(*columns).where(Feedback.team_id == team_id)
    if agent_id:
        query = query.where(Feedback.agent_id == agent_id)
    if version:
        query = query.where(Feedback.agent_version == version)
    if not with_history:
        query = query.where(Feedback.is_standing.is_(True))
    if before:
        moment, feedback_id = before
        query = query.where(
            or_(
                Feedback.created_at < moment,
                and_(Feedback.created_at == moment, Feedback.id < feedback_id),
            )
        )
    query = query.order_by(Feedback.created_at.desc(), Feedback.id.desc()).limit(limit)
    return [history.Feedback(**row) for row in (await connection.execute(query)).mappings()]


async def set_benchmark(connection: AsyncConnection, subject: Subject, run_id: UUID) -> None:
    """Make a completed full run the agent's benchmark, unless there is a later one."""
    outcomes = await outcomes_of_run(connection, run_id)
    await store_groups(connection, run_id, outcomes)
    await lock_team(connection, subject.team_id)
    if await latest_full_run(connection, subject) == run_id:
        await change_sums(
            connection,
            subject,
            lambda sums: replace(
                sums,
                benchmark_run_id=run_id,
                benchmark_share=outcomes.whole.benchmark,
                cost_share=outcomes.whole.cost,
            ),
        )


async def latest_full_run(connection: AsyncConnection, subject: Subject) -> UUID | None:
    """The run that counts for the agent: its last completed full run."""
    query = (
        select(Runs.id)
        .where(*is_about(Runs, subject), Runs.status == "completed", Runs.is_full.is_(True))
        .order_by(Runs.completed_at.desc(), Runs.id.desc())
        .limit(1)
    )
    return (await connection.execute(query)).scalar_one_or_none()


async def change_sums(
    connection: AsyncConnection, subject: Subject, change: Callable[[Sums], Sums]
) -> None:
    """Change the sums, and the scores and ranks with them."""
    # Some callers hold the lock already; taking it twice in a transaction is harmless.
    await lock_team(connection, subject.team_id)
    query = select(Scores.__table__).where(*is_about(Scores, subject))
    row = (await connection.execute(query)).one_or_none()
    sums = change(Sums.of_row(row) if row else Sums())
    score_id, after = await store_sums(connection, subject, row.id if row else None, sums)
    before = row.overall_score if row else None
    await move_ranks(connection, subject.team_id, score_id, before, after)


async def store_sums(
    connection: AsyncConnection, subject: Subject, score_id: UUID | None, sums: Sums
) -> tuple[UUID, float | None]:
    """Write the sums and their scores into a row, a new one if there is none.

    The caller updates ranks: one change moves a few, a recalculation sets them all.
    """
    columns: dict[str, Any] = sums.columns(await stored_weights(connection))
    columns["updated_at"] = clock.now()
    if score_id:
        await connection.execute(update(Scores).where(Scores.id == score_id).values(**columns))
    else:
        score_id = uuid4()
        await connection.execute(insert(Scores), {"id": score_id, **subject.columns, **columns})
    return score_id, columns["overall_score"]


def _microseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1_000_000)

"""New evidence: written down, added to the sums, and scored, all in the caller's transaction."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import UUID, uuid4

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.scoring.history import Execution, ExecutionStatus, RecordedVote, Subject, Vote
from arena.scoring.records.outcomes import outcomes_of_run, store_groups
from arena.scoring.records.ranks import lock_team, move_ranks
from arena.scoring.records.sums import (
    Sums,
    columns_of,
    is_subject,
    stored_weights,
    sums_of,
)
from arena.store.tables import Executions, Feedback, Runs, Scores


async def add_executions(
    connection: AsyncConnection, subject: Subject, executions: Sequence[Execution]
) -> None:
    """Write down executions and count them."""
    if not executions:
        return
    await connection.execute(insert(Executions), [_row(subject, one) for one in executions])
    successes = sum(one.status is ExecutionStatus.COMPLETED for one in executions)
    await change_sums(
        connection, subject, lambda sums: sums.with_executions(len(executions), successes)
    )


async def add_vote(connection: AsyncConnection, subject: Subject, vote: Vote) -> RecordedVote:
    """Write down a vote; it takes the place of the user's earlier one for the same thing."""
    await lock_team(connection, subject.team_id)
    same = (
        Feedback.team_id == subject.team_id,
        Feedback.agent_id == subject.agent_id,
        Feedback.agent_version == subject.version,
        Feedback.user_id == vote.user_id,
        Feedback.execution_id == vote.execution_id
        if vote.execution_id
        else Feedback.execution_id.is_(None),
        Feedback.is_standing.is_(True),
    )
    query = select(Feedback.id, Feedback.rating).where(*same)
    earlier = (await connection.execute(query)).one_or_none()
    if earlier:
        replaced = update(Feedback).where(Feedback.id == earlier.id)
        await connection.execute(replaced.values(is_standing=False))
    recorded = RecordedVote(
        id=uuid4(), subject=subject, vote=vote, is_standing=True, created_at=clock.now()
    )
    await connection.execute(insert(Feedback), _vote_row(recorded))

    def counted(sums: Sums) -> Sums:
        without = sums.with_rating(earlier.rating, -1) if earlier else sums
        return without.with_rating(vote.rating)

    await change_sums(connection, subject, counted)
    return recorded


async def set_benchmark(connection: AsyncConnection, subject: Subject, run_id: UUID) -> None:
    """Let a full run that has just completed stand for the agent, unless a later one does."""
    outcomes = await outcomes_of_run(connection, run_id)
    await store_groups(connection, run_id, outcomes)
    await lock_team(connection, subject.team_id)
    latest = await latest_full_run(connection, subject)
    if latest == run_id:
        await change_sums(
            connection,
            subject,
            lambda sums: replace(
                sums,
                benchmark_run_id=run_id,
                benchmark=outcomes.whole.benchmark.share,
                cost=outcomes.whole.cost.share,
            ),
        )


async def latest_full_run(connection: AsyncConnection, subject: Subject) -> UUID | None:
    """The run that stands for the agent: the last one completed over everything it applies to."""
    query = (
        select(Runs.id)
        .where(
            Runs.team_id == subject.team_id,
            Runs.agent_id == subject.agent_id,
            Runs.agent_version == subject.version,
            Runs.status == "completed",
            Runs.is_full.is_(True),
        )
        .order_by(Runs.completed_at.desc(), Runs.id.desc())
        .limit(1)
    )
    return (await connection.execute(query)).scalar_one_or_none()


async def change_sums(
    connection: AsyncConnection, subject: Subject, change: Callable[[Sums], Sums]
) -> None:
    """Change the sums, and the scores and ranks with them."""
    await lock_team(connection, subject.team_id)
    query = select(Scores.__table__).where(*is_subject(subject))
    row = (await connection.execute(query)).one_or_none()
    sums = change(sums_of(row) if row else Sums())
    score_id, after = await store_sums(connection, subject, row.id if row else None, sums)
    before = row.overall_score if row else None
    await move_ranks(connection, subject.team_id, score_id, before, after)


async def store_sums(
    connection: AsyncConnection, subject: Subject, score_id: UUID | None, sums: Sums
) -> tuple[UUID, float | None]:
    """Write the sums and their scores into a row, a new one where there is none; ranks wait."""
    columns = columns_of(sums, await stored_weights(connection))
    columns["updated_at"] = clock.now()
    overall = columns["overall_score"]
    assert overall is None or isinstance(overall, float)
    if score_id:
        await connection.execute(update(Scores).where(Scores.id == score_id).values(**columns))
        return score_id, overall
    new_id = uuid4()
    names = {
        "id": new_id,
        "team_id": subject.team_id,
        "agent_id": subject.agent_id,
        "agent_version": subject.version,
    }
    await connection.execute(insert(Scores), {**names, **columns})
    return new_id, overall


def _row(subject: Subject, execution: Execution) -> dict[str, object]:
    return {
        "id": uuid4(),
        "team_id": subject.team_id,
        "agent_id": subject.agent_id,
        "agent_version": subject.version,
        "source": execution.source,
        "status": execution.status,
        "idempotency_key": execution.idempotency_key,
        "input_tokens": execution.usage.input_tokens,
        "output_tokens": execution.usage.output_tokens,
        "model": execution.usage.model,
        "cost_usd": execution.usage.cost_usd,
        "duration_seconds": execution.duration_seconds,
        "created_at": execution.created_at,
    }


def _vote_row(recorded: RecordedVote) -> dict[str, object]:
    subject, vote = recorded.subject, recorded.vote
    return {
        "id": recorded.id,
        "team_id": subject.team_id,
        "agent_id": subject.agent_id,
        "agent_version": subject.version,
        "user_id": vote.user_id,
        "execution_id": vote.execution_id,
        "rating": vote.rating,
        "comment": vote.comment,
        "task_description": vote.task_description,
        "is_standing": True,
        "created_at": recorded.created_at,
    }

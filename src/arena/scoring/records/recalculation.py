"""Recomputes scores from the raw rows, or with new weights."""

from sqlalchemy import Integer, cast, func, select, union, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.scoring.history import ExecutionStatus, Subject
from arena.scoring.records.evidence import latest_full_run, store_sums
from arena.scoring.records.outcomes import Group, outcomes_of_run, store_groups
from arena.scoring.records.ranks import lock_team, lock_weights, rank_all
from arena.scoring.records.sums import Sums, is_about, stored_weights
from arena.scoring.scorecard import Weights
from arena.store.tables.runs import Runs
from arena.store.tables.scores import Executions, Feedback, Scores, ScoreWeights


async def recalculate(
    connection: AsyncConnection, team_id: str, subject: Subject | None = None
) -> list[Subject]:
    """Recompute scores from the raw rows: of one agent version, or of all with evidence."""
    subjects = [subject] if subject else await _subjects(connection, team_id)
    await lock_team(connection, team_id)
    for one in subjects:
        await _add_up(connection, one)
    await rank_all(connection, team_id)
    return subjects


async def store_weights(connection: AsyncConnection, weights: Weights) -> None:
    """Store the weights; if they changed, recompute every stored score."""
    await lock_weights(connection)
    if await stored_weights(connection) == weights:
        return
    await connection.execute(update(ScoreWeights).values(**weights.parts))
    teams = (await connection.execute(select(Scores.team_id).distinct())).scalars().all()
    for team_id in teams:
        rows = await connection.execute(select(Scores.__table__).where(Scores.team_id == team_id))
        for row in rows.all():
            columns = {**Sums.of_row(row).columns(weights), "updated_at": clock.now()}
            await connection.execute(update(Scores).where(Scores.id == row.id).values(**columns))
        await rank_all(connection, team_id)


async def _add_up(connection: AsyncConnection, subject: Subject) -> None:
    # The row is overwritten unread: its content may be what is wrong.
    query = select(Scores.id).where(*is_about(Scores, subject))
    score_id = (await connection.execute(query)).scalar_one_or_none()
    await store_sums(connection, subject, score_id, await _raw_sums(connection, subject))


async def _raw_sums(connection: AsyncConnection, subject: Subject) -> Sums:
    ratings = select(
        func.count(), func.sum(Feedback.rating), func.sum(Feedback.rating * Feedback.rating)
    ).where(*is_about(Feedback, subject), Feedback.is_standing.is_(True))
    count, total, squares = (await connection.execute(ratings)).one()
    is_success = cast(Executions.status == ExecutionStatus.COMPLETED, Integer)
    history = select(func.count(), func.sum(is_success)).where(*is_about(Executions, subject))
    executions, successes = (await connection.execute(history)).one()
    run_id = await latest_full_run(connection, subject)
    whole = Group()
    if run_id is not None:
        outcomes = await outcomes_of_run(connection, run_id)
        await store_groups(connection, run_id, outcomes)
        whole = outcomes.whole
    return Sums(
        rating_count=count,
        rating_sum=int(total or 0),
        rating_square_sum=int(squares or 0),
        execution_count=executions,
        success_count=int(successes or 0),
        benchmark_run_id=run_id,
        benchmark_share=whole.benchmark,
        cost_share=whole.cost,
    )


async def _subjects(connection: AsyncConnection, team_id: str) -> list[Subject]:
    found = [
        select(table.agent_id, table.agent_version).where(table.team_id == team_id)
        for table in (Scores, Feedback, Executions)
    ]
    full = select(Runs.agent_id, Runs.agent_version).where(Runs.team_id == team_id)
    found.append(full.where(Runs.status == "completed", Runs.is_full.is_(True)))
    # A union (not UNION ALL) leaves each agent version once.
    rows = await connection.execute(union(*found).order_by("agent_id", "agent_version"))
    return [Subject(team_id=team_id, agent_id=agent, version=version) for agent, version in rows]

"""Recomputes scores from the raw rows, or with new weights."""

from dataclasses import asdict
from typing import Any
from uuid import uuid4

from sqlalchemy import Integer, cast, delete, func, insert, select, union, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.scoring.components import Share
from arena.scoring.history import ExecutionStatus, Subject
from arena.scoring.log import BoardEventKind, Why
from arena.scoring.records.entries import score_row
from arena.scoring.records.ranks import lock_team, lock_weights
from arena.scoring.records.rebuilding import compute_missing, rebuild_team
from arena.scoring.records.sums import is_about, stored_weights
from arena.scoring.scorecard import Weights
from arena.scoring.sums import Sums
from arena.store.tables.runs import RunGroups, Runs
from arena.store.tables.scores import Executions, Feedback, Scores, ScoreWeights


async def recalculate(
    connection: AsyncConnection, team_id: str, subject: Subject | None = None
) -> list[Subject]:
    """Recompute scores from the raw rows: of one agent version, or of all with evidence."""
    subjects = [subject] if subject else await _subjects(connection, team_id)
    await lock_team(connection, team_id)
    for one in subjects:
        await _add_up(connection, one)
    why = Why(kind=BoardEventKind.RECALCULATED, reason="scores were recalculated from the raw rows")
    await rebuild_team(connection, team_id, why)
    return subjects


async def store_weights(connection: AsyncConnection, weights: Weights) -> None:
    """Store the weights; if they changed, recompute every stored score."""
    await lock_weights(connection)
    before = await stored_weights(connection)
    if before == weights:
        return
    teams = (await connection.execute(select(Scores.team_id).distinct())).scalars().all()
    for team_id in teams:
        await compute_missing(connection, team_id)
    await connection.execute(update(ScoreWeights).values(**weights.parts))
    changed = [
        f"{name} {getattr(before, name):g} to {weight:g}"
        for name, weight in asdict(weights).items()
        if getattr(before, name) != weight
    ]
    why = Why(kind=BoardEventKind.WEIGHTS_CHANGED, reason=f"weights: {', '.join(changed)}")
    for team_id in teams:
        await rebuild_team(connection, team_id, why)


async def _add_up(connection: AsyncConnection, subject: Subject) -> None:
    """Write the sums of the raw rows; the scores are computed from them afterwards."""
    # Unread: the content of the row, and the sums of the runs, may be what is wrong.
    sums: dict[str, Any] = asdict(await _raw_sums(connection, subject))
    row = await score_row(connection, subject)
    if row is None:
        empty = {"benchmark_share": Share().to_list(), "cost_share": Share().to_list()}
        new = {**subject.columns, **sums, **empty, "updated_at": clock.now()}
        await connection.execute(insert(Scores).values(id=uuid4(), **new))
    else:
        await connection.execute(update(Scores).where(Scores.id == row.id).values(**sums))
    mine = select(Runs.id).where(*is_about(Runs, subject))
    await connection.execute(delete(RunGroups).where(RunGroups.run_id.in_(mine)))


async def _raw_sums(connection: AsyncConnection, subject: Subject) -> Sums:
    ratings = select(
        func.count(), func.sum(Feedback.rating), func.sum(Feedback.rating * Feedback.rating)
    ).where(*is_about(Feedback, subject), Feedback.is_standing.is_(True))
    count, total, squares = (await connection.execute(ratings)).one()
    is_success = cast(Executions.status == ExecutionStatus.COMPLETED, Integer)
    history = select(func.count(), func.sum(is_success)).where(*is_about(Executions, subject))
    executions, successes = (await connection.execute(history)).one()
    return Sums(
        rating_count=count,
        rating_sum=int(total or 0),
        rating_square_sum=int(squares or 0),
        execution_count=executions,
        success_count=int(successes or 0),
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

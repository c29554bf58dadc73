"""Submitted tasks that somebody should judge now."""

from collections.abc import Sequence

from sqlalchemy import String, cast, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.market.records.rows import to_task
from arena.market.task import Task, TaskState
from arena.reviews.review import SubjectKind
from arena.store.tables.market import MarketTasks
from arena.store.tables.reviews import Reviews


async def judges_with_tasks(connection: AsyncConnection) -> set[tuple[str, str]]:
    """The team and the name of every judge and fallback judge of a submitted task."""
    query = (
        select(MarketTasks.team_id, MarketTasks.judge, MarketTasks.fallback_judge)
        .where(MarketTasks.state == TaskState.SUBMITTED)
        .distinct()
    )
    rows = (await connection.execute(query)).all()
    return {(team, name) for team, *names in rows for name in names if name is not None}


async def unclaimed_tasks(connection: AsyncConnection, team_id: str, judge: str) -> Sequence[Task]:
    """The submitted tasks of a judge or fallback judge that nobody judges.

    Without those that have a review: people's answers give their verdict.
    """
    is_free = or_(MarketTasks.claimed_until.is_(None), MarketTasks.claimed_until <= clock.now())
    has_review = (
        select(Reviews.id)
        .where(
            Reviews.team_id == MarketTasks.team_id,
            Reviews.subject_kind == SubjectKind.TASK,
            Reviews.subject_id == cast(MarketTasks.id, String),
        )
        .exists()
    )
    query = (
        select(MarketTasks.__table__)
        .where(
            MarketTasks.team_id == team_id,
            MarketTasks.state == TaskState.SUBMITTED,
            or_(MarketTasks.judge == judge, MarketTasks.fallback_judge == judge),
            is_free,
            ~has_review,
        )
        .order_by(MarketTasks.id)
    )
    return [to_task(row) for row in await connection.execute(query)]

"""Reading the votes."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import and_, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.scoring.history import RecordedVote, Subject, Vote
from arena.store.tables import Feedback


async def list_votes(
    connection: AsyncConnection,
    team_id: str,
    *,
    agent_id: str | None = None,
    version: str | None = None,
    with_history: bool = False,
    limit: int = 20,
    before: tuple[datetime, UUID] | None = None,
) -> list[RecordedVote]:
    """A team's votes, newest first; with their history also those that were replaced."""
    query = select(Feedback.__table__).where(Feedback.team_id == team_id)
    if agent_id:
        query = query.where(Feedback.agent_id == agent_id)
    if version:
        query = query.where(Feedback.agent_version == version)
    if not with_history:
        query = query.where(Feedback.is_standing.is_(True))
    if before:
        moment, vote_id = before
        query = query.where(
            or_(
                Feedback.created_at < moment,
                and_(Feedback.created_at == moment, Feedback.id < vote_id),
            )
        )
    query = query.order_by(Feedback.created_at.desc(), Feedback.id.desc()).limit(limit)
    return [_vote(row) for row in await connection.execute(query)]


def _vote(row: Any) -> RecordedVote:
    return RecordedVote(
        id=row.id,
        subject=Subject(team_id=row.team_id, agent_id=row.agent_id, version=row.agent_version),
        vote=Vote(
            rating=row.rating,
            user_id=row.user_id,
            execution_id=row.execution_id,
            comment=row.comment,
            task_description=row.task_description,
        ),
        is_standing=row.is_standing,
        created_at=row.created_at,
    )

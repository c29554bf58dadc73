"""Rows of the database and the values of this room, each made from the other."""

from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Row, Select, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.errors import InvalidInput, NotFound
from arena.evaluation.verdict import Submission
from arena.reviews.review import (
    RULE,
    Answer,
    NewReview,
    RecordedAnswer,
    Review,
    ReviewDetails,
    ReviewStatus,
    ReviewSubject,
    SubjectKind,
    place_of,
)
from arena.store.tables import ReviewAnswers, Reviews

MAX_REVIEWERS_NEEDED = 25

SUMMARY = (
    Reviews.id,
    Reviews.team_id,
    Reviews.subject_kind,
    Reviews.subject_id,
    Reviews.subject_part,
    Reviews.title,
    Reviews.status,
    Reviews.reviewers_needed,
    Reviews.rule,
    Reviews.item_count,
    Reviews.answered_count,
    Reviews.revision,
    Reviews.trouble,
    Reviews.due_at,
    Reviews.created_at,
    Reviews.completed_at,
)
"""All but the texts, which may be long."""


async def review_row(
    connection: AsyncConnection, review_id: UUID, team_id: str | None = None, *, lock: bool = False
) -> Row[Any]:
    """The review's row, if it is this team's (None: any team's); locked where it will change."""
    query: Select[Any] = select(Reviews.__table__).where(Reviews.id == review_id)
    if team_id is not None:
        query = query.where(Reviews.team_id == team_id)
    if lock:
        query = query.with_for_update()
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise NotFound(f"there is no review {review_id}")
    return row


async def answers_of(
    connection: AsyncConnection, review_id: UUID, *, history: bool = False
) -> list[RecordedAnswer]:
    """The answers to a review, oldest first: those that stand, or all there ever were."""
    query = select(ReviewAnswers.__table__).where(ReviewAnswers.review_id == review_id)
    if not history:
        query = query.where(ReviewAnswers.is_standing.is_(True))
    query = query.order_by(ReviewAnswers.created_at, ReviewAnswers.id)
    return [to_answer(row) for row in await connection.execute(query)]


def to_review(row: Any) -> Review:
    """The review a row stands for."""
    return Review(
        id=row.id,
        team_id=row.team_id,
        subject=ReviewSubject(
            kind=SubjectKind(row.subject_kind), id=row.subject_id, part=row.subject_part
        ),
        title=row.title,
        status=ReviewStatus(row.status),
        reviewers_needed=row.reviewers_needed,
        rule=row.rule,
        item_count=row.item_count,
        answered_count=row.answered_count,
        revision=row.revision,
        trouble=row.trouble,
        due_at=row.due_at,
        created_at=row.created_at,
        completed_at=row.completed_at,
    )


def to_details(row: Row[Any], answers: list[RecordedAnswer]) -> ReviewDetails:
    """The review with its texts and its answers."""
    return ReviewDetails(
        review=to_review(row),
        prompt=row.prompt,
        document=row.standard,
        submission=Submission(output=row.submission, language=row.language),
        is_truncated=row.is_truncated,
        answers=tuple(answers),
    )


def to_answer(row: Row[Any]) -> RecordedAnswer:
    """The answer a row stands for."""
    return RecordedAnswer(
        answer=Answer(place=place_of(row.place), item=row.item, passed=row.passed, note=row.note),
        reviewer=row.reviewer,
        is_standing=row.is_standing,
        created_at=row.created_at,
    )


def from_new(new: NewReview) -> dict[str, object]:
    """The row a review begins as."""
    if not 1 <= new.reviewers_needed <= MAX_REVIEWERS_NEEDED:
        raise InvalidInput(
            f"{new.reviewers_needed} reviewers: a review needs 1 to {MAX_REVIEWERS_NEEDED}"
        )
    return {
        "id": uuid4(),
        "team_id": new.team_id,
        "subject_kind": new.subject.kind,
        "subject_id": new.subject.id,
        "subject_part": new.subject.part,
        "title": new.title,
        "prompt": new.prompt,
        "standard": dict(new.standard),
        "submission": new.submission.output,
        "language": new.submission.language,
        "is_truncated": new.is_truncated,
        "reviewers_needed": new.reviewers_needed,
        "rule": RULE,
        "status": ReviewStatus.OPEN,
        "item_count": new.item_count,
        "due_at": new.due_at,
        "created_at": new.created_at or clock.now(),
    }

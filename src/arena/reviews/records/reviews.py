"""Reviews: opened, read, closed."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import and_, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.reviews.records.rows import (
    SUMMARY,
    answers_of,
    from_new,
    review_row,
    to_details,
    to_review,
)
from arena.reviews.review import (
    NewReview,
    Review,
    ReviewDetails,
    ReviewStatus,
    SubjectKind,
)
from arena.store.database import Database, insert_or_ignore, shielded
from arena.store.tables import Reviews

WAITING = (ReviewStatus.OPEN, ReviewStatus.ANSWERED)


async def open_reviews(connection: AsyncConnection, reviews: Sequence[NewReview]) -> None:
    """Open these reviews; a subject that has one already keeps it."""
    if not reviews:
        return
    rows = [from_new(new) for new in reviews]
    await connection.execute(insert_or_ignore(connection, Reviews), rows)


@shielded
async def get_review(database: Database, review_id: UUID, team_id: str | None) -> Review:
    """The review, if it is this team's; None asks for any team's."""
    async with database.reading() as connection:
        return to_review(await review_row(connection, review_id, team_id))


@shielded
async def get_details(
    database: Database, review_id: UUID, team_id: str | None, *, history: bool = False
) -> ReviewDetails:
    """The review with its texts and answers.

    An answer may come in between the two statements; then the revision is an old one, and
    `close_review` refuses what was made from it.
    """
    async with database.reading() as connection:
        row = await review_row(connection, review_id, team_id)
        return to_details(row, await answers_of(connection, review_id, history=history))


@shielded
async def list_reviews(
    database: Database,
    team_id: str,
    *,
    status: ReviewStatus | None = None,
    subject: tuple[SubjectKind, str] | None = None,
    limit: int = 20,
    after: tuple[datetime, UUID] | None = None,
) -> list[Review]:
    """A team's reviews, those that have waited longest first; `after` ended the page before."""
    query = select(*SUMMARY).where(Reviews.team_id == team_id)
    if status:
        query = query.where(Reviews.status == status)
    if subject:
        kind, ident = subject
        query = query.where(Reviews.subject_kind == kind, Reviews.subject_id == ident)
    if after:
        moment, review_id = after
        is_later = Reviews.created_at > moment
        query = query.where(
            or_(is_later, and_(Reviews.created_at == moment, Reviews.id > review_id))
        )
    query = query.order_by(Reviews.created_at, Reviews.id).limit(limit)
    async with database.reading() as connection:
        return [to_review(row) for row in await connection.execute(query)]


@shielded
async def count_reviews(database: Database, team_id: str) -> tuple[Mapping[ReviewStatus, int], int]:
    """How many reviews of a team are in each state, and how often any was answered."""
    query = (
        select(Reviews.status, func.count(), func.sum(Reviews.revision))
        .where(Reviews.team_id == team_id)
        .group_by(Reviews.status)
    )
    async with database.reading() as connection:
        rows = (await connection.execute(query)).all()
    counts = {ReviewStatus(status): int(count) for status, count, _ in rows}
    return counts, sum(int(revisions) for _, _, revisions in rows)


@shielded
async def answered_reviews(database: Database, team_id: str | None) -> list[UUID]:
    """The reviews whose verdict is still to be made; of one team, or of all."""
    query = select(Reviews.id).where(Reviews.status == ReviewStatus.ANSWERED)
    if team_id is not None:
        query = query.where(Reviews.team_id == team_id)
    query = query.order_by(Reviews.created_at, Reviews.id)
    async with database.reading() as connection:
        return list((await connection.execute(query)).scalars())


@shielded
async def note_trouble(database: Database, review: Review, trouble: str) -> None:
    """Write down why the verdict could not be made; newer answers know nothing of it."""
    async with database.writing() as connection:
        same = and_(
            Reviews.id == review.id,
            Reviews.revision == review.revision,
            Reviews.status == ReviewStatus.ANSWERED,
        )
        await connection.execute(update(Reviews).where(same).values(trouble=trouble))


@shielded
async def close_overdue(database: Database, team_id: str | None) -> None:
    """Close what was not answered while it counted; of one team, or of all.

    What is answered is left to whoever opened it: its verdict may have been taken already.
    """
    overdue = [Reviews.status == ReviewStatus.OPEN, Reviews.due_at <= clock.now()]
    if team_id is not None:
        overdue.append(Reviews.team_id == team_id)
    # Most often there is none, and whoever only looks keeps nobody from writing.
    async with database.reading() as connection:
        if (await connection.execute(select(Reviews.id).where(*overdue).limit(1))).first() is None:
            return
    gone = {
        "status": ReviewStatus.CANCELLED,
        "trouble": "its time ended before every item was answered",
        "completed_at": clock.now(),
    }
    async with database.writing() as connection:
        await connection.execute(update(Reviews).where(*overdue).values(**gone))


async def close_review(
    connection: AsyncConnection, review: Review, *, trouble: str | None = None
) -> bool:
    """Take the verdict: True for exactly one caller, and only while these answers stand.

    With a trouble there is none to take: the answers came too late.
    """
    row = await review_row(connection, review.id, lock=True)
    if row.status != ReviewStatus.ANSWERED or row.revision != review.revision:
        return False
    status = ReviewStatus.CANCELLED if trouble else ReviewStatus.DONE
    done = {"status": status, "trouble": trouble, "completed_at": clock.now()}
    await connection.execute(update(Reviews).where(Reviews.id == review.id).values(**done))
    return True


async def cancel_reviews(connection: AsyncConnection, kind: SubjectKind, ident: str) -> None:
    """Close what still waits of a run or a task that was cancelled."""
    of_it = and_(
        Reviews.subject_kind == kind,
        Reviews.subject_id == ident,
        Reviews.status.in_(WAITING),
    )
    gone = {"status": ReviewStatus.CANCELLED, "completed_at": clock.now()}
    await connection.execute(update(Reviews).where(of_it).values(**gone))

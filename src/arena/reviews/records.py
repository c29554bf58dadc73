"""Reviews in the database: the only code of this room that uses the tables.

Runs and tasks open and close reviews inside their own transactions: `open_reviews`, `close_review`
and `cancel_reviews` take the connection. Lock order, to avoid deadlocks: the subject (a run, a
task) first, then the review.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Row, Select, and_, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.errors import Conflict, NotFound
from arena.evaluation.evaluate import checklists
from arena.evaluation.reading import read_document
from arena.evaluation.resources import PartPath
from arena.fields import MAX_REVIEWERS
from arena.reviews.case import (
    Answers,
    NewReview,
    ReviewCase,
    check_items,
    dotted_place,
    items_of,
    new_row,
    place_of,
    reviewers_agree,
    submission_in,
)
from arena.reviews.review import (
    Review,
    ReviewAnswer,
    ReviewDetails,
    ReviewStatus,
    ReviewSubject,
    StandingAnswer,
    SubjectKind,
)
from arena.store.database import Database, insert_or_ignore, shielded
from arena.store.tables.reviews import ReviewAnswers, Reviews

OnAnswered = Callable[[AsyncConnection, Review], Awaitable[None]]
"""Called in the transaction that records the last answer a review needs, or changes one."""

WAITING = (ReviewStatus.OPEN, ReviewStatus.ANSWERED)
COLUMNS = tuple(field.name for field in fields(Review) if field.name != "subject")
SUMMARY = [
    *(Reviews.__table__.c[name] for name in COLUMNS),
    Reviews.subject_kind,
    Reviews.subject_id,
    Reviews.subject_part,
]
"""Everything except the texts, which may be long."""

# Reading


@shielded
async def get_review(database: Database, review_id: UUID, team_id: str | None) -> Review:
    """The review, if it is this team's; None means any team's."""
    async with database.reading() as connection:
        return to_review(await _row(connection, review_id, team_id))


@shielded
async def get_case(
    database: Database, review_id: UUID, team_id: str | None, *, history: bool = False
) -> ReviewCase:
    """The review with its texts and answers, from one snapshot."""
    async with database.reading() as connection:
        row = await _row(connection, review_id, team_id)
        answers = await _answers(connection, review_id, history=history)
    # After the transaction: reading a large standard takes a while.
    items = items_of(checklists(await read_document(row.standard)), answers)
    submission = submission_in(row)
    details = ReviewDetails(
        review=to_review(row),
        prompt=row.prompt,
        submission=row.submission,
        language=row.language,
        truncated=row.is_truncated,
        items=items,
        agreement=reviewers_agree(items),
        messages=submission.messages,
        steps=submission.steps,
        standard=row.standard,
    )
    return ReviewCase(details=details, document=row.standard, submission=submission)


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
    """A team's reviews, longest waiting first; `after` is the last of the previous page."""
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
async def count_reviews(database: Database, team_id: str) -> tuple[dict[ReviewStatus, int], int]:
    """The number of a team's reviews per state, and the sum of their revisions."""
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
    """The answered reviews without a verdict; of one team, or of all."""
    query = select(Reviews.id).where(Reviews.status == ReviewStatus.ANSWERED)
    if team_id is not None:
        query = query.where(Reviews.team_id == team_id)
    query = query.order_by(Reviews.created_at, Reviews.id)
    async with database.reading() as connection:
        return list((await connection.execute(query)).scalars())


def to_review(row: Any) -> Review:
    """The review of a row."""
    values: dict[str, Any] = {name: row._mapping[name] for name in COLUMNS}
    values["status"] = ReviewStatus(row.status)
    subject = ReviewSubject(
        kind=SubjectKind(row.subject_kind), id=row.subject_id, part=row.subject_part
    )
    return Review(**values, subject=subject)


async def _row(
    connection: AsyncConnection, review_id: UUID, team_id: str | None = None, *, lock: bool = False
) -> Row[Any]:
    """The review's row, if it is this team's (None: any team's); locked if it will change."""
    query: Select[Any] = select(Reviews.__table__).where(Reviews.id == review_id)
    if team_id is not None:
        query = query.where(Reviews.team_id == team_id)
    if lock:
        query = query.with_for_update()
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise NotFound(f"there is no review {review_id}")
    return row


async def _answers(
    connection: AsyncConnection, review_id: UUID, *, history: bool = False
) -> Answers:
    """The answers to a review: the current ones, or with their history."""
    query = select(ReviewAnswers.__table__).where(ReviewAnswers.review_id == review_id)
    if not history:
        query = query.where(ReviewAnswers.is_standing.is_(True))
    query = query.order_by(ReviewAnswers.created_at, ReviewAnswers.id)
    found: dict[tuple[PartPath, int], list[StandingAnswer]] = {}
    rows: Sequence[Any] = (await connection.execute(query)).all()
    for row in rows:
        values = {field.name: row._mapping[field.name] for field in fields(StandingAnswer)}
        found.setdefault((place_of(row.place), row.item), []).append(StandingAnswer(**values))
    return found


# Opening and closing


async def open_reviews(connection: AsyncConnection, reviews: Sequence[NewReview]) -> None:
    """Open these reviews; a subject that already has one keeps it."""
    if reviews:
        rows = [new_row(new) for new in reviews]
        await connection.execute(insert_or_ignore(connection, Reviews), rows)


@shielded
async def open_review(database: Database, new: NewReview) -> Review:
    """Open a review, or return the one that the subject already has."""
    async with database.writing() as connection:
        await open_reviews(connection, [new])
        is_same = and_(
            Reviews.team_id == new.team_id,
            Reviews.subject_kind == new.subject.kind,
            Reviews.subject_id == new.subject.id,
            Reviews.subject_part == new.subject.part,
        )
        return to_review((await connection.execute(select(*SUMMARY).where(is_same))).one())


@shielded
async def note_trouble(database: Database, review: Review, trouble: str) -> None:
    """Record why the verdict could not be made, unless there are newer answers."""
    async with database.writing() as connection:
        same = and_(
            Reviews.id == review.id,
            Reviews.revision == review.revision,
            Reviews.status == ReviewStatus.ANSWERED,
        )
        await connection.execute(update(Reviews).where(same).values(trouble=trouble))


@shielded
async def close_overdue(database: Database, team_id: str | None) -> None:
    """Close open reviews that are past their due time; of one team, or of all.

    Answered ones are left to their run or task: the verdict may already have been taken.
    """
    overdue = [Reviews.status == ReviewStatus.OPEN, Reviews.due_at <= clock.now()]
    if team_id is not None:
        overdue.append(Reviews.team_id == team_id)
    # Usually there is none, and a read does not block writers.
    async with database.reading() as connection:
        if (await connection.execute(select(Reviews.id).where(*overdue).limit(1))).first() is None:
            return
    closed = {
        "status": ReviewStatus.CANCELLED,
        "trouble": "its time ended before every item was answered",
        "completed_at": clock.now(),
    }
    async with database.writing() as connection:
        await connection.execute(update(Reviews).where(*overdue).values(**closed))


async def close_review(
    connection: AsyncConnection, review: Review, *, trouble: str | None = None
) -> bool:
    """Take the verdict: True for exactly one caller, and only if no answer has changed.

    With a trouble there is no verdict to take: the answers came too late.
    """
    row = await _row(connection, review.id, lock=True)
    if row.status != ReviewStatus.ANSWERED or row.revision != review.revision:
        return False
    status = ReviewStatus.CANCELLED if trouble else ReviewStatus.DONE
    done = {"status": status, "trouble": trouble, "completed_at": clock.now()}
    await connection.execute(update(Reviews).where(Reviews.id == review.id).values(**done))
    return True


async def cancel_reviews(connection: AsyncConnection, kind: SubjectKind, ident: str) -> None:
    """Close the waiting reviews of a cancelled run or task."""
    of_it = and_(
        Reviews.subject_kind == kind,
        Reviews.subject_id == ident,
        Reviews.status.in_(WAITING),
    )
    closed = {"status": ReviewStatus.CANCELLED, "completed_at": clock.now()}
    await connection.execute(update(Reviews).where(of_it).values(**closed))


# Answering


@shielded
async def add_answers(
    database: Database,
    review_id: UUID,
    team_id: str,
    reviewer: str,
    answers: Sequence[ReviewAnswer],
    on_answered: OnAnswered | None = None,
) -> Review:
    """Record a reviewer's answers, under the review's lock; repeated ones change nothing."""
    async with database.reading() as connection:
        row = await _row(connection, review_id, team_id)
    # Before the lock: a review keeps its standard, and reading a large one takes a while.
    check_items(checklists(await read_document(row.standard)), answers)
    async with database.writing() as connection:
        row = await _row(connection, review_id, team_id, lock=True)
        standing = {
            (place, item, answer.reviewer): answer
            for (place, item), recorded in (await _answers(connection, review_id)).items()
            for answer in recorded
        }
        others = {name for _, _, name in standing} - {reviewer}
        if len(others) >= MAX_REVIEWERS:
            raise Conflict(f"review {review_id} already has {MAX_REVIEWERS} reviewers, the most")
        # Before the state is checked: a repeated request must succeed even if the review is done.
        new = [
            answer
            for answer in answers
            if not _is_same(standing.get((answer.place, answer.item, reviewer)), answer)
        ]
        if not ReviewStatus(row.status).takes_answers:
            if not new:
                return to_review(row)  # a repeated request: its answers are already recorded
            raise Conflict(f"review {review_id} is {row.status}, it accepts no more answers")
        if new and row.due_at is not None and clock.now() >= row.due_at:
            raise Conflict(
                f"review {review_id} could be answered until {row.due_at.isoformat()}: "
                "the answers would no longer count"
            )
        if new:
            await _replace(connection, review_id, reviewer, new)
            keys = {*standing, *((answer.place, answer.item, reviewer) for answer in new)}
            await _count(connection, row, keys)
        review = to_review(await _row(connection, review_id))
        if on_answered and new and review.status is ReviewStatus.ANSWERED:
            await on_answered(connection, review)
        return review


def _is_same(recorded: StandingAnswer | None, answer: ReviewAnswer) -> bool:
    now = answer.passed, answer.note or ""
    return recorded is not None and (recorded.passed, recorded.note) == now


async def _replace(
    connection: AsyncConnection, review_id: UUID, reviewer: str, answers: Sequence[ReviewAnswer]
) -> None:
    """Record answers; those they replace are kept as history."""
    now = clock.now()
    for answer in answers:
        same = (
            ReviewAnswers.review_id == review_id,
            ReviewAnswers.place == dotted_place(answer.place),
            ReviewAnswers.item == answer.item,
            ReviewAnswers.reviewer == reviewer,
            ReviewAnswers.is_standing.is_(True),
        )
        await connection.execute(update(ReviewAnswers).where(*same).values(is_standing=False))
    rows = [
        {
            "id": uuid4(),
            "review_id": review_id,
            "place": dotted_place(answer.place),
            "item": answer.item,
            "reviewer": reviewer,
            "passed": answer.passed,
            "note": answer.note or "",
            "is_standing": True,
            "created_at": now,
        }
        for answer in answers
    ]
    await connection.execute(insert(ReviewAnswers), rows)


async def _count(
    connection: AsyncConnection, row: Row[Any], keys: set[tuple[PartPath, int, str]]
) -> None:
    """Update how many items have enough answers, and whether that is all of them."""
    reviewers: dict[tuple[PartPath, int], int] = {}
    for place, item, _ in keys:
        reviewers[place, item] = reviewers.get((place, item), 0) + 1
    enough = sum(count >= row.reviewers_needed for count in reviewers.values())
    is_answered = enough == row.item_count
    await connection.execute(
        update(Reviews)
        .where(Reviews.id == row.id)
        .values(
            answered_count=enough,
            status=ReviewStatus.ANSWERED if is_answered else ReviewStatus.OPEN,
            revision=row.revision + 1,
            # The next verdict is made from other answers.
            trouble=None,
        )
    )

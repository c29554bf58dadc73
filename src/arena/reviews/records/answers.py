"""Answers: written down, counted, and history kept, in one transaction under the review's lock."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Row, insert, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.errors import Conflict
from arena.evaluation import PartPath, checklists, read_standard_document
from arena.reviews.records.rows import answers_of, review_row, to_review
from arena.reviews.review import (
    MAX_REVIEWERS,
    Answer,
    RecordedAnswer,
    Review,
    ReviewStatus,
    check_items,
    dotted_place,
)
from arena.store.database import Database, shielded
from arena.store.tables import ReviewAnswers, Reviews

Key = tuple[PartPath, int, str]
"""Which item, and who answered it."""


@shielded
async def add_answers(
    database: Database, review_id: UUID, team_id: str, reviewer: str, answers: Sequence[Answer]
) -> Review:
    """Take a reviewer's answers; those that say what already stands change nothing."""
    async with database.writing() as connection:
        row = await review_row(connection, review_id, team_id, lock=True)
        check_items(checklists(read_standard_document(row.standard)), answers)
        standing = {_key(said): said for said in await answers_of(connection, review_id)}
        _check_reviewer(review_id, reviewer, standing)
        new = [
            answer
            for answer in answers
            if not _says_the_same(standing.get((answer.place, answer.item, reviewer)), answer)
        ]
        if not ReviewStatus(row.status).takes_answers:
            if not new:
                return to_review(row)  # the same request once more: its answers stand already
            raise Conflict(f"review {review_id} is {row.status}, it takes no more answers")
        if new and row.due_at is not None and clock.now() >= row.due_at:
            raise Conflict(
                f"review {review_id} could be answered until {row.due_at.isoformat()}: "
                "the answers would not count any more"
            )
        if new:
            await _replace(connection, review_id, reviewer, new)
            keys = {*standing, *((answer.place, answer.item, reviewer) for answer in new)}
            await _count(connection, row, keys)
        return to_review(await review_row(connection, review_id))


def _key(said: RecordedAnswer) -> Key:
    return said.answer.place, said.answer.item, said.reviewer


def _says_the_same(said: RecordedAnswer | None, answer: Answer) -> bool:
    return said is not None and said.answer == answer


def _check_reviewer(review_id: UUID, reviewer: str, standing: dict[Key, RecordedAnswer]) -> None:
    others = {name for _, _, name in standing} - {reviewer}
    if len(others) >= MAX_REVIEWERS:
        raise Conflict(
            f"review {review_id} has {MAX_REVIEWERS} reviewers already, that is the most"
        )


async def _replace(
    connection: AsyncConnection, review_id: UUID, reviewer: str, answers: Sequence[Answer]
) -> None:
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
    await connection.execute(
        insert(ReviewAnswers),
        [
            {
                "id": uuid4(),
                "review_id": review_id,
                "place": dotted_place(answer.place),
                "item": answer.item,
                "reviewer": reviewer,
                "passed": answer.passed,
                "note": answer.note,
                "is_standing": True,
                "created_at": now,
            }
            for answer in answers
        ],
    )


async def _count(connection: AsyncConnection, row: Row[Any], keys: set[Key]) -> None:
    """Say how many items have enough answers, and whether that is all of them."""
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
            trouble=None,
        )
    )

"""What people have to judge: reviews are listed, read, answered and watched."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import Query
from fastapi.responses import StreamingResponse

from arena import schemas
from arena.api import streaming
from arena.api.access import NamedTeam, Team
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router
from arena.errors import InvalidInput
from arena.evaluation.judge.suggestion import suggest
from arena.evaluation.standard import Checklist
from arena.operations import paging
from arena.reviews import (
    Agreement,
    Answer,
    Review,
    ReviewDetails,
    ReviewItem,
    ReviewStatus,
    SubjectKind,
    agreement_of,
)

router = room_router("/api/reviews", "reviews")


@router.get("", responses=responses())
async def list_reviews(
    house: House,
    team: Team,
    status: Annotated[ReviewStatus | None, Query()] = None,
    subject: Annotated[
        str | None,
        Query(max_length=121, description="Only of this run or task: `run:ID` or `task:ID`."),
    ] = None,
    limit: paging.Limit = 20,
    cursor: paging.Cursor = None,
) -> schemas.ReviewList:
    """List the team's reviews, those that have waited longest first."""
    reviews = await house.reviews.list(
        team,
        status=status,
        subject=_subject(subject),
        limit=limit + 1,
        after=paging.decode_moment(cursor),
    )
    page = reviews[:limit]
    has_more = len(reviews) > limit
    return schemas.ReviewList(
        reviews=[shown(review) for review in page],
        count=len(page),
        next_cursor=paging.encode(page[-1].created_at.isoformat(), page[-1].id)
        if has_more
        else None,
    )


@router.post("/settle", responses=responses())
async def settle_reviews(house: House, team: Team) -> schemas.ReviewsSettled:
    """Make the verdicts of answered reviews that something was in the way of."""
    settlement = await house.reviews.settle_answered(team)
    return schemas.ReviewsSettled(
        settled=[review.id for review in settlement.settled],
        waiting=[shown(review) for review in settlement.waiting],
    )


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Server-sent events: `reviews`, now and at every change.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        **responses(),
    },
)
async def watch_reviews(house: House, team: Team) -> StreamingResponse:
    """Watch the team's reviews as server-sent events: how many are in each state."""
    return streaming.stream(_told(house.reviews.watch(team)))


@router.get("/{review_id}", responses=responses(404))
async def get_review(
    house: House,
    team: NamedTeam,
    review_id: UUID,
    history: Annotated[bool, Query(description="Show answers that were replaced too.")] = False,
) -> schemas.ReviewDetails:
    """A review with its submission, its items and what was said to them."""
    return _details(await house.reviews.get(review_id, team, history=history))


@router.post("/{review_id}", responses=responses(404, 409))
async def answer_review(
    house: House, team: Team, review_id: UUID, body: schemas.ReviewAnswers
) -> schemas.ReviewDetails:
    """Answer items of a review; the last answer makes the verdict.

    Where the verdict cannot be made just now the answers are kept, the review stays `answered` and
    `trouble` says why; it is settled later. From `due_at` on answers are refused; where the time
    ends while the verdict is made, the review is `cancelled` and `trouble` says so.
    """
    answers = [
        Answer(place=tuple(one.place), item=one.item, passed=one.passed, note=one.note or "")
        for one in body.answers
    ]
    await house.reviews.answer(review_id, team, body.reviewer, answers)
    return _details(await house.reviews.get(review_id, team))


@router.post("/{review_id}/suggest", responses=responses(404))
async def suggest_answers(house: House, team: Team, review_id: UUID) -> schemas.ReviewSuggestions:
    """What the configured judge would answer: a hint for a person, never a verdict."""
    details = await house.reviews.get(review_id, team)
    by_place: dict[tuple[int, ...], list[ReviewItem]] = {}
    for item in details.items:
        by_place.setdefault(item.place, []).append(item)
    told: list[schemas.ReviewSuggestion] = []
    for place, items in by_place.items():
        checklist = Checklist(items=tuple(item.text for item in items))
        made = await suggest(house.judge, checklist, details.prompt, details.submission)
        told += [schemas.ReviewSuggestion(place=list(place), **asdict(one)) for one in made]
    panel = house.judge.panel()
    return schemas.ReviewSuggestions(models=list(panel.models), suggestions=told)


def _subject(text: str | None) -> tuple[SubjectKind, str] | None:
    """What `run:ID` names."""
    if text is None:
        return None
    kind, _, ident = text.partition(":")
    if kind not in set(SubjectKind) or not ident:
        raise InvalidInput(f"subject {text!r} must be run:ID or task:ID")
    return SubjectKind(kind), ident


async def _told(counts: AsyncGenerator[Mapping[ReviewStatus, int]]) -> AsyncGenerator[str]:
    async with aclosing(counts):
        async for now in counts:
            told = {status.value: now.get(status, 0) for status in ReviewStatus}
            yield streaming.event("reviews", schemas.ReviewCounts.model_validate(told))


def shown(review: Review) -> schemas.Review:
    """A review by the names of the API."""
    return schemas.Review.model_validate(review)


def _details(details: ReviewDetails) -> schemas.ReviewDetails:
    return schemas.ReviewDetails(
        review=shown(details.review),
        prompt=details.prompt,
        submission=details.submission.output,
        language=details.submission.language,
        truncated=details.is_truncated,
        items=[_item(item) for item in details.items],
        agreement=_agreement(agreement_of(details.items)),
    )


def _item(item: ReviewItem) -> schemas.ReviewItem:
    decided = item.decided
    return schemas.ReviewItem(
        place=list(item.place),
        item=item.number,
        text=item.text,
        answers=[
            schemas.StandingAnswer(
                reviewer=recorded.reviewer,
                passed=recorded.answer.passed,
                note=recorded.answer.note,
                is_standing=recorded.is_standing,
                created_at=recorded.created_at,
            )
            for recorded in item.answers
        ],
        passed=decided.passed if decided else None,
    )


def _agreement(agreement: Agreement) -> schemas.ReviewAgreement:
    return schemas.ReviewAgreement(
        shared_items=agreement.shared_items,
        agreed_items=agreement.agreed_items,
        share=agreement.share,
        pairs=[schemas.ReviewerAgreement.model_validate(pair) for pair in agreement.pairs],
    )

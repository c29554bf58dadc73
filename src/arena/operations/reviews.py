"""Reviews by people: list, read, answer and watch them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import Annotated
from uuid import UUID

from pydantic import Field

from arena.errors import InvalidInput
from arena.fields import MAX_NAME_LENGTH, NonBlank
from arena.operations import paging
from arena.operations.operation import Event, Events, OperationGroup, get, post
from arena.operations.paging import Cursor, Limit
from arena.reviews.review import (
    ItemPlace,
    Review,
    ReviewAnswer,
    ReviewCounts,
    ReviewDetails,
    ReviewsSettled,
    ReviewStatus,
    SubjectKind,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewList:
    """A page of reviews, longest waiting first."""

    reviews: Sequence[Review]
    count: int
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSuggestion:
    """A model's suggestion for one item."""

    place: ItemPlace
    item: int
    passed: bool
    reason: str
    quote: str | None
    mark: str | None
    """Why it needs a second look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSuggestions:
    """Suggestions of the configured judge: hints for a person, never a verdict."""

    models: list[str]
    suggestions: list[ReviewSuggestion]


class ReviewOperations(OperationGroup):
    """Reviews by people."""

    @get("/api/reviews", id="list_reviews", tag="reviews")
    async def reviews(
        self,
        *,
        status: ReviewStatus | None = None,
        subject: Annotated[
            str | None,
            Field(max_length=121, description="Only of this run or task: `run:ID` or `task:ID`."),
        ] = None,
        limit: Limit = 20,
        cursor: Cursor = None,
    ) -> ReviewList:
        """List the team's reviews, longest waiting first."""
        reviews = await self.arena.reviews.list(
            self.team,
            status=status,
            subject=_subject(subject),
            limit=limit + 1,
            after=paging.decode_moment(cursor),
        )
        page, more = reviews[:limit], None
        if len(reviews) > limit:
            more = paging.encode(page[-1].created_at.isoformat(), page[-1].id)
        return ReviewList(reviews=page, count=len(page), next_cursor=more)

    # Before the paths with an id, or `events` and `settle` would be taken for ids.

    @get(
        "/api/reviews/events",
        id="watch_reviews",
        tag="reviews",
        events={"reviews": ReviewCounts},
        description="Server-sent events: `reviews`, now and at every change.",
    )
    async def _stream_reviews(self) -> Events:
        """Watch the number of the team's reviews in each state, as server-sent events."""
        return _as_events(self.arena.reviews.watch(self.team))

    async def watch_reviews(self) -> AsyncIterator[ReviewCounts]:
        """The number of the team's reviews in each state, now and at every change."""
        async with aclosing(await self._stream_reviews()) as events:
            async for event in events:
                yield event.data

    @post("/api/reviews/settle", tag="reviews")
    async def settle_reviews(self) -> ReviewsSettled:
        """Retry the failed verdicts of answered reviews."""
        return await self.arena.reviews.settle_answered(self.team)

    @get("/api/reviews/{review_id}", id="get_review", tag="reviews", errors=(404,))
    async def review(
        self,
        review_id: UUID,
        *,
        history: Annotated[bool, Field(description="Include answers that were replaced.")] = False,
    ) -> ReviewDetails:
        """A review with its submission, its items and the answers to them."""
        return await self.arena.reviews.get(review_id, self.named_team, history=history)

    @post("/api/reviews/{review_id}", tag="reviews", errors=(403, 404, 409), body="ReviewAnswers")
    async def answer_review(
        self,
        review_id: UUID,
        answers: Annotated[list[ReviewAnswer], Field(min_length=1, max_length=10_000)],
        *,
        reviewer: Annotated[
            NonBlank,
            Field(
                max_length=MAX_NAME_LENGTH,
                description="Who answers. A second answer to an item replaces the first.",
            ),
        ] = "anonymous",
    ) -> ReviewDetails:
        """Answer items of a review; the last answer makes the verdict.

        If the verdict cannot be made now, the answers are kept, the review stays `answered` and
        `trouble` says why; it is settled later. After `due_at` answers are refused; if the time
        ends while the verdict is made, the review is `cancelled` and `trouble` says so. The parties
        of a task cannot answer its review.
        """
        await self.arena.reviews.answer(review_id, self.team, reviewer, answers)
        return await self.arena.reviews.get(review_id, self.team)

    @post("/api/reviews/{review_id}/suggest", tag="reviews", errors=(404,))
    async def suggest_answers(self, review_id: UUID) -> ReviewSuggestions:
        """Suggestions of the configured judge: hints for a person, never a verdict."""
        from arena.evaluation.judge.suggestion import suggest  # rarely needed
        from arena.evaluation.standard import Checklist
        from arena.evaluation.verdict import Submission

        details = await self.arena.reviews.get(review_id, self.team)
        submission = Submission(output=details.submission, language=details.language)
        suggestions: list[ReviewSuggestion] = []
        for place in dict.fromkeys(item.place for item in details.items):
            items = tuple(item.text for item in details.items if item.place == place)
            made = await suggest(
                self.arena.judge, Checklist(items=items), details.prompt, submission
            )
            suggestions += [ReviewSuggestion(place=place, **asdict(one)) for one in made]
        models = list(self.arena.judge.panel().models)
        return ReviewSuggestions(models=models, suggestions=suggestions)


def _subject(text: str | None) -> tuple[SubjectKind, str] | None:
    """Parse `run:ID` or `task:ID`."""
    if text is None:
        return None
    kind, _, ident = text.partition(":")
    if kind not in set(SubjectKind) or not ident:
        raise InvalidInput(f"subject {text!r} must be run:ID or task:ID")
    return SubjectKind(kind), ident


async def _as_events(counts: AsyncIterator[ReviewCounts]) -> Events:
    async for count in counts:
        yield Event(name="reviews", data=count)

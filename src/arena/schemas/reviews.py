"""Reviews on the wire."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from arena.schemas.wire import Asked, Wire, Worded

Place = Annotated[
    list[Annotated[int, Field(ge=0, le=10_000)]],
    Field(
        max_length=16,
        description="Which part of a composite standard: `[1, 0]` is the first part of its second "
        "one. Empty where the checklist is all of it.",
        examples=[[]],
    ),
]


class ReviewAnswer(Asked):
    """What a reviewer says to one item."""

    place: Place = Field(default=[])
    item: int = Field(ge=0, le=10_000, description="0 is the first item of the checklist.")
    passed: bool = Field(strict=True)
    note: str | None = Field(default=None, max_length=10_000, examples=["names only one of two"])


class ReviewAnswers(Asked):
    """A reviewer's answers to some or all items of a review."""

    reviewer: Worded = Field(
        default="anonymous",
        max_length=100,
        description="Who answers. A second answer to an item takes the first one's place.",
    )
    answers: list[ReviewAnswer] = Field(min_length=1, max_length=10_000)


class ReviewSubject(Wire):
    """What a review is about."""

    kind: Literal["run", "task"]
    id: str = Field(description="The id of the run or the task.")
    part: str = Field(description="`test_id:trial` in a run.", examples=["summary_001:1"])


class Review(Wire):
    """A submission that waits for people, or that they have judged."""

    id: UUID
    team_id: str
    subject: ReviewSubject
    title: str
    status: Literal["open", "answered", "done", "cancelled"] = Field(
        description="`answered`: every item has its answers, the verdict is still to be made. "
        "`cancelled`: nobody needs an answer any more."
    )
    reviewers_needed: int
    rule: str = Field(description="How several answers to an item become one.")
    item_count: int
    answered_count: int = Field(description="Items that have as many answers as are needed.")
    trouble: str | None = Field(
        description="Why there is no verdict yet, or why the answers did not count."
    )
    due_at: datetime | None = Field(
        default=None, description="Until when an answer counts; null: at any time."
    )
    created_at: datetime
    completed_at: datetime | None


class ReviewList(Wire):
    """A page of reviews, those that have waited longest first."""

    reviews: list[Review]
    count: int
    next_cursor: str | None = None


class StandingAnswer(Wire):
    """An answer to an item."""

    reviewer: str
    passed: bool
    note: str
    is_standing: bool = Field(description="False where the reviewer has answered anew since.")
    created_at: datetime


class ReviewItem(Wire):
    """One item of a checklist, and what was said to it."""

    place: Place
    item: int
    text: str
    answers: list[StandingAnswer]
    passed: bool | None = Field(description="The answers as one, by the review's rule.")


class ReviewerAgreement(Wire):
    """Two reviewers on the items that both answered."""

    first: str
    second: str
    common: int
    agreed: int
    kappa: float | None = Field(
        description="Cohen's kappa; null with fewer than 5 items in common, or where both said "
        "the same of every item."
    )


class ReviewAgreement(Wire):
    """How far the reviewers agree, over the items that two or more have answered."""

    shared_items: int
    agreed_items: int
    share: float | None = Field(description="Of the shared items, those all agree on.")
    pairs: list[ReviewerAgreement]


class ReviewDetails(Wire):
    """A review with all that a reviewer needs."""

    review: Review
    prompt: str
    submission: str
    language: str | None
    truncated: bool = Field(description="Whether the agent said more than was kept.")
    items: list[ReviewItem]
    agreement: ReviewAgreement


class ReviewSuggestion(Wire):
    """What a model would say to one item."""

    place: Place
    item: int
    passed: bool
    reason: str
    quote: str | None
    mark: str | None = Field(description="Why it deserves a second look.")


class ReviewSuggestions(Wire):
    """What the configured judge would answer. A hint for a person, never a verdict."""

    models: list[str]
    suggestions: list[ReviewSuggestion]


class ReviewsSettled(Wire):
    """What became of the reviews that were answered but had no verdict."""

    settled: list[UUID]
    waiting: list[Review] = Field(description="Those that still have none; `trouble` says why.")


class ReviewCounts(Wire):
    """How many of the team's reviews are in each state."""

    open: int
    answered: int
    done: int
    cancelled: int

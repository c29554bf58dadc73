"""A review, its items and the answers to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import ConfigDict, Field

from arena.reviews.agreement import ReviewAgreement

ItemPlace = Annotated[
    tuple[Annotated[int, Field(ge=0, le=10_000)], ...],
    Field(
        max_length=16,
        description="Which part of a composite standard: `[1, 0]` is the first part of its second "
        "one. Empty where the checklist is all of it.",
        examples=[[]],
    ),
]


class ReviewStatus(StrEnum):
    """Where a review stands."""

    OPEN = "open"
    ANSWERED = "answered"
    """Every item has its answers; the verdict is still to be made."""
    DONE = "done"
    CANCELLED = "cancelled"
    """What it was about was cancelled, or its time is over: nobody needs an answer any more."""

    @property
    def takes_answers(self) -> bool:
        """Whether an answer can still change the verdict."""
        return self in (ReviewStatus.OPEN, ReviewStatus.ANSWERED)


class SubjectKind(StrEnum):
    """Whose submission a review is about."""

    RUN = "run"
    TASK = "task"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSubject:
    """What a review is about; a subject has one review at most."""

    kind: SubjectKind
    id: str
    """The id of the run or the task."""
    part: Annotated[str, Field(examples=["summary_001:1"])] = ""
    """`test_id:trial` in a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A submission that waits for people, or that they have judged."""

    id: UUID
    team_id: str
    subject: ReviewSubject
    title: str
    status: ReviewStatus
    """`answered`: every item has its answers, the verdict is still to be made. `cancelled`: nobody
    needs an answer any more."""
    reviewers_needed: int
    rule: str
    """How several answers to an item become one."""
    item_count: int
    answered_count: int
    """Items that have as many answers as are needed."""
    revision: int
    """Grows with every answer: a verdict made from older answers is not taken."""
    trouble: str | None
    """Why there is no verdict yet, or why the answers did not count."""
    due_at: datetime | None = None
    """Until when an answer counts; null: at any time."""
    created_at: datetime
    completed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewAnswer:
    """A reviewer's answer to one item."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    place: ItemPlace = ()
    item: Annotated[int, Field(ge=0, le=10_000)]
    """0 is the first item of the checklist."""
    passed: Annotated[bool, Field(strict=True)]
    note: Annotated[str | None, Field(max_length=10_000, examples=["names only one of two"])] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingAnswer:
    """An answer to an item, as it is recorded."""

    reviewer: str
    passed: bool
    note: str
    is_standing: bool
    """False if the reviewer has replaced it since."""
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """One item of a checklist, and the answers to it."""

    place: ItemPlace
    item: int
    text: str
    answers: Sequence[StandingAnswer]
    passed: bool | None
    """The answers as one, by the review's rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDetails:
    """A review with all that a reviewer needs."""

    review: Review
    prompt: str
    submission: str
    language: str | None
    truncated: bool
    """Whether the agent's output was longer than what was kept."""
    items: Sequence[ReviewItem]
    agreement: ReviewAgreement


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewsSettled:
    """What became of the reviews that were answered but had no verdict."""

    settled: Sequence[UUID]
    waiting: Sequence[Review]
    """Those that still have none; `trouble` says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewCounts:
    """How many of the team's reviews are in each state."""

    open: int
    answered: int
    done: int
    cancelled: int

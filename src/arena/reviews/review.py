"""A review, its items and the answers to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import ConfigDict, Field

from arena.models.message import Message
from arena.models.step import Step
from arena.reviews.agreement import ReviewAgreement

ItemPlace = Annotated[
    tuple[Annotated[int, Field(ge=0, le=10_000)], ...],
    Field(
        max_length=16,
        description="Which part of a composite standard: `[1, 0]` is the first part of its second "
        "one. Empty if the checklist is all of it.",
        examples=[[]],
    ),
]


class ReviewStatus(StrEnum):
    """The state of a review."""

    OPEN = "open"
    ANSWERED = "answered"
    """Every item has enough answers; there is no verdict yet."""
    DONE = "done"
    CANCELLED = "cancelled"
    """Its subject was cancelled, or its time is over: no answer is needed any more."""

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
    """What a review is about; a subject has at most one review."""

    kind: SubjectKind
    id: str
    """The id of the run or the task."""
    part: Annotated[str, Field(examples=["summary_001:1"])] = ""
    """`test_id:trial` in a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A submission that waits for reviewers, or that they have judged."""

    id: UUID
    team_id: str
    subject: ReviewSubject
    title: str
    status: ReviewStatus
    """`answered`: every item has enough answers, there is no verdict yet. `cancelled`: no answer is
    needed any more."""
    reviewers_needed: int
    rule: str
    """How several answers to an item are combined."""
    item_count: int
    answered_count: int
    """Items that have enough answers."""
    revision: int
    """Incremented with every answer: a verdict made from older answers is dropped."""
    trouble: str | None
    """Why the verdict failed, or why the answers did not count."""
    due_at: datetime | None = None
    """Answers count until then; null: no limit."""
    created_at: datetime
    completed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewAnswer:
    """A reviewer's answer to one item."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    place: ItemPlace = ()
    item: Annotated[int, Field(ge=0, le=10_000)]
    """Its index in the checklist, from 0."""
    passed: Annotated[bool, Field(strict=True)]
    note: Annotated[str | None, Field(max_length=10_000, examples=["names only one of two"])] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingAnswer:
    """A recorded answer to an item."""

    reviewer: str
    passed: bool
    note: str
    is_standing: bool
    """False if the reviewer has replaced it."""
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """One item of a checklist, and the answers to it."""

    place: ItemPlace
    item: int
    text: str
    answers: Sequence[StandingAnswer]
    passed: bool | None
    """The combined answer, by the review's rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDetails:
    """A review with everything a reviewer needs."""

    review: Review
    prompt: str
    submission: str
    language: str | None
    truncated: bool
    """Whether the agent's output was truncated."""
    items: Sequence[ReviewItem]
    agreement: ReviewAgreement
    messages: Sequence[Message] = ()
    """The whole conversation, of which the submission is the last reply."""
    steps: Sequence[Step] = ()
    """The tools that the agent called."""
    standard: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The whole standard, of which the checklist may be a part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewsSettled:
    """The outcome of settling the reviews that were answered but had no verdict."""

    settled: Sequence[UUID]
    waiting: Sequence[Review]
    """Those that still have no verdict; `trouble` says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewCounts:
    """How many of the team's reviews are in each state."""

    open: int
    answered: int
    done: int
    cancelled: int

"""Reviews and the answers of their reviewers."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped

from arena.store.tables.table import AnyJson, Table, column


class Reviews(Table):
    """A submission that waits for reviewers, or that they have judged."""

    __tablename__ = "reviews"
    __table_args__ = (
        UniqueConstraint("team_id", "subject_kind", "subject_id", "subject_part"),
        Index("ix_reviews_team_created", "team_id", "status", "created_at", "id"),
        Index("ix_reviews_status", "status"),
    )

    id: Mapped[UUID] = column(primary_key=True)
    team_id: Mapped[str] = column(String(100))
    subject_kind: Mapped[str] = column(String(20))
    """Whose submission it is: `run` or `task`."""
    subject_id: Mapped[str] = column(String(100))
    subject_part: Mapped[str] = column(String(130))
    """Which of the run's or task's submissions; empty if there is only one."""
    title: Mapped[str]
    prompt: Mapped[str]
    standard: Mapped[dict[str, Any]]
    """The whole standard as a document: other parts are judged after the last answer."""
    submission: Mapped[str]
    language: Mapped[str | None] = column(String(50))
    whole_submission: Mapped[dict[str, Any] | None] = column(AnyJson)
    """Messages, steps, files and usage too; None if the text is all of it."""
    is_truncated: Mapped[bool]
    reviewers_needed: Mapped[int]
    rule: Mapped[str] = column(String(50))
    """How several answers to an item are combined."""
    status: Mapped[str] = column(String(20))
    item_count: Mapped[int]
    answered_count: Mapped[int] = column(default=0)
    """Items that have enough answers."""
    revision: Mapped[int] = column(default=0)
    """Incremented with every answer: a verdict made from older answers is not written."""
    trouble: Mapped[str | None]
    """Why the verdict failed, or why the answers did not count."""
    claim_token: Mapped[str | None] = column(String(64))
    """Of the worker that makes the verdict."""
    claimed_until: Mapped[datetime | None]
    due_at: Mapped[datetime | None]
    """Answers count until then; None: no limit."""
    created_at: Mapped[datetime]
    completed_at: Mapped[datetime | None]


class ReviewAnswers(Table):
    """A reviewer's answer to an item. The newest counts; the older ones are its history."""

    __tablename__ = "review_answers"
    __table_args__ = (Index("ix_review_answers_review", "review_id", "is_standing"),)

    id: Mapped[UUID] = column(primary_key=True)
    review_id: Mapped[UUID] = column(ForeignKey("reviews.id", ondelete="CASCADE"))
    place: Mapped[str] = column(String(50))
    """Which part of the standard, as `1.0`; empty if the checklist is all of it."""
    item: Mapped[int]
    """The item's index in that checklist, from 0."""
    reviewer: Mapped[str] = column(String(100))
    passed: Mapped[bool]
    note: Mapped[str]
    is_standing: Mapped[bool]
    created_at: Mapped[datetime]

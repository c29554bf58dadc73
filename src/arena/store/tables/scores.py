"""Ratings, executions, and the scores computed from them and from runs."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Float, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped

from arena.store.tables.table import AnyJson, Table, column


class Feedback(Table):
    """A user's rating. The user's newest for one thing counts; older ones are its history."""

    __tablename__ = "agent_feedback"
    __table_args__ = (
        # Includes `is_standing`: finding a user's current rating reads none of the replaced ones.
        Index(
            "ix_agent_feedback_vote",
            "team_id",
            "agent_id",
            "agent_version",
            "user_id",
            "is_standing",
            "execution_id",
        ),
        Index("ix_agent_feedback_created", "team_id", "created_at", "id"),
    )

    id: Mapped[UUID] = column(primary_key=True)
    team_id: Mapped[str] = column(String(100))
    agent_id: Mapped[str] = column(String(100))
    agent_version: Mapped[str] = column(String(20))
    user_id: Mapped[str] = column(String(100))
    execution_id: Mapped[UUID | None]
    rating: Mapped[int]
    comment: Mapped[str | None]
    task_description: Mapped[str | None]
    is_standing: Mapped[bool]
    created_at: Mapped[datetime]


class Executions(Table):
    """One execution of an agent: a benchmark test, a task, or one reported by its owner."""

    __tablename__ = "agent_execution_history"
    __table_args__ = (
        # In the database a partial index, of rows that have a key (migration 0002): most come from
        # runs and have none. Declaring it here would import the PostgreSQL dialect at every start.
        Index("uq_agent_execution_history_key", "team_id", "idempotency_key", unique=True),
        Index("ix_agent_execution_history_agent", "team_id", "agent_id", "agent_version"),
    )

    id: Mapped[UUID] = column(primary_key=True)
    team_id: Mapped[str] = column(String(100))
    agent_id: Mapped[str] = column(String(100))
    agent_version: Mapped[str] = column(String(20))
    source: Mapped[str] = column(String(20))
    """`benchmark`, `task` or `reported`."""
    status: Mapped[str] = column(String(20))
    idempotency_key: Mapped[str | None] = column(String(200))
    input_tokens: Mapped[int | None] = column(BigInteger)
    output_tokens: Mapped[int | None] = column(BigInteger)
    model: Mapped[str | None]
    cost_usd: Mapped[float | None] = column(Float)
    duration_seconds: Mapped[float | None]
    created_at: Mapped[datetime]
    transcript: Mapped[dict[str, Any] | None] = column(AnyJson)
    """What a report said about it: messages, steps and output; None if nothing."""


class Scores(Table):
    """The sums of an agent version's evidence, and its scores on the board of the default suite."""

    __tablename__ = "agent_scores"
    __table_args__ = (
        UniqueConstraint("team_id", "agent_id", "agent_version"),
        Index("ix_agent_scores_overall", "team_id", "overall_score"),
        Index("ix_agent_scores_low", "team_id", "overall_low"),
        Index("ix_agent_scores_high", "team_id", "overall_high"),
    )

    id: Mapped[UUID] = column(primary_key=True)
    team_id: Mapped[str] = column(String(100))
    agent_id: Mapped[str] = column(String(100))
    agent_version: Mapped[str] = column(String(20))
    benchmark_score: Mapped[float | None]
    user_rating_score: Mapped[float | None]
    success_rate_score: Mapped[float | None]
    cost_efficiency_score: Mapped[float | None]
    overall_score: Mapped[float | None]
    overall_low: Mapped[float | None] = column(Float)
    """The interval of the overall score; None until it is recomputed."""
    overall_high: Mapped[float | None] = column(Float)
    coverage: Mapped[float] = column(default=0.0)
    is_ranked: Mapped[bool] = column(default=False)
    """Whether its run covers enough of the default suite for a rank."""
    rank_overall: Mapped[int | None]
    rating_count: Mapped[int] = column(default=0)
    rating_sum: Mapped[int] = column(default=0)
    rating_square_sum: Mapped[int] = column(default=0)
    execution_count: Mapped[int] = column(default=0)
    success_count: Mapped[int] = column(default=0)
    benchmark_run_id: Mapped[UUID | None]
    """The run that the benchmark and cost components come from."""
    benchmark_share: Mapped[list[Any]]
    """Six whole numbers; see `arena.scoring.Share`."""
    cost_share: Mapped[list[Any]]
    updated_at: Mapped[datetime]


class ScoreWeights(Table):
    """The weights of the stored scores, in billionths; one row."""

    __tablename__ = "agent_score_weights"

    id: Mapped[int] = column(primary_key=True, autoincrement=False)
    benchmark: Mapped[int]
    user_rating: Mapped[int]
    success_rate: Mapped[int]
    cost_efficiency: Mapped[int]

"""Every table in one place. Names and columns of the benchmarking document stand as they are."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Numeric,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

AnyJson = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
Decimal = Numeric(20, 6, asdecimal=False)


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in UTC; SQLite keeps no zone, so it is given back here."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Only aware times may be stored."""
        if value is not None and value.tzinfo is None:
            raise ValueError("a time without a zone cannot be stored")
        return value.astimezone(UTC) if value is not None else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Every time that comes back is aware."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Table(DeclarativeBase):
    """What every table shares."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it from the class
        UUID: Uuid(),
        datetime: UtcDateTime(),
        float: Decimal,
        str: Text(),
        bool: Boolean(),
        int: Integer(),
        dict[str, Any]: AnyJson,
        list[Any]: AnyJson,
    }


class Runs(Table):
    """A benchmark run: one agent version against a frozen list of tests."""

    __tablename__ = "agent_benchmark_runs"
    __table_args__ = (
        Index("ix_agent_benchmark_runs_team_created", "team_id", "created_at", "id"),
        Index("ix_agent_benchmark_runs_agent", "team_id", "agent_id", "created_at"),
        Index("ix_agent_benchmark_runs_status", "status"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(String(100))
    agent_id: Mapped[str] = mapped_column(String(100))
    agent_version: Mapped[str] = mapped_column(String(20))
    status: Mapped[str] = mapped_column(String(20))
    total_tests: Mapped[int]
    completed_tests: Mapped[int] = mapped_column(default=0)
    passed_tests: Mapped[int] = mapped_column(default=0)
    failed_tests: Mapped[int] = mapped_column(default=0)
    errored_tests: Mapped[int] = mapped_column(default=0)
    """Tests that the infrastructure kept from being executed; they have no result."""
    score_percent: Mapped[float | None]
    points_earned: Mapped[float] = mapped_column(default=0.0)
    points_possible: Mapped[float]
    points_percent: Mapped[float | None]
    is_full: Mapped[bool]
    """Whether it covers every test that applies to the agent; only such a run counts for scores."""
    trials: Mapped[int | None]
    """Trials asked for with the run; None leaves each test its own number."""
    concurrency: Mapped[int | None]
    category: Mapped[str | None]
    input_tokens: Mapped[int | None] = mapped_column(BigInteger)
    output_tokens: Mapped[int | None] = mapped_column(BigInteger)
    cost_usd: Mapped[float | None] = mapped_column(Float)
    """Dollars of the results whose cost is known; None where none is."""
    costed_tests: Mapped[int] = mapped_column(default=0)
    """How many results that is."""
    duration_seconds: Mapped[float] = mapped_column(default=0.0)
    """The sum over the results."""
    error_message: Mapped[str | None]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
    lease_token: Mapped[str | None] = mapped_column(String(64))
    """Who executes it now; a writer without this token is refused."""
    lease_expires_at: Mapped[datetime | None]


class FrozenTests(Table):
    """A test as it stood when a run was created, kept once however many runs use it."""

    __tablename__ = "agent_benchmark_tests"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    body: Mapped[dict[str, Any]]


class RunTests(Table):
    """Which tests a run consists of, in order."""

    __tablename__ = "agent_benchmark_run_tests"
    __table_args__ = (UniqueConstraint("run_id", "test_id"),)

    run_id: Mapped[UUID] = mapped_column(
        ForeignKey("agent_benchmark_runs.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    test_id: Mapped[str] = mapped_column(String(50))
    digest: Mapped[str] = mapped_column(ForeignKey("agent_benchmark_tests.digest"))
    trials: Mapped[int]


class Results(Table):
    """What came of one test in one trial."""

    __tablename__ = "agent_benchmark_results"
    __table_args__ = (
        UniqueConstraint("run_id", "test_id", "trial"),
        UniqueConstraint("run_id", "sequence"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    run_id: Mapped[UUID] = mapped_column(ForeignKey("agent_benchmark_runs.id", ondelete="CASCADE"))
    sequence: Mapped[int]
    """1, 2, 3… in the order of recording, per run."""
    benchmark_id: Mapped[UUID | None]
    test_id: Mapped[str] = mapped_column(String(50))
    trial: Mapped[int] = mapped_column(default=1)
    category: Mapped[str] = mapped_column(String(100))
    status: Mapped[str] = mapped_column(String(20))
    passed: Mapped[bool]
    score: Mapped[float]
    points_earned: Mapped[float]
    points_possible: Mapped[float]
    actual_output: Mapped[dict[str, Any] | None] = mapped_column(AnyJson)
    failure_reason: Mapped[str | None]
    findings: Mapped[list[Any]]
    duration_seconds: Mapped[float]
    attempts: Mapped[int]
    input_tokens: Mapped[int | None] = mapped_column(BigInteger)
    output_tokens: Mapped[int | None] = mapped_column(BigInteger)
    model: Mapped[str | None]
    cost_usd: Mapped[float | None] = mapped_column(Float)
    earned_micropoints: Mapped[int | None] = mapped_column(BigInteger)
    """What it adds to cost efficiency; None where it was not passed or its tokens are unknown."""
    possible_micropoints: Mapped[int | None] = mapped_column(BigInteger)
    created_at: Mapped[datetime]


class RunErrors(Table):
    """A test that could not be executed, and what was in the way; gone once it was."""

    __tablename__ = "agent_benchmark_errors"

    run_id: Mapped[UUID] = mapped_column(
        ForeignKey("agent_benchmark_runs.id", ondelete="CASCADE"), primary_key=True
    )
    test_id: Mapped[str] = mapped_column(String(50), primary_key=True)
    trial: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    attempts: Mapped[int]
    reason: Mapped[str]
    created_at: Mapped[datetime]


class RunGroups(Table):
    """How a completed full run went in each category and for each tag of its tests."""

    __tablename__ = "agent_benchmark_run_groups"

    run_id: Mapped[UUID] = mapped_column(
        ForeignKey("agent_benchmark_runs.id", ondelete="CASCADE"), primary_key=True
    )
    kind: Mapped[str] = mapped_column(String(10), primary_key=True)
    """`category` or `tag`."""
    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    benchmark_share: Mapped[list[Any]]
    cost_share: Mapped[list[Any]]


class Feedback(Table):
    """A user's rating. The newest of a user for one thing stands; the others are its history."""

    __tablename__ = "agent_feedback"
    __table_args__ = (
        # Ends in what stands: a user's replaced votes are never read to find the one that does.
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

    id: Mapped[UUID] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(String(100))
    agent_id: Mapped[str] = mapped_column(String(100))
    agent_version: Mapped[str] = mapped_column(String(20))
    user_id: Mapped[str] = mapped_column(String(100))
    execution_id: Mapped[UUID | None]
    rating: Mapped[int]
    comment: Mapped[str | None]
    task_description: Mapped[str | None]
    is_standing: Mapped[bool]
    created_at: Mapped[datetime]


class Executions(Table):
    """One execution of an agent: a benchmark test, a task, or one that its owner reported."""

    __tablename__ = "agent_execution_history"
    __table_args__ = (
        # Only of those that have a key: most rows come from runs, which need none.
        Index(
            "uq_agent_execution_history_key",
            "team_id",
            "idempotency_key",
            unique=True,
            sqlite_where=text("idempotency_key IS NOT NULL"),
            postgresql_where=text("idempotency_key IS NOT NULL"),
        ),
        Index("ix_agent_execution_history_agent", "team_id", "agent_id", "agent_version"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(String(100))
    agent_id: Mapped[str] = mapped_column(String(100))
    agent_version: Mapped[str] = mapped_column(String(20))
    source: Mapped[str] = mapped_column(String(20))
    """`benchmark`, `task` or `reported`."""
    status: Mapped[str] = mapped_column(String(20))
    idempotency_key: Mapped[str | None] = mapped_column(String(200))
    input_tokens: Mapped[int | None] = mapped_column(BigInteger)
    output_tokens: Mapped[int | None] = mapped_column(BigInteger)
    model: Mapped[str | None]
    cost_usd: Mapped[float | None] = mapped_column(Float)
    duration_seconds: Mapped[float | None]
    created_at: Mapped[datetime]


class Scores(Table):
    """What an agent version's evidence adds up to: the sums, and the scores they give."""

    __tablename__ = "agent_scores"
    __table_args__ = (
        UniqueConstraint("team_id", "agent_id", "agent_version"),
        Index("ix_agent_scores_overall", "team_id", "overall_score"),
        Index("ix_agent_scores_low", "team_id", "overall_low"),
        Index("ix_agent_scores_high", "team_id", "overall_high"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    team_id: Mapped[str] = mapped_column(String(100))
    agent_id: Mapped[str] = mapped_column(String(100))
    agent_version: Mapped[str] = mapped_column(String(20))
    benchmark_score: Mapped[float | None]
    user_rating_score: Mapped[float | None]
    success_rate_score: Mapped[float | None]
    cost_efficiency_score: Mapped[float | None]
    overall_score: Mapped[float | None]
    overall_low: Mapped[float | None] = mapped_column(Float)
    """The interval of the overall score; None where it is to be computed anew."""
    overall_high: Mapped[float | None] = mapped_column(Float)
    coverage: Mapped[float] = mapped_column(default=0.0)
    rank_overall: Mapped[int | None]
    rating_count: Mapped[int] = mapped_column(default=0)
    rating_sum: Mapped[int] = mapped_column(default=0)
    rating_square_sum: Mapped[int] = mapped_column(default=0)
    execution_count: Mapped[int] = mapped_column(default=0)
    success_count: Mapped[int] = mapped_column(default=0)
    benchmark_run_id: Mapped[UUID | None]
    """The run the benchmark and the cost component come from."""
    benchmark_share: Mapped[list[Any]]
    """Six whole numbers; see `arena.scoring.Share`."""
    cost_share: Mapped[list[Any]]
    updated_at: Mapped[datetime]


class ScoreWeights(Table):
    """The weights that the stored scores were made with, in billionths; one row."""

    __tablename__ = "agent_score_weights"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    benchmark: Mapped[int]
    user_rating: Mapped[int]
    success_rate: Mapped[int]
    cost_efficiency: Mapped[int]

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

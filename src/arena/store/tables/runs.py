"""Benchmark runs, their frozen tests and their results."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Float, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped

from arena.store.tables.table import AnyJson, Table, column


class Runs(Table):
    """A benchmark run: one agent version against a frozen list of tests."""

    __tablename__ = "agent_benchmark_runs"
    __table_args__ = (
        Index("ix_agent_benchmark_runs_team_created", "team_id", "created_at", "id"),
        Index("ix_agent_benchmark_runs_agent", "team_id", "agent_id", "created_at"),
        Index("ix_agent_benchmark_runs_status", "status"),
        # Finds the runs that count for an agent on a board.
        Index(
            "ix_agent_benchmark_runs_suite",
            "team_id",
            "suite",
            "suite_version",
            "agent_id",
            "agent_version",
        ),
    )

    id: Mapped[UUID] = column(primary_key=True)
    team_id: Mapped[str] = column(String(100))
    agent_id: Mapped[str] = column(String(100))
    agent_version: Mapped[str] = column(String(20))
    status: Mapped[str] = column(String(20))
    total_tests: Mapped[int]
    completed_tests: Mapped[int] = column(default=0)
    passed_tests: Mapped[int] = column(default=0)
    failed_tests: Mapped[int] = column(default=0)
    errored_tests: Mapped[int] = column(default=0)
    """Tests not executed because of infrastructure errors; they have no result."""
    awaiting_tests: Mapped[int] = column(default=0)
    """Results that wait for reviewers: neither passed nor failed yet."""
    score_percent: Mapped[float | None]
    points_earned: Mapped[float] = column(default=0.0)
    points_possible: Mapped[float]
    points_percent: Mapped[float | None]
    suite: Mapped[str] = column(String(100))
    suite_version: Mapped[str] = column(String(64))
    suite_tests: Mapped[int]
    """Active tests of the suite in this version."""
    test_count: Mapped[int]
    """Tests of this run, each counted once."""
    is_full: Mapped[bool]
    """Whether it covers every test of the suite that applies to the agent: only then it counts."""
    provenance: Mapped[str] = column(String(20), default="run_here")
    """`run_here`, `re_executed` or `reported`."""
    source_run_id: Mapped[UUID | None]
    """The run that this one repeats, or its id where it was executed."""
    bundle_digest: Mapped[str | None] = column(String(64))
    """The SHA-256 of what was pushed."""
    verification: Mapped[dict[str, Any] | None] = column(AnyJson)
    """What was checked when it was pushed."""
    agent_digest: Mapped[str | None] = column(String(64))
    """Of the agent's file, and of the programs beside it that it names."""
    environment: Mapped[dict[str, Any] | None] = column(AnyJson)
    """What can change results besides the agent and the tests."""
    judge_family: Mapped[str | None] = column(String(50))
    """The model family of both the agent and a judge; None if they differ or are unknown."""
    repeated_attempts: Mapped[int] = column(default=0)
    """Attempts that the infrastructure failed, so that the question was asked again."""
    counted_results: Mapped[int] = column(default=0)
    """Results that are in the execution history: the first ones, by sequence."""
    trials: Mapped[int | None]
    """Trials requested with the run; None: each test's own number."""
    concurrency: Mapped[int | None]
    category: Mapped[str | None]
    input_tokens: Mapped[int | None] = column(BigInteger)
    output_tokens: Mapped[int | None] = column(BigInteger)
    cost_usd: Mapped[float | None] = column(Float)
    """Dollars of the results whose cost is known; None if none is."""
    costed_tests: Mapped[int] = column(default=0)
    """How many results have a known cost."""
    results_duration_seconds: Mapped[float] = column(default=0.0)
    """The sum over the results."""
    budget: Mapped[dict[str, Any] | None] = column(AnyJson)
    """The most that the run may cost and take; None: no limit."""
    spent: Mapped[dict[str, Any] | None] = column(AnyJson)
    """What it has cost and taken, judges included; None if it has no budget."""
    error_message: Mapped[str | None]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
    lease_token: Mapped[str | None] = column(String(64))
    """The fencing token of its executor; a writer without it is refused."""
    lease_expires_at: Mapped[datetime | None]
    dispatch: Mapped[str] = column(String(10), default="embedded", server_default="embedded")
    """`embedded`: one process executes it under its lease. `queued`: workers execute its shards."""
    placement: Mapped[str | None] = column(String(100))
    """The label of the workers that can execute a queued run; None: any worker."""
    frozen_agent: Mapped[str | None] = column(String(64))
    """The digest of its agent in `agent_frozen_agents`; None if it is not queued."""
    executing_since: Mapped[datetime | None]
    """Of a queued run with a budget: when it would have begun without interruptions."""
    ending: Mapped[dict[str, Any] | None] = column(AnyJson)
    """Why a queued run asks nothing more, although items are left; None while it goes on."""


class FrozenTests(Table):
    """A test as it was when a run was created; stored once for all runs that use it."""

    __tablename__ = "agent_benchmark_tests"

    digest: Mapped[str] = column(String(64), primary_key=True)
    body: Mapped[dict[str, Any]]
    fingerprint: Mapped[str] = column(String(64))
    """Of what can change a verdict: tests with equal fingerprints can be compared."""
    cluster: Mapped[str] = column(String(110))
    """Tests of one cluster are not independent."""


class RunTests(Table):
    """Which tests a run consists of, in order."""

    __tablename__ = "agent_benchmark_run_tests"
    __table_args__ = (UniqueConstraint("run_id", "test_id"),)

    run_id: Mapped[UUID] = column(
        ForeignKey("agent_benchmark_runs.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = column(primary_key=True, autoincrement=False)
    test_id: Mapped[str] = column(String(120))
    digest: Mapped[str] = column(ForeignKey("agent_benchmark_tests.digest"))
    trials: Mapped[int]
    needs_sandbox: Mapped[bool | None]
    """Of a queued run: whether its verdict needs a sandbox."""


class Results(Table):
    """The result of one test in one trial."""

    __tablename__ = "agent_benchmark_results"
    __table_args__ = (
        # Also what makes a result exactly-once: a second executor's insert fails.
        UniqueConstraint("run_id", "test_id", "trial"),
        # Event streams resume after a sequence number, so there must be no gap or double.
        UniqueConstraint("run_id", "sequence"),
    )

    id: Mapped[UUID] = column(primary_key=True)
    run_id: Mapped[UUID] = column(ForeignKey("agent_benchmark_runs.id", ondelete="CASCADE"))
    sequence: Mapped[int]
    """1, 2, 3… in the order of recording, per run."""
    benchmark_id: Mapped[UUID | None]
    test_id: Mapped[str] = column(String(120))
    trial: Mapped[int] = column(default=1)
    category: Mapped[str] = column(String(100))
    status: Mapped[str] = column(String(20))
    passed: Mapped[bool | None]
    """None until reviewers have judged it."""
    score: Mapped[float | None]
    points_earned: Mapped[float]
    points_possible: Mapped[float]
    actual_output: Mapped[dict[str, Any] | None] = column(AnyJson)
    failure_reason: Mapped[str | None]
    findings: Mapped[list[Any]]
    duration_seconds: Mapped[float]
    attempts: Mapped[int]
    input_tokens: Mapped[int | None] = column(BigInteger)
    output_tokens: Mapped[int | None] = column(BigInteger)
    model: Mapped[str | None]
    cost_usd: Mapped[float | None] = column(Float)
    earned_micropoints: Mapped[int | None] = column(BigInteger)
    """What it adds to cost efficiency; None if it did not pass or its tokens are unknown."""
    possible_micropoints: Mapped[int | None] = column(BigInteger)
    created_at: Mapped[datetime]
    verdict_cid: Mapped[str | None] = column(String(100))
    """The record of the verdict; None if this row holds all of it."""
    steps: Mapped[list[Any] | None] = column(AnyJson)
    """The tools that the agent called; None if it reported none."""
    messages: Mapped[list[Any] | None] = column(AnyJson)
    """The conversation; None if the agent was asked once."""
    workspace: Mapped[dict[str, Any] | None] = column(AnyJson)
    """What the agent made of its workspace; None if it had none."""


class RunErrors(Table):
    """A test that could not be executed, and why; deleted once it was executed."""

    __tablename__ = "agent_benchmark_errors"

    run_id: Mapped[UUID] = column(
        ForeignKey("agent_benchmark_runs.id", ondelete="CASCADE"), primary_key=True
    )
    test_id: Mapped[str] = column(String(120), primary_key=True)
    trial: Mapped[int] = column(primary_key=True, autoincrement=False)
    attempts: Mapped[int]
    reason: Mapped[str]
    created_at: Mapped[datetime]


class RunGroups(Table):
    """Sums of a completed full run: of all tests, and for each category and tag of its tests."""

    __tablename__ = "agent_benchmark_run_groups"

    run_id: Mapped[UUID] = column(
        ForeignKey("agent_benchmark_runs.id", ondelete="CASCADE"), primary_key=True
    )
    kind: Mapped[str] = column(String(10), primary_key=True)
    """`whole`, `category` or `tag`."""
    name: Mapped[str] = column(String(100), primary_key=True)
    """Empty for `whole`."""
    tests: Mapped[int] = column(default=0)
    """How many tests of the run are in it."""
    benchmark_share: Mapped[list[Any]]
    cost_share: Mapped[list[Any]]

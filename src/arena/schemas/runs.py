"""Runs and results on the wire."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from arena.evaluation.verdict import Finding
from arena.schemas.catalog import Test
from arena.schemas.wire import Asked, Wire

CREATED_MESSAGE = "Benchmark run created. Execute /api/benchmarks/run/{run_id}/execute to start."


class RunCreate(Asked):
    """What is to be measured."""

    agent_id: str = Field(min_length=1, max_length=100, examples=["qa-web-manager"])
    version: str | None = Field(
        default=None, max_length=20, examples=["1.0.0"], description="Default: the newest."
    )
    category: str | None = Field(default=None, max_length=100, examples=["navigation"])
    test_ids: list[Annotated[str, Field(max_length=50)]] | None = Field(
        default=None, min_length=1, max_length=10000, description="Only these tests."
    )
    trials: int | None = Field(
        default=None, ge=1, le=1000, description="How often each test is asked."
    )
    concurrency: int | None = Field(
        default=None, ge=1, le=256, description="Default: the agent's own limit."
    )


class RunCreated(Wire):
    """A run that waits to be executed."""

    run_id: UUID
    agent_id: str
    version: str
    total_tests: int
    status: str = Field(examples=["pending"])
    message: str = Field(default=CREATED_MESSAGE)


class RunExecuted(Wire):
    """How a run stands after it was executed, or was set going."""

    run_id: UUID
    status: str = Field(examples=["completed"])
    passed: int
    failed: int
    score_percent: float | None = Field(examples=[100.0])
    points_percent: float | None
    total_tests: int
    errored: int = Field(description="Tests that could not be executed.")
    awaiting: int = Field(default=0, description="Results that people have yet to judge.")
    error_message: str | None


class Run(Wire):
    """A benchmark run."""

    id: UUID
    agent_id: str
    agent_version: str
    team_id: str
    status: Literal["pending", "running", "awaiting_review", "completed", "failed", "cancelled"]
    total_tests: int
    completed_tests: int
    passed_tests: int
    failed_tests: int
    errored_tests: int
    awaiting_tests: int = Field(
        default=0, description="Results that wait for people: neither passed nor failed yet."
    )
    score_percent: float | None
    points_earned: float
    points_possible: float
    points_percent: float | None
    is_full: bool = Field(description="Whether it covers every test that applies to the agent.")
    trials: int | None
    concurrency: int | None
    category: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None = Field(description="Of the results whose cost is known.")
    costed_tests: int = Field(description="How many results that is.")
    duration_seconds: float = Field(description="The sum over the results.")
    error_message: str | None
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None


class RunList(Wire):
    """A page of runs, newest first."""

    runs: list[Run]
    count: int
    next_cursor: str | None = None


class Result(Wire):
    """What came of one test in one trial."""

    id: UUID
    sequence: int
    test_id: str
    trial: int
    category: str
    status: Literal["completed", "failed", "timeout", "error", "cancelled"] = Field(
        description="How the execution ended, whatever the verdict."
    )
    passed: bool | None = Field(description="Null while people have not yet judged it.")
    score: float | None = Field(description="0 to 100; null while it is not judged.")
    points_earned: float
    points_possible: float
    actual_output: dict[str, Any] | None
    failure_reason: str | None
    findings: list[Finding]
    duration_seconds: float
    attempts: int
    input_tokens: int | None
    output_tokens: int | None
    model: str | None
    cost_usd: float | None
    pass_at_k: float | None = Field(
        default=None, description="Of the test, over the k trials that every test has."
    )
    pass_all_k: float | None = None
    verdict_cid: str | None = Field(
        default=None,
        description="The record of a graded verdict; null: this result says it all.",
    )
    created_at: datetime


class ResultRow(Wire):
    """A result in a list: without what the agent said."""

    id: UUID
    sequence: int
    test_id: str
    name: str = Field(description="Of the test.")
    trial: int
    category: str
    status: Literal["completed", "failed", "timeout", "error", "cancelled"]
    passed: bool | None
    points_earned: float
    points_possible: float
    failure_reason: str | None = Field(description="Its beginning.")
    duration_seconds: float
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class ResultList(Wire):
    """A page of a run's results, in the order they were recorded."""

    results: list[ResultRow]
    count: int
    total: int = Field(description="How many fit the filter in all.")
    next_cursor: str | None = None


class ResultDetails(Wire):
    """A result with the test it answers, and where it stands in its run."""

    run: Run
    result: Result
    test: Test = Field(description="As it was asked; its file may have changed since.")
    previous_id: UUID | None = Field(description="The result recorded before.")
    next_id: UUID | None


class CategoryCount(Wire):
    """How a run went in one category."""

    category: str
    results: int
    passed: int
    awaiting: int = Field(default=0, description="Results that people have yet to judge.")


class RunError(Wire):
    """A test that could not be executed, through no fault of the agent."""

    test_id: str
    trial: int
    attempts: int
    reason: str


class TestTrials(Wire):
    """How often one test passed."""

    test_id: str
    trials: int
    passed: int
    pass_at_k: float | None = Field(description="The chance that one of k trials passes.")
    pass_all_k: float | None = Field(description="pass^k: the chance that all k trials pass.")
    flaky: bool


class Trials(Wire):
    """Repeats of a run's tests, with unbiased estimators."""

    k: int = Field(description="The trials that every test has.")
    pass_at_k: float | None
    pass_all_k: float | None
    flaky: list[str]
    tests: list[TestTrials]


class RunDetails(Wire):
    """A run and a page of its results."""

    run: Run
    results: list[Result]
    count: int
    next_cursor: str | None = None
    errors: list[RunError]
    categories: list[CategoryCount] = Field(description="Over all results, whatever the page.")
    trials: Trials | None = Field(
        default=None, description="Only for a run that asked tests more than once."
    )
    cost_usd_per_passed_test: float | None = Field(
        default=None, description="Null where the cost of some result is not known."
    )


class Progress(Wire):
    """What a watcher of a run is told."""

    run_id: UUID
    status: str
    total: int
    completed: int
    passed: int
    failed: int
    awaiting: int = Field(default=0, description="Results that people have yet to judge.")


class Change(Wire):
    """What else has changed, told to those who watch a team."""

    what: Literal["scores", "reviews", "market", "catalog"]


class ResultEvent(Wire):
    """A result, told to those who watch its run."""

    sequence: int
    test_id: str
    trial: int
    passed: bool | None
    status: str
    points_earned: float
    duration_seconds: float
    failure_reason: str | None

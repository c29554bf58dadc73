"""Shapes on the wire, shared by the API and the client."""

from datetime import datetime
from typing import Annotated, Any, Literal, cast
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, field_validator

CREATED_MESSAGE = "Benchmark run created. Execute /api/benchmarks/run/{run_id}/execute to start."

TeamId = Annotated[str, Field(min_length=1, max_length=100, examples=["default"])]


class Wire(BaseModel):
    """What every shape shares: values that do not change."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class Asked(Wire):
    """What a client sends: a key that is not known is an error, not a silence."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*")
    @classmethod
    def _refuse_nul(cls, value: object) -> object:
        if _has_nul(value):
            raise ValueError("must not contain NUL")
        return value


def _has_nul(value: object) -> bool:
    """Whether a text, or one of a list, holds what PostgreSQL cannot store."""
    if isinstance(value, list):
        return any(map(_has_nul, cast(list[object], value)))
    return isinstance(value, str) and "\0" in value


class Misfit(Wire):
    """A place where a request did not fit."""

    at: str = Field(examples=["body.trials"])
    message: str = Field(examples=["Input should be greater than or equal to 1"])


class Problem(Wire):
    """Why a request was not done (RFC 9457)."""

    type: str = "about:blank"
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    code: str = Field(description="Stable: programs may rely on it.", examples=["not_found"])
    detail: str = Field(examples=["no agent is called 'qa-web'; did you mean 'qa-web-manager'?"])
    errors: list[Misfit] = Field(default=[], description="Each place where a request did not fit.")


class Test(Wire):
    """A test of the catalog."""

    test_id: str = Field(examples=["bench_nav_001"])
    name: str = Field(examples=["List User Interfaces"])
    description: str | None
    category: str = Field(examples=["navigation"])
    input_prompt: str
    expected_output: dict[str, Any] = Field(examples=[{"contains": ["userinterface", "list"]}])
    validation_type: str = Field(examples=["contains"])
    timeout_seconds: int
    points: float
    applicable_agent_types: list[str] | None = Field(
        description="The agents it is meant for; null means every agent."
    )
    active: bool
    tags: list[str]
    trials: int
    budget_tokens: int | None
    case_sensitive: bool | None
    whole_word: bool


class TestList(Wire):
    """A page of tests."""

    tests: list[Test]
    count: int = Field(description="How many are in this answer.", examples=[17])
    total: int = Field(description="How many there are in all.", examples=[17])
    next_cursor: str | None = Field(default=None, description="Where the next page begins.")


class CatalogSource(Wire):
    """A file the catalog was read from."""

    file: str
    tests: int
    state: Literal["good", "last_good", "bad"] = Field(
        description="last_good: the file is bad now, its last good content is served."
    )


class CatalogProblem(Wire):
    """Something wrong with a test file."""

    file: str
    line: int
    column: int
    message: str


class CatalogState(Wire):
    """What the catalog holds, and what is wrong with its files."""

    digest: str
    loaded_at: datetime
    tests: int
    sources: list[CatalogSource]
    problems: list[CatalogProblem]


class AgentLimits(Wire):
    """How much an agent may be asked."""

    max_concurrency: int
    per_minute: int | None


class Agent(Wire):
    """An agent that can be measured."""

    id: str = Field(examples=["qa-web-manager"])
    version: str = Field(examples=["1.0.0"])
    versions: list[str] = Field(description="Every version that is known, newest first.")
    name: str
    nickname: str | None
    description: str
    tags: list[str]
    connector: str = Field(description="How it is reached.", examples=["command"])
    limits: AgentLimits
    applicable_tests: int = Field(description="Active tests that are meant for it.")


class AgentList(Wire):
    """Every agent in its newest version, and what is wrong with agent files."""

    agents: list[Agent]
    count: int
    problems: list[str]


class AgentCheck(Asked):
    """A question to see whether an agent answers at all."""

    prompt: str = Field(default="Hello! What can you do?", min_length=1, max_length=100_000)
    version: str | None = Field(default=None, max_length=20, description="Default: the newest.")
    timeout_seconds: int = Field(default=30, ge=1, le=600)


class AgentChecked(Wire):
    """What came back."""

    agent_id: str
    version: str
    answered: bool
    output: str | None
    reason: str | None = Field(description="Why there was no answer.")
    duration_seconds: float
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None
    cost_usd: float | None = None


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
    error_message: str | None


class Run(Wire):
    """A benchmark run."""

    id: UUID
    agent_id: str
    agent_version: str
    team_id: str
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    total_tests: int
    completed_tests: int
    passed_tests: int
    failed_tests: int
    errored_tests: int
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
    cost_usd: float | None
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


class Finding(Wire):
    """One thing that was looked for in an answer."""

    criterion: str
    passed: bool
    reason: str
    evidence: str | None


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
    passed: bool
    score: float
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
    created_at: datetime


class RunError(Wire):
    """A test that could not be executed, through no fault of the agent."""

    test_id: str
    trial: int
    attempts: int
    reason: str


class RunDetails(Wire):
    """A run and a page of its results."""

    run: Run
    results: list[Result]
    count: int
    next_cursor: str | None = None
    errors: list[RunError] = []


class Progress(Wire):
    """What a watcher of a run is told."""

    run_id: UUID
    status: str
    total: int
    completed: int
    passed: int
    failed: int


class ResultEvent(Wire):
    """A result, told to those who watch its run."""

    sequence: int
    test_id: str
    trial: int
    passed: bool
    status: str
    points_earned: float
    duration_seconds: float
    failure_reason: str | None


class Health(Wire):
    """Whether the server works."""

    status: Literal["ok"] = "ok"
    version: str

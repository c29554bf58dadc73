"""Ratings, executions, leaderboard and comparisons on the wire."""

from datetime import UTC, datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, Field

from arena.schemas.wire import Asked, Wire, Worded

Tokens = Annotated[int, Field(ge=0, le=10**12)]
Dollars = Annotated[float, Field(ge=0, le=10**9, allow_inf_nan=False)]


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("is outside the years 1 to 9999") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]


class FeedbackCreate(Asked):
    """A rating of an agent."""

    agent_id: str = Field(min_length=1, max_length=100, examples=["qa-web-manager"])
    version: str | None = Field(
        default=None, max_length=20, examples=["1.0.0"], description="Default: the newest."
    )
    rating: int = Field(strict=True, ge=1, le=5, examples=[5])
    comment: str | None = Field(
        default=None, max_length=10_000, examples=["Excellent navigation capabilities"]
    )
    task_description: str | None = Field(
        default=None, max_length=10_000, examples=["Navigate to settings"]
    )
    user_id: Worded = Field(
        default="anonymous",
        max_length=100,
        description="Who rates. A user has one standing rating per agent version and execution.",
    )
    execution_id: UUID | None = Field(default=None, description="What the rating is about.")


class FeedbackCreated(Wire):
    """A rating that was taken."""

    feedback_id: UUID
    message: str = "Feedback submitted successfully"


class Feedback(Wire):
    """A rating."""

    id: UUID
    agent_id: str
    agent_version: str
    user_id: str
    execution_id: UUID | None
    rating: int
    comment: str | None
    task_description: str | None
    is_standing: bool = Field(description="False where the user has rated anew since.")
    created_at: datetime


class FeedbackList(Wire):
    """A page of ratings, newest first."""

    feedback: list[Feedback]
    count: int
    next_cursor: str | None = None


class ExecutionReport(Asked):
    """One execution that happened in your own system."""

    agent_id: str = Field(min_length=1, max_length=100, examples=["qa-web-manager"])
    version: str | None = Field(default=None, max_length=20, description="Default: the newest.")
    status: Literal["completed", "failed", "timeout", "error", "cancelled"] = Field(
        description="Only `completed` is a success: it finished and answered in time."
    )
    idempotency_key: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Sent again under the same key, an execution is counted once.",
    )
    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    model: str | None = Field(default=None, max_length=200)
    cost_usd: Dollars | None = None
    duration_seconds: float | None = Field(default=None, ge=0, le=10**9, allow_inf_nan=False)
    finished_at: Moment | None = Field(default=None, description="Default: now.")


class ExecutionsReport(Asked):
    """A batch of executions: all of it counts, or nothing."""

    executions: list[ExecutionReport] = Field(min_length=1, max_length=1000)


class ExecutionsReported(Wire):
    """What became of a batch."""

    accepted: int
    duplicates: int = Field(description="Executions that were known already by their key.")


class Interval(Wire):
    """Between which values the data leave the truth."""

    low: float
    high: float
    method: str = Field(examples=["wilson"], description="See docs/scoring.md.")
    confidence: float = Field(examples=[0.95])


class Intervals(Wire):
    """How sure each number is; null where there is no data."""

    overall: Interval | None
    benchmark: Interval | None
    user_rating: Interval | None
    success_rate: Interval | None
    cost_efficiency: Interval | None


class BoardEntry(Wire):
    """An agent version on the leaderboard; null means no data, not zero."""

    rank: int | None = Field(description="Equal scores share a rank.", examples=[1])
    rank_low: int | None = Field(description="The best place that the intervals allow.")
    rank_high: int | None = Field(description="The worst place that they allow.")
    agent_id: str = Field(examples=["qa-web-manager"])
    agent_version: str = Field(examples=["1.0.0"])
    overall_score: float | None = Field(examples=[85.5])
    benchmark_score: float | None = Field(examples=[100.0])
    user_rating_score: float | None = Field(examples=[75.0])
    success_rate_score: float | None = Field(examples=[80.0])
    cost_efficiency_score: float | None = Field(examples=[70.0])
    avg_user_rating: float | None = Field(examples=[4.0])
    coverage: float = Field(description="The share of the weight that has data.", examples=[1.0])
    provisional: bool = Field(description="Whether some of the weight has no data yet.")
    feedback_count: int
    execution_count: int
    benchmark_run_id: UUID | None = Field(description="The run behind benchmark and cost.")
    intervals: Intervals


class Weights(Wire):
    """What each component counts for; together 1."""

    benchmark: float
    user_rating: float
    success_rate: float
    cost_efficiency: float


class Leaderboard(Wire):
    """A page of the leaderboard, best first."""

    leaderboard: list[BoardEntry]
    count: int
    total: int
    weights: Weights
    next_cursor: str | None = None


class DifferingTest(Wire):
    """A test on which two agents did not do equally well."""

    test_id: str
    first_passed: int
    first_trials: int
    second_passed: int
    second_trials: int


class ComparedPair(Wire):
    """Two agents on the tests that both ran."""

    first: str = Field(examples=["qa-web-manager:1.0.0"])
    second: str
    common_tests: int
    first_pass_rate: float | None
    second_pass_rate: float | None
    difference: float | None = Field(description="First minus second, as a share of 1.")
    interval: Interval | None = Field(description="Of the difference, in per cent.")
    p_value: float | None
    adjusted_p_value: float | None = Field(description="By Holm, for the number of pairs.")
    significant: bool
    differing: list[DifferingTest]
    only_first: list[str] = Field(description="Tests that the second did not run.")
    only_second: list[str]


class MatrixCell(Wire):
    """How a test went with an agent."""

    trials: int
    passed: int
    result_id: UUID = Field(description="The trial to look at: the first that failed, if any.")


class MatrixRow(Wire):
    """A test and how it went with each agent, in the order of `agents`."""

    test_id: str = Field(examples=["bench_nav_001"])
    name: str = Field(examples=["List User Interfaces"])
    category: str = Field(examples=["navigation"])
    is_edited: bool = Field(description="The test was changed between the runs; see its other row.")
    differs: bool = Field(description="Two of the agents did not pass it equally often.")
    cells: list[MatrixCell | None] = Field(description="null where it was not asked.")


class MatrixAgent(Wire):
    """A column of the matrix."""

    agent: str = Field(examples=["qa-web-manager:1.0.0"])
    run_id: UUID = Field(description="Its latest full run, which is what is compared.")


class Matrix(Wire):
    """A page of tests against agents, by the ids of the tests."""

    agents: list[MatrixAgent]
    without_run: list[str] = Field(description="Agents without a completed full run.")
    rows: list[MatrixRow]
    count: int
    total: int = Field(description="How many rows fit what was asked for.")
    tests: int = Field(description="How many tests there are.")
    differing: int = Field(description="On how many of them the agents differ.")
    next_cursor: str | None = None


class Comparison(Wire):
    """Agents side by side."""

    comparison: list[BoardEntry] = Field(description="In the order asked for.")
    unknown: list[str] = Field(description="Agents that nothing is known of.")
    winner: str | None = Field(
        description="The agent with the highest overall score; null on a tie.",
        examples=["qa-web-manager"],
    )
    winner_version: str | None
    significant: bool = Field(
        description="Whether the winner is ahead beyond luck on the tests both ran."
    )
    pairs: list[ComparedPair]


class ParetoPoint(Wire):
    """An agent version's accuracy and cost, from its latest full run."""

    agent_id: str
    agent_version: str
    run_id: UUID
    accuracy: float = Field(description="score_percent of the run.")
    cost_usd_per_test: float | None = Field(description="Over the results whose cost is known.")
    costed_tests: int
    total_tests: int


class ParetoDominated(ParetoPoint):
    """One that another beats on both."""

    by: str = Field(description="Who does.", examples=["qa-web-manager:1.0.0"])


class Pareto(Wire):
    """Accuracy against cost."""

    front: list[ParetoPoint] = Field(description="Those nobody beats on both, cheapest first.")
    dominated: list[ParetoDominated]
    unknown_cost: list[ParetoPoint]


class Recalculated(Wire):
    """Which scores were added up anew."""

    recalculated: list[str]
    count: int

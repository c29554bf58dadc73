"""A run, its states, and the results it is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from arena.agents import Usage
from arena.catalog import Test
from arena.errors import Conflict
from arena.scoring.components import CostContribution
from arena.scoring.history import ExecutionStatus

Outcome = Literal["passed", "failed", "awaiting"]
"""What came of a result; `awaiting` is one that people have yet to judge."""


class RunStatus(StrEnum):
    """Where a run stands."""

    PENDING = "pending"
    RUNNING = "running"
    AWAITING_REVIEW = "awaiting_review"
    """Every test is executed; people have yet to judge some of the answers."""
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether nothing more happens to it by itself."""
        return self not in (RunStatus.PENDING, RunStatus.RUNNING)


MOVES: dict[RunStatus, frozenset[RunStatus]] = {
    RunStatus.PENDING: frozenset({RunStatus.RUNNING, RunStatus.CANCELLED}),
    RunStatus.RUNNING: frozenset(
        {
            RunStatus.AWAITING_REVIEW,
            RunStatus.COMPLETED,
            RunStatus.FAILED,
            RunStatus.CANCELLED,
        }
    ),
    # It completes itself with the last answer of a reviewer.
    RunStatus.AWAITING_REVIEW: frozenset({RunStatus.COMPLETED, RunStatus.CANCELLED}),
    # A run that the infrastructure kept from finishing may be resumed.
    RunStatus.FAILED: frozenset({RunStatus.RUNNING}),
    RunStatus.COMPLETED: frozenset(),
    RunStatus.CANCELLED: frozenset(),
}


def check_move(run_id: UUID, now: RunStatus, then: RunStatus, action: str) -> None:
    """Refuse a move that the table does not have."""
    if then not in MOVES[now]:
        raise Conflict(f"run {run_id} is {now}, it cannot be {action}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A benchmark run as it stands in the database."""

    id: UUID
    team_id: str
    agent_id: str
    agent_version: str
    status: RunStatus
    total_tests: int
    completed_tests: int
    passed_tests: int
    failed_tests: int
    errored_tests: int
    awaiting_tests: int
    score_percent: float | None
    points_earned: float
    points_possible: float
    points_percent: float | None
    is_full: bool
    trials: int | None
    concurrency: int | None
    category: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    costed_tests: int
    duration_seconds: float
    error_message: str | None
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to do in a run: a test, in one of its trials."""

    test: Test
    trial: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of one item."""

    test_id: str
    trial: int
    category: str
    status: ExecutionStatus
    passed: bool | None
    """None while people have not yet judged it."""
    score: float | None
    points_earned: float
    points_possible: float
    actual_output: dict[str, object] | None
    failure_reason: str | None
    findings: list[dict[str, object]]
    duration_seconds: float
    attempts: int
    usage: Usage
    cost: CostContribution | None
    """What it adds to cost efficiency; None where it failed or its tokens are not known."""
    created_at: datetime
    waits_for: Test | None = None
    """The test whose checklist people have to answer first; None where there is a verdict."""
    verdict_cid: str | None = None
    """The record of a graded verdict."""

    @property
    def size(self) -> int:
        """About how much memory it holds, in characters."""
        output = self.actual_output or {}
        return 500 + len(str(output.get("output", ""))) + len(self.failure_reason or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedResult:
    """A result as it stands in the database."""

    id: UUID
    sequence: int
    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPage:
    """Some results of a run, in the order of recording."""

    results: Sequence[RecordedResult]
    has_more: bool
    """Whether more follow behind the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunError:
    """An item that could not be executed, and what was in the way."""

    test_id: str
    trial: int
    attempts: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFilter:
    """Which results of a run are wanted."""

    outcome: Outcome | None = None
    category: str | None = None
    test_id: str | None = None
    is_flaky: bool = False
    """Only of tests that passed in some trials and failed in others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """A result without what the agent said: small enough to list thousands."""

    id: UUID
    sequence: int
    test_id: str
    name: str
    trial: int
    category: str
    status: ExecutionStatus
    passed: bool | None
    points_earned: float
    points_possible: float
    failure_reason: str | None
    """Its beginning."""
    duration_seconds: float
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryCount:
    """How a run went in one category."""

    category: str
    results: int
    passed: int
    awaiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedResult:
    """A result with the test it answers and its place among the results that were asked for."""

    recorded: RecordedResult
    test: Test
    previous_id: UUID | None
    next_id: UUID | None

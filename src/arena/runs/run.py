"""A run, its states and its results: the values that are stored, sent and shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from arena.errors import Conflict
from arena.evaluation.verdict import Finding
from arena.models.budget import Budget, Spent
from arena.models.message import Message
from arena.models.step import Step
from arena.scoring.board import Provenance
from arena.scoring.history import ExecutionStatus

Outcome = Literal["passed", "failed", "awaiting"]
"""`awaiting`: reviewers have not judged the result yet."""

ResultOrder = Literal["recorded", "test"]
"""`test`: the trials of a test side by side; first tests with a failure, then those that await."""


class RunStatus(StrEnum):
    """The state of a run."""

    PENDING = "pending"
    RUNNING = "running"
    AWAITING_REVIEW = "awaiting_review"
    """Every test was executed; reviewers have not judged all answers yet."""
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    BUDGET_EXCEEDED = "budget_exceeded"
    """Its budget was spent before every test was executed; it may be resumed with a larger one."""

    @property
    def is_final(self) -> bool:
        """Whether its execution has ended."""
        return self not in (RunStatus.PENDING, RunStatus.RUNNING)


MOVES: dict[RunStatus, frozenset[RunStatus]] = {
    RunStatus.PENDING: frozenset({RunStatus.RUNNING, RunStatus.CANCELLED}),
    RunStatus.RUNNING: frozenset(
        {
            RunStatus.AWAITING_REVIEW,
            RunStatus.COMPLETED,
            RunStatus.FAILED,
            RunStatus.CANCELLED,
            RunStatus.BUDGET_EXCEEDED,
        }
    ),
    # It completes with the last answer of a reviewer.
    RunStatus.AWAITING_REVIEW: frozenset({RunStatus.COMPLETED, RunStatus.CANCELLED}),
    # A run that failed because of the infrastructure may be resumed.
    RunStatus.FAILED: frozenset({RunStatus.RUNNING}),
    RunStatus.BUDGET_EXCEEDED: frozenset({RunStatus.RUNNING, RunStatus.CANCELLED}),
    RunStatus.COMPLETED: frozenset(),
    RunStatus.CANCELLED: frozenset(),
}


def check_move(run_id: UUID, now: RunStatus, then: RunStatus, action: str) -> None:
    """Refuse a move that is not in the table."""
    if then not in MOVES[now]:
        raise Conflict(f"run {run_id} is {now}, it cannot be {action}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A request to measure an agent."""

    team_id: str
    agent_id: str
    version: str | None = None
    category: str | None = None
    test_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    match: tuple[str, ...] = ()
    """Patterns of ids or names."""
    rerun_of: UUID | None = None
    """Only tests that failed in this run, or could not be executed there."""
    trials: int | None = None
    concurrency: int | None = None
    suite: str | None = None
    """None: the only one with tests for the agent, or the preferred one of several."""
    budget: Budget | None = None
    """The limits that it names; for the others, the settings decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A benchmark run."""

    id: UUID
    agent_id: str
    agent_version: str
    team_id: str
    status: RunStatus
    is_interrupted: bool = False
    """Whether nobody executes it although it is `running`: its process has ended. Resume it."""
    total_tests: int
    completed_tests: int
    passed_tests: int
    failed_tests: int
    errored_tests: int
    awaiting_tests: int = 0
    """Results that reviewers have not judged yet: neither passed nor failed."""
    score_percent: float | None
    points_earned: float
    points_possible: float
    points_percent: float | None
    suite: str = ""
    suite_version: str = ""
    """The digest of everything in the suite's tests that can change a verdict."""
    suite_tests: int = 0
    """Active tests of the suite in this version."""
    test_count: int = 0
    """Tests of this run, each counted once."""
    is_full: bool
    """Whether it covers every test of the suite that applies to the agent: only then it counts."""
    provenance: Provenance = Provenance.RUN_HERE
    source_run_id: UUID | None = None
    """The run that this one repeats, or its id where it was executed."""
    verification: dict[str, Any] | None = None
    """What was checked when it was pushed; null if it was not."""
    agent_digest: str | None = None
    """Of the agent's file, and of the programs beside it that it names."""
    environment: dict[str, Any] | None = None
    """What can change results besides the agent and the tests; null for runs of 0.1."""
    judge_family: str | None = None
    """The model family of both the agent and a judge; null if they differ or are unknown."""
    repeated_attempts: int = 0
    """Attempts that the infrastructure failed, so that the question was asked again."""
    trials: int | None
    concurrency: int | None
    category: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    """Of the results whose cost is known."""
    costed_tests: int
    """How many results have a known cost."""
    # Not compared: it grows while nothing happens, and watchers would be sent unchanged runs.
    duration_seconds: float = field(compare=False)
    """From its start to its end, or until now if it has not ended."""
    results_duration_seconds: float = 0.0
    """The sum over the results: at a concurrency above 1 it may exceed the run's own duration."""
    is_archived: bool = False
    """Whether it is hidden in lists; only lists say so."""
    budget: Budget | None = None
    """The most that it may cost and take; null: no limit."""
    # Not compared, as the duration above.
    spent: Spent | None = field(default=None, compare=False)
    """What it has cost and taken, judges included; null if it has no budget."""
    error_message: str | None
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None

    @property
    def state(self) -> str:
        """Its status for people: a run that nobody executes any more is not running."""
        return "interrupted" if self.is_interrupted else self.status


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of one test in one trial."""

    id: UUID
    sequence: int
    """Its number in the order of recording, from 1; 0 until it is recorded."""
    test_id: str
    trial: int
    category: str
    status: ExecutionStatus
    """How the execution ended, whatever the verdict."""
    passed: bool | None
    """Null until reviewers have judged it."""
    score: float | None
    """0 to 100; null until it is judged."""
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
    pass_at_k: float | None = None
    """Of its test, over the k trials of every test."""
    pass_all_k: float | None = None
    verdict_cid: str | None = None
    """The record of a graded verdict; null if this result holds all of it."""
    steps: list[Step] | None = None
    """The tools that the agent called, in order; null if it reported none."""
    messages: list[Message] | None = None
    """The whole conversation; null if the agent was asked once."""
    workspace: dict[str, Any] | None = None
    """What the agent made of its workspace: the diff and what was left out; null without one."""
    created_at: datetime

    @property
    def is_cut(self) -> bool:
        """Whether the answer is not all of the agent's output."""
        return bool((self.actual_output or {}).get("truncated"))

    @property
    def user(self) -> Mapping[str, Any]:
        """What is kept about its simulated user; empty without one."""
        return (self.actual_output or {}).get("user") or {}

    @property
    def size(self) -> int:
        """Its approximate size in memory, in characters."""
        output = self.actual_output or {}
        size = 500 + len(str(output.get("output", ""))) + len(self.failure_reason or "")
        for more in (self.steps, self.messages, self.workspace):
            size += len(str(more)) if more else 0
        return size


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """A result in a list: without the agent's output, so that thousands can be listed."""

    id: UUID
    sequence: int
    test_id: str
    name: str
    """Of the test."""
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
    truncated: bool = False
    """Whether the agent's output was cut because it was too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPage:
    """Some results of a run, in the order of recording."""

    results: list[Result]
    has_more: bool
    """Whether there are more results after the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFilter:
    """Selects results of a run."""

    outcome: Outcome | None = None
    category: str | None = None
    test_id: str | None = None
    is_flaky: bool = False
    """Only of tests that passed in some trials and failed in others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryCount:
    """The results of a run in one category."""

    category: str
    results: int
    passed: int
    awaiting: int = 0
    """Results that reviewers have not judged yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunError:
    """A test that could not be executed; not the agent's fault."""

    test_id: str
    trial: int
    attempts: int
    reason: str
    category: str | None = None
    """Of the test; null from a server of 0.1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinedTest:
    """A test of a run that informs and does not block, up to a day."""

    test_id: str
    until: str
    """The last day of the quarantine."""
    reason: str | None
    trials: int
    passed: int
    """How many of its trials passed."""
    failed: int
    awaiting: int
    """How many of them reviewers have not judged yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultDifference:
    """A test and trial in which a run and its repetition have different verdicts."""

    test_id: str
    trial: int
    source_passed: bool | None
    passed: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far a run that was executed again agrees with the run that it repeats."""

    run_id: UUID
    source_run_id: UUID
    results: int
    """How many results both have."""
    agreed: int
    """Those with the same verdict: both passed, or both failed."""
    differences: list[ResultDifference]
    """The first 100, in the order of the tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a run."""

    run_id: UUID
    status: RunStatus
    is_interrupted: bool = False
    """Whether nobody executes it although it is `running`."""
    total: int
    completed: int
    passed: int
    failed: int
    awaiting: int = 0
    """Results that reviewers have not judged yet."""

    @classmethod
    def of(cls, run: Run) -> "Progress":
        """The progress of a run."""
        return cls(
            run_id=run.id,
            status=run.status,
            is_interrupted=run.is_interrupted,
            total=run.total_tests,
            completed=run.completed_tests,
            passed=run.passed_tests,
            failed=run.failed_tests,
            awaiting=run.awaiting_tests,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultEvent:
    """A result in the event stream of its run."""

    sequence: int
    test_id: str
    trial: int
    passed: bool | None
    status: ExecutionStatus
    points_earned: float
    duration_seconds: float
    failure_reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """An event for watchers: the run as it is now, and its new results."""

    run: Run
    results: Sequence[ResultEvent]

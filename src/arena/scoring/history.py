"""The history of an agent: its executions, and the feedback of its users."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from arena.models.usage import Usage


class ExecutionStatus(StrEnum):
    """How one execution of an agent ended; only `completed` is a success."""

    COMPLETED = "completed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    ERROR = "error"
    CANCELLED = "cancelled"


class Source(StrEnum):
    """Where an execution took place."""

    BENCHMARK = "benchmark"
    TASK = "task"
    REPORTED = "reported"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What evidence is about: one version of one agent, in one team."""

    team_id: str
    agent_id: str
    version: str

    def __str__(self) -> str:
        return f"{self.agent_id}:{self.version}"

    @property
    def columns(self) -> dict[str, str]:
        """The subject as columns, which every table of evidence has."""
        return {
            "team_id": self.team_id,
            "agent_id": self.agent_id,
            "agent_version": self.version,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """An execution that has ended."""

    status: ExecutionStatus
    source: Source
    created_at: datetime
    id: UUID | None = None
    """None: a new one is made when it is recorded."""
    usage: Usage = field(default_factory=Usage)
    duration_seconds: float | None = None
    """Rounded to microseconds like the stored value: a repeated report must compare equal."""
    idempotency_key: str | None = None

    def __post_init__(self) -> None:
        if self.duration_seconds is not None:
            object.__setattr__(self, "duration_seconds", round(self.duration_seconds, 6))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionsReported:
    """The outcome of a reported batch."""

    accepted: int
    duplicates: int
    """Executions whose key was already known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """A user's rating of an agent."""

    id: UUID
    agent_id: str
    agent_version: str
    user_id: str
    execution_id: UUID | None
    """The execution it is about; a user has one current rating for each, and one without."""
    rating: int
    """1 to 5 stars."""
    comment: str | None
    task_description: str | None
    is_standing: bool
    """False if the user has replaced it."""
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackCreated:
    """A rating that was recorded."""

    feedback_id: UUID
    message: str = "Feedback submitted successfully"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackList:
    """A page of ratings, newest first."""

    feedback: list[Feedback]
    count: int
    next_cursor: str | None = None

"""What happened to an agent in use: its executions and what people think of it."""

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
    """Whom evidence is about: one version of one agent, as one team sees it."""

    team_id: str
    agent_id: str
    version: str

    def __str__(self) -> str:
        return f"{self.agent_id}:{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """An execution that has ended."""

    status: ExecutionStatus
    source: Source
    created_at: datetime
    usage: Usage = field(default_factory=Usage)
    duration_seconds: float | None = None
    """To the microsecond, as the database keeps it: sent again, it must be found the same."""
    idempotency_key: str | None = None

    def __post_init__(self) -> None:
        if self.duration_seconds is not None:
            object.__setattr__(self, "duration_seconds", round(self.duration_seconds, 6))


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """A rating that somebody gives."""

    rating: int
    """1 to 5 stars."""
    user_id: str = "anonymous"
    execution_id: UUID | None = None
    """The execution it is about; a user has one standing vote for each, and one without."""
    comment: str | None = None
    task_description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedVote:
    """A rating as it stands in the database."""

    id: UUID
    subject: Subject
    vote: Vote
    is_standing: bool
    """False for a vote that its user has replaced since."""
    created_at: datetime

"""The history of an agent: its executions, and the feedback of its users."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from arena.errors import InvalidInput
from arena.models import message, step
from arena.models.message import Message
from arena.models.step import Step
from arena.models.usage import Usage
from arena.text import storable


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


MAX_TRANSCRIPT_BYTES = 1024 * 1024
"""Of the messages, the steps and the output of one execution together, as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What happened in an execution."""

    messages: tuple[Message, ...] = ()
    """What the user said and what the agent replied."""
    steps: tuple[Step, ...] = ()
    """The tools that it called, in order."""
    output: str | None = None
    """Its answer; null: the last message."""

    def as_json(self) -> dict[str, Any]:
        """The transcript as it is stored."""
        return {
            "messages": [message.as_json(one) for one in self.messages],
            "steps": [step.as_json(one) for one in self.steps],
            "output": self.output,
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> "Transcript":
        """The inverse of `as_json`."""
        return cls(
            messages=tuple(message.stored_message(one) for one in body["messages"]),
            steps=tuple(step.stored_step(one) for one in body["steps"]),
            output=body["output"],
        )

    def storable(self) -> "Transcript":
        """The transcript with text that every database can store; raises `InvalidInput`."""
        steps, problem = step.kept_steps(self.steps)
        if problem is not None:
            raise InvalidInput(f"steps: {problem}")
        stored = Transcript(
            messages=message.with_text(self.messages, storable),
            steps=steps,
            output=None if self.output is None else storable(self.output),
        )
        size = len(json.dumps(stored.as_json(), ensure_ascii=False).encode())
        if size > MAX_TRANSCRIPT_BYTES:
            raise InvalidInput(
                f"messages, steps and output of an execution have {size:,} bytes, at most "
                f"{MAX_TRANSCRIPT_BYTES:,} are kept"
            )
        return stored


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
    transcript: Transcript | None = None
    """What happened in it, if the report says so."""

    def __post_init__(self) -> None:
        if self.duration_seconds is not None:
            object.__setattr__(self, "duration_seconds", round(self.duration_seconds, 6))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionsReported:
    """The outcome of a reported batch."""

    accepted: int
    duplicates: int
    """Executions whose key was already known."""
    execution_ids: list[UUID] = field(default_factory=list[UUID])
    """The ids of all of them, in the order of the batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionDetails:
    """One execution, with what happened in it."""

    id: UUID
    agent_id: str
    agent_version: str
    source: Source
    status: ExecutionStatus
    idempotency_key: str | None
    input_tokens: int | None
    output_tokens: int | None
    model: str | None
    cost_usd: float | None
    duration_seconds: float | None
    created_at: datetime
    messages: list[Message] | None = None
    """What the user said and what the agent replied; null if the report does not say."""
    steps: list[Step] | None = None
    """The tools that it called, in order; null if the report does not say."""
    output: str | None = None
    """Its answer; null if the report does not say."""


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

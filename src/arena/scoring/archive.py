"""What was archived or deleted, by whom, when and why."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveMark:
    """An agent version or a run that was archived or deleted."""

    agent_id: str
    agent_version: str
    run_id: UUID | None
    """Null: the agent version itself."""
    is_deleted: bool
    """Whether it was deleted: this mark is what is left of it."""
    by: str
    reason: str
    at: datetime
    summary: dict[str, Any] | None
    """Of a deleted run: its suite, score and times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveList:
    """Everything of a team that was archived or deleted, newest first."""

    marks: list[ArchiveMark]
    count: int

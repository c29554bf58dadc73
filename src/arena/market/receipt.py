"""What a call answers, and how it is told from another one."""

from dataclasses import dataclass
from datetime import datetime

from arena.market.task import TaskState


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A call that was done. The same key and the same call give the same receipt again."""

    ref: int
    """The call's number in the team's market."""
    task_id: int | None
    state: TaskState | None
    """The task's state after the call."""
    at: datetime

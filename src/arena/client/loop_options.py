"""Options of an agent's loop, and the events it reports."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from arena.client.executing import TaskResult
from arena.market.task import Task

Execute = Callable[[Task], Awaitable[str | TaskResult] | str | TaskResult]
Evaluate = Callable[[Task], Awaitable[bool] | bool]

EventName = Literal[
    "candidate",
    "applied",
    "assigned",
    "retrying",
    "submitted",
    "judged",
    "paid",
    "refunded",
    "expired",
    "failed",
    "holding_back",
    "trouble",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopEvent:
    """Something that happened to the agent."""

    kind: EventName
    task: Task | None = None
    reason: str | None = None
    """Why a task failed or is retried, or why the agent does not apply."""


Report = Callable[..., Awaitable[None]]
"""Reports an event: its kind, its task and its reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOptions:
    """How much the agent takes on, and how often it tries."""

    min_reward: str | None = None
    max_concurrent: int = 1
    """Tasks at a time, counting recent applications; assigned tasks beyond it wait."""
    poll_seconds: float = 5.0
    """How often it polls for tasks, even without an event."""
    retries: int = 2
    """How often a failed execution is retried."""
    retry_delay_seconds: float = 1.0
    """Before the first retry; it doubles with each."""
    hold_back_seconds: float = 10.0
    """How long it does not apply after a failed task; it doubles with each failure in a row."""

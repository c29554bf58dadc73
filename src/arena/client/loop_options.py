"""What an agent's loop takes on, and what it tells."""

from dataclasses import dataclass
from typing import Literal

from arena import schemas

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
    task: schemas.Task | None = None
    reason: str | None = None
    """Why it failed, is tried again, or asks for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOptions:
    """What the agent takes on."""

    min_reward: str | None = None
    max_concurrent: int = 1
    """Tasks at a time, counting those it has just applied for; what is assigned beyond it waits."""
    poll_seconds: float = 5.0
    """How often it looks, even if the stream of events says nothing."""
    retries: int = 2
    """How often an execution that failed is tried again."""
    retry_delay_seconds: float = 1.0
    """Before the first retry; it doubles with each."""
    hold_back_seconds: float = 10.0
    """After a task that failed no new one is asked for so long; it doubles with each in a row."""

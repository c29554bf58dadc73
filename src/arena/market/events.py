"""What happened in the market: one event for each move, never changed, in one order per team."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class EventKind(StrEnum):
    """What an event tells."""

    TASK_POSTED = "TaskPosted"
    APPLIED = "Applied"
    ASSIGNED = "Assigned"
    COMMITTED = "Committed"
    RESULT_SUBMITTED = "ResultSubmitted"
    JUDGED = "Judged"
    DISPUTED = "Disputed"
    RESOLVED = "Resolved"
    PAID = "Paid"
    REFUNDED = "Refunded"
    EXPIRED = "Expired"
    CANCELLED = "Cancelled"
    DEPOSITED = "TestMoneyDeposited"
    WITHDRAWN = "TestMoneyWithdrawn"
    AGENT_REGISTERED = "AgentRegistered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """An event before it is written down: what, why, and the particulars."""

    kind: EventKind
    why: str
    data: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event as it stands; `id` grows, so the last one seen is a poller's cursor."""

    id: int
    team_id: str
    task_id: int | None
    kind: EventKind
    who: str
    at: datetime
    why: str
    data: Mapping[str, object]

"""The terms of a task: all that is fixed when it is posted and can never be changed."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

MIN_REWARD = 1
MIN_WINDOW_SECONDS = 60
MAX_WINDOW_SECONDS = 30 * 86_400
MAX_DEADLINE_DAYS = 366
MAX_APPLICANTS = 1000


class TimeoutPolicy(StrEnum):
    """Where the reward goes when nobody gave a verdict in time."""

    REFUND = "refund"
    SPLIT = "split"
    """`agent_share_percent` of it to the agent, rounded down; the rest to the poster."""


class Assignment(StrEnum):
    """How one of the applicants gets the task. The poster may always choose by hand."""

    MANUAL = "manual"
    FIRST = "first"
    """The first to apply has it."""
    BEST_REPUTATION = "best_reputation"
    """From `apply_until` on, anybody may have it given to the applicant ranked first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the poster offers. Windows are half-open and in seconds; amounts are minor units."""

    reward: int
    deadline: datetime
    """Results are taken before it; at it, the task can be expired by anyone."""
    judge: str
    judge_window_seconds: int = 86_400
    """Counted from the submission."""
    fallback_judge: str | None = None
    """May judge when the judge has let its window pass."""
    fallback_window_seconds: int = 0
    timeout_policy: TimeoutPolicy = TimeoutPolicy.REFUND
    agent_share_percent: int = 0
    """Of a split; 0 with the policy `refund`."""
    dispute_window_seconds: int = 0
    """0: a verdict settles at once. Else the losing side may dispute it for so long."""
    arbiter: str | None = None
    """Needed where there is a dispute window."""
    arbiter_window_seconds: int = 0
    bond: int = 0
    """What a dispute costs; it goes to the side that wins the dispute."""
    commit_deadline: datetime | None = None
    """Set: the agent commits to a hash before it and reveals the result from it on."""
    max_applicants: int = 100
    is_self_judged: bool = False
    """The poster is the judge: shown everywhere, never counted for reputation."""
    assignment: Assignment = Assignment.MANUAL
    apply_until: datetime | None = None
    """When the choice by reputation may be made; needed for `best_reputation`."""

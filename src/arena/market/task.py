"""A task: its states, and what is known of it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from arena.evaluation.standard import MIN_PASS_SCORE
from arena.market.terms import Terms

__all__ = ["FINAL", "MIN_PASS_SCORE", "ExpiryReason", "Task", "TaskState"]


class TaskState(StrEnum):
    """Where a task stands."""

    OPEN = "open"
    ASSIGNED = "assigned"
    COMMITTED = "committed"
    SUBMITTED = "submitted"
    JUDGED = "judged"
    DISPUTED = "disputed"
    PAID = "paid"
    REFUNDED = "refunded"
    EXPIRED = "expired"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether nothing can happen to the task any more."""
        return self in FINAL


FINAL = frozenset({TaskState.PAID, TaskState.REFUNDED, TaskState.EXPIRED, TaskState.CANCELLED})


class ExpiryReason(StrEnum):
    """Why a task expired: they are not the same fault."""

    NO_SUBMISSION = "no_submission"
    NO_VERDICT = "no_verdict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task as it stands."""

    id: int
    team_id: str
    poster: str
    description: str
    evaluation_cid: str
    """The standard it is judged by: verified, valid and pinned before the reward was locked."""
    terms: Terms
    state: TaskState
    posted_at: datetime
    expiry_reason: ExpiryReason | None = None
    applicant_count: int = 0
    agent: str | None = None
    """Whoever it is assigned to."""
    agent_version: str | None = None
    assigned_at: datetime | None = None
    commitment: str | None = None
    result_hash: str | None = None
    """The CID of the result, frozen when it was submitted."""
    submitted_at: datetime | None = None
    score: int | None = None
    """Of the verdict; after a resolution `final_score` decides."""
    judged_by: str | None = None
    judged_at: datetime | None = None
    reason_uri: str | None = None
    disputed_by: str | None = None
    disputed_at: datetime | None = None
    dispute_reason_uri: str | None = None
    final_score: int | None = None
    """The score it was settled by; None where it was not settled by one."""
    resolution_uri: str | None = None
    ended_at: datetime | None = None
    payout: int = 0
    """What the agent got of the reward."""

    @property
    def exit_at(self) -> datetime | None:
        """From when on anyone may end it, whatever the parties do; None where it has ended."""
        match self.state:
            case TaskState.OPEN | TaskState.ASSIGNED | TaskState.COMMITTED:
                return self.terms.deadline
            case TaskState.SUBMITTED:
                return self.fallback_until
            case TaskState.JUDGED:
                return self.dispute_until
            case TaskState.DISPUTED:
                return self.arbiter_until
            case _:
                return None

    @property
    def judge_until(self) -> datetime | None:
        """When the judge's window shuts."""
        return _after(self.submitted_at, self.terms.judge_window_seconds)

    @property
    def fallback_until(self) -> datetime | None:
        """When the fallback judge's window shuts; the judge's own where there is none."""
        terms = self.terms
        return _after(self.submitted_at, terms.judge_window_seconds + terms.fallback_window_seconds)

    @property
    def dispute_until(self) -> datetime | None:
        """When a verdict can no longer be disputed."""
        return _after(self.judged_at, self.terms.dispute_window_seconds)

    @property
    def arbiter_until(self) -> datetime | None:
        """When the arbiter's window shuts."""
        return _after(self.disputed_at, self.terms.arbiter_window_seconds)


def _after(start: datetime | None, seconds: int) -> datetime | None:
    return None if start is None else start + timedelta(seconds=seconds)

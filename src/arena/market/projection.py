"""What follows from the events of a task: the agent's reputation and its executions. Pure.

Both are *projections*: whoever has the events can compute them again and gets the same numbers,
whichever ledger the task is on.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import NAMESPACE_OID, uuid5

from arena.evaluation.verdict import MIN_PASS_SCORE
from arena.market.agents import Reputation
from arena.market.call import EventKind
from arena.market.task import ExpiryReason, Task
from arena.scoring.history import Execution, ExecutionStatus, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """What recomputing the projections changed: nothing, if they were right."""

    tasks: int
    """How many tasks were read."""
    reputations: int
    """How many agents had another reputation."""
    executions: int
    """How many executions were missing or too many."""


def gained_reputation(task: Task, kind: EventKind) -> Reputation | None:
    """What an event of the task adds to its agent's reputation.

    `task` is as it is after the event, or later. Nothing counts if the poster judges.
    """
    if task.is_self_judged:
        return None
    match kind:
        case EventKind.ASSIGNED:
            return Reputation(attempts=1)
        case EventKind.PAID | EventKind.REFUNDED:
            assert task.final_score is not None
            is_won = task.final_score >= MIN_PASS_SCORE
            return Reputation(judged=1, score_sum=task.final_score, wins=int(is_won))
        case EventKind.EXPIRED if _is_no_show(task):
            return Reputation(no_shows=1)
        case _:
            return None


def ended_execution(task: Task, kind: EventKind, at: datetime) -> Execution | None:
    """The execution that an event of the task ended, whatever the verdict will be."""
    if kind is EventKind.RESULT_SUBMITTED:
        status = ExecutionStatus.COMPLETED
    elif kind is EventKind.EXPIRED and _is_no_show(task):
        status = ExecutionStatus.TIMEOUT
    else:
        return None
    assert task.assigned_at is not None
    return Execution(
        id=uuid5(NAMESPACE_OID, f"arena/{task.team_id}/{task.id}"),  # a task has at most one
        status=status,
        source=Source.TASK,
        created_at=at,
        duration_seconds=(at - task.assigned_at).total_seconds(),
    )


def _is_no_show(task: Task) -> bool:
    """Whether the agent had the task and submitted nothing."""
    return task.expiry_reason is ExpiryReason.NO_SUBMISSION and task.agent is not None

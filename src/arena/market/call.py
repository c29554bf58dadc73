"""A call on a task, and what comes of it."""

from dataclasses import dataclass
from enum import StrEnum

from arena.market.agents import Reputation
from arena.market.events import Happening
from arena.market.money import NewEntry
from arena.market.task import Task
from arena.scoring.history import ExecutionStatus


class Action(StrEnum):
    """What can be asked of a task."""

    POST = "post_task"
    APPLY = "apply"
    ASSIGN = "assign"
    ASSIGN_BEST = "assign_best"
    CANCEL = "cancel"
    COMMIT = "commit_result"
    SUBMIT = "submit_result"
    JUDGE = "judge"
    DISPUTE = "dispute"
    RESOLVE = "resolve"
    EXPIRE = "expire"
    SETTLE = "settle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Who asks for what. What a call does not need is None."""

    action: Action
    by: str
    agent: str | None = None
    """Whom to assign; in a verdict, the winner it names."""
    version: str | None = None
    """The agent's, where it is assigned."""
    score: int | None = None
    result_hash: str | None = None
    commitment: str | None = None
    """What is committed to; in a submission, what the salt reveals."""
    reason_uri: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """All that a call changes, to be written in one transaction."""

    task: Task
    """As it stands after the call."""
    happenings: tuple[Happening, ...]
    entry: NewEntry | None = None
    reputation: Reputation | None = None
    """What is added to the agent's."""
    execution: ExecutionStatus | None = None
    """How the agent's execution of the task ended, where it ended now."""

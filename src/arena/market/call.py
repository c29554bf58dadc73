"""A call on a task: the request, its effects, and the receipt."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from arena.content.canonical import canonical
from arena.market.agents import Applicant
from arena.market.money import LedgerEntry, NewEntry
from arena.market.task import EMBEDDED, Task, TaskState, Terms

ANYONE = "anyone"
"""The party of a call that names none: timeouts need no role. No real party has this name."""


class Action(StrEnum):
    """What can be done with a task."""

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


class ReceiptStatus(StrEnum):
    """Whether a call can still be undone."""

    PENDING = "pending"
    """Sent to a chain, but not final: a call repeated with its key tells how it went."""
    FINAL = "final"


class EventKind(StrEnum):
    """What an event reports."""

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
    REORGANISED = "Reorganised"
    """The chain dropped blocks: the events that the data lists did not happen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Who requests what. A field that the call does not need is None."""

    action: Action
    by: str = ANYONE
    agent: str | None = None
    """The agent to assign; in a verdict, the winner."""
    version: str | None = None
    """The agent's version, if it is assigned."""
    score: int | None = None
    result_hash: str | None = None
    commitment: str | None = None
    """The commitment; in a submission, the one computed from the result and the salt."""
    reason_uri: str | None = None
    salt: str | None = None
    """Reveals the commitment."""
    claim: str | None = None
    """The token of the claim that a verdict was made under; None: given by hand."""
    language: str | None = None
    """In a submission: the language of its code, if the agent names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallKey:
    """An idempotency key; those of Arena's own calls are a namespace of their own."""

    text: str
    is_internal: bool = False


def call_digest(task_id: int, call: Call) -> str:
    """The digest of the request. Without the signature: a repeated call may be signed again."""
    # The salt is in the commitment that it reveals.
    return digest_of(call.action, task=task_id, **asdict(replace(call, salt=None)))


def offer_digest(task: Task) -> str:
    """The digest of a new task."""
    terms = {field.name: getattr(task, field.name) for field in fields(Terms)}
    return digest_of(
        Action.POST,
        poster=task.poster,
        description=task.description,
        evaluation_cid=task.evaluation_cid,
        judge=task.judge,
        **terms,
    )


def digest_of(action: str, /, **arguments: object) -> str:
    """A hash of a call's arguments. It is stored with idempotency keys: never change it."""
    # None is left out, so that a new optional argument does not change the digests of old calls.
    plain = {
        name: value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
        for name, value in arguments.items()
        if value is not None
    }
    return hashlib.sha256(canonical({"action": str(action), **plain})).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event before it is recorded: what, why, and the details."""

    kind: EventKind
    why: str
    data: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Everything a call changes, to be written in one transaction."""

    task: Task
    """The task after the call."""
    events: tuple[NewEvent, ...]
    entry: NewEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A call that was made. Repeating it with the same key returns the same receipt."""

    ref: int
    """The call's number in the team's market; on a chain, of its transaction."""
    task_id: int | None
    state: TaskState | None
    """The task's state after the call; null while it is pending."""
    at: datetime
    status: ReceiptStatus = ReceiptStatus.FINAL
    ledger: Annotated[str, Field(examples=["embedded"])] = EMBEDDED
    """Where it was made."""
    transaction_hash: str | None = None
    """Of its transaction on a chain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A judge's process works on a task: until this expires, no other process begins it."""

    task_id: int
    token: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketEvent:
    """Something that happened in the market; immutable, in one order per team."""

    id: int
    """Increasing; continue after the last one seen."""
    task_id: int | None
    kind: Annotated[str, Field(examples=["TaskPosted"])]
    who: str
    at: datetime
    why: str
    data: dict[str, Any]
    transaction_hash: str | None = None
    """Of its transaction, if it happened on a chain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStory:
    """A task with its whole history."""

    task: Task
    applicants: Sequence[Applicant]
    """The best first."""
    events: Sequence[MarketEvent]
    entries: Sequence[LedgerEntry]

"""Rows of the database and the values of this room, each made from the other."""

from dataclasses import fields
from typing import Any

from sqlalchemy import Row

from arena.market.agents import MarketAgent, Reputation
from arena.market.events import Event, EventKind
from arena.market.receipt import Receipt
from arena.market.task import ExpiryReason, Task, TaskState
from arena.market.terms import Assignment, Terms, TimeoutPolicy

TERMS_COLUMNS = tuple(field.name for field in fields(Terms))
TASK_COLUMNS = tuple(field.name for field in fields(Task) if field.name != "terms")
REPUTATION_COLUMNS = tuple(field.name for field in fields(Reputation))


def to_task(row: Row[Any]) -> Task:
    """The task a row stands for."""
    terms: dict[str, Any] = {name: getattr(row, name) for name in TERMS_COLUMNS}
    terms["timeout_policy"] = TimeoutPolicy(row.timeout_policy)
    terms["assignment"] = Assignment(row.assignment)
    values: dict[str, Any] = {name: getattr(row, name) for name in TASK_COLUMNS}
    values["state"] = TaskState(row.state)
    values["expiry_reason"] = ExpiryReason(row.expiry_reason) if row.expiry_reason else None
    return Task(**values, terms=Terms(**terms))


def from_task(task: Task) -> dict[str, object]:
    """The columns of a task, all but its number."""
    values = {name: getattr(task, name) for name in TASK_COLUMNS if name != "id"}
    terms = {name: getattr(task.terms, name) for name in TERMS_COLUMNS}
    return {**values, **terms, "exit_at": task.exit_at}


def to_agent(row: Row[Any]) -> MarketAgent:
    """The agent a row stands for."""
    return MarketAgent(
        team_id=row.team_id,
        id=row.id,
        version=row.version,
        public_key=row.public_key,
        registered_at=row.registered_at,
        reputation=to_reputation(row),
    )


def to_reputation(row: Row[Any]) -> Reputation:
    """The reputation in a row of agents."""
    return Reputation(**{name: getattr(row, name) for name in REPUTATION_COLUMNS})


def to_event(row: Row[Any]) -> Event:
    """The event a row stands for."""
    return Event(
        id=row.id,
        team_id=row.team_id,
        task_id=row.task_id,
        kind=EventKind(row.kind),
        who=row.who,
        at=row.at,
        why=row.why,
        data=row.data,
    )


def to_receipt(row: Row[Any]) -> Receipt:
    """The receipt of a call that was done."""
    return Receipt(
        ref=row.id,
        task_id=row.task_id,
        state=TaskState(row.state) if row.state else None,
        at=row.at,
    )

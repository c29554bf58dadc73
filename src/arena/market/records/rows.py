"""Conversions between rows of the database and the values of this room."""

from dataclasses import fields
from typing import Any

from arena.amounts import Amount
from arena.market.agents import MarketAgent, Reputation
from arena.market.call import MarketEvent, Receipt
from arena.market.task import Assignment, ExpiryReason, Task, TaskState, TimeoutPolicy

TASK_COLUMNS = tuple(field.name for field in fields(Task))
REPUTATION_COLUMNS = tuple(field.name for field in fields(Reputation))
ENUMS = {
    "state": TaskState,
    "expiry_reason": ExpiryReason,
    "timeout_policy": TimeoutPolicy,
    "assignment": Assignment,
}
TASK_AMOUNTS = ("reward", "bond", "payout")
EVENT_AMOUNTS = ("reward", "bond", "amount", "to_agent")
"""Which numbers in the data of events before 0.2 are amounts of money; later they are text."""


def to_task(row: Any) -> Task:
    """The task of a row."""
    values = {name: row._mapping[name] for name in TASK_COLUMNS}
    for name, enum in ENUMS.items():
        values[name] = None if values[name] is None else enum(values[name])
    for name in TASK_AMOUNTS:
        values[name] = Amount(values[name], values["decimals"])
    return Task(**values)


def from_task(task: Task) -> dict[str, object]:
    """The columns of a task, except its id; `exit_at` is stored to find overdue tasks."""
    values = {name: getattr(task, name) for name in TASK_COLUMNS if name != "id"}
    return {**values, "exit_at": task.exit_at}


def to_reputation(row: Any) -> Reputation:
    """The reputation in a row of agents."""
    return Reputation(**{name: row._mapping[name] for name in REPUTATION_COLUMNS})


def to_agent(row: Any) -> MarketAgent:
    """The agent of a row."""
    return MarketAgent(
        id=row.id,
        version=row.version,
        public_key=row.public_key,
        registered_at=row.registered_at,
        reputation=to_reputation(row),
    )


def to_event(row: Any) -> MarketEvent:
    """The event of a row."""
    values = {field.name: row._mapping[field.name] for field in fields(MarketEvent)}
    values["data"] = {
        name: str(Amount(value)) if name in EVENT_AMOUNTS and isinstance(value, int) else value
        for name, value in row.data.items()
    }
    return MarketEvent(**values)


def to_receipt(row: Any) -> Receipt:
    """The receipt of a row."""
    state = TaskState(row.state) if row.state else None
    return Receipt(ref=row.id, task_id=row.task_id, state=state, at=row.at)

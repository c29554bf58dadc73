"""How the money of a task on a chain moved, from the task alone. Pure.

The embedded ledger stores entries. A chain has balances only; but the terms and the state of a task
say what must have moved, and the contract's own audit checks that it did.
"""

from arena.market.money import (
    EntryKind,
    LedgerEntry,
    NewEntry,
    Posting,
    bond,
    escrow,
    transfer,
    user,
)
from arena.market.task import Task, TaskState


def entries_of(task: Task) -> list[LedgerEntry]:
    """The entries of a task, numbered from 1."""
    lock = transfer(EntryKind.LOCK, user(task.poster), escrow(task.id), task.reward)
    found = [(lock, task.posted_at)]
    if task.disputed_by and task.disputed_at and task.bond:
        locked = transfer(EntryKind.BOND, user(task.disputed_by), bond(task.id), task.bond)
        found.append((locked, task.disputed_at))
    if task.ended_at:
        found.append((_settlement(task), task.ended_at))
    return [
        LedgerEntry(id=number, kind=entry.kind, at=at, postings=entry.postings)
        for number, (entry, at) in enumerate(found, start=1)
    ]


def _settlement(task: Task) -> NewEntry:
    changes = [(escrow(task.id), -task.reward), (user(task.poster), task.reward - task.payout)]
    if task.agent:
        changes.append((user(task.agent), int(task.payout)))
    if task.disputed_by and task.bond:
        changes += [(bond(task.id), -task.bond), (user(_bond_winner(task)), int(task.bond))]
    postings = [
        Posting(account=account, amount=task.amount(change))
        for account, change in changes
        if change
    ]
    return NewEntry(kind=EntryKind.SETTLEMENT, postings=tuple(postings))


def _bond_winner(task: Task) -> str:
    """The disputer, unless an arbiter decided for the other side."""
    assert task.disputed_by and task.agent
    if task.resolution_uri is None:
        return task.disputed_by
    return task.agent if task.state is TaskState.PAID else task.poster

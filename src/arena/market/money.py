"""Double entry: accounts, and entries whose postings sum to zero. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

OUTSIDE = "outside"
"""Where deposits come from and withdrawals go to: the only account that may be below zero."""


def user(name: str) -> str:
    """The account of a party."""
    return f"user:{name}"


def escrow(task_id: int) -> str:
    """The account that holds a task's reward."""
    return f"escrow:{task_id}"


def bond(task_id: int) -> str:
    """The account that holds a disputer's bond."""
    return f"bond:{task_id}"


class EntryKind(StrEnum):
    """What an entry is for. A task has at most one of each: the database refuses a second."""

    DEPOSIT = "deposit"
    WITHDRAWAL = "withdrawal"
    LOCK = "lock"
    BOND = "bond"
    SETTLEMENT = "settlement"


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """A change of one account."""

    account: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """Postings that belong together; they sum to zero."""

    kind: EntryKind
    postings: tuple[Posting, ...]

    def __post_init__(self) -> None:
        if sum(posting.amount for posting in self.postings) != 0 or not self.postings:
            raise ValueError(f"postings of a {self.kind} must sum to zero: {self.postings}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry of the journal as it stands."""

    id: int
    task_id: int | None
    kind: EntryKind
    at: datetime
    postings: Sequence[Posting]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One posting in the history of an account."""

    entry_id: int
    task_id: int | None
    kind: EntryKind
    at: datetime
    amount: int
    balance: int
    """Of the account after it."""


def transfer(kind: EntryKind, source: str, target: str, amount: int) -> NewEntry:
    """An entry that moves `amount` from one account to another."""
    return NewEntry(
        kind=kind,
        postings=(
            Posting(account=source, amount=-amount),
            Posting(account=target, amount=amount),
        ),
    )

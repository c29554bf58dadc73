"""Double entry: accounts, and entries whose postings sum to zero. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field, computed_field

from arena.amounts import Amount

OUTSIDE = "outside"
"""The source of deposits and target of withdrawals: the only account that may be negative."""


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

    account: Annotated[str, Field(examples=["user:alice", "escrow:1"])]
    amount: Amount


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """Postings that belong together; they sum to zero."""

    kind: EntryKind
    postings: tuple[Posting, ...]

    def __post_init__(self) -> None:
        # Checked on creation, so that an unbalanced entry cannot even exist.
        if sum(posting.amount for posting in self.postings) != 0 or not self.postings:
            raise ValueError(f"postings of a {self.kind} must sum to zero: {self.postings}")


def transfer(kind: EntryKind, source: str, target: str, amount: Amount) -> NewEntry:
    """An entry that moves `amount` from one account to another."""
    debit = Posting(account=source, amount=Amount(-amount, amount.decimals))
    credit = Posting(account=target, amount=amount)
    return NewEntry(kind=kind, postings=(debit, credit))


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """Postings that belong together, as stored in the ledger; they sum to zero."""

    id: int
    kind: EntryKind
    at: datetime
    postings: Sequence[Posting]


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine:
    """One posting in the history of an account."""

    entry_id: int
    task_id: int | None
    kind: EntryKind
    at: datetime
    amount: Amount
    balance: Amount
    """Of the account after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """The balance of one account."""

    account: Annotated[str, Field(examples=["user:alice", "escrow:1", "outside"])]
    amount: Amount


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """An invariant that does not hold."""

    invariant: Annotated[str, Field(examples=["I1"])]
    """I1 to I9, as docs/market.md numbers them."""
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The result of checking every raw row of the market."""

    tasks: int
    entries: int
    postings: int
    accounts: int
    violations: tuple[Violation, ...]

    @computed_field
    @property
    def is_clean(self) -> bool:
        """Whether every invariant holds."""
        return not self.violations

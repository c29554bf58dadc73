"""The ledger on the wire: balances, history, audit, and test money."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from arena.amounts import CURRENCY
from arena.schemas.market import Key, MarketAsked, MarketWire, Party
from arena.schemas.money import Amount, Shown


class Balance(MarketWire):
    """What one account holds."""

    account: str = Field(examples=["user:alice", "escrow:1", "outside"])
    amount: Shown


class Balances(MarketWire):
    """What the accounts hold; together nothing, since all money comes from `outside`."""

    balances: list[Balance]
    count: int
    currency: str = CURRENCY


class LedgerLine(MarketWire):
    """One posting of an account."""

    entry_id: int
    task_id: int | None
    kind: Literal["deposit", "withdrawal", "lock", "bond", "settlement"]
    at: datetime
    amount: Shown
    balance: Shown = Field(description="Of the account after it.")


class LedgerHistory(MarketWire):
    """A page of an account's postings, newest first."""

    account: str
    lines: list[LedgerLine]
    count: int
    currency: str = CURRENCY
    next_cursor: str | None = None


class Violation(MarketWire):
    """An invariant that does not hold."""

    invariant: str = Field(examples=["I1"], description="As docs/market.md numbers them.")
    what: str


class Audit(MarketWire):
    """What a look at every row of the team's market found."""

    is_clean: bool
    tasks: int
    entries: int
    postings: int
    accounts: int
    violations: list[Violation]


class TestMoney(MarketAsked):
    """Test money to put into an account or to take out of it; it is worth nothing."""

    __test__ = False

    account: Party
    amount: Amount
    idempotency_key: Key = None

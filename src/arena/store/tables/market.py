"""The task market: tasks, the ledger, agents and events.

Every row belongs to one team; teams share nothing, not even numbers: each team counts its own
tasks, entries, events and calls from 1. Entries, postings, events and calls are insert-only.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKeyConstraint,
    Index,
    Integer,
    String,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped

from arena.amounts import Amount
from arena.store.tables.table import DIGITS, LongMoney, Table, column

Id = BigInteger().with_variant(Integer, "sqlite")
PARTY = String(100)


def _task_of_the_team() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["team_id", "task_id"], ["market_tasks.team_id", "market_tasks.id"])


class MarketBooks(Table):
    """One row per team; every change in the team's market locks it first."""

    __tablename__ = "market_books"

    team_id: Mapped[str] = column(String(100), primary_key=True)
    market_id: Mapped[str] = column(String(32), unique=True)
    """Random; part of every message that an agent signs."""
    created_at: Mapped[datetime]


class MarketCalls(Table):
    """Every completed call by its idempotency key; a repeated call gets the same receipt."""

    __tablename__ = "market_calls"
    __table_args__ = (
        UniqueConstraint("team_id", "idempotency_key"),
        Index("ix_market_calls_internal", "team_id", "internal_key", unique=True),
    )

    team_id: Mapped[str] = column(String(100), primary_key=True)
    id: Mapped[int] = column(Id, primary_key=True, autoincrement=False)
    idempotency_key: Mapped[str] = column(String(200))
    """The caller's key, or a random one."""
    internal_key: Mapped[str | None] = column(String(200))
    """The key of a call that Arena itself makes: no caller's key can equal it."""
    digest: Mapped[str] = column(String(64))
    """Of the request; the same key with another digest is refused."""
    action: Mapped[str] = column(String(30))
    task_id: Mapped[int | None] = column(Id)
    state: Mapped[str | None] = column(String(20))
    at: Mapped[datetime]


class MarketTasks(Table):
    """A task: its terms, which never change, and its state."""

    __tablename__ = "market_tasks"
    __table_args__ = (
        Index("ix_market_tasks_state", "team_id", "state", "id"),
        Index("ix_market_tasks_judge", "state", "team_id", "judge"),
        Index("ix_market_tasks_poster", "team_id", "poster", "id"),
        Index("ix_market_tasks_agent", "team_id", "agent", "id"),
        Index("ix_market_tasks_exit", "team_id", "exit_at"),
        Index("uq_market_tasks_chain", "team_id", "network", "contract", "chain_task", unique=True),
        # Digits of one length: only a 0 is not greater than this.
        CheckConstraint(f"reward > '{0:0{DIGITS}d}'", name="ck_market_tasks_reward"),
    )

    team_id: Mapped[str] = column(String(100), primary_key=True)
    id: Mapped[int] = column(Id, primary_key=True, autoincrement=False)
    poster: Mapped[str] = column(PARTY)
    # From here to `apply_until`: the terms, frozen when the task is posted.
    description: Mapped[str]
    evaluation_cid: Mapped[str] = column(String(128))
    reward: Mapped[int] = column(LongMoney)
    deadline: Mapped[datetime]
    judge: Mapped[str] = column(PARTY)
    judge_window_seconds: Mapped[int]
    fallback_judge: Mapped[str | None] = column(PARTY)
    fallback_window_seconds: Mapped[int]
    timeout_policy: Mapped[str] = column(String(20))
    agent_share_percent: Mapped[int]
    dispute_window_seconds: Mapped[int]
    arbiter: Mapped[str | None] = column(PARTY)
    arbiter_window_seconds: Mapped[int]
    bond: Mapped[int] = column(LongMoney)
    commit_deadline: Mapped[datetime | None]
    max_applicants: Mapped[int]
    is_self_judged: Mapped[bool]
    assignment: Mapped[str] = column(String(20))
    apply_until: Mapped[datetime | None]
    ledger: Mapped[str] = column(String(20))
    currency: Mapped[str] = column(String(10))
    decimals: Mapped[int]
    network: Mapped[str | None] = column(String(40))
    contract: Mapped[str | None] = column(String(42))
    chain_task: Mapped[int | None] = column(BigInteger)
    # From here on: what moves change.
    state: Mapped[str] = column(String(20))
    expiry_reason: Mapped[str | None] = column(String(20))
    posted_at: Mapped[datetime]
    applicant_count: Mapped[int]
    agent: Mapped[str | None] = column(PARTY)
    agent_version: Mapped[str | None] = column(String(20))
    assigned_at: Mapped[datetime | None]
    commitment: Mapped[str | None] = column(String(64))
    result_hash: Mapped[str | None] = column(String(128))
    language: Mapped[str | None] = column(String(50))
    submitted_at: Mapped[datetime | None]
    claim_token: Mapped[str | None] = column(String(64))
    """Of the judge's process that works on it; its verdict is refused once another has it."""
    claimed_until: Mapped[datetime | None]
    score: Mapped[int | None]
    judged_by: Mapped[str | None] = column(PARTY)
    judged_at: Mapped[datetime | None]
    reason_uri: Mapped[str | None]
    disputed_by: Mapped[str | None] = column(PARTY)
    disputed_at: Mapped[datetime | None]
    dispute_reason_uri: Mapped[str | None]
    final_score: Mapped[int | None]
    resolution_uri: Mapped[str | None]
    ended_at: Mapped[datetime | None]
    payout: Mapped[int] = column(LongMoney)
    exit_at: Mapped[datetime | None]
    """When anyone may end it; None once it has ended."""


class MarketApplications(Table):
    """Who applied for what."""

    __tablename__ = "market_applications"
    __table_args__ = (
        _task_of_the_team(),
        Index("ix_market_applications_agent", "team_id", "agent", "task_id"),
    )

    team_id: Mapped[str] = column(String(100), primary_key=True)
    task_id: Mapped[int] = column(Id, primary_key=True, autoincrement=False)
    agent: Mapped[str] = column(PARTY, primary_key=True)
    version: Mapped[str] = column(String(20))
    applied_at: Mapped[datetime]


class MarketAgents(Table):
    """An agent with its key, and its reputation in running sums."""

    __tablename__ = "market_agents"

    team_id: Mapped[str] = column(String(100), primary_key=True)
    id: Mapped[str] = column(PARTY, primary_key=True)
    version: Mapped[str] = column(String(20))
    public_key: Mapped[str] = column(String(44))
    registered_at: Mapped[datetime]
    attempts: Mapped[int] = column(default=0)
    judged: Mapped[int] = column(default=0)
    score_sum: Mapped[int] = column(BigInteger, default=0)
    wins: Mapped[int] = column(default=0)
    no_shows: Mapped[int] = column(default=0)


class MarketParties(Table):
    """Who has which address on a chain. Names are of a team; addresses belong to nobody twice."""

    __tablename__ = "market_parties"
    __table_args__ = (UniqueConstraint("team_id", "address"),)

    team_id: Mapped[str] = column(String(100), primary_key=True)
    name: Mapped[str] = column(PARTY, primary_key=True)
    address: Mapped[str] = column(String(42))
    """In lower case."""


class MarketNonces(Table):
    """Used signatures: none is accepted twice."""

    __tablename__ = "market_nonces"

    team_id: Mapped[str] = column(String(100), primary_key=True)
    agent: Mapped[str] = column(PARTY, primary_key=True)
    nonce: Mapped[str] = column(String(64), primary_key=True)
    at: Mapped[datetime]


class MarketAccounts(Table):
    """An account's balance: the sum of its postings, stored so that reading it is one row."""

    __tablename__ = "market_accounts"
    __table_args__ = (
        # The last line of defence: no bug may overdraw an account. `outside` is where money of the
        # market comes from, so it is the one that goes below zero.
        CheckConstraint("balance >= 0 OR name = 'outside'", name="ck_market_accounts_balance"),
    )

    team_id: Mapped[str] = column(String(100), primary_key=True)
    name: Mapped[str] = column(String(120), primary_key=True)
    balance: Mapped[Amount]


class MarketEntries(Table):
    """A ledger entry. A task has at most one of each kind, so at most one settlement."""

    __tablename__ = "market_entries"
    __table_args__ = (
        _task_of_the_team(),
        UniqueConstraint("team_id", "task_id", "kind"),
    )

    team_id: Mapped[str] = column(String(100), primary_key=True)
    id: Mapped[int] = column(Id, primary_key=True, autoincrement=False)
    task_id: Mapped[int | None] = column(Id)
    kind: Mapped[str] = column(String(20))
    at: Mapped[datetime]


class MarketPostings(Table):
    """A change of one account; those of one entry sum to zero."""

    __tablename__ = "market_postings"
    __table_args__ = (
        ForeignKeyConstraint(
            ["team_id", "entry_id"], ["market_entries.team_id", "market_entries.id"]
        ),
        Index("ix_market_postings_account", "team_id", "account", "entry_id"),
    )

    team_id: Mapped[str] = column(String(100), primary_key=True)
    entry_id: Mapped[int] = column(Id, primary_key=True, autoincrement=False)
    line: Mapped[int] = column(primary_key=True, autoincrement=False)
    account: Mapped[str] = column(String(120))
    amount: Mapped[Amount]
    balance: Mapped[Amount]
    """Of the account, after the entry."""


class MarketEvents(Table):
    """Events, in one order per team."""

    __tablename__ = "market_events"
    __table_args__ = (
        _task_of_the_team(),
        Index("ix_market_events_task", "team_id", "task_id", "id"),
    )

    team_id: Mapped[str] = column(String(100), primary_key=True)
    id: Mapped[int] = column(Id, primary_key=True, autoincrement=False)
    task_id: Mapped[int | None] = column(Id)
    kind: Mapped[str] = column(String(30))
    who: Mapped[str] = column(PARTY)
    at: Mapped[datetime]
    why: Mapped[str]
    data: Mapped[dict[str, Any]]
    transaction_hash: Mapped[str | None] = column(String(66))
    """Of the transaction on a chain that it happened in."""

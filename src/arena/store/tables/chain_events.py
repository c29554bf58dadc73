"""What was read from a chain: the contract's events, and how far they were read."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Index, Integer, String
from sqlalchemy.orm import Mapped

from arena.store.tables.table import Table, column

NETWORK = String(40)
ADDRESS = String(42)
HASH = String(66)


class ChainEvents(Table):
    """An event of the contract, by the block that it is in: another block undoes it."""

    __tablename__ = "chain_events"
    __table_args__ = (
        Index("ix_chain_events_task", "network", "contract", "chain_task", "block_number"),
        Index("ix_chain_events_transaction", "network", "transaction_hash"),
    )

    network: Mapped[str] = column(NETWORK, primary_key=True)
    block_hash: Mapped[str] = column(HASH, primary_key=True)
    log_index: Mapped[int] = column(Integer, primary_key=True, autoincrement=False)
    contract: Mapped[str] = column(ADDRESS)
    block_number: Mapped[int] = column(BigInteger)
    at: Mapped[datetime]
    """The time of the block."""
    transaction_hash: Mapped[str] = column(HASH)
    name: Mapped[str] = column(String(30))
    chain_task: Mapped[int | None] = column(BigInteger)
    data: Mapped[dict[str, Any]]
    """The event's arguments; numbers as text, because they may have 256 bits."""
    event_id: Mapped[int | None] = column(BigInteger)
    """The event of the team's market that it became."""


class ChainTasks(Table):
    """The number of a contract's task in the team's market; kept when its block is dropped."""

    __tablename__ = "chain_tasks"
    __table_args__ = (Index("uq_chain_tasks_task", "team_id", "task_id", unique=True),)

    team_id: Mapped[str] = column(String(100), primary_key=True)
    network: Mapped[str] = column(NETWORK, primary_key=True)
    contract: Mapped[str] = column(ADDRESS, primary_key=True)
    chain_task: Mapped[int] = column(BigInteger, primary_key=True, autoincrement=False)
    task_id: Mapped[int] = column(BigInteger)


class ChainCursors(Table):
    """The last block of a contract that was read."""

    __tablename__ = "chain_cursors"

    network: Mapped[str] = column(NETWORK, primary_key=True)
    contract: Mapped[str] = column(ADDRESS, primary_key=True)
    block_number: Mapped[int] = column(BigInteger)
    block_hash: Mapped[str] = column(HASH)

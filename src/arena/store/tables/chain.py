"""Transactions on a chain: what was intended, every attempt to send it, and how it ended."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, LargeBinary, String, text
from sqlalchemy.orm import Mapped

from arena.store.tables.table import Table, column

Id = BigInteger().with_variant(Integer, "sqlite")
ADDRESS = String(42)
HASH = String(66)

UNFINISHED = text("state IN ('written', 'sent', 'mined')")
"""Those that hold their nonce. Written out, so that both databases use the index."""
HOLDS_KEY = text("state IN ('written', 'sent', 'mined', 'final')")


class ChainTransactions(Table):
    """A transaction: written before it is first sent, so that it is sent exactly once."""

    __tablename__ = "chain_transactions"
    __table_args__ = (
        Index(
            "ix_chain_transactions_nonce",
            "chain_id",
            "genesis",
            "sender",
            "nonce",
            unique=True,
            sqlite_where=UNFINISHED,
            postgresql_where=UNFINISHED,
        ),
        Index(
            "ix_chain_transactions_key",
            "team_id",
            "idempotency_key",
            "is_internal",
            "chain_id",
            "genesis",
            unique=True,
            sqlite_where=HOLDS_KEY,
            postgresql_where=HOLDS_KEY,
        ),
    )

    id: Mapped[int] = column(Id, primary_key=True)
    chain_id: Mapped[int] = column(BigInteger)
    genesis: Mapped[str] = column(HASH)
    """The hash of the chain's first block; empty if it is unknown."""
    team_id: Mapped[str] = column(String(100))
    idempotency_key: Mapped[str] = column(String(200))
    is_internal: Mapped[bool]
    """Whether Arena itself chose the key: no caller's key can equal it."""
    digest: Mapped[str] = column(String(64))
    """Of the request; the same key with another digest is refused."""
    action: Mapped[str] = column(String(30))
    task: Mapped[str | None] = column(String(100))
    sender: Mapped[str] = column(ADDRESS)
    recipient: Mapped[str | None] = column(ADDRESS)
    """None creates a contract."""
    value: Mapped[str] = column(String(78))
    """In wei, as decimal digits: up to 256 bits."""
    data: Mapped[bytes] = column(LargeBinary)
    gas: Mapped[int] = column(BigInteger)
    nonce: Mapped[int] = column(BigInteger)
    state: Mapped[str] = column(String(20))
    revision: Mapped[int]
    """Counts the changes: of two processes that change a row at once, one succeeds."""
    transaction_hash: Mapped[str | None] = column(HASH)
    """Of the attempt that was mined; this and the next four are None until then."""
    block_number: Mapped[int | None] = column(BigInteger)
    block_hash: Mapped[str | None] = column(HASH)
    gas_used: Mapped[int | None] = column(BigInteger)
    is_reverted: Mapped[bool | None]
    reason: Mapped[str | None]
    """Why it failed, was abandoned or could not be sent yet."""
    passed_block: Mapped[int | None] = column(BigInteger)
    """Since which block the nonce is used although no attempt is mined."""
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class ChainAttempts(Table):
    """A signed transaction; those of one row have the same nonce, so at most one is mined."""

    __tablename__ = "chain_attempts"

    transaction_id: Mapped[int] = column(ForeignKey("chain_transactions.id"), primary_key=True)
    number: Mapped[int] = column(primary_key=True, autoincrement=False)
    hash: Mapped[str] = column(HASH)
    raw: Mapped[bytes] = column(LargeBinary)
    max_fee: Mapped[int] = column(BigInteger)
    """Per unit of gas, in wei."""
    tip: Mapped[int] = column(BigInteger)
    block_number: Mapped[int] = column(BigInteger)
    """The newest block when it was signed."""
    created_at: Mapped[datetime]

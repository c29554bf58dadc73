"""Transactions on a chain.

Revision: 0014
Follows: 0013
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
UNFINISHED = sa.text("state IN ('written', 'sent', 'mined')")
HOLDS_KEY = sa.text("state IN ('written', 'sent', 'mined', 'final')")


def upgrade() -> None:
    op.create_table(
        "chain_transactions",
        sa.Column("id", Id, nullable=False),
        sa.Column("chain_id", sa.BigInteger(), nullable=False),
        sa.Column("genesis", sa.String(length=66), nullable=False),
        sa.Column("team_id", sa.String(length=100), nullable=False),
        sa.Column("idempotency_key", sa.String(length=200), nullable=False),
        sa.Column("is_internal", sa.Boolean(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("action", sa.String(length=30), nullable=False),
        sa.Column("task", sa.String(length=100), nullable=True),
        sa.Column("sender", sa.String(length=42), nullable=False),
        sa.Column("recipient", sa.String(length=42), nullable=True),
        sa.Column("value", sa.String(length=78), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("gas", sa.BigInteger(), nullable=False),
        sa.Column("nonce", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("transaction_hash", sa.String(length=66), nullable=True),
        sa.Column("block_number", sa.BigInteger(), nullable=True),
        sa.Column("block_hash", sa.String(length=66), nullable=True),
        sa.Column("gas_used", sa.BigInteger(), nullable=True),
        sa.Column("is_reverted", sa.Boolean(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("passed_block", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chain_transactions")),
    )
    op.create_index(
        "ix_chain_transactions_nonce",
        "chain_transactions",
        ["chain_id", "genesis", "sender", "nonce"],
        unique=True,
        sqlite_where=UNFINISHED,
        postgresql_where=UNFINISHED,
    )
    op.create_index(
        "ix_chain_transactions_key",
        "chain_transactions",
        ["team_id", "idempotency_key", "is_internal", "chain_id", "genesis"],
        unique=True,
        sqlite_where=HOLDS_KEY,
        postgresql_where=HOLDS_KEY,
    )
    op.create_table(
        "chain_attempts",
        sa.Column("transaction_id", Id, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(length=66), nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.Column("max_fee", sa.BigInteger(), nullable=False),
        sa.Column("tip", sa.BigInteger(), nullable=False),
        sa.Column("block_number", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["transaction_id"],
            ["chain_transactions.id"],
            name=op.f("fk_chain_attempts_transaction_id"),
        ),
        sa.PrimaryKeyConstraint("transaction_id", "number", name=op.f("pk_chain_attempts")),
    )


def downgrade() -> None:
    op.drop_table("chain_attempts")
    op.drop_table("chain_transactions")

"""Claims of judges, and a namespace of their own for Arena's internal keys.

Revision: 0008
Follows: 0007
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

# Until now the verdict of a review had the caller's key "review <id>". Only real ones are moved: a
# caller may have used such a key for anything. Compared without hyphens: SQLite stores ids so.
MOVE = """
    UPDATE market_calls SET internal_key = idempotency_key
    WHERE action = 'judge' AND idempotency_key LIKE 'review %' AND EXISTS (
        SELECT 1 FROM reviews WHERE subject_kind = 'task'
        AND subject_id = CAST(market_calls.task_id AS VARCHAR)
        AND replace(CAST(reviews.id AS VARCHAR), '-', '')
            = replace(substr(market_calls.idempotency_key, 8), '-', '')
    )
"""


def upgrade() -> None:
    op.add_column("market_tasks", sa.Column("claim_token", sa.String(length=64), nullable=True))
    op.add_column(
        "market_tasks", sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True)
    )
    op.add_column("market_calls", sa.Column("internal_key", sa.String(length=200), nullable=True))
    op.create_index(
        "ix_market_calls_internal", "market_calls", ["team_id", "internal_key"], unique=True
    )
    op.execute(sa.text(MOVE))


def downgrade() -> None:
    op.drop_index("ix_market_calls_internal", "market_calls")
    op.drop_column("market_calls", "internal_key")
    op.drop_column("market_tasks", "claimed_until")
    op.drop_column("market_tasks", "claim_token")

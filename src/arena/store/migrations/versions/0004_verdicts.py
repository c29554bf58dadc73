"""Results name the record of their verdict.

Revision: 0004
Follows: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "agent_benchmark_results", sa.Column("verdict_cid", sa.String(length=100), nullable=True)
    )


def downgrade() -> None:
    op.drop_column("agent_benchmark_results", "verdict_cid")

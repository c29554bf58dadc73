"""The language of a task's result, as its agent named it.

Revision: 0009
Follows: 0008
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("market_tasks", sa.Column("language", sa.String(50), nullable=True))


def downgrade() -> None:
    op.drop_column("market_tasks", "language")

"""The tools that an agent called on its way to an answer.

Revision: 0010
Follows: 0009
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

AnyJson = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.add_column("agent_benchmark_results", sa.Column("steps", AnyJson, nullable=True))


def downgrade() -> None:
    op.drop_column("agent_benchmark_results", "steps")

"""Conversations, workspaces and budgets; ids of tests that are rows of a data set.

Revision: 0016
Follows: 0015
"""

from collections.abc import Generator
from contextlib import contextmanager

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

AnyJson = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
ADDED = {
    "agent_benchmark_results": ("messages", "workspace"),
    "agent_benchmark_runs": ("budget", "spent"),
    "agent_execution_history": ("transcript",),
    "reviews": ("whole_submission",),
}
WIDTHS = {
    ("agent_benchmark_run_tests", "test_id"): (50, 120),
    ("agent_benchmark_results", "test_id"): (50, 120),
    ("agent_benchmark_errors", "test_id"): (50, 120),
    ("reviews", "subject_part"): (100, 130),
}
"""Of a column, before and after."""


def upgrade() -> None:
    for table, names in ADDED.items():
        for name in names:
            op.add_column(table, sa.Column(name, AnyJson, nullable=True))
    _resize(1)


def downgrade() -> None:
    # Rows of a data set have longer ids than the earlier release allows.
    long = "SELECT DISTINCT run_id FROM agent_benchmark_run_tests WHERE length(test_id) > 50"
    op.execute(f"DELETE FROM agent_benchmark_runs WHERE id IN ({long})")
    _resize(0)
    for table, names in ADDED.items():
        for name in names:
            op.drop_column(table, name)


def _resize(which: int) -> None:
    with _kept_answers():
        for (table, column), widths in WIDTHS.items():
            kind = sa.String(widths[which])
            with op.batch_alter_table(table) as changed:
                changed.alter_column(column, type_=kind, existing_nullable=False)


@contextmanager
def _kept_answers() -> Generator[None]:
    """Keeps what reviewers answered: SQLite changes a table by dropping it, and that cascades."""
    if op.get_bind().dialect.name != "sqlite":
        yield
        return
    op.execute("CREATE TEMPORARY TABLE kept_answers AS SELECT * FROM review_answers")
    yield
    op.execute("INSERT OR IGNORE INTO review_answers SELECT * FROM kept_answers")
    op.execute("DROP TABLE kept_answers")

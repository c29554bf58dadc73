"""On SQLite, ids as the API shows them; the sum over a run's results under its own name.

Revision: 0007
Follows: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

COLUMNS = {
    "agent_benchmark_runs": ("id",),
    "agent_benchmark_run_tests": ("run_id",),
    "agent_benchmark_results": ("id", "run_id", "benchmark_id"),
    "agent_benchmark_errors": ("run_id",),
    "agent_benchmark_run_groups": ("run_id",),
    "agent_execution_history": ("id",),
    "agent_feedback": ("id", "execution_id"),
    "agent_scores": ("id", "benchmark_run_id"),
    "reviews": ("id",),
    "review_answers": ("id", "review_id"),
}
"""Every column that holds an id."""

DASHED = (
    "substr({0}, 1, 8) || '-' || substr({0}, 9, 4) || '-' || substr({0}, 13, 4)"
    " || '-' || substr({0}, 17, 4) || '-' || substr({0}, 21)"
)


def upgrade() -> None:
    op.alter_column(
        "agent_benchmark_runs", "duration_seconds", new_column_name="results_duration_seconds"
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "UPDATE agent_benchmark_runs"
            " SET results_duration_seconds = round(results_duration_seconds, 6)"
        )
        _rewrite(DASHED, old=32, new=36)


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        _rewrite("replace({0}, '-', '')", old=36, new=32)
    op.alter_column(
        "agent_benchmark_runs", "results_duration_seconds", new_column_name="duration_seconds"
    )


def _rewrite(expression: str, *, old: int, new: int) -> None:
    """Rewrite every id; `old` and `new` are their lengths."""
    connection = op.get_bind()
    # A run and its results change one after the other: foreign keys are checked at the commit.
    connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
    # The default of 2 MB would read pages of a large index again and again.
    (cached,) = connection.exec_driver_sql("PRAGMA cache_size").one()
    connection.exec_driver_sql("PRAGMA cache_size = -262144")
    for table, columns in COLUMNS.items():
        values = ", ".join(f"{name} = {expression.format(name)}" for name in columns)
        connection.exec_driver_sql(f"UPDATE {table} SET {values}")
    connection.exec_driver_sql(f"PRAGMA cache_size = {cached}")
    _declare(connection, f"CHAR({old})", f"CHAR({new})")


def _declare(connection: sa.Connection, old: str, new: str) -> None:
    """Change the declared type of the columns, as SQLite's documentation of ALTER TABLE says.

    A rebuilt table would need its old version dropped, which deletes the rows that refer to it.
    """
    (version,) = connection.exec_driver_sql("PRAGMA schema_version").one()
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    for table in COLUMNS:
        connection.execute(
            sa.text(
                "UPDATE sqlite_master SET sql = replace(sql, :old, :new)"
                " WHERE type = 'table' AND name = :table"
            ),
            {"old": old, "new": new, "table": table},
        )
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = OFF")

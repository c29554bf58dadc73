"""Suites and their boards, the log of the boards, where a run comes from, archived things.

Runs from before become runs of a suite: `lab` if all their tests are bundled ones, else `legacy`.
Two runs are of one version if no test differs between them. The boards themselves are computed by
the first command that needs them: scores without an interval say that they are missing.

Revision: 0015
Follows: 0014
"""

from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from arena.store.migrations.earlier_runs import fingerprint_tests, name_suites

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

AnyJson = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
Id = sa.CHAR(36).with_variant(sa.Uuid(), "postgresql")
Number = sa.Numeric(precision=20, scale=6, asdecimal=False)
FUNCTIONS = Path(__file__).parents[1]
RUNS = "agent_benchmark_runs"

RUN_COLUMNS: dict[str, tuple[Any, str | None]] = {
    "suite": (sa.String(100), ""),
    "suite_version": (sa.String(64), ""),
    "suite_tests": (sa.Integer(), "0"),
    "test_count": (sa.Integer(), "0"),
    "provenance": (sa.String(20), "run_here"),
    "source_run_id": (Id, None),
    "bundle_digest": (sa.String(64), None),
    "verification": (AnyJson, None),
    "agent_digest": (sa.String(64), None),
    "environment": (AnyJson, None),
    "judge_family": (sa.String(50), None),
    "repeated_attempts": (sa.Integer(), "0"),
    "counted_results": (sa.Integer(), "0"),
}
"""The type of each new column of a run, and its value for existing runs; None: it may be null."""
BOARD = ["team_id", "suite", "kind", "name", "is_ranked"]


def upgrade() -> None:
    for name, (kind, default) in RUN_COLUMNS.items():
        column = sa.Column(name, kind, nullable=default is None, server_default=default)
        op.add_column(RUNS, column)
    op.create_index(
        "ix_agent_benchmark_runs_suite",
        RUNS,
        ["team_id", "suite", "suite_version", "agent_id", "agent_version"],
    )
    for name, length in (("fingerprint", 64), ("cluster", 110)):
        column = sa.Column(name, sa.String(length), nullable=False, server_default="")
        op.add_column("agent_benchmark_tests", column)
    op.add_column(
        "agent_scores",
        sa.Column("is_ranked", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.add_column(
        "agent_benchmark_run_groups",
        sa.Column("tests", sa.Integer(), nullable=False, server_default="0"),
    )
    _create_suites()
    _create_boards()
    _create_log()
    connection = op.get_bind()
    fingerprint_tests(connection)
    name_suites(connection)
    # What is missing is computed when a board is next read.
    op.execute("UPDATE agent_scores SET overall_low = NULL, overall_high = NULL")
    _create_function("recalculate_agent_score_by_suite.sql")


def downgrade() -> None:
    _create_function("recalculate_agent_score.sql")
    for table in (
        "agent_baselines",
        "agent_archive",
        "agent_board_states",
        "agent_board_events",
        "agent_board_entries",
        "agent_suite_versions",
        "agent_suites",
        "agent_team_boards",
    ):
        op.drop_table(table)
    op.execute("DELETE FROM agent_benchmark_run_groups WHERE kind = 'whole'")
    op.drop_column("agent_benchmark_run_groups", "tests")
    op.drop_column("agent_scores", "is_ranked")
    for name in ("cluster", "fingerprint"):
        op.drop_column("agent_benchmark_tests", name)
    op.drop_index("ix_agent_benchmark_runs_suite", table_name=RUNS)
    for name in reversed(RUN_COLUMNS):
        op.drop_column(RUNS, name)


def _create_function(file: str) -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION recalculate_agent_score(text, text, text)")
        op.execute((FUNCTIONS / file).read_text())


def _create_suites() -> None:
    op.create_table(
        "agent_team_boards",
        sa.Column("team_id", sa.String(100), nullable=False),
        sa.Column("default_suite", sa.String(100), nullable=True),
        sa.Column("ranks_reported", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("team_id", name="pk_agent_team_boards"),
    )
    op.create_table(
        "agent_suites",
        sa.Column("team_id", sa.String(100), nullable=False),
        sa.Column("suite", sa.String(100), nullable=False),
        sa.Column("shown_version", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "suite", name="pk_agent_suites"),
    )
    op.create_table(
        "agent_suite_versions",
        sa.Column("team_id", sa.String(100), nullable=False),
        sa.Column("suite", sa.String(100), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("label", sa.String(100), nullable=True),
        sa.Column("tests", sa.Integer(), nullable=False),
        sa.Column("manifest", AnyJson, nullable=False),
        sa.Column("groups", AnyJson, nullable=True),
        sa.Column("folder", sa.String(64), nullable=True),
        sa.Column("is_claimed", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("current_since", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "suite", "version", name="pk_agent_suite_versions"),
    )
    op.create_table(
        "agent_baselines",
        sa.Column("team_id", sa.String(100), nullable=False),
        sa.Column("suite", sa.String(100), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("run_id", Id, nullable=False),
        sa.Column("suite_version", sa.String(64), nullable=False),
        sa.Column("set_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("set_by", sa.String(100), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "suite", "name", name="pk_agent_baselines"),
    )


def _create_boards() -> None:
    op.create_table(
        "agent_board_entries",
        sa.Column("team_id", sa.String(100), nullable=False),
        sa.Column("suite", sa.String(100), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("agent_id", sa.String(100), nullable=False),
        sa.Column("agent_version", sa.String(20), nullable=False),
        sa.Column("run_id", Id, nullable=False),
        sa.Column("is_ranked", sa.Boolean(), nullable=False),
        sa.Column("overall_score", Number, nullable=True),
        sa.Column("overall_low", sa.Float(), nullable=True),
        sa.Column("overall_high", sa.Float(), nullable=True),
        sa.Column("coverage", Number, nullable=False),
        sa.Column("run", AnyJson, nullable=False),
        sa.PrimaryKeyConstraint(
            "team_id",
            "suite",
            "kind",
            "name",
            "agent_id",
            "agent_version",
            name="pk_agent_board_entries",
        ),
    )
    for name in ("overall", "low", "high"):
        column = "overall_score" if name == "overall" else f"overall_{name}"
        op.create_index(f"ix_agent_board_entries_{name}", "agent_board_entries", [*BOARD, column])
    op.create_index(
        "ix_agent_board_entries_agent",
        "agent_board_entries",
        ["team_id", "agent_id", "agent_version"],
    )


def _create_log() -> None:
    op.create_table(
        "agent_board_events",
        sa.Column("team_id", sa.String(100), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(30), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("by", sa.String(100), nullable=True),
        sa.Column("agent_id", sa.String(100), nullable=True),
        sa.Column("agent_version", sa.String(20), nullable=True),
        sa.Column("suite", sa.String(100), nullable=True),
        sa.Column("suite_version", sa.String(64), nullable=True),
        sa.Column("run_id", Id, nullable=True),
        sa.Column("before", AnyJson, nullable=True),
        sa.Column("after", AnyJson, nullable=True),
        sa.PrimaryKeyConstraint("team_id", "number", name="pk_agent_board_events"),
    )
    op.create_index("ix_agent_board_events_at", "agent_board_events", ["team_id", "at"])
    op.create_table(
        "agent_board_states",
        sa.Column("team_id", sa.String(100), nullable=False),
        sa.Column("key", sa.String(300), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("value", AnyJson, nullable=True),
        sa.PrimaryKeyConstraint("team_id", "key", "number", name="pk_agent_board_states"),
    )
    op.create_table(
        "agent_archive",
        sa.Column("id", Id, nullable=False),
        sa.Column("team_id", sa.String(100), nullable=False),
        sa.Column("agent_id", sa.String(100), nullable=False),
        sa.Column("agent_version", sa.String(20), nullable=False),
        sa.Column("run_id", Id, nullable=True),
        sa.Column("is_deleted", sa.Boolean(), nullable=False),
        sa.Column("by", sa.String(100), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("summary", AnyJson, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_agent_archive"),
    )
    op.create_index(
        "ix_agent_archive_agent", "agent_archive", ["team_id", "agent_id", "agent_version"]
    )
    op.create_index("ix_agent_archive_run", "agent_archive", ["run_id"])

"""Runs, their frozen tests and their results.

Revision: 0001
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

AnyJson = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "agent_benchmark_runs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.String(length=100), nullable=False),
        sa.Column("agent_id", sa.String(length=100), nullable=False),
        sa.Column("agent_version", sa.String(length=20), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("total_tests", sa.Integer(), nullable=False),
        sa.Column("completed_tests", sa.Integer(), nullable=False),
        sa.Column("passed_tests", sa.Integer(), nullable=False),
        sa.Column("failed_tests", sa.Integer(), nullable=False),
        sa.Column("errored_tests", sa.Integer(), nullable=False),
        sa.Column(
            "score_percent", sa.Numeric(precision=20, scale=6, asdecimal=False), nullable=True
        ),
        sa.Column(
            "points_earned", sa.Numeric(precision=20, scale=6, asdecimal=False), nullable=False
        ),
        sa.Column(
            "points_possible", sa.Numeric(precision=20, scale=6, asdecimal=False), nullable=False
        ),
        sa.Column(
            "points_percent", sa.Numeric(precision=20, scale=6, asdecimal=False), nullable=True
        ),
        sa.Column("is_full", sa.Boolean(), nullable=False),
        sa.Column("trials", sa.Integer(), nullable=True),
        sa.Column("concurrency", sa.Integer(), nullable=True),
        sa.Column("category", sa.Text(), nullable=True),
        sa.Column("input_tokens", sa.BigInteger(), nullable=True),
        sa.Column("output_tokens", sa.BigInteger(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("costed_tests", sa.Integer(), nullable=False),
        sa.Column(
            "duration_seconds", sa.Numeric(precision=20, scale=6, asdecimal=False), nullable=False
        ),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_token", sa.String(length=64), nullable=True),
        sa.Column("lease_expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agent_benchmark_runs")),
    )
    op.create_index(
        "ix_agent_benchmark_runs_agent",
        "agent_benchmark_runs",
        ["team_id", "agent_id", "created_at"],
        unique=False,
    )
    op.create_index(
        "ix_agent_benchmark_runs_status", "agent_benchmark_runs", ["status"], unique=False
    )
    op.create_index(
        "ix_agent_benchmark_runs_team_created",
        "agent_benchmark_runs",
        ["team_id", "created_at", "id"],
        unique=False,
    )
    op.create_table(
        "agent_benchmark_tests",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("body", AnyJson, nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_agent_benchmark_tests")),
    )
    op.create_table(
        "agent_benchmark_errors",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("test_id", sa.String(length=50), nullable=False),
        sa.Column("trial", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["agent_benchmark_runs.id"],
            name=op.f("fk_agent_benchmark_errors_run_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "run_id", "test_id", "trial", name=op.f("pk_agent_benchmark_errors")
        ),
    )
    op.create_table(
        "agent_benchmark_results",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("benchmark_id", sa.Uuid(), nullable=True),
        sa.Column("test_id", sa.String(length=50), nullable=False),
        sa.Column("trial", sa.Integer(), nullable=False),
        sa.Column("category", sa.String(length=100), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("score", sa.Numeric(precision=20, scale=6, asdecimal=False), nullable=False),
        sa.Column(
            "points_earned", sa.Numeric(precision=20, scale=6, asdecimal=False), nullable=False
        ),
        sa.Column(
            "points_possible", sa.Numeric(precision=20, scale=6, asdecimal=False), nullable=False
        ),
        sa.Column("actual_output", AnyJson, nullable=True),
        sa.Column("failure_reason", sa.Text(), nullable=True),
        sa.Column("findings", AnyJson, nullable=False),
        sa.Column(
            "duration_seconds", sa.Numeric(precision=20, scale=6, asdecimal=False), nullable=False
        ),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=True),
        sa.Column("output_tokens", sa.BigInteger(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("earned_micropoints", sa.BigInteger(), nullable=True),
        sa.Column("possible_micropoints", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["agent_benchmark_runs.id"],
            name=op.f("fk_agent_benchmark_results_run_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agent_benchmark_results")),
        sa.UniqueConstraint(
            "run_id", "sequence", name=op.f("uq_agent_benchmark_results_run_id_sequence")
        ),
        sa.UniqueConstraint(
            "run_id",
            "test_id",
            "trial",
            name=op.f("uq_agent_benchmark_results_run_id_test_id_trial"),
        ),
    )
    op.create_table(
        "agent_benchmark_run_tests",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("test_id", sa.String(length=50), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("trials", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["digest"],
            ["agent_benchmark_tests.digest"],
            name=op.f("fk_agent_benchmark_run_tests_digest"),
        ),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["agent_benchmark_runs.id"],
            name=op.f("fk_agent_benchmark_run_tests_run_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("run_id", "position", name=op.f("pk_agent_benchmark_run_tests")),
        sa.UniqueConstraint(
            "run_id", "test_id", name=op.f("uq_agent_benchmark_run_tests_run_id_test_id")
        ),
    )


def downgrade() -> None:
    op.drop_table("agent_benchmark_run_tests")
    op.drop_table("agent_benchmark_results")
    op.drop_table("agent_benchmark_errors")
    op.drop_table("agent_benchmark_tests")
    op.drop_index("ix_agent_benchmark_runs_team_created", table_name="agent_benchmark_runs")
    op.drop_index("ix_agent_benchmark_runs_status", table_name="agent_benchmark_runs")
    op.drop_index("ix_agent_benchmark_runs_agent", table_name="agent_benchmark_runs")
    op.drop_table("agent_benchmark_runs")

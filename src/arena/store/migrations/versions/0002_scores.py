"""Feedback, execution history and scores, with the function that recalculates them in SQL.

Revision: 0002
Follows: 0001
"""

from pathlib import Path

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from arena.store.weights import DEFAULT_PARTS

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

AnyJson = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
FUNCTION = Path(__file__).parents[1] / "recalculate_agent_score.sql"


def upgrade() -> None:
    op.create_table(
        "agent_execution_history",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.String(length=100), nullable=False),
        sa.Column("agent_id", sa.String(length=100), nullable=False),
        sa.Column("agent_version", sa.String(length=20), nullable=False),
        sa.Column("source", sa.String(length=20), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("idempotency_key", sa.String(length=200), nullable=True),
        sa.Column("input_tokens", sa.BigInteger(), nullable=True),
        sa.Column("output_tokens", sa.BigInteger(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column(
            "duration_seconds", sa.Numeric(precision=20, scale=6, asdecimal=False), nullable=True
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agent_execution_history")),
    )
    op.create_index(
        "ix_agent_execution_history_agent",
        "agent_execution_history",
        ["team_id", "agent_id", "agent_version"],
        unique=False,
    )
    op.create_index(
        "uq_agent_execution_history_key",
        "agent_execution_history",
        ["team_id", "idempotency_key"],
        unique=True,
        sqlite_where=sa.text("idempotency_key IS NOT NULL"),
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    )
    op.create_table(
        "agent_feedback",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.String(length=100), nullable=False),
        sa.Column("agent_id", sa.String(length=100), nullable=False),
        sa.Column("agent_version", sa.String(length=20), nullable=False),
        sa.Column("user_id", sa.String(length=100), nullable=False),
        sa.Column("execution_id", sa.Uuid(), nullable=True),
        sa.Column("rating", sa.Integer(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("task_description", sa.Text(), nullable=True),
        sa.Column("is_standing", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agent_feedback")),
    )
    op.create_index(
        "ix_agent_feedback_created", "agent_feedback", ["team_id", "created_at", "id"], unique=False
    )
    op.create_index(
        "ix_agent_feedback_vote",
        "agent_feedback",
        ["team_id", "agent_id", "agent_version", "user_id", "is_standing", "execution_id"],
        unique=False,
    )
    op.create_table(
        "agent_score_weights",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("benchmark", sa.Integer(), nullable=False),
        sa.Column("user_rating", sa.Integer(), nullable=False),
        sa.Column("success_rate", sa.Integer(), nullable=False),
        sa.Column("cost_efficiency", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agent_score_weights")),
    )
    op.create_table(
        "agent_scores",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.String(length=100), nullable=False),
        sa.Column("agent_id", sa.String(length=100), nullable=False),
        sa.Column("agent_version", sa.String(length=20), nullable=False),
        sa.Column(
            "benchmark_score", sa.Numeric(precision=20, scale=6, asdecimal=False), nullable=True
        ),
        sa.Column(
            "user_rating_score", sa.Numeric(precision=20, scale=6, asdecimal=False), nullable=True
        ),
        sa.Column(
            "success_rate_score", sa.Numeric(precision=20, scale=6, asdecimal=False), nullable=True
        ),
        sa.Column(
            "cost_efficiency_score",
            sa.Numeric(precision=20, scale=6, asdecimal=False),
            nullable=True,
        ),
        sa.Column(
            "overall_score", sa.Numeric(precision=20, scale=6, asdecimal=False), nullable=True
        ),
        sa.Column("overall_low", sa.Float(), nullable=True),
        sa.Column("overall_high", sa.Float(), nullable=True),
        sa.Column("coverage", sa.Numeric(precision=20, scale=6, asdecimal=False), nullable=False),
        sa.Column("rank_overall", sa.Integer(), nullable=True),
        sa.Column("rating_count", sa.Integer(), nullable=False),
        sa.Column("rating_sum", sa.Integer(), nullable=False),
        sa.Column("rating_square_sum", sa.Integer(), nullable=False),
        sa.Column("execution_count", sa.Integer(), nullable=False),
        sa.Column("success_count", sa.Integer(), nullable=False),
        sa.Column("benchmark_run_id", sa.Uuid(), nullable=True),
        sa.Column("benchmark_share", AnyJson, nullable=False),
        sa.Column("cost_share", AnyJson, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agent_scores")),
        sa.UniqueConstraint(
            "team_id",
            "agent_id",
            "agent_version",
            name=op.f("uq_agent_scores_team_id_agent_id_agent_version"),
        ),
    )
    op.create_index(
        "ix_agent_scores_high", "agent_scores", ["team_id", "overall_high"], unique=False
    )
    op.create_index("ix_agent_scores_low", "agent_scores", ["team_id", "overall_low"], unique=False)
    op.create_index(
        "ix_agent_scores_overall", "agent_scores", ["team_id", "overall_score"], unique=False
    )
    op.create_table(
        "agent_benchmark_run_groups",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("benchmark_share", AnyJson, nullable=False),
        sa.Column("cost_share", AnyJson, nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["agent_benchmark_runs.id"],
            name=op.f("fk_agent_benchmark_run_groups_run_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "run_id", "kind", "name", name=op.f("pk_agent_benchmark_run_groups")
        ),
    )
    weights = ", ".join(map(str, DEFAULT_PARTS.values()))
    op.execute(f"INSERT INTO agent_score_weights VALUES (1, {weights})")
    if op.get_bind().dialect.name == "postgresql":
        op.execute(FUNCTION.read_text())


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION recalculate_agent_score(text, text, text)")
    op.drop_table("agent_benchmark_run_groups")
    op.drop_index("ix_agent_scores_overall", table_name="agent_scores")
    op.drop_index("ix_agent_scores_low", table_name="agent_scores")
    op.drop_index("ix_agent_scores_high", table_name="agent_scores")
    op.drop_table("agent_scores")
    op.drop_table("agent_score_weights")
    op.drop_index("ix_agent_feedback_vote", table_name="agent_feedback")
    op.drop_index("ix_agent_feedback_created", table_name="agent_feedback")
    op.drop_table("agent_feedback")
    op.drop_index("uq_agent_execution_history_key", table_name="agent_execution_history")
    op.drop_index("ix_agent_execution_history_agent", table_name="agent_execution_history")
    op.drop_table("agent_execution_history")

"""Reviews by people, and results of runs that wait for them.

Revision: 0005
Follows: 0004
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

AnyJson = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
Decimal = sa.Numeric(precision=20, scale=6, asdecimal=False)


def upgrade() -> None:
    op.create_table(
        "reviews",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.String(length=100), nullable=False),
        sa.Column("subject_kind", sa.String(length=20), nullable=False),
        sa.Column("subject_id", sa.String(length=100), nullable=False),
        sa.Column("subject_part", sa.String(length=100), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=False),
        sa.Column("standard", AnyJson, nullable=False),
        sa.Column("submission", sa.Text(), nullable=False),
        sa.Column("language", sa.String(length=50), nullable=True),
        sa.Column("is_truncated", sa.Boolean(), nullable=False),
        sa.Column("reviewers_needed", sa.Integer(), nullable=False),
        sa.Column("rule", sa.String(length=50), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("item_count", sa.Integer(), nullable=False),
        sa.Column("answered_count", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("trouble", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reviews")),
        sa.UniqueConstraint(
            "subject_kind",
            "subject_id",
            "subject_part",
            name=op.f("uq_reviews_subject_kind_subject_id_subject_part"),
        ),
    )
    op.create_index("ix_reviews_team_created", "reviews", ["team_id", "status", "created_at", "id"])
    op.create_index("ix_reviews_status", "reviews", ["status"])
    op.create_table(
        "review_answers",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("review_id", sa.Uuid(), nullable=False),
        sa.Column("place", sa.String(length=50), nullable=False),
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("reviewer", sa.String(length=100), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("is_standing", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["review_id"],
            ["reviews.id"],
            name=op.f("fk_review_answers_review_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_review_answers")),
    )
    op.create_index("ix_review_answers_review", "review_answers", ["review_id", "is_standing"])
    # The default fills the rows that are there; the code always says how many.
    op.add_column(
        "agent_benchmark_runs",
        sa.Column("awaiting_tests", sa.Integer(), nullable=False, server_default="0"),
    )
    _let_results_wait(True)


def downgrade() -> None:
    # What nobody has judged cannot be told to an older Arena in any other way.
    waiting = "passed = false, score = 0, failure_reason = 'not reviewed'"
    op.execute(f"UPDATE agent_benchmark_results SET {waiting} WHERE passed IS NULL")
    op.execute("UPDATE agent_benchmark_runs SET failed_tests = failed_tests + awaiting_tests")
    op.execute(
        "UPDATE agent_benchmark_runs SET status = 'failed', error_message = 'not reviewed'"
        " WHERE status = 'awaiting_review'"
    )
    _let_results_wait(False)
    op.drop_column("agent_benchmark_runs", "awaiting_tests")
    op.drop_index("ix_review_answers_review", table_name="review_answers")
    op.drop_table("review_answers")
    op.drop_index("ix_reviews_status", table_name="reviews")
    op.drop_index("ix_reviews_team_created", table_name="reviews")
    op.drop_table("reviews")


def _let_results_wait(may_wait: bool) -> None:
    # SQLite cannot change a column: there the table is copied. Nothing refers to its rows.
    with op.batch_alter_table("agent_benchmark_results") as results:
        results.alter_column("passed", existing_type=sa.Boolean(), nullable=may_wait)
        results.alter_column("score", existing_type=Decimal, nullable=may_wait)

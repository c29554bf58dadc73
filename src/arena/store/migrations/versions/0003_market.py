"""The task market: tasks, journal, accounts, agents, events.

Revision: 0003
Follows: 0002
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

AnyJson = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "market_accounts",
        sa.Column("team_id", sa.String(length=100), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("balance", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("balance >= 0 OR name = 'outside'", name="ck_market_accounts_balance"),
        sa.PrimaryKeyConstraint("team_id", "name", name=op.f("pk_market_accounts")),
    )
    op.create_table(
        "market_agents",
        sa.Column("team_id", sa.String(length=100), nullable=False),
        sa.Column("id", sa.String(length=100), nullable=False),
        sa.Column("version", sa.String(length=20), nullable=False),
        sa.Column("public_key", sa.String(length=44), nullable=False),
        sa.Column("registered_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.Column("score_sum", sa.BigInteger(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("no_shows", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "id", name=op.f("pk_market_agents")),
    )
    op.create_table(
        "market_books",
        sa.Column("team_id", sa.String(length=100), nullable=False),
        sa.Column("market_id", sa.String(length=32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("team_id", name=op.f("pk_market_books")),
        sa.UniqueConstraint("market_id", name=op.f("uq_market_books_market_id")),
    )
    op.create_table(
        "market_calls",
        sa.Column("id", Id, nullable=False),
        sa.Column("team_id", sa.String(length=100), nullable=False),
        sa.Column("idempotency_key", sa.String(length=200), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("action", sa.String(length=30), nullable=False),
        sa.Column("task_id", Id, nullable=True),
        sa.Column("state", sa.String(length=20), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_market_calls")),
        sa.UniqueConstraint(
            "team_id", "idempotency_key", name=op.f("uq_market_calls_team_id_idempotency_key")
        ),
    )
    op.create_table(
        "market_nonces",
        sa.Column("team_id", sa.String(length=100), nullable=False),
        sa.Column("agent", sa.String(length=100), nullable=False),
        sa.Column("nonce", sa.String(length=64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "agent", "nonce", name=op.f("pk_market_nonces")),
    )
    op.create_table(
        "market_tasks",
        sa.Column("id", Id, nullable=False),
        sa.Column("team_id", sa.String(length=100), nullable=False),
        sa.Column("poster", sa.String(length=100), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("evaluation_cid", sa.String(length=128), nullable=False),
        sa.Column("reward", sa.BigInteger(), nullable=False),
        sa.Column("deadline", sa.DateTime(timezone=True), nullable=False),
        sa.Column("judge", sa.String(length=100), nullable=False),
        sa.Column("judge_window_seconds", sa.Integer(), nullable=False),
        sa.Column("fallback_judge", sa.String(length=100), nullable=True),
        sa.Column("fallback_window_seconds", sa.Integer(), nullable=False),
        sa.Column("timeout_policy", sa.String(length=20), nullable=False),
        sa.Column("agent_share_percent", sa.Integer(), nullable=False),
        sa.Column("dispute_window_seconds", sa.Integer(), nullable=False),
        sa.Column("arbiter", sa.String(length=100), nullable=True),
        sa.Column("arbiter_window_seconds", sa.Integer(), nullable=False),
        sa.Column("bond", sa.BigInteger(), nullable=False),
        sa.Column("commit_deadline", sa.DateTime(timezone=True), nullable=True),
        sa.Column("max_applicants", sa.Integer(), nullable=False),
        sa.Column("is_self_judged", sa.Boolean(), nullable=False),
        sa.Column("assignment", sa.String(length=20), nullable=False),
        sa.Column("apply_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("expiry_reason", sa.String(length=20), nullable=True),
        sa.Column("posted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("applicant_count", sa.Integer(), nullable=False),
        sa.Column("agent", sa.String(length=100), nullable=True),
        sa.Column("agent_version", sa.String(length=20), nullable=True),
        sa.Column("assigned_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("commitment", sa.String(length=64), nullable=True),
        sa.Column("result_hash", sa.String(length=128), nullable=True),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("score", sa.Integer(), nullable=True),
        sa.Column("judged_by", sa.String(length=100), nullable=True),
        sa.Column("judged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason_uri", sa.Text(), nullable=True),
        sa.Column("disputed_by", sa.String(length=100), nullable=True),
        sa.Column("disputed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("dispute_reason_uri", sa.Text(), nullable=True),
        sa.Column("final_score", sa.Integer(), nullable=True),
        sa.Column("resolution_uri", sa.Text(), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("payout", sa.BigInteger(), nullable=False),
        sa.Column("exit_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("reward > 0", name="ck_market_tasks_reward"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_market_tasks")),
    )
    op.create_index(
        "ix_market_tasks_agent", "market_tasks", ["team_id", "agent", "id"], unique=False
    )
    op.create_index("ix_market_tasks_exit", "market_tasks", ["team_id", "exit_at"], unique=False)
    op.create_index(
        "ix_market_tasks_poster", "market_tasks", ["team_id", "poster", "id"], unique=False
    )
    op.create_index(
        "ix_market_tasks_state", "market_tasks", ["team_id", "state", "id"], unique=False
    )
    op.create_index("ix_market_tasks_team", "market_tasks", ["team_id", "id"], unique=False)
    op.create_table(
        "market_applications",
        sa.Column("task_id", Id, nullable=False),
        sa.Column("agent", sa.String(length=100), nullable=False),
        sa.Column("team_id", sa.String(length=100), nullable=False),
        sa.Column("version", sa.String(length=20), nullable=False),
        sa.Column("applied_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["task_id"], ["market_tasks.id"], name=op.f("fk_market_applications_task_id")
        ),
        sa.PrimaryKeyConstraint("task_id", "agent", name=op.f("pk_market_applications")),
    )
    op.create_index(
        "ix_market_applications_agent",
        "market_applications",
        ["team_id", "agent", "task_id"],
        unique=False,
    )
    op.create_table(
        "market_entries",
        sa.Column("id", Id, nullable=False),
        sa.Column("team_id", sa.String(length=100), nullable=False),
        sa.Column("task_id", Id, nullable=True),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["task_id"], ["market_tasks.id"], name=op.f("fk_market_entries_task_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_market_entries")),
        sa.UniqueConstraint("task_id", "kind", name=op.f("uq_market_entries_task_id_kind")),
    )
    op.create_index("ix_market_entries_team", "market_entries", ["team_id", "id"], unique=False)
    op.create_table(
        "market_events",
        sa.Column("id", Id, nullable=False),
        sa.Column("team_id", sa.String(length=100), nullable=False),
        sa.Column("task_id", Id, nullable=True),
        sa.Column("kind", sa.String(length=30), nullable=False),
        sa.Column("who", sa.String(length=100), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("data", AnyJson, nullable=False),
        sa.ForeignKeyConstraint(
            ["task_id"], ["market_tasks.id"], name=op.f("fk_market_events_task_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_market_events")),
    )
    op.create_index("ix_market_events_task", "market_events", ["task_id", "id"], unique=False)
    op.create_index("ix_market_events_team", "market_events", ["team_id", "id"], unique=False)
    op.create_table(
        "market_postings",
        sa.Column("entry_id", Id, nullable=False),
        sa.Column("line", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("team_id", sa.String(length=100), nullable=False),
        sa.Column("account", sa.String(length=120), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("balance", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["market_entries.id"], name=op.f("fk_market_postings_entry_id")
        ),
        sa.PrimaryKeyConstraint("entry_id", "line", name=op.f("pk_market_postings")),
    )
    op.create_index(
        "ix_market_postings_account",
        "market_postings",
        ["team_id", "account", "entry_id"],
        unique=False,
    )


def downgrade() -> None:
    op.drop_table("market_postings")
    op.drop_table("market_events")
    op.drop_table("market_entries")
    op.drop_table("market_applications")
    op.drop_table("market_tasks")
    op.drop_table("market_nonces")
    op.drop_table("market_calls")
    op.drop_table("market_books")
    op.drop_table("market_agents")
    op.drop_table("market_accounts")

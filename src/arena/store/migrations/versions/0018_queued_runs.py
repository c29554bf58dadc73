"""Runs on many machines: shards, workers, shared limits and content.

Revision: 0018
Follows: 0017
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

AnyJson = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
Id = sa.CHAR(36).with_variant(sa.Uuid(), "postgresql")
Time = sa.DateTime(timezone=True)
RUNS, RUN_TESTS = "agent_benchmark_runs", "agent_benchmark_run_tests"


def upgrade() -> None:
    op.add_column(
        RUNS,
        sa.Column("dispatch", sa.String(10), nullable=False, server_default="embedded"),
    )
    op.add_column(RUNS, sa.Column("placement", sa.String(100), nullable=True))
    op.add_column(RUNS, sa.Column("frozen_agent", sa.String(64), nullable=True))
    op.add_column(RUNS, sa.Column("executing_since", Time, nullable=True))
    op.add_column(RUNS, sa.Column("ending", AnyJson, nullable=True))
    op.add_column(RUN_TESTS, sa.Column("needs_sandbox", sa.Boolean(), nullable=True))
    op.add_column("reviews", sa.Column("claim_token", sa.String(64), nullable=True))
    op.add_column("reviews", sa.Column("claimed_until", Time, nullable=True))
    # What waits for a judge is looked for every few seconds, in tables with many other tasks.
    op.create_index("ix_market_tasks_judge", "market_tasks", ["state", "team_id", "judge"])
    _create_work()
    _create_limits()
    op.create_table(
        "arena_content_blocks",
        sa.Column("cid", sa.String(100), nullable=False),
        sa.Column("block", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("cid", name="pk_arena_content_blocks"),
    )
    op.create_table(
        "arena_sealed_parts",
        sa.Column("team_id", sa.String(100), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "name", name="pk_arena_sealed_parts"),
    )


def _create_work() -> None:
    op.create_table(
        "agent_run_shards",
        sa.Column("run_id", Id, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("first_position", sa.Integer(), nullable=False),
        sa.Column("last_position", sa.Integer(), nullable=False),
        sa.Column("first_trial", sa.Integer(), nullable=False),
        sa.Column("last_trial", sa.Integer(), nullable=True),
        sa.Column("needs_sandbox", sa.Boolean(), nullable=False),
        sa.Column("queue", sa.String(200), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=False),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(64), nullable=True),
        sa.Column("worker", sa.String(100), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("has_errors", sa.Boolean(), nullable=False),
        sa.Column("queued_at", Time, nullable=True),
        sa.Column("taken_at", Time, nullable=True),
        sa.ForeignKeyConstraint(
            ["run_id"], [f"{RUNS}.id"], name="fk_agent_run_shards_run_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "number", name="pk_agent_run_shards"),
    )
    op.create_index("ix_agent_run_shards_state", "agent_run_shards", ["state", "queued_at"])
    op.create_table(
        "agent_frozen_agents",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("body", AnyJson, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_agent_frozen_agents"),
    )
    op.create_table(
        "arena_workers",
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("version", sa.String(30), nullable=False),
        sa.Column("queues", AnyJson, nullable=False),
        sa.Column("labels", AnyJson, nullable=False),
        sa.Column("judges", AnyJson, nullable=False),
        sa.Column("shards", sa.Integer(), nullable=False),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.Column("has_sandbox", sa.Boolean(), nullable=False),
        sa.Column("is_stopping", sa.Boolean(), nullable=False),
        sa.Column("busy", sa.Integer(), nullable=False),
        sa.Column("done_shards", sa.Integer(), nullable=False),
        sa.Column("done_results", sa.BigInteger(), nullable=False),
        sa.Column("started_at", Time, nullable=False),
        sa.Column("seen_at", Time, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_arena_workers"),
    )
    op.create_table(
        "arena_queue_totals",
        sa.Column("name", sa.String(50), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_arena_queue_totals"),
    )
    op.create_table(
        "arena_chores",
        sa.Column("id", Id, nullable=False),
        sa.Column("kind", sa.String(50), nullable=False),
        sa.Column("team_id", sa.String(100), nullable=False),
        sa.Column("arguments", AnyJson, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("claim_token", sa.String(64), nullable=True),
        sa.Column("claimed_until", Time, nullable=True),
        sa.Column("worker", sa.String(100), nullable=True),
        sa.Column("result", AnyJson, nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("error_code", sa.String(50), nullable=True),
        sa.Column("created_at", Time, nullable=False),
        sa.Column("ended_at", Time, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_arena_chores"),
    )
    op.create_index("ix_arena_chores_state", "arena_chores", ["state", "created_at"])


def _create_limits() -> None:
    op.create_table(
        "arena_limit_places",
        sa.Column("place", sa.String(300), nullable=False),
        sa.Column("paused_until", Time, nullable=True),
        sa.PrimaryKeyConstraint("place", name="pk_arena_limit_places"),
    )
    op.create_table(
        "arena_limit_shares",
        sa.Column("place", sa.String(300), nullable=False),
        sa.Column("holder", sa.String(64), nullable=False),
        sa.Column("team_id", sa.String(100), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("waiting", sa.Integer(), nullable=False),
        sa.Column("since", Time, nullable=False),
        sa.Column("seen_at", Time, nullable=False),
        sa.Column("expires_at", Time, nullable=False),
        sa.ForeignKeyConstraint(
            ["place"],
            ["arena_limit_places.place"],
            name="fk_arena_limit_shares_place",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("place", "holder", "team_id", name="pk_arena_limit_shares"),
    )
    op.create_table(
        "arena_limit_permits",
        sa.Column("id", Id, nullable=False),
        sa.Column("place", sa.String(300), nullable=False),
        sa.Column("team_id", sa.String(100), nullable=False),
        sa.Column("holder", sa.String(64), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("expires_at", Time, nullable=False),
        sa.ForeignKeyConstraint(
            ["place"],
            ["arena_limit_places.place"],
            name="fk_arena_limit_permits_place",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_arena_limit_permits"),
    )
    op.create_index("ix_arena_limit_permits_place", "arena_limit_permits", ["place", "expires_at"])


def downgrade() -> None:
    for table in (
        "arena_sealed_parts",
        "arena_content_blocks",
        "arena_limit_permits",
        "arena_limit_shares",
        "arena_limit_places",
        "arena_chores",
        "arena_queue_totals",
        "arena_workers",
        "agent_frozen_agents",
        "agent_run_shards",
    ):
        op.drop_table(table)
    op.drop_index("ix_market_tasks_judge", "market_tasks")
    for name in ("claimed_until", "claim_token"):
        op.drop_column("reviews", name)
    op.drop_column(RUN_TESTS, "needs_sandbox")
    for name in ("ending", "executing_since", "frozen_agent", "placement", "dispatch"):
        op.drop_column(RUNS, name)

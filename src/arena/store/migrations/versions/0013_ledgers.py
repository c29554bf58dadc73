"""Tasks on several ledgers: currency, place on a chain, amounts of any size; addresses; events.

On SQLite a change of a column's type rebuilds the table, and a table with rows that others refer to
cannot be dropped. So the rows are set aside, the empty tables are changed, and the rows are put
back. A downgrade loses the tasks that are on a chain: the chain still has them.

Revision: 0013
Follows: 0012
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

PARENTS_FIRST = (
    "market_tasks",
    "market_applications",
    "market_entries",
    "market_postings",
    "market_events",
)
AMOUNTS = ("reward", "bond", "payout")
DIGITS = 30
NEW = {"ledger": "'embedded'", "currency": "'TEST'", "decimals": "6"}
"""The new columns that must have a value, and that of the existing tasks."""
AnyJson = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    kept = _set_aside()
    with op.batch_alter_table("market_tasks") as tasks:
        tasks.drop_constraint("ck_market_tasks_reward", type_="check")
        for name in AMOUNTS:
            tasks.alter_column(
                name,
                type_=sa.String(DIGITS),
                existing_type=sa.BigInteger(),
                existing_nullable=False,
                postgresql_using=f"lpad({name}::text, {DIGITS}, '0')",
            )
        for name, type_ in (
            ("ledger", sa.String(20)),
            ("currency", sa.String(10)),
            ("decimals", sa.Integer()),
        ):
            default = sa.text(NEW[name])
            tasks.add_column(sa.Column(name, type_, nullable=False, server_default=default))
        tasks.add_column(sa.Column("network", sa.String(40), nullable=True))
        tasks.add_column(sa.Column("contract", sa.String(42), nullable=True))
        tasks.add_column(sa.Column("chain_task", sa.BigInteger(), nullable=True))
        tasks.create_check_constraint("ck_market_tasks_reward", f"reward > '{0:0{DIGITS}d}'")
    # The default was only for the rows that exist.
    with op.batch_alter_table("market_tasks") as tasks:
        for name in NEW:
            tasks.alter_column(name, server_default=None)
    _put_back(kept, {name: f"printf('%0{DIGITS}d', {name})" for name in AMOUNTS} | NEW)
    op.create_index(
        "uq_market_tasks_chain",
        "market_tasks",
        ["team_id", "network", "contract", "chain_task"],
        unique=True,
    )
    op.add_column("market_events", sa.Column("transaction_hash", sa.String(66), nullable=True))
    _create_tables()


def downgrade() -> None:
    for table in ("chain_cursors", "chain_tasks", "chain_events", "market_parties"):
        op.drop_table(table)
    op.drop_index("uq_market_tasks_chain", "market_tasks")
    on_chain = (
        "(SELECT id FROM market_tasks t WHERE t.team_id = {0}.team_id AND t.ledger <> 'embedded')"
    )
    for table in ("market_events", "market_applications"):
        op.execute(f"DELETE FROM {table} WHERE task_id IN {on_chain.format(table)}")
    op.execute("DELETE FROM market_tasks WHERE ledger <> 'embedded'")
    op.drop_column("market_events", "transaction_hash")
    kept = _set_aside()
    with op.batch_alter_table("market_tasks") as tasks:
        tasks.drop_constraint("ck_market_tasks_reward", type_="check")
        for name in AMOUNTS:
            tasks.alter_column(
                name,
                type_=sa.BigInteger(),
                existing_type=sa.String(DIGITS),
                existing_nullable=False,
                postgresql_using=f"{name}::bigint",
            )
        for name in ("chain_task", "contract", "network", *NEW):
            tasks.drop_column(name)
        tasks.create_check_constraint("ck_market_tasks_reward", "reward > 0")
    _put_back(kept, {name: f"CAST({name} AS INTEGER)" for name in AMOUNTS})


def _create_tables() -> None:
    op.create_table(
        "market_parties",
        sa.Column("team_id", sa.String(100), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("address", sa.String(42), nullable=False),
        sa.PrimaryKeyConstraint("team_id", "name", name="pk_market_parties"),
        sa.UniqueConstraint("team_id", "address", name="uq_market_parties_team_id_address"),
    )
    op.create_table(
        "chain_events",
        sa.Column("network", sa.String(40), nullable=False),
        sa.Column("block_hash", sa.String(66), nullable=False),
        sa.Column("log_index", sa.Integer(), nullable=False),
        sa.Column("contract", sa.String(42), nullable=False),
        sa.Column("block_number", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("transaction_hash", sa.String(66), nullable=False),
        sa.Column("name", sa.String(30), nullable=False),
        sa.Column("chain_task", sa.BigInteger(), nullable=True),
        sa.Column("data", AnyJson, nullable=False),
        sa.Column("event_id", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("network", "block_hash", "log_index", name="pk_chain_events"),
    )
    op.create_index(
        "ix_chain_events_task",
        "chain_events",
        ["network", "contract", "chain_task", "block_number"],
    )
    op.create_index("ix_chain_events_transaction", "chain_events", ["network", "transaction_hash"])
    op.create_table(
        "chain_tasks",
        sa.Column("team_id", sa.String(100), nullable=False),
        sa.Column("network", sa.String(40), nullable=False),
        sa.Column("contract", sa.String(42), nullable=False),
        sa.Column("chain_task", sa.BigInteger(), nullable=False),
        sa.Column("task_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "team_id", "network", "contract", "chain_task", name="pk_chain_tasks"
        ),
    )
    op.create_index("uq_chain_tasks_task", "chain_tasks", ["team_id", "task_id"], unique=True)
    op.create_table(
        "chain_cursors",
        sa.Column("network", sa.String(40), nullable=False),
        sa.Column("contract", sa.String(42), nullable=False),
        sa.Column("block_number", sa.BigInteger(), nullable=False),
        sa.Column("block_hash", sa.String(66), nullable=False),
        sa.PrimaryKeyConstraint("network", "contract", name="pk_chain_cursors"),
    )


def _set_aside() -> dict[str, list[str]]:
    """Keep the rows in other tables on SQLite; returns the columns of each."""
    if op.get_context().dialect.name != "sqlite":
        return {}  # PostgreSQL changes columns in place
    columns: dict[str, list[str]] = {}
    for table in reversed(PARENTS_FIRST):
        rows = op.get_bind().execute(sa.text(f"PRAGMA table_info({table})"))
        columns[table] = [row.name for row in rows]
        op.execute(f"CREATE TABLE kept_{table} AS SELECT * FROM {table}")
        op.execute(f"DELETE FROM {table}")
    return columns


def _put_back(kept: dict[str, list[str]], changed: dict[str, str]) -> None:
    """Put the rows back; `changed` has the new values of columns of a task."""
    for table in PARENTS_FIRST if kept else ():
        rows = op.get_bind().execute(sa.text(f"PRAGMA table_info({table})"))
        there = {row.name for row in rows}
        values = {name: name for name in kept[table]}
        if table == "market_tasks":
            values |= changed
        values = {name: value for name, value in values.items() if name in there}
        names, given = ", ".join(values), ", ".join(values.values())
        op.execute(f"INSERT INTO {table} ({names}) SELECT {given} FROM kept_{table}")
        op.execute(f"DROP TABLE kept_{table}")

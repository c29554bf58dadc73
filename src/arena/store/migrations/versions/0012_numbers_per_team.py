"""Each team counts its own tasks, calls, entries and events.

Existing rows keep their numbers; a team goes on after its highest. On SQLite a change of keys
rebuilds the table, and a table with rows that others refer to cannot be dropped. So the rows are
set aside, the empty tables are changed, and the rows are put back. A downgrade fails if two teams
have used the same number.

Revision: 0012
Follows: 0010
"""

from collections.abc import Generator
from contextlib import contextmanager

from alembic import op

revision = "0012"
down_revision = "0010"
branch_labels = None
depends_on = None

PARENTS_FIRST = (
    "market_calls",
    "market_tasks",
    "market_applications",
    "market_entries",
    "market_postings",
    "market_events",
    "reviews",
    "review_answers",
)
TASK = (["team_id", "task_id"], ["team_id", "id"])
ONE_TASK = (["task_id"], ["id"])


def upgrade() -> None:
    with _emptied():
        _drop_foreign_keys("task_id", "entry_id")
        _change_key("market_calls", ["team_id", "id"])
        _change_key("market_tasks", ["team_id", "id"])
        _change_key("market_applications", ["team_id", "task_id", "agent"])
        _change_key("market_entries", ["team_id", "id"])
        _change_key("market_postings", ["team_id", "entry_id", "line"])
        _change_key("market_events", ["team_id", "id"])
        for table in ("tasks", "entries", "events"):
            op.drop_index(f"ix_market_{table}_team", f"market_{table}")
        op.drop_index("ix_market_events_task", "market_events")
        op.create_index("ix_market_events_task", "market_events", ["team_id", "task_id", "id"])
        with op.batch_alter_table("market_entries") as entries:
            entries.drop_constraint("uq_market_entries_task_id_kind", type_="unique")
            entries.create_unique_constraint(
                "uq_market_entries_team_id_task_id_kind", ["team_id", "task_id", "kind"]
            )
        for table in ("market_applications", "market_entries", "market_events"):
            _add_foreign_key(table, "market_tasks", *TASK)
        columns = ["team_id", "entry_id"], ["team_id", "id"]
        _add_foreign_key("market_postings", "market_entries", *columns)
        _change_subject(["subject_kind", "subject_id", "subject_part"], ["team_id"], [])


def downgrade() -> None:
    with _emptied():
        _drop_foreign_keys("team_id_task_id", "team_id_entry_id")
        for table in ("calls", "tasks", "entries", "events"):
            _change_key(f"market_{table}", ["id"])
        _change_key("market_applications", ["task_id", "agent"])
        _change_key("market_postings", ["entry_id", "line"])
        op.drop_index("ix_market_events_task", "market_events")
        op.create_index("ix_market_events_task", "market_events", ["task_id", "id"])
        for table in ("tasks", "entries", "events"):
            op.create_index(f"ix_market_{table}_team", f"market_{table}", ["team_id", "id"])
        with op.batch_alter_table("market_entries") as entries:
            entries.drop_constraint("uq_market_entries_team_id_task_id_kind", type_="unique")
            entries.create_unique_constraint("uq_market_entries_task_id_kind", ["task_id", "kind"])
        for table in ("market_applications", "market_entries", "market_events"):
            _add_foreign_key(table, "market_tasks", *ONE_TASK)
        _add_foreign_key("market_postings", "market_entries", ["entry_id"], ["id"])
        _change_subject(["subject_kind", "subject_id", "subject_part"], [], ["team_id"])
    if op.get_context().dialect.name == "postgresql":
        for table in ("calls", "tasks", "entries", "events"):
            name = f"market_{table}"
            last = f"COALESCE((SELECT MAX(id) FROM {name}), 0) + 1"
            op.execute(f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), {last}, false)")


@contextmanager
def _emptied() -> Generator[None]:
    """Set the rows aside until the block ends."""
    if op.get_context().dialect.name != "sqlite":
        yield  # PostgreSQL changes keys in place
        return
    for table in reversed(PARENTS_FIRST):
        op.execute(f"CREATE TABLE kept_{table} AS SELECT * FROM {table}")
        op.execute(f"DELETE FROM {table}")
    yield
    for table in PARENTS_FIRST:
        op.execute(f"INSERT INTO {table} SELECT * FROM kept_{table}")
        op.execute(f"DROP TABLE kept_{table}")


def _drop_foreign_keys(task: str, entry: str) -> None:
    for table in ("market_applications", "market_entries", "market_events"):
        with op.batch_alter_table(table) as changed:
            changed.drop_constraint(f"fk_{table}_{task}", type_="foreignkey")
    with op.batch_alter_table("market_postings") as changed:
        changed.drop_constraint(f"fk_market_postings_{entry}", type_="foreignkey")


def _add_foreign_key(table: str, to: str, columns: list[str], referred: list[str]) -> None:
    with op.batch_alter_table(table) as changed:
        name = f"fk_{table}_{'_'.join(columns)}"
        changed.create_foreign_key(name, to, columns, referred)


def _change_key(table: str, columns: list[str]) -> None:
    with op.batch_alter_table(table) as changed:
        changed.drop_constraint(f"pk_{table}", type_="primary")
        changed.create_primary_key(f"pk_{table}", columns)


def _change_subject(columns: list[str], added: list[str], removed: list[str]) -> None:
    with op.batch_alter_table("reviews") as reviews:
        reviews.drop_constraint(f"uq_reviews_{'_'.join([*removed, *columns])}", type_="unique")
        reviews.create_unique_constraint(
            f"uq_reviews_{'_'.join([*added, *columns])}", [*added, *columns]
        )

"""How Alembic runs here: on the caller's connection, in the caller's transaction."""

from alembic import context

from arena.store.tables.metadata import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    # One transaction for all, the caller's. Batch mode, because SQLite changes a table by
    # rebuilding it.
    transactional_ddl=True,
    transaction_per_migration=False,
    render_as_batch=True,
)
context.run_migrations()

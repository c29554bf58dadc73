"""Alembic migrations, run in the process on a connection that is already open."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

HERE = Path(__file__).parent


def configuration(connection: Connection | None = None) -> Config:
    """Alembic's configuration for these migrations, bound to `connection`."""
    config = Config()
    config.set_main_option("script_location", str(HERE))
    config.attributes["connection"] = connection
    return config


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Bring the database up to `revision`, inside the caller's transaction."""
    command.upgrade(configuration(connection), revision)


def downgrade(connection: Connection, revision: str) -> None:
    """Take the database back to `revision`, inside the caller's transaction."""
    command.downgrade(configuration(connection), revision)

"""Alembic migrations, run in this process on an open connection."""

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
    """Upgrade the database to `revision`, inside the caller's transaction."""
    command.upgrade(configuration(connection), revision)


def downgrade(connection: Connection, revision: str) -> None:
    """Downgrade the database to `revision`, inside the caller's transaction."""
    command.downgrade(configuration(connection), revision)

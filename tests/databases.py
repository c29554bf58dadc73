"""New databases for tests: empty ones, and ones like another."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg

from arena.settings import Settings
from arena.store import open_database


@contextmanager
def new_postgres(server: str, template: str = "template1") -> Iterator[str]:
    """The address of a new database on the server, made like the one called `template`."""
    name = f"arena_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    yield urlsplit(server)._replace(path=f"/{name}").geturl()
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def make_tables(settings: Settings) -> None:
    """Bring the database of these settings up to date."""

    async def make() -> None:
        await (await open_database(settings.database)).close()

    asyncio.run(make())
